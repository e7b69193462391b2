// cluster.yaml: what is read from it, and the sentence for everything that is wrong in one.
#include "core/base/check.h"
#include "sim/live/cluster.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
#define PARTY(n) "  - {http: \"127.0.0.1:800" n "\", root: r" n ".pem, share_public_key: " KEY "}\n"
#define CLIENT "client: {key: c.key, certificate: /dev/null}\n"

static char directory[] = "/tmp/uvea-live-XXXXXX";
static char file[64];
static struct uvea_error_context context;

static void write_file(const char *text)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void a_short_file_is_read(void **state)
{
    (void)state;
    struct uvea_cluster cluster;
    char path[64];
    write_file("parties:\n" PARTY("0") PARTY("1") PARTY("2") CLIENT);
    assert_int_equal(uvea_cluster_load(file, &cluster, &context), UVEA_OK);
    assert_string_equal(cluster.folder, directory);
    assert_string_equal(cluster.parties[2].http, "127.0.0.1:8002");
    (void)snprintf(path, sizeof(path), "%s/r1.pem", directory);
    assert_string_equal(cluster.parties[1].root, path);
    assert_int_equal(cluster.parties[0].share_public_key[31], 32);
    assert_null(cluster.parties[0].store);
    assert_null(cluster.parties[0].kill);
    assert_string_equal(cluster.client_certificate, "/dev/null");
    const struct uvea_tls_config tls = uvea_cluster_tls(&cluster);
    assert_int_equal(tls.own_party, -1);
    assert_ptr_equal(tls.party_root_files[1], cluster.parties[1].root);
    assert_null(tls.client_root_file);
    uvea_cluster_deinit(&cluster);
}

static void everything_is_read(void **state)
{
    (void)state;
    struct uvea_cluster cluster;
    char path[64];
    write_file(CLIENT "parties:\n"
                      "  - http: \"[::1]:80\"\n    root: /dev/null\n    share_public_key: " KEY "\n"
                      "    store: postgres://u@h/d\n    schema: p0\n    log: l\n    start: run a\n"
                      "    stop: run b\n    kill: run 'c'\n" PARTY(
                          "1") "  - {http: \"h:1\", root: r, share_public_key: " KEY
                               ", store: s.db}\n");
    assert_int_equal(uvea_cluster_load(file, &cluster, &context), UVEA_OK);
    assert_string_equal(cluster.parties[0].http, "[::1]:80");
    assert_string_equal(cluster.parties[0].root, "/dev/null");
    assert_string_equal(cluster.parties[0].store, "postgres://u@h/d");
    assert_string_equal(cluster.parties[0].schema, "p0");
    assert_string_equal(cluster.parties[0].start, "run a");
    assert_string_equal(cluster.parties[0].stop, "run b");
    assert_string_equal(cluster.parties[0].kill, "run 'c'");
    (void)snprintf(path, sizeof(path), "%s/l", directory);
    assert_string_equal(cluster.parties[0].log, path);
    (void)snprintf(path, sizeof(path), "%s/s.db", directory);
    assert_string_equal(cluster.parties[2].store, path);
    uvea_cluster_deinit(&cluster);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence; // behind the file's name
    } cases[] = {
        {"", ": is empty"},
        {"# nothing\n", ": is empty"},
        {"- 1\n", ":1: keys with values are wanted"},
        {"a: [\n", ":2: did not find expected node content"},
        {CLIENT, ":1: parties is missing"},
        {"parties: []\n", ":1: client is missing"},
        {CLIENT CLIENT, ":2: client: given twice"},
        {"partys: 1\n", ":1: partys: no such key"},
        {"? [a]\n: 1\n", ":1: a key must be a plain word"},
        {CLIENT "parties: 3\n", ":2: parties: a list is wanted"},
        {CLIENT "parties:\n" PARTY("0"), ":3: parties: 3 elements are wanted, 1 are there"},
        {CLIENT "parties:\n" PARTY("0") "  - x\n" PARTY("2"),
         ":4: parties[1]: keys with values are wanted"},
        {CLIENT "parties:\n" PARTY("0") PARTY("1") "  - {http: \"h:1\", root: r}\n",
         ":5: parties[2]: share_public_key is missing"},
        {CLIENT "parties:\n" PARTY("0") PARTY("1") "  - http: h\n    root: r\n"
                                                   "    share_public_key: " KEY "\n",
         ":5: parties[2]: http: 'h' is not host:port"},
        {CLIENT "parties:\n" PARTY("0") PARTY("1") "  - http: \"h:1\"\n    root:\n"
                                                   "    share_public_key: " KEY "\n",
         ":6: parties[2].root: a single value is wanted"},
        {CLIENT "parties:\n" PARTY("0") PARTY("1") "  - http: \"h:1\"\n    root: r\n"
                                                   "    share_public_key: AAAA\n",
         ":7: parties[2]: share_public_key: base64: holds 3 bytes, 32 are wanted"},
        {CLIENT "parties:\n" PARTY("0")
             PARTY("1") "  - {http: \"h:1\", root: r, share_public_key: " KEY ", schema: p}\n",
         ":5: parties[2]: schema: goes with a store that is a postgres:// URL"},
        {"client: {key: k}\nparties:\n" PARTY("0") PARTY("1") PARTY("2"),
         ":1: client: certificate is missing"},
        {"parties:\n" PARTY("0") PARTY("3") PARTY("2") CLIENT,
         ":3: parties[1]: root: DIR/r3.pem: No such file or directory"},
        {"client: {certificate: r, key: none}\nparties:\n" PARTY("0") PARTY("1") PARTY("2"),
         ":1: client: key: DIR/none: No such file or directory"},
        {"parties:\n" PARTY("0") PARTY("1") PARTY("2") CLIENT "---\na: b\n",
         ":6: a second document"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_cluster cluster;
        char sentence[512];
        const char *rest = strstr(cases[i].sentence, "DIR");
        const int before = rest != NULL ? (int)(rest - cases[i].sentence) : 200;
        write_file(cases[i].text);
        (void)snprintf(sentence, sizeof(sentence), "%s%.*s%s%s", file, before, cases[i].sentence,
                       rest != NULL ? directory : "", rest != NULL ? rest + strlen("DIR") : "");
        assert_int_equal(uvea_cluster_load(file, &cluster, &context), UVEA_ERR_FORMAT);
        assert_string_equal(context.text, sentence);
    }
    struct uvea_cluster cluster;
    assert_int_equal(uvea_cluster_load("/nowhere/c.yaml", &cluster, &context), UVEA_ERR_NOT_FOUND);
    assert_string_equal(context.text, "/nowhere/c.yaml: No such file or directory");
}

// What the texts name and is there.
static const char *const named[] = {"r", "r0.pem", "r1.pem", "r2.pem", "c.key", "k"};

static int enter(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < UVEA_COUNT_OF(named); i++) {
        (void)snprintf(file, sizeof(file), "%s/%s", directory, named[i]);
        write_file("");
    }
    (void)snprintf(file, sizeof(file), "%s/c.yaml", directory);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink(file);
    for (size_t i = 0; i < UVEA_COUNT_OF(named); i++) {
        (void)snprintf(file, sizeof(file), "%s/%s", directory, named[i]);
        (void)unlink(file);
    }
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_file_is_read),
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
