// Every key of the table, in a file and in a variable: the same value, the same judgement.
#include "core/daemon/settings.h"
#include "tests/daemon/rig.h"
#include "tests/support/cmocka.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 4096 };

static bool is_root(enum uvea_key key)
{
    return strcmp(uvea_key_info(key)->section, "root") == 0;
}

// A configuration file with this key alone.
static void write_one(enum uvea_key key, const char *name, const char *value, char *text)
{
    const struct uvea_key_info *info = uvea_key_info(key);

    if (is_root(key)) {
        (void)snprintf(text, TEXT_BYTES, "%.200s: %.2000s\n", name, value);
    } else {
        (void)snprintf(text, TEXT_BYTES, "%.200s:\n  %.200s: %.2000s\n", info->section, name,
                       value);
    }
}

// A value that is not the default.
static void sample(enum uvea_key key, char *value)
{
    const struct uvea_key_info *info = uvea_key_info(key);
    const char *choice;

    switch (info->kind) {
    case UVEA_KEY_NUMBER:
        (void)snprintf(value, TEXT_BYTES, "%" PRIu64, info->high - 3);
        break;
    case UVEA_KEY_CHOICE:
        choice = strchr(info->choices, ' ') + 1; // the second, or the first when that is it
        if (info->value != NULL && strncmp(choice, info->value, strlen(info->value)) == 0) {
            choice = info->choices;
        }
        (void)snprintf(value, TEXT_BYTES, "%.*s", (int)strcspn(choice, " "), choice);
        break;
    case UVEA_KEY_ADDRESS:
        (void)snprintf(value, TEXT_BYTES, "[::1]:65535");
        break;
    case UVEA_KEY_ADDRESSES:
        (void)snprintf(value, TEXT_BYTES, "a.example:1,b-2.example:2,127.0.0.1:3");
        break;
    case UVEA_KEY_CPUS:
        (void)snprintf(value, TEXT_BYTES, "2-5,0");
        break;
    case UVEA_KEY_FILES:
        (void)snprintf(value, TEXT_BYTES, "x.pem,/y/y.pem,../z.pem");
        break;
    default:
        (void)snprintf(value, TEXT_BYTES, "some-name");
        break;
    }
}

// The same value as a file has it.
static void in_file(enum uvea_key key, const char *value, char *text)
{
    (void)snprintf(text, TEXT_BYTES, uvea_key_is_list(key) ? "[%.1000s]" : "\"%.1000s\"", value);
}

static void print(const struct rig *rig, char *text)
{
    struct uvea_buf out = {0};

    assert_int_equal(uvea_config_print(&rig->config, &out), UVEA_OK);
    (void)snprintf(text, 4 * TEXT_BYTES, "%.*s", (int)out.len, (const char *)out.data);
    uvea_buf_deinit(&out);
}

// What a key became: the whole configuration as it is printed, and the text itself, which a
// secret's is not in.
struct outcome {
    char printed[4 * TEXT_BYTES];
    char text[TEXT_BYTES];
};

static void take_outcome(const struct rig *rig, unsigned key, struct outcome *outcome)
{
    const char *text = rig->config.values[key].text[0];

    print(rig, outcome->printed);
    (void)snprintf(outcome->text, sizeof(outcome->text), "%s", text != NULL ? text : "");
}

static void check_both_ways(struct rig *rig, enum uvea_key key, const struct outcome *before)
{
    static struct outcome by_file;
    static struct outcome by_variable;
    char value[TEXT_BYTES];
    char listed[TEXT_BYTES];
    char text[TEXT_BYTES];
    char name[UVEA_KEY_CHARS_MAX];
    char *environment[] = {text, NULL};

    sample(key, value);
    in_file(key, value, listed);
    write_one(key, uvea_key_info(key)->name, listed, text);
    rig_read(rig, text, NULL);
    assert_null(strstr(rig_said(rig), "no such key"));
    take_outcome(rig, key, &by_file);

    uvea_key_variable(key, name);
    (void)snprintf(text, sizeof(text), "%s=%.1000s", name, value);
    rig_read(rig, "log: {level: info}\n", environment);
    assert_null(strstr(rig_said(rig), "no such key"));
    take_outcome(rig, key, &by_variable);

    assert_string_equal(by_file.printed, by_variable.printed);
    assert_string_equal(by_file.text, by_variable.text);
    assert_string_not_equal(by_file.printed, before->printed);
}

static void test_file_and_variable_give_the_same(void **state)
{
    static struct outcome before;
    struct rig *rig = *state;

    rig_read(rig, "log: {level: info}\n", NULL);
    take_outcome(rig, UVEA_KEY_root_party, &before);
    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        check_both_ways(rig, (enum uvea_key)key, &before);
    }
}

static void test_each_key_misspelt(void **state)
{
    struct rig *rig = *state;

    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        char name[UVEA_KEY_CHARS_MAX];
        char wrong[UVEA_KEY_CHARS_MAX + 1];
        char text[TEXT_BYTES];
        char wanted[TEXT_BYTES];
        char *environment[] = {text, NULL};

        uvea_key_name((enum uvea_key)key, name);
        (void)snprintf(wrong, sizeof(wrong), "%.48sx", uvea_key_info((enum uvea_key)key)->name);
        write_one((enum uvea_key)key, wrong, "1", text);
        rig_read(rig, text, NULL);
        (void)snprintf(wanted, sizeof(wanted), "%s:%d: no such key: %sx; is %s meant?", rig->file,
                       is_root((enum uvea_key)key) ? 1 : 2, name, name);
        assert_non_null(strstr(rig_said(rig), wanted));

        uvea_key_variable((enum uvea_key)key, name);
        (void)snprintf(text, sizeof(text), "%sX=1", name);
        rig_read(rig, NULL, environment);
        (void)snprintf(wanted, sizeof(wanted), "environment: no such key: %sX; is %s meant?", name,
                       name);
        assert_non_null(strstr(rig_said(rig), wanted));
    }
}

