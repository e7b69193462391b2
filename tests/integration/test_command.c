// `uvea iris` and `uvea share` as a user meets them: results on published templates, every way of
// using them wrongly, and what is left behind when output fails.

#include "core/base/check.h"
#include "core/iris/template.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Skips the running test when a published file is absent.
static void need_data(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", getenv("DATA"), name);
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is absent\n", name);
        skip();
    }
}

static void expect_out(const char *line, const char *expected)
{
    const struct shell_result *r = shell("%s", line);
    assert_string_equal(r->err, "");
    assert_string_equal(r->out, expected);
    assert_int_equal(r->status, 0);
}

static void expect_ok(const char *line)
{
    expect_out(line, "");
}

// ---- published templates

static void distance_of_the_published_records(void **state)
{
    (void)state;
    need_data("known-distance.ndjson");
    expect_out("\"$UVEA\" iris distance \"$DATA/known-distance.ndjson\"",
               "unrotated 1648/3212 0.5130759651307597\n"
               "best 1577/3278 0.48108602806589384 rotation left 9 of the second record\n"
               "passes anonymous 0 of 31, strict 0 of 31 rotations\n");
    expect_out("\"$UVEA\" iris distance \"$DATA/known-distance.ndjson\" --lines 2,1",
               "unrotated 1648/3212 0.5130759651307597\n"
               "best 1577/3278 0.48108602806589384 rotation right 9 of the second record\n"
               "passes anonymous 0 of 31, strict 0 of 31 rotations\n");
    expect_out("\"$UVEA\" iris distance - \"$DATA/known-distance.ndjson\" --lines=2,2 "
               "<\"$DATA/known-distance.ndjson\" | head -2",
               "unrotated 0/6458 0\nbest 0/6458 0 rotation 0\n");
}

static void mirror_maps_the_second_record_to_the_first(void **state)
{
    (void)state;
    need_data("mirror.ndjson");
    expect_ok("\"$UVEA\" iris mirror \"$DATA/mirror.ndjson\" -o mirrored");
    expect_ok("\"$UVEA\" iris rotate \"$DATA/mirror.ndjson\" --by 0 -o plain");
    expect_ok("sed -n 2p mirrored >a; sed -n 1p plain >b; cmp a b");
    expect_ok("sed -n 1p mirrored >a; sed -n 2p plain >b; cmp a b");
    expect_out("\"$UVEA\" iris distance mirrored \"$DATA/mirror.ndjson\" --lines 2,1 | head -1",
               "unrotated 0/6488 0\n");
    expect_out("\"$UVEA\" iris distance \"$DATA/mirror.ndjson\" | head -1",
               "unrotated 1636/3292 0.49696233292831105\n");
}

// Record `line` of a file.
static struct uvea_template read_record(const char *path, unsigned line)
{
    char text[8192];
    struct uvea_template record;
    struct uvea_error_context context = {{0}};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (unsigned n = 0; n < line; n++) {
        assert_non_null(fgets(text, sizeof(text), file));
    }
    fclose(file);
    assert_int_equal(uvea_iris_decode_json(text, strlen(text), &record, &context), UVEA_OK);
    return record;
}

// One line `k: bits` of all-rotations.txt against the first record of a file.
static void expect_rotation(const char *line, const char *path)
{
    struct uvea_template record = read_record(path, 1);
    const char *at = strchr(line, ':');
    for (unsigned i = 0; i < UVEA_IRIS_BITS; i++) {
        at += 1 + strspn(at + 1, " ");
        assert_int_equal(*at, (record.code[i / 64] >> (i % 64) & 1) != 0 ? '1' : '0');
    }
}

static void all_31_published_rotations_agree(void **state)
{
    (void)state;
    need_data("all-rotations.txt");
    expect_ok("c=$(head -1 \"$DATA/all-rotations.txt\"); "
              "m=$(printf '%2132s' | tr ' ' '/')/w==; "
              "printf '{\"iris_codes\":\"%s\",\"mask_codes\":\"%s\"}\\n' \"$c\" \"$m\" >one");
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/all-rotations.txt", getenv("DATA"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[16384];
    unsigned rotations = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strchr(line, ':') != NULL) {
            const struct shell_result *r =
                shell("\"$UVEA\" iris rotate one --by %d -o turned", atoi(line));
            assert_string_equal(r->err, "");
            expect_rotation(line, "turned");
            rotations++;
        }
    }
    fclose(file);
    assert_int_equal(rotations, 31);
}

