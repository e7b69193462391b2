// The configuration as a whole: what is refused, and with which words.
#include "core/daemon/config.h"
#include "tests/daemon/rig.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_good(struct rig *rig)
{
    assert_string_equal(rig_said(rig), "");
    assert_int_equal(rig->complaints.count, 0);
}

// text as the file is refused with exactly this sentence behind the file's name.
static void assert_refused(struct rig *rig, const char *text, const char *sentence)
{
    char wanted[512];

    rig_read(rig, text, NULL);
    (void)snprintf(wanted, sizeof(wanted), "%s%s\n", rig->file, sentence);
    if (strstr(rig_said(rig), wanted) == NULL) {
        fail_msg("wanted: %s got: %s", wanted, rig_said(rig));
    }
}

static void assert_all_is(struct rig *rig, const char *more, const char *sentence)
{
    char text[2048];
    char wanted[512];

    (void)snprintf(text, sizeof(text), "%s%s", rig_good, more);
    rig_read(rig, text, NULL);
    (void)snprintf(wanted, sizeof(wanted), "%s%s\n", rig->file, sentence);
    assert_string_equal(rig_said(rig), wanted);
}

// ---- what is good

static void test_good(void **state)
{
    struct rig *rig = *state;
    char path[256];

    rig_read(rig, rig_good, NULL);
    assert_good(rig);
    assert_int_equal(uvea_config_number(&rig->config, UVEA_KEY_root_party), 1);
    assert_int_equal(uvea_config_number(&rig->config, UVEA_KEY_mesh_sessions), 24);
    assert_string_equal(uvea_config_of_party(&rig->config, UVEA_KEY_mesh_dial, 2),
                        "127.0.0.1:7002");
    (void)snprintf(path, sizeof(path), "%s/share.key", rig->folder);
    assert_string_equal(uvea_config_text(&rig->config, UVEA_KEY_keys_share_key), path);
    assert_null(uvea_config_text(&rig->config, UVEA_KEY_tls_client_root));
}

static void test_variables_win(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__PARTY=2", "HOME=/", "UVEA__STORE__SQLITE=/elsewhere.db",
                           "UVEA__MESH__DIAL=localhost:1,localhost:2,localhost:3", NULL};

    rig_read(rig, rig_good, environment);
    assert_good(rig);
    assert_int_equal(uvea_config_number(&rig->config, UVEA_KEY_root_party), 2);
    assert_string_equal(uvea_config_text(&rig->config, UVEA_KEY_store_sqlite), "/elsewhere.db");
    assert_string_equal(uvea_config_of_party(&rig->config, UVEA_KEY_mesh_dial, 1), "localhost:2");
}

static void test_variables_alone(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__PARTY=2",
                           "UVEA__MESH__LISTEN=localhost:1",
                           "UVEA__MESH__DIAL=localhost:1,localhost:2,localhost:3",
                           "UVEA__HTTP__LISTEN=localhost:4",
                           "UVEA__HTTP__PEERS=localhost:1,localhost:2,localhost:3",
                           "UVEA__TLS__ENABLED=false",
                           "UVEA__KEYS__SHARE_KEY=k",
                           "UVEA__STORE__SQLITE=s",
                           NULL};

    rig_read(rig, NULL, environment);
    assert_good(rig);
    assert_string_equal(uvea_config_text(&rig->config, UVEA_KEY_keys_share_key), "k");
}

// What is printed reads back as the same; the password is not in it.
static void test_print(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__STORE__POSTGRES_URL=postgres://u:hunter2@h/d",
                           "UVEA__STORE__SQLITE=", "UVEA__ENVIRONMENT=a\"b\\c", NULL};
    struct uvea_buf first = {0};
    struct uvea_buf second = {0};

    rig_read(rig, rig_good, environment);
    assert_good(rig);
    assert_int_equal(uvea_config_print(&rig->config, &first), UVEA_OK);
    assert_int_equal(uvea_buf_append(&first, "", 1), UVEA_OK);
    assert_null(strstr((char *)first.data, "hunter2"));
    assert_non_null(strstr((char *)first.data, "# postgres_url is given and not shown\n"));
    environment[1] = NULL;
    rig_read(rig, (char *)first.data, environment);
    assert_good(rig);
    assert_int_equal(uvea_config_print(&rig->config, &second), UVEA_OK);
    assert_int_equal(uvea_buf_append(&second, "", 1), UVEA_OK);
    assert_string_equal((char *)first.data, (char *)second.data);
    uvea_buf_deinit(&first);
    uvea_buf_deinit(&second);
}

