// `uvea explain` as a user calls it, and what a story keeps of a trace.
#include "sim/cmd/explain.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SMALL "sessions: 8\nconnections: 1\ndatabase: {records: 2}\n"

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_scenarios(void)
{
    write_file("good.yaml", SMALL "requests: [{kind: new}]\n");
    write_file("bad.yaml", SMALL "requests: [{kind: new, expect: {match: true}}]\n");
    write_file("wiped.yaml",
               SMALL "class: hostile\nswarm: {recovery_s: 60}\nclient: {pause_ms: 2500}\n"
                     "requests: [{kind: new, repeat: 4}]\n"
                     "faults: [{kind: disk-wiped, from: p1, at_ms: 9000}]\n");
    write_file("a<b&\"c\377.yaml", SMALL "requests: [{kind: new}]\n");
}

// ---- the command

static void expect_refusal(const char *arguments, int status, const char *says)
{
    const struct shell_result *r = shell("\"$UVEA\" explain %s", arguments);
    if (r->status != status || strstr(r->err, says) == NULL) {
        fail_msg("explain %s: status %d, said: %s", arguments, r->status, r->err);
    }
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    expect_refusal("", 2, "FILE");
    expect_refusal("good.yaml bad.yaml", 2, "bad.yaml");
    expect_refusal("good.yaml --events 0", 2, "--events: not from 1 to");
    expect_refusal("good.yaml --events 100001", 2, "--events: not from 1 to");
    expect_refusal("good.yaml --evends 7", 2, "--evends");
    expect_refusal("good.yaml --set sessions=7", 2, "sessions");
    expect_refusal("absent.yaml", 2, "absent.yaml");
    expect_refusal("good.yaml -o absent/story.svg", 1, "absent/story.svg: No such file");
    assert_string_equal(shell("\"$UVEA\" explain good.yaml -o absent/story.svg")->out, "");
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        found++;
    }
    return found;
}

static void a_story_ends_with_the_verdict(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" explain bad.yaml --seed 4 --events 7");
    assert_int_equal(r->status, 0);
    assert_string_equal(r->err, "");
    assert_true(strncmp(r->out, "bad.yaml, seed 4: wrong: message-1", 34) == 0);
    assert_non_null(strstr(r->out, " earlier ones)\n"));
    assert_int_equal(count(r->out, "\n"), 3 + 1 + 7); // title, blank, lanes; left out; events
    r = shell("\"$UVEA\" explain good.yaml --events 100000");
    assert_int_equal(r->status, 0);
    assert_true(strncmp(r->out, "good.yaml, seed 1: pass\n", 24) == 0);
    assert_null(strstr(r->out, "earlier ones"));
    assert_non_null(strstr(r->out, "request: request-1"));
    assert_non_null(strstr(r->out, "committed"));
}

// ---- XML

// Steps over a name; NULL when there is none.
static const char *skip_name(const char *at)
{
    const char *begin = at;
    while (isalnum((unsigned char)*at) || *at == '-') {
        at++;
    }
    return at == begin ? NULL : at;
}

// Steps over the attributes of a tag; NULL when one is not well formed.
static const char *skip_attributes(const char *at)
{
    while (*at == ' ') {
        at = skip_name(at + 1);
        if (at == NULL || strncmp(at, "=\"", 2) != 0) {
            return NULL;
        }
        at += 2;
        while (*at >= ' ' && *at != '"' && *at != '<' && *at != '&') {
            at++;
        }
        if (*at++ != '"') {
            return NULL;
        }
    }
    return at;
}

static const char *skip_entity(const char *at)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;"};
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(at, entities[i], strlen(entities[i])) == 0) {
            return at + strlen(entities[i]);
        }
    }
    return NULL;
}

static const char *skip_text(const char *at)
{
    while (at != NULL && *at != '\0' && *at != '<') {
        const bool plain = (*at >= ' ' && *at <= '~') || *at == '\n';
        at = *at == '&' ? skip_entity(at) : plain ? at + 1 : NULL;
    }
    return at;
}