// Each published template against itself, turned: how many pass each threshold on some rotation.
static void neighbouring_columns_carry_a_match_one_column_further(void **state)
{
    (void)state;
    need_data("synthetic-10.ndjson");
    need_data("published-pair.ndjson");
    expect_ok("cat \"$DATA/synthetic-10.ndjson\" \"$DATA/published-pair.ndjson\" >a");
    static const struct {
        int columns;
        const char *found; // records with an anonymous pass, records with a strict pass
    } cases[] = {{15, "12 12\n"}, {16, "12 12\n"}, {17, "2 0\n"}};
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        const struct shell_result *r =
            shell("\"$UVEA\" iris rotate a --by %d -o b; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do "
                  "\"$UVEA\" iris distance a b --lines $n,$n | tail -1; done >c; "
                  "echo $(grep -cv 'anonymous 0 of' c) $(grep -cv 'strict 0 of' c)",
                  cases[i].columns);
        assert_string_equal(r->err, "");
        assert_string_equal(r->out, cases[i].found);
    }
}

// ---- generation

static void gen_depends_on_the_seed_alone(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen --seed 7 --count 3 >a");
    expect_ok("\"$UVEA\" iris gen --count=3 -o b --seed=7; cmp a b");
    expect_out("wc -l <a", "6\n");
    expect_ok("\"$UVEA\" iris gen --seed 7 --count 2 >c; head -4 a | cmp - c");
    expect_out("\"$UVEA\" iris gen --seed 8 --count 3 | cmp -s a - || echo other", "other\n");
    expect_ok("\"$UVEA\" iris gen >a; \"$UVEA\" iris gen --seed 1 --count 1 | cmp a -");
}

static void rotation_there_and_back_is_found_by_distance(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen --seed 3 -o a; \"$UVEA\" iris rotate a --by -15 -o b");
    expect_ok(
        "\"$UVEA\" iris rotate b --by 215 -o c 2>err || \"$UVEA\" iris rotate b --by 15 -o c; "
        "cmp a c");
    const struct shell_result *r = shell("\"$UVEA\" iris distance a b");
    assert_non_null(strstr(r->out, " 0 rotation right 15 of the second record\n"));
    // Sixteen columns away the neighbouring rotation still matches, seventeen away none does.
    r = shell("\"$UVEA\" iris rotate a --by 16 | \"$UVEA\" iris distance a -");
    assert_non_null(strstr(r->out, "passes anonymous 1 of 31, strict 1 of 31 rotations\n"));
    r = shell("\"$UVEA\" iris rotate a --by 17 | \"$UVEA\" iris distance a -");
    assert_non_null(strstr(r->out, "strict 0 of 31 rotations\n"));
}

static void show_draws_one_record(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" iris gen --seed 1 -o a; \"$UVEA\" iris show a --line 2");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "record 2 of 2\nmask "));
    assert_non_null(strstr(r->out, "between real and imaginary bit in 0 of 6400 places\n"));
    assert_non_null(strstr(r->out, "\nshifted by 6 "));
    unsigned rows = 0;
    for (const char *at = r->out; (at = strstr(at, "|\n")) != NULL; at++) {
        rows++;
    }
    assert_int_equal(rows, 16);
}

// ---- shares

// Shares carry no code bit where the mask hides it: those come back as 0.
static void expect_joined(const char *joined, unsigned line, const char *original,
                          unsigned original_line)
{
    struct uvea_template a = read_record(joined, line);
    struct uvea_template b = read_record(original, original_line);
    assert_memory_equal(a.mask, b.mask, sizeof(a.mask));
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        assert_true(a.code[i] == (b.code[i] & b.mask[i]));
    }
}