// ---- what the text is not

static void test_structure(void **state)
{
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
        {"", ": is empty"},
        {"# nothing\n", ": is empty"},
        {"word\n", ":1: want sections and keys"},
        {"- party\n", ":1: want sections and keys"},
        {"party: 1\n---\nparty: 1\n", ":2: a second document"},
        {"party: 1\nparty: 2\n", ":2: party: given already in line 1"},
        {"mesh:\n  retry_ms: 1\nprf: aes128\nmesh:\n  recv_ms: 2\n",
         ":4: mesh: given already in line 1"},
        {"mesh:\n  retry_ms: 1\n  retry_ms: 2\n", ":3: mesh.retry_ms: given already in line 2"},
        {"mesh: 5\n", ":1: mesh: a section; its keys stand indented below"},
        {"mesh:\n", ":1: mesh: a section; its keys stand indented below"},
        {"party:\n", ":1: party: has no value"},
        {"party: ~\n", ":1: party: has no value"},
        {"party: [1]\n", ":1: party: want one value"},
        {"party: {a: 1}\n", ":1: party: want one value"},
        {"mesh:\n  dial: a:1\n", ":2: mesh.dial: want a list of three values, one for each party"},
        {"mesh:\n  dial: [a:1, b:2]\n",
         ":2: mesh.dial: want a list of three values, one for each party"},
        {"mesh:\n  dial: [a:1, b:2, c:3, d:4]\n",
         ":2: mesh.dial: want a list of three values, one for each party"},
        {"mesh:\n  dial: [1, 2, 3, 4, 5, 6, 7, 8, 9, [10], 11]\nprf: x\n",
         ":3: prf: 'x' is not one of: aes128 chacha8"},
        {"mesh:\n  dial: [a:1, [b:2], c:3]\n",
         ":2: mesh.dial: want a list of three values, one for each party"},
        {"mesh:\n  dial: [a:1, , c:3]\n", ":2: did not find expected node content"},
        {"prf: &x aes128\n", ":1: prf: an anchor; values are not named"},
        {"mesh: &m\n  retry_ms: 1\n", ":1: mesh: an anchor; values are not named"},
        {"prf: aes128\nenvironment: *x\n", ":2: environment: an alias; write the value out"},
        {"mesh:\n  dial: [*x, b:1, c:1]\n", ":2: mesh.dial: an alias; write the value out"},
        {"mesh:\n  <<: *m\n", ":2: no such key: mesh.<<"},
        {"party: !!int 1\n", ":1: party: a tag; values have no types of their own"},
        {"? [a, b]\n: 1\nprf: x\n", ":3: prf: 'x' is not one of: aes128 chacha8"},
        {"? [a, b]\n: 1\n", ":1: a key must be a plain word"},
        {"mesh.retry_ms: 1\n", ":1: a key must be a plain word"},
        {"root:\n  party: 1\n", ":1: no such key: root"},
        {"mseh:\n  listen: a:1\n", ":1: no such key: mseh; is mesh meant?"},
        {"party: 1\nservce: {luc: true}\n", ":2: no such key: servce; is service meant?"},
        {"parti: 1\n", ":1: no such key: parti; is party meant?"},
        {"lib: 1\n", ":1: no such key: lib"},
        {"mesh:\n  mesh:\n    retry_ms: 1\n", ":2: no such key: mesh.mesh"},
        {"party: \"1\\0\"\n", ":1: party: holds a NUL character"},
        {"party: 1\n\tprf: aes128\n", ":2: found a tab character that violates indentation"},
        {"party: 1\nmesh: [\n", ":3: did not find expected node content"},
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(rig, cases[i].text, cases[i].sentence);
    }
    assert_refused(rig, "party: \xff\n", ": byte 7: invalid leading UTF-8 octet");
}