// One element whose name is at most 15 letters, with all in it, as far as a story's drawing uses
// XML. Returns what is behind it, NULL when it is not well formed.
static const char *skip_element(const char *at)
{
    char open[4][16] = {{0}};
    size_t depth = 0;
    do {
        const bool closing = strncmp(at, "</", 2) == 0;
        const char *name = at + 1 + closing;
        const char *behind = *at == '<' ? skip_name(name) : NULL;
        if (behind == NULL || behind - name > 15 || (closing && depth == 0)) {
            return NULL;
        }
        const size_t len = (size_t)(behind - name);
        if (closing) {
            depth--;
            if (strncmp(open[depth], name, len) != 0 || open[depth][len] != '\0') {
                return NULL;
            }
        }
        at = closing ? behind : skip_attributes(behind);
        const bool empty = at != NULL && !closing && *at == '/';
        if (at == NULL || at[empty] != '>') {
            return NULL;
        }
        at += 1 + empty;
        if (!closing && !empty) {
            if (depth == 4) {
                return NULL;
            }
            memcpy(open[depth], name, len);
            open[depth++][len] = '\0';
        }
        at = skip_text(at);
    } while (at != NULL && depth > 0 && *at != '\0');
    return depth == 0 ? at : NULL;
}

static bool well_formed(const char *xml)
{
    const char *behind = skip_element(xml);
    return behind != NULL && *behind == '\0';
}

static void the_check_of_xml_can_fail(void **state)
{
    (void)state;
    assert_true(well_formed("<a b=\"c\"><d/>e &lt;<f>g</f></a>\n"));
    assert_false(well_formed("<a><b></a></b>"));
    assert_false(well_formed("<a>"));
    assert_false(well_formed("<a>b & c</a>"));
    assert_false(well_formed("<a b=\"<\"/>"));
    assert_false(well_formed("<a b=c/>"));
    assert_false(well_formed("<a>\377</a>"));
    assert_false(well_formed("<a/><b"));
}

static void a_drawing_is_well_formed(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" explain bad.yaml --events 9 -o s.svg");
    assert_int_equal(r->status, 0);
    r = shell("cat s.svg");
    assert_true(well_formed(r->out));
    assert_true(strncmp(r->out, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39) == 0);
    assert_int_equal(count(r->out, "<circle "), 9);
    assert_non_null(strstr(r->out, ">bad.yaml, seed 1: wrong: message-1"));
    assert_non_null(strstr(r->out, " earlier ones left out<"));
    r = shell("\"$UVEA\" explain 'a<b&\"c\377.yaml' -o s.svg");
    assert_int_equal(r->status, 0);
    r = shell("cat s.svg");
    assert_true(well_formed(r->out));
    assert_non_null(strstr(r->out, ">a&lt;b&amp;\"c?.yaml, seed 1: pass<"));
}

// ---- stories

#define NOTE(t, node, what)                                                                        \
    "{\"t\":" #t ",\"node\":\"" node "\",\"kind\":\"note\",\"label\":\"" what "\"}\n"
#define DELIVER(t, node, peer)                                                                     \
    "{\"t\":" #t ",\"node\":\"" node "\",\"kind\":\"deliver\",\"peer\":\"" peer "\"}\n"

static enum uvea_error read_story(const char *trace, unsigned char last, size_t most,
                                  struct uvea_story *story)
{
    struct uvea_error_context context;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(fputs(trace, file) >= 0);
    rewind(file);
    const enum uvea_error error = uvea_story_read(file, last, most, story, &context);
    assert_int_equal(fclose(file), 0);
    return error;
}

static void expect_story(const char *trace, unsigned char last, size_t most, const char *told,
                         size_t left_out)
{
    struct uvea_story story;
    char found[1024] = "";
    assert_int_equal(read_story(trace, last, most, &story), UVEA_OK);
    for (size_t i = 0; i < story.count; i++) {
        const size_t len = strlen(found);
        (void)snprintf(found + len, sizeof(found) - len, "%s ", story.events[i].text);
    }
    assert_string_equal(found, told);
    assert_int_equal(story.left_out, left_out);
    uvea_story_deinit(&story);
}