static void any_two_shares_give_the_templates_back(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen --seed 5 --count 2 -o a; "
              "\"$UVEA\" share split a --lines 4,1 --out-prefix s");
    static const char *const sets[] = {"s.0.json s.1.json", "s.2.json s.0.json",
                                       "s.1.json s.2.json", "s.0.json s.1.json s.2.json",
                                       "s.2.json s.0.json s.1.json"};
    for (size_t i = 0; i < UVEA_COUNT_OF(sets); i++) {
        const struct shell_result *r = shell("\"$UVEA\" share join %s >j", sets[i]);
        assert_string_equal(r->err, "");
        assert_int_equal(r->status, 0);
        expect_joined("j", 1, "a", 4);
        expect_joined("j", 2, "a", 1);
    }
    expect_out("stat -c %a s.0.json s.1.json s.2.json", "600\n600\n600\n");
    expect_ok("\"$UVEA\" share split j --out-prefix t; "
              "\"$UVEA\" share join t.0.json t.2.json -o k; cmp j k");
}

static void seeded_shares_repeat_and_say_so(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" iris gen -o a; \"$UVEA\" share split a --out-prefix s --seed 9");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->err, "for tests only"));
    r = shell("\"$UVEA\" share split a --out-prefix t --seed 9 2>/dev/null; "
              "for p in 0 1 2; do cmp s.$p.json t.$p.json; done");
    assert_string_equal(r->out, "");
    expect_out("\"$UVEA\" share split a --out-prefix t; cmp -s s.0.json t.0.json || echo other",
               "other\n");
}

// Whole share files, byte for byte. An independent program put the first ones together again from
// the formulas of the format, for every pair of parties.
static void share_files_are_these_bytes(void **state)
{
    (void)state;
    expect_out("\"$UVEA\" iris gen --seed 1 --count 1 -o a; "
               "\"$UVEA\" share split a --seed 1 --out-prefix s 2>/dev/null; sha256sum s.?.json",
               "6ecab832ded385b6bf49418794081c73325281b0ef84a6b212736f7ab9bbc9b8  s.0.json\n"
               "089bb43c10f43f64701b9ad7834dd65951f2001c4410966be6812054b426920b  s.1.json\n"
               "e716b9926a3128e1c116656f64e04ca3864b4803e525883977879a8b681bebf3  s.2.json\n");
}

static void shares_of_two_splits_do_not_join(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen -o a; \"$UVEA\" share split a --out-prefix s; "
              "\"$UVEA\" share split a --out-prefix t");
    const struct shell_result *r = shell("\"$UVEA\" share join s.0.json t.1.json");
    assert_int_equal(r->status, 2);
    assert_string_equal(r->out, "");
    assert_non_null(strstr(r->err, "uvea share join: s.0.json and t.1.json, left eye: "));
    r = shell("\"$UVEA\" share join s.0.json s.1.json t.2.json -o b; echo $?; ls b");
    assert_non_null(strstr(r->err, "s.0.json and t.2.json, left eye: "));
    assert_string_equal(r->out, "2\n");
}

static void inspect_tells_no_coefficient(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen -o a; \"$UVEA\" share split a --out-prefix s");
    expect_out("\"$UVEA\" share inspect s.2.json",
               "party 2\n"
               "IRIS_version 1.0\n"
               "IRIS_shares_version 1.3\n"
               "left_iris_code_shares share id 3, 34144 characters, 25608 bytes, "
               "12800 coefficients\n"
               "right_iris_code_shares share id 3, 34144 characters, 25608 bytes, "
               "12800 coefficients\n"
               "left_mask_code_shares share id 3, 34144 characters, 25608 bytes, "
               "12800 coefficients\n"
               "right_mask_code_shares share id 3, 34144 characters, 25608 bytes, "
               "12800 coefficients\n");
}