static void test_files_that_cannot_be_read(void **state)
{
    struct rig *rig = *state;
    char *nothing[] = {NULL};
    char *text = calloc(1, UVEA_CONFIG_BYTES_MAX + 2);

    uvea_config_read("/no/such/file.yaml", nothing, &rig->config, &rig->complaints);
    assert_string_equal(rig_said(rig), "/no/such/file.yaml: No such file or directory\n");
    uvea_config_deinit(&rig->config);
    uvea_complaints_deinit(&rig->complaints);
    uvea_config_read(rig->folder, nothing, &rig->config, &rig->complaints);
    assert_non_null(strstr(rig_said(rig), ": Is a directory\n"));
    assert_non_null(text);
    memset(text, '#', UVEA_CONFIG_BYTES_MAX + 1);
    assert_refused(rig, text, ": longer than 1048576 bytes");
    free(text);
}

// Of a file that is not known to its end nothing is said to be missing; all else is.
static void test_only_what_is_known_is_missing(void **state)
{
    static const struct {
        const char *text;
        size_t complaints;
    } cases[] = {
        {"", 1},
        {"word\n", 1},
        {"&x {party: 1}\n", 1},
        {"party: 1\nprf: [\n", 2},
        {"prf: x\n\tparty: 1\n", 1},
        {"party: \xff\n", 1},
        {"party: 1\n", 5}, // that must be given; TLS and the store are looked at later
    };
    struct rig *rig = *state;
    char *environment[] = {"UVEA__LOG__LEVEL=loud", NULL};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_read(rig, cases[i].text, NULL);
        if (rig->complaints.count != cases[i].complaints) {
            fail_msg("for <%s>: %s", cases[i].text, rig_said(rig));
        }
    }
    rig_read(rig, "", environment);
    assert_int_equal(rig->complaints.count, 2);
}

// The variables of a section that is none, or of a section alone.
static void test_nearest_variable(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__MESH=1", "UVEA__SERVCE=1", "UVEA__MSEH__LISTEN=a:1", NULL};

    rig_read(rig, rig_good, environment);
    assert_string_equal(
        rig_said(rig),
        "environment: no such key: UVEA__MESH; is one like UVEA__MESH__LISTEN meant?\n"
        "environment: no such key: UVEA__SERVCE; is one like UVEA__SERVICE__BATCH_REQUESTS_MAX "
        "meant?\n"
        "environment: no such key: UVEA__MSEH__LISTEN; is UVEA__MESH__LISTEN meant?\n");
}

// Everything that is wrong is said at once, and a value that is not good is no value.
static void test_all_at_once(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__LOG__LEVEL=loud", "UVEA__LOG__LEVEL=info", "UVEA__=1",
                           "UVEA__MESH__DIAL=a:1,b:2", NULL};
    char wanted[1024];

    rig_read(rig, "party: 3\nmesh:\n  sesions: 8\n  listen: nowhere\n", environment);
    (void)snprintf(wanted, sizeof(wanted),
                   "%s:1: party: '3' is not one of: 0 1 2\n"
                   "%s:3: no such key: mesh.sesions; is mesh.sessions meant?\n"
                   "%s:4: mesh.listen: 'nowhere' is not host:port with a port from 1 to 65535\n"
                   "UVEA__LOG__LEVEL: 'loud' is not one of: debug info warn error\n"
                   "environment: UVEA__LOG__LEVEL: given twice\n"
                   "environment: no such key: UVEA__\n"
                   "UVEA__MESH__DIAL: want a list of three values, one for each party\n"
                   "http.listen is missing (where peers, clients and monitoring call); give it in "
                   "a file or as UVEA__HTTP__LISTEN\n",
                   rig->file, rig->file, rig->file);
    assert_ptr_equal(strstr(rig_said(rig), wanted), rig_said(rig));
    assert_int_equal(rig->complaints.count, 10);
}

static void test_many_complaints_are_counted(void **state)
{
    struct rig *rig = *state;
    char text[4096] = "";

    for (int i = 0; i < 200; i++) {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "nokey%d: 1\n", i);
    }
    rig_read(rig, text, NULL);
    assert_true(rig->complaints.count > 200);
    assert_true(rig->complaints.text.len < 100 * 200);
}

// ---- keys that must fit each other