static bool takes(enum uvea_key key, const char *text)
{
    struct uvea_error_context context = {{0}};
    uint64_t number;
    const enum uvea_error error = uvea_key_parse(key, "HERE", text, &number, &context);

    if (error != UVEA_OK) {
        assert_int_equal(error, UVEA_ERR_FORMAT);
        assert_ptr_equal(strstr(context.text, "HERE: "), context.text);
    }
    return error == UVEA_OK;
}

static void test_bounds_of_each_number(void **state)
{
    (void)state;
    for (unsigned k = 0; k < UVEA_KEY_COUNT; k++) {
        static const char *const bad[] = {
            "", "-1", "1.5", "0x10", "1e3", " 1", "1 ", "one", "18446744073709551616"};
        const enum uvea_key key = (enum uvea_key)k;
        const struct uvea_key_info *info = uvea_key_info(key);
        char text[32];

        if (info->kind != UVEA_KEY_NUMBER) {
            continue;
        }
        assert_int_equal(takes(key, "0"), info->low == 0);
        assert_int_equal(takes(key, "1"), info->low <= 1);
        for (uint64_t d = 0; d < 2; d++) {
            (void)snprintf(text, sizeof(text), "%" PRIu64, info->low - d);
            assert_int_equal(takes(key, text),
                             d == 0 || (info->low == 0 && info->high == UINT64_MAX));
            (void)snprintf(text, sizeof(text), "%" PRIu64, info->high + d);
            assert_int_equal(takes(key, text),
                             d == 0 || (info->low == 0 && info->high == UINT64_MAX));
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            assert_false(takes(key, bad[i]));
        }
    }
}

// What a key lets pass, no module refuses.
static void test_bounds_are_those_of_the_modules(void **state)
{
    static const struct {
        enum uvea_key key;
        uint64_t high;
    } bounds[] = {
        {UVEA_KEY_mesh_sessions, UVEA_SEARCH_SESSIONS_MAX},
        {UVEA_KEY_mesh_connections, UVEA_MESH_CONNECTION_COUNT_MAX},
        {UVEA_KEY_mesh_value_bytes_max, UINT32_MAX},
        {UVEA_KEY_scan_chunk_records, UVEA_SEARCH_CHUNK_RECORDS},
        {UVEA_KEY_service_batch_requests_max, UVEA_BATCH_REQUESTS_MAX},
        {UVEA_KEY_service_records_max, UVEA_RESIDENT_RECORDS_MAX},
        {UVEA_KEY_service_lookback, UVEA_COLD_RECORDS_MAX - 1},
        {UVEA_KEY_service_cold_cache_records, UVEA_COLD_RECORDS_MAX},
        {UVEA_KEY_service_modifications_lookback, UVEA_SYNC_MODIFICATIONS_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        assert_int_equal(uvea_key_info(bounds[i].key)->high, bounds[i].high);
    }
    assert_int_equal(UVEA_KEY_CPUS_MAX, UVEA_POSIX_CPUS_MAX);
}

static void test_choices(void **state)
{
    (void)state;
    for (unsigned k = 0; k < UVEA_KEY_COUNT; k++) {
        const enum uvea_key key = (enum uvea_key)k;
        const char *choices = uvea_key_info(key)->choices;

        for (const char *c = choices; c != NULL && *c != '\0'; c += *c == ' ') {
            char choice[32];

            char written[UVEA_KEY_CHARS_MAX];
            uint64_t number = 0;

            (void)snprintf(choice, sizeof(choice), "%.*s", (int)strcspn(c, " "), c);
            assert_int_equal(uvea_key_parse(key, "", choice, &number, NULL), UVEA_OK);
            uvea_key_format(key, number, written);
            assert_string_equal(written, choice);
            c += strcspn(c, " ");
        }
        if (choices != NULL) {
            assert_false(takes(key, ""));
            assert_false(takes(key, choices));
            assert_false(takes(key, "yes"));
        }
    }
}

static void test_texts(void **state)
{
    static const char *const addresses[] = {
        "",        "host",    ":1",     "host:",   "host:0", "host:65536",
        "host:01", "ho st:1", "::1:80", "[::1:80", "a/b:1",  "host:1x"};
    static const char *const cpus[] = {"-",  "1-", "3-2", "1,1", "0-3,2", "1024",
                                       "1,", ",1", "a",   "1 2", "99999"};

    (void)state;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        assert_false(takes(UVEA_KEY_mesh_listen, addresses[i]));
    }
    for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
        assert_false(takes(UVEA_KEY_scan_cpus, cpus[i]));
    }
    assert_true(takes(UVEA_KEY_scan_cpus, "0-1023"));
    assert_true(takes(UVEA_KEY_scan_cpus, ""));
    assert_false(takes(UVEA_KEY_root_environment, "two words"));
    assert_false(takes(UVEA_KEY_root_environment, ""));
}

static void test_cpus_in_order(void **state)
{
    static unsigned cpus[UVEA_KEY_CPUS_MAX];

    (void)state;
    assert_int_equal(uvea_key_cpus("7,2-4,0", cpus), 5);
    assert_memory_equal(cpus, ((unsigned[]){7, 2, 3, 4, 0}), 5 * sizeof(cpus[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file_and_variable_give_the_same, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(test_each_key_misspelt, rig_open, rig_close),
        cmocka_unit_test(test_bounds_of_each_number),
        cmocka_unit_test(test_bounds_are_those_of_the_modules),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_cpus_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