// Joined, the dummy has every code bit 0 and every mask bit 1, in both eyes.
static void dummies_join_to_the_deleted_template(void **state)
{
    (void)state;
    expect_ok("for p in 0 1 2; do \"$UVEA\" share dummy --party $p >d.$p; done; "
              "\"$UVEA\" share join d.0 d.1 d.2 -o d; "
              "[ \"$(sed -n 1p d)\" = \"$(sed -n 2p d)\" ]");
    struct uvea_template record = read_record("d", 1);
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        assert_true(record.code[i] == 0 && record.mask[i] == UINT64_MAX);
    }
}

// ---- bad input

// A sound pair `a`, its shares s.0.json .. s.2.json, and files that are wrong in one way each.
static void make_bad_files(void)
{
    expect_ok(
        "\"$UVEA\" iris gen -o a; \"$UVEA\" share split a --out-prefix s; : >empty; "
        "{ head -1 a; echo 'not json'; } >bad_line; "
        "{ head -1 a; sed -n 2p a | sed 's/mask_codes/mask_code/'; } >no_member; "
        "{ head -1 a; echo; sed -n 2p a; } >blank; "
        "sed 's/\"iris_codes\":\"..../\"iris_codes\":\"/' a >short; "
        "head -c 3000 a >cut; "
        "sed 's/\"iris_codes\":\"./\"iris_codes\":\"*/' a >alphabet; "
        "w=$(head -c 2048 /dev/zero | base64 -w 0); "
        "printf '{\"iris_codes\":\"%s\",\"mask_codes\":\"%s\"}\\n' \"$w\" \"$w\" >wide; "
        "sed 's/left_mask_code_shares\":\"../left_mask_code_shares\":\"Ag/' s.0.json >mixed_id; "
        "sed 's/code_shares\":\"../code_shares\":\"CQ/g' s.0.json >bad_id; "
        "sed 's/right_mask_code_shares/right_mask/' s.1.json >no_share; "
        "head -c 60000 s.1.json >cut_share; "
        "sed 's/_shares\":\"AgAA/_shares\":\"AgAAAAAA/' s.1.json >odd_share; "
        "mkdir directory");
}

struct bad {
    const char *args;
    const char *sentence; // a part of what is said on standard error
};

// Status 2, the sentence, nothing on standard output, and no file more or less than before.
static void expect_bad(const struct bad *bad)
{
    const struct shell_result *r =
        shell("before=$(echo *); \"$UVEA\" %s\nstatus=$?; "
              "[ \"$before\" = \"$(echo *)\" ] || echo files changed; exit $status",
              bad->args);
    if (r->status != 2 || strstr(r->err, bad->sentence) == NULL || r->out[0] != '\0') {
        fail_msg("uvea %s: status %d, out '%.200s', err '%s', wanted '%s'", bad->args, r->status,
                 r->out, r->err, bad->sentence);
    }
}