static void a_story_keeps_causes_alone(void **state)
{
    static const char trace[] = NOTE(1, "p0", "cause") NOTE(2, "p2", "aside") DELIVER(3, "p1", "p0")
        NOTE(4, "p1", "end") NOTE(5, "p0", "late") DELIVER(6, "p2", "p0") NOTE(7, "p2", "last")
            DELIVER(8, "p1", "p2") NOTE(9, "client", "beside");
    (void)state;
    expect_story(trace, 1, 60, "cause end ", 0);
    expect_story(trace, 1, 1, "end ", 1);
    expect_story(trace, 2, 60, "cause aside late last ", 0);
    expect_story(trace, 0, 60, "cause late ", 0);
    expect_story(trace, UVEA_STORY_NO_LANE, 60, "beside ", 0);
    expect_story("", 1, 60, "", 0);
    expect_story(trace, 1, 60, "cause end ", 0);
}

// What began a chain of restarts is told when it is far back, once for each kind of end.
static void a_chain_of_restarts_has_a_beginning(void **state)
{
#define STOPPED(t, node, why)                                                                      \
    "{\"t\":" #t ",\"node\":\"" node "\",\"kind\":\"note\",\"label\":\"stopped\",\"text\":\"" why  \
    "\"}\n"
#define COMMITTED(t, node)                                                                         \
    "{\"t\":" #t ",\"node\":\"" node "\",\"kind\":\"point\",\"label\":\"committed\"}\n"
    static const char trace[] = STOPPED(1, "p0", "old") COMMITTED(2, "p0")
        NOTE(3, "p0", "a") "{\"t\":4,\"node\":\"p0\",\"kind\":\"death\",\"label\":\"crash\"}"
                           "\n" STOPPED(5, "p0", "lost, and for good")
                               STOPPED(6, "p0", "lost, and for good") NOTE(7, "p0", "b")
                                   STOPPED(8, "p0", "lost, and for good");
    (void)state;
    expect_story(trace, 0, 1,
                 "death crash stopped: lost, and for good stopped: lost, and for good ", 5);
    expect_story(trace, 0, 5,
                 "death crash stopped: lost, and for good stopped: lost, and for good b "
                 "stopped: lost, and for good ",
                 3);
}

static void the_first_reason_is_shown(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" explain wiped.yaml --events 5 -o s.svg");
    assert_int_equal(r->status, 0);
    assert_int_equal(count(r->out, " death 1 crash\n"), 1);
    // Whole, with its commas.
    assert_non_null(strstr(r->out, "! stopped: modification 1 is completed elsewhere, but party 1 "
                                   "has lost it: its database is older than its peers', or another "
                                   "one\n"));
    assert_true(strstr(r->out, "(the latest)") > strstr(r->out, "! stopped: modification 1"));
    r = shell("cat s.svg");
    assert_true(well_formed(r->out));
    assert_non_null(strstr(r->out, ">the latest:<"));
    // Above the lanes, and wrapped within one.
    assert_non_null(strstr(r->out, "<text x=\"8\" y=\"42\" class=\"t\">"));
    assert_non_null(strstr(r->out, ">stopped: modification 1 is completed<"));
    assert_non_null(strstr(r->out, ">elsewhere, but party 1 has lost it:<"));
}

static void causes_go_over_several_messages(void **state)
{
    (void)state;
    expect_story(NOTE(1, "client", "a") DELIVER(2, "p0", "client") NOTE(3, "client", "b")
                     DELIVER(4, "p2", "p0") DELIVER(5, "p1", "p2") NOTE(6, "p1", "c"),
                 1, 60, "a c ", 0);
}

static void a_trace_that_is_none_is_refused(void **state)
{
    struct uvea_story story;
    (void)state;
    assert_int_equal(read_story("{\"t\":1}\n", 0, 60, &story), UVEA_ERR_FORMAT);
    assert_int_equal(read_story(NOTE(1, "p0", "a") "{\"t\":2,\"no", 0, 60, &story),
                     UVEA_ERR_FORMAT);
}

static int enter(void **state)
{
    (void)state;
    shell_enter();
    write_scenarios();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_calls_are_refused, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(a_story_ends_with_the_verdict, enter, shell_tear_down),
        cmocka_unit_test(the_check_of_xml_can_fail),
        cmocka_unit_test_setup_teardown(a_drawing_is_well_formed, enter, shell_tear_down),
        cmocka_unit_test(a_story_keeps_causes_alone),
        cmocka_unit_test(a_chain_of_restarts_has_a_beginning),
        cmocka_unit_test_setup_teardown(the_first_reason_is_shown, enter, shell_tear_down),
        cmocka_unit_test(causes_go_over_several_messages),
        cmocka_unit_test(a_trace_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
