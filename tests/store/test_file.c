// What is refused as a database file, and that it is left as it was.
#include "tests/store/fixture.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

static void refuse_unwritten(struct fixture *fixture, enum uvea_error wanted, const char *sentence)
{
    uint64_t before = backend.fingerprint(fixture);
    REFUSE(fixture, wanted, backend.open(fixture));
    if (strstr(fixture->context.text, sentence) == NULL ||
        strstr(fixture->context.text, fixture->place) == NULL) {
        fail_msg("%s: %s", sentence, fixture->context.text);
    }
    assert_int_equal(backend.fingerprint(fixture), before);
}

static void write_file(struct fixture *fixture, const char *text, size_t times)
{
    FILE *file = fopen(fixture->place, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < times; i++) {
        assert_true(fputs(text, file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
}

static void test_no_database(void **state)
{
    struct fixture *fixture = *state;
    fixture_stop(fixture);
    write_file(fixture, "a letter to somebody\n", 1000);
    refuse_unwritten(fixture, UVEA_ERR_FORMAT, "is no SQLite database");
    write_file(fixture, "note", 1);
    refuse_unwritten(fixture, UVEA_ERR_FORMAT, "is no SQLite database");
    write_file(fixture, "", 0); // an empty file is a new database
    fixture_again(fixture);
}

static void test_cut_short(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 4);
    fixture_stop(fixture);
    assert_int_equal(truncate(fixture->place, 40 * 4096), 0);
    refuse_unwritten(fixture, UVEA_ERR_STATE, "the database file is damaged");
}

// An index that does not know a row would hide the message from its reader.
static void test_index_without_a_row(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 1);
    fixture_stop(fixture);
    backend.raw(fixture,
                "CREATE TEMP TABLE was AS SELECT sql FROM sqlite_schema"
                " WHERE name = 'ingested_requests_pending';"
                "DROP INDEX ingested_requests_pending;"
                "CREATE INDEX ingested_requests_pending ON ingested_requests (sequence_number)"
                " WHERE 1 = 0;"
                "PRAGMA writable_schema = ON;"
                "UPDATE sqlite_schema SET sql = (SELECT sql FROM was)"
                " WHERE name = 'ingested_requests_pending'",
                NULL);
    refuse_unwritten(fixture, UVEA_ERR_STATE, "missing from index");
}

// A row that breaks a rule of the schema, written by somebody who went round it.
static void test_rule_broken(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 1);
    (void)fixture_claim(fixture, 1, "uniqueness");
    fixture_stop(fixture);
    backend.raw(fixture,
                "PRAGMA ignore_check_constraints = ON;"
                "UPDATE modifications SET status = 'LOST'",
                NULL);
    refuse_unwritten(fixture, UVEA_ERR_STATE, "CHECK constraint failed");
}

static void test_no_place(void **state)
{
    struct fixture *fixture = *state;
    fixture_stop(fixture);
    static const struct {
        const char *path;
        const char *vfs;
        enum uvea_error error;
    } wrong[] = {
        {"", NULL, UVEA_ERR_USAGE},
        {":memory:", NULL, UVEA_ERR_USAGE},
        {"/", NULL, UVEA_ERR_IO},
        {"/nonexistent/party.db", NULL, UVEA_ERR_IO},
        {"party.db", "no such vfs", UVEA_ERR_IO},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        REFUSE(fixture, wrong[i].error,
               uvea_store_open_sqlite(uvea_test_rt(), wrong[i].path, wrong[i].vfs, &fixture->store,
                                      &fixture->context));
        assert_null(fixture->store);
    }
}

int main(void)
{
    if (backend_start() != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_database, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(test_cut_short, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(test_index_without_a_row, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(test_rule_broken, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(test_no_place, fixture_open, fixture_close),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    backend_stop();
    return failures;
}