static void bad_usage_is_named(void **state)
{
    (void)state;
    make_bad_files();
    static const struct bad cases[] = {
        {"", "usage: uvea COMMAND"},
        {"walk", "uvea: unknown command 'walk'"},
        {"help walk", "uvea help: unknown command 'walk'"},
        {"help iris share", "uvea help: unexpected argument 'share'"},
        {"version 2", "uvea version: unexpected argument '2'"},
        {"iris", "uvea iris: which subcommand? known are gen, show, distance, rotate, mirror"},
        {"iris walk", "uvea iris: unknown subcommand 'walk'"},
        {"share", "uvea share: which subcommand? known are split, join, inspect, dummy"},
        {"iris gen --sed 3", "uvea iris gen: unknown option '--sed'"},
        {"iris gen --seed", "uvea iris gen: --seed needs a value"},
        {"iris gen --seed 1 --seed=2", "uvea iris gen: --seed is given twice"},
        {"iris gen --seed -1", "--seed: '-1' is not a number from 0 to 2^64-1"},
        {"iris gen --seed 18446744073709551616", "--seed: '18446744073709551616' is not"},
        {"iris gen --seed 0x10", "--seed: '0x10' is not"},
        {"iris gen --seed ''", "--seed: '' is not"},
        {"iris gen --count 0", "--count: 0 is not in 1..1000000"},
        {"iris gen --count 1000001", "--count: 1000001 is not in 1..1000000"},
        {"iris gen extra", "uvea iris gen: unexpected argument 'extra'"},
        {"iris show", "uvea iris show: FILE is missing"},
        {"iris show a --line 3", "a has no line 3; it has 2"},
        {"iris show a --line 0", "a has no line 0; it has 2"},
        {"iris distance a a a", "uvea iris distance: unexpected argument 'a'"},
        {"iris distance a --lines 1", "--lines: '1' is not two numbers A,B"},
        {"iris distance a --lines 1,", "--lines: '1,' is not two numbers A,B"},
        {"iris distance a --lines 1,2,3", "--lines: '1,2,3' is not two numbers A,B"},
        {"iris distance a --lines 1,9", "a has no line 9; it has 2"},
        {"iris rotate a -o b", "uvea iris rotate: --by is missing"},
        {"iris rotate a --by 200 -o b", "--by: 200 is not in -199..199"},
        {"iris rotate a --by -200 -o b", "--by: -200 is not in -199..199"},
        {"iris rotate a --by x -o b", "--by: 'x' is not a whole number"},
        {"iris rotate a --by 99999999999999999999 -o b", "--by: '99999999999999999999' is not"},
        {"iris mirror", "uvea iris mirror: FILE is missing"},
        {"share split a", "uvea share split: --out-prefix is missing"},
        {"share split a --out-prefix ''", "uvea share split: --out-prefix is missing"},
        {"share split a --out-prefix p --lines 2,3", "a has no line 3; it has 2"},
        {"share join s.0.json", "uvea share join: FILE FILE is missing"},
        {"share join a a a a", "uvea share join: unexpected argument 'a'"},
        {"share dummy", "uvea share dummy: --party is missing"},
        {"share dummy --party 3", "uvea share dummy: --party: 3 is not 0, 1 or 2"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        expect_bad(&cases[i]);
    }
}

static void bad_files_are_named_with_line_and_member(void **state)
{
    (void)state;
    make_bad_files();
    static const struct bad cases[] = {
        {"iris show absent", "uvea iris show: absent: No such file or directory"},
        {"iris show directory", "uvea iris show: directory: Is a directory"},
        {"iris show empty", "empty: holds no record"},
        {"iris rotate bad_line --by 1 -o b", "bad_line line 2: "},
        {"iris rotate no_member --by 1", "no_member line 2: "},
        {"iris rotate no_member --by 1", "mask_codes"},
        {"iris mirror blank", "blank line 2: "},
        {"iris mirror cut -o b", "cut line 1: "},
        {"iris show short", "short line 1: "},
        {"iris show short", "iris_codes"},
        {"iris show alphabet", "iris_codes"},
        {"iris show wide", "1600 bytes"},
        {"iris show wide", "2048"},
        {"share split bad_line --out-prefix p", "bad_line line 2: "},
        {"share join s.0.json absent", "uvea share join: absent: No such file"},
        {"share join s.0.json a", "uvea share join: a: "},
        {"share join s.1.json s.1.json", "s.1.json and s.1.json are both shares of party 1"},
        {"share join mixed_id s.1.json", "mixed_id: member left_mask_code_shares: share id 2, "},
        {"share join s.1.json bad_id", "bad_id: member left_iris_code_shares: share id 9, "},
        {"share inspect bad_id", "bad_id: member left_iris_code_shares: share id 9, "},
        {"share inspect no_share", "no_share: "},
        {"share inspect no_share", "right_mask_code_shares"},
        {"share inspect cut_share", "uvea share inspect: cut_share: "},
        {"share inspect odd_share", "odd_share: member left_iris_code_shares: "},
        {"share inspect empty", "uvea share inspect: empty: "},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        expect_bad(&cases[i]);
    }
}

// ---- output that fails

static void failing_output_is_noticed(void **state)
{
    (void)state;
    expect_ok("\"$UVEA\" iris gen --count 50 -o a");
    expect_ok("echo '{database: {records: 2}, requests: [{kind: new}]}' >s.yaml");
    static const char *const lines[] = {
        "\"$UVEA\" iris gen --count 50 >/dev/full",
        "\"$UVEA\" iris gen --count 50 -o /dev/full",
        "\"$UVEA\" iris distance a >/dev/full",
        "\"$UVEA\" iris show a >/dev/full",
        "\"$UVEA\" iris mirror a >/dev/full",
        "\"$UVEA\" share dummy --party 1 >/dev/full",
        "\"$UVEA\" help >/dev/full",
        "\"$UVEA\" version >/dev/full",
        "\"$UVEA\" run s.yaml >/dev/full",
        "\"$UVEA\" run s.yaml --trace /dev/full",
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(lines); i++) {
        const struct shell_result *r = shell("%s", lines[i]);
        assert_non_null(strstr(r->err, "No space left on device"));
        assert_int_equal(r->status, 1);
    }
    expect_out("test -c /dev/full && echo still", "still\n");
    const struct shell_result *r =
        shell("{ \"$UVEA\" iris gen --count 50; echo $? >status; } | head -c 10; cat status");
    assert_non_null(strstr(r->err, "standard output: Broken pipe"));
    assert_string_equal(r->out, "{\"iris_cod1\n");
    r = shell("\"$UVEA\" iris gen >&-");
    assert_int_equal(r->status, 1);
    assert_non_null(strstr(r->err, "standard output: Bad file descriptor"));
}

// A size limit stops the write half way: the old file stays, and nothing else appears.
static void failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    expect_ok("mkdir w; cd w; \"$UVEA\" iris gen -o keep; cp keep ../keep");
    const struct shell_result *r = shell("cd w; (trap '' XFSZ; ulimit -f 8; \"$UVEA\" iris gen "
                                         "--seed 2 --count 50 -o keep); echo $?");
    assert_non_null(strstr(r->err, "keep: File too large"));
    assert_string_equal(r->out, "1\n");
    r = shell(
        "cd w; (trap '' XFSZ; ulimit -f 8; \"$UVEA\" share split keep --out-prefix p); echo $?");
    assert_non_null(strstr(r->err, "p.0.json: File too large"));
    expect_out("ls w; cmp keep w/keep", "keep\n");
    r = shell("\"$UVEA\" iris gen -o absent/b");
    assert_int_equal(r->status, 1);
    assert_non_null(strstr(r->err, "absent/b: No such file or directory"));
}

