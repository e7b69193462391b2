// One store for a test, on either back end, that can be closed, opened again and looked into with
// plain SQL.
#ifndef UVEA_TESTS_STORE_FIXTURE_H
#define UVEA_TESTS_STORE_FIXTURE_H

#include "core/store/sql.h"
#include "core/store/store.h"
#include "tests/store/fake_rt.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>

struct backend;

struct fixture {
    const struct backend *backend;
    char place[128]; // a file, or a schema
    struct uvea_store *store;
    struct uvea_error_context context;
};

struct backend {
    const char *name;
    // A place where nothing is yet.
    void (*place)(struct fixture *fixture);
    enum uvea_error (*open)(struct fixture *fixture);
    // Runs statements on the closed store's place. When value is not NULL: the first column of the
    // first row.
    void (*raw)(struct fixture *fixture, const char *sql, long long *value);
    // The thin layer's connection to the place.
    enum uvea_error (*connect)(struct fixture *fixture, struct uvea_sql **sql);
    // Changes with what is stored at the place, which nobody has open.
    uint64_t (*fingerprint)(struct fixture *fixture);
    // From now on writes of the open store fail, or no longer.
    void (*hurt)(struct fixture *fixture, bool on);
    // The open store's next topic_append fails in the middle of its commit; NULL: not to be had.
    void (*hurt_commit)(struct fixture *fixture, bool on);
    // Whether a second user of the place is kept waiting before it is refused.
    bool waits;
};

// The back end that this program tests.
extern const struct backend backend;

// What could not be done is told, and the process ends with status 77 when it is not installed.
int backend_start(void);
void backend_stop(void);

#define SUCCEED(fixture, call)                                                                     \
    do {                                                                                           \
        enum uvea_error succeed_error_ = (call);                                                   \
        if (succeed_error_ != UVEA_OK) {                                                           \
            fail_msg("%s: %s: %s", #call, uvea_error_name(succeed_error_),                         \
                     (fixture)->context.text);                                                     \
        }                                                                                          \
    } while (0)

#define REFUSE(fixture, error, call) assert_int_equal(error, call)

// Set-up and tear-down of a test.
int fixture_open(void **state);
int fixture_close(void **state);

void fixture_stop(struct fixture *fixture);  // closes the store
void fixture_again(struct fixture *fixture); // closes it when open, and opens it

// ---- samples

// A record whose coefficients tell which record, version and eye they belong to.
struct sample {
    struct uvea_store_record record;
    uint16_t eye[UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
};
struct sample *sample_make(uint32_t serial,
                           uint16_t version); // static, good until the 8th after it
void sample_check(const struct uvea_store_record *record, unsigned eyes);

// Adds serials first..first+count-1 by a commit.
void fixture_insert(struct fixture *fixture, uint32_t first, uint32_t count);
// Stores good messages first..first+count-1 with bodies "message N".
void fixture_ingest(struct fixture *fixture, uint64_t first, uint64_t count);
// Claims one message as a uniqueness request; its modification's id.
uint64_t fixture_claim(struct fixture *fixture, uint64_t sequence, const char *type);
// Commits that modification and message with the result {"n":ID}.
void fixture_complete(struct fixture *fixture, uint64_t id, uint64_t sequence);
struct uvea_store_ingest_state fixture_state(struct fixture *fixture);

// ---- what is stored, as text to compare

struct listing {
    size_t len;
    char text[4096];
};
UVEA_PRINTF(2, 3) void listing_add(struct listing *listing, const char *format, ...);
// "sequence:body[!]" each
enum uvea_error listing_message(void *arg, const struct uvea_store_message *message);
// "id:sequence:serial:type:url:state:persisted:result:attributes" each
enum uvea_error listing_modification(void *arg, const struct uvea_modification *modification);
// "number:id:sequence:type:body:attributes" each
enum uvea_error listing_result(void *arg, const struct uvea_store_result *result);
const char *list_modifications(struct fixture *fixture, size_t count);
const char *list_results(struct fixture *fixture, uint64_t after, size_t max);
const char *list_pending(struct fixture *fixture, size_t count);

#endif