static void test_keys_together(void **state)
{
    struct rig *rig = *state;
    char text[1024];

    assert_all_is(rig, "  postgres_url: postgres:///x\n",
                  ":13: store.sqlite: store.postgres_url is given too; one store is meant");
    assert_all_is(rig, "  schema: a;b\n",
                  ":14: store.schema: 'a;b' holds more than letters, digits, '_' and '-'");
    assert_all_is(rig, "service:\n  ingest_backoff_min_ms: 6000\n",
                  ":15: service.ingest_backoff_min_ms: 6000 is more than "
                  "service.ingest_backoff_max_ms (5000)");
    assert_all_is(rig, "coordination:\n  lag_min_ms: 101\n",
                  ":15: coordination.lag_min_ms: 101 is more than coordination.lag_max_ms (100)");
    (void)snprintf(text, sizeof(text), "%.*s  sessions: 12\n%s", 15, rig_good, rig_good + 15);
    assert_refused(rig, text, ":3: mesh.sessions: 12 is not a multiple of 8");
    (void)snprintf(text, sizeof(text), "%.*s  queue_bytes_max: 67108864\n%s", 15, rig_good,
                   rig_good + 15);
    assert_refused(rig, text,
                   ":3: mesh.queue_bytes_max: does not hold one value of mesh.value_bytes_max "
                   "(67108864) and 260 bytes more");
}

static void test_no_store(void **state)
{
    struct rig *rig = *state;
    char *environment[] = {"UVEA__STORE__SQLITE=", NULL};

    rig_read(rig, rig_good, environment);
    assert_string_equal(rig_said(rig),
                        "store.sqlite is missing, and so is store.postgres_url; give one of them "
                        "in a file or as UVEA__STORE__SQLITE or UVEA__STORE__POSTGRES_URL\n");
}

// The sentence names the key and not the value.
static void test_postgres_url(void **state)
{
    static const char sentence[] =
        "UVEA__STORE__POSTGRES_URL: neither a postgresql:// URL nor a list of name=value that "
        "libpq knows (not shown, as it may hold a password)\n";
    static char *const bad[] = {
        "UVEA__STORE__POSTGRES_URL=junk:hunter2",
        "UVEA__STORE__POSTGRES_URL=pasword=hunter2",
        "UVEA__STORE__POSTGRES_URL=postgresql://u:hunter2@[::1/d",
        "UVEA__STORE__POSTGRES_URL=postgresql://u:hunter2@h/d?no=1",
    };
    static char *const good[] = {
        "UVEA__STORE__POSTGRES_URL=postgresql://u:p%20w@[::1]:5432/d?sslmode=require",
        "UVEA__STORE__POSTGRES_URL=host=/tmp dbname=d password='a b'",
    };
    struct rig *rig = *state;
    char *environment[] = {"UVEA__STORE__SQLITE=", NULL, NULL};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        environment[1] = bad[i];
        rig_read(rig, rig_good, environment);
        assert_string_equal(rig_said(rig), sentence);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        environment[1] = good[i];
        rig_read(rig, rig_good, environment);
        assert_string_equal(rig_said(rig), "");
    }
}

static void test_tls(void **state)
{
    struct rig *rig = *state;
    char *with[] = {"UVEA__TLS__ENABLED=true", NULL};
    char *without[] = {"UVEA__MESH__DIAL=localhost:1,10.0.0.1:1,127.0.0.2:3",
                       "UVEA__HTTP__LISTEN=0.0.0.0:80", NULL};

    rig_read(rig, rig_good, with);
    assert_int_equal(rig->complaints.count, 3);
    assert_non_null(strstr(rig_said(rig), "tls.roots is missing (each party's root certificate, "
                                          "PEM; all different); give it in a file or as "
                                          "UVEA__TLS__ROOTS\n"));
    rig_read(rig, rig_good, without);
    assert_int_equal(rig->complaints.count, 2);
    assert_non_null(strstr(rig_said(rig), "UVEA__MESH__DIAL: '10.0.0.1:1' is no loopback address, "
                                          "and "));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(test_good),
        WITH_RIG(test_variables_win),
        WITH_RIG(test_variables_alone),
        WITH_RIG(test_print),
        WITH_RIG(test_structure),
        WITH_RIG(test_files_that_cannot_be_read),
        WITH_RIG(test_only_what_is_known_is_missing),
        WITH_RIG(test_nearest_variable),
        WITH_RIG(test_all_at_once),
        WITH_RIG(test_many_complaints_are_counted),
        WITH_RIG(test_keys_together),
        WITH_RIG(test_no_store),
        WITH_RIG(test_postgres_url),
        WITH_RIG(test_tls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