static void help_and_version_answer(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" help");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "\n  iris "));
    assert_non_null(strstr(r->out, "\n  share "));
    assert_non_null(strstr(r->out, "\nexit status: 0 pass, "));
    r = shell("\"$UVEA\" help share; \"$UVEA\" iris --help");
    assert_non_null(strstr(r->out, "usage: uvea share split "));
    assert_non_null(strstr(r->out, "usage: uvea iris gen "));
    r = shell("\"$UVEA\" version");
    assert_int_equal(strncmp(r->out, "uvea ", 5), 0);
    assert_non_null(strstr(r->out, " build "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(distance_of_the_published_records, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(mirror_maps_the_second_record_to_the_first, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(all_31_published_rotations_agree, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(neighbouring_columns_carry_a_match_one_column_further,
                                        shell_set_up, shell_tear_down),
        cmocka_unit_test_setup_teardown(gen_depends_on_the_seed_alone, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(rotation_there_and_back_is_found_by_distance, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(show_draws_one_record, shell_set_up, shell_tear_down),
        cmocka_unit_test_setup_teardown(any_two_shares_give_the_templates_back, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(seeded_shares_repeat_and_say_so, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(share_files_are_these_bytes, shell_set_up, shell_tear_down),
        cmocka_unit_test_setup_teardown(shares_of_two_splits_do_not_join, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(inspect_tells_no_coefficient, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(dummies_join_to_the_deleted_template, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(bad_usage_is_named, shell_set_up, shell_tear_down),
        cmocka_unit_test_setup_teardown(bad_files_are_named_with_line_and_member, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(failing_output_is_noticed, shell_set_up, shell_tear_down),
        cmocka_unit_test_setup_teardown(failed_write_leaves_the_old_file, shell_set_up,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(help_and_version_answer, shell_set_up, shell_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
