// A model of the whole service for tests: random identities, and batches of orders.
#ifndef UVEA_TESTS_ORACLE_SERVICE_BENCH_H
#define UVEA_TESTS_ORACLE_SERVICE_BENCH_H

#include "core/base/mem.h"
#include "oracle/service.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"

#include <stdio.h>

static const struct uvea_oracle_config service_config = {
    .full_scan_eye = UVEA_ORACLE_LEFT,
    .return_partial_results = true,
    .luc_enabled = true,
    .luc_serial_ids_from_request = true,
    .supermatch_limit = 4000,
};
static const struct uvea_oracle_gates service_gates = {true, true, true, true};

// Serial s holds random_pair(s) at version 0. Each order has a pair of its own to share out.
struct service_bench {
    struct uvea_oracle_service service;
    struct uvea_oracle_order orders[UVEA_ORACLE_BATCH_MAX];
    struct uvea_oracle_pair pairs[UVEA_ORACLE_BATCH_MAX];
    char ids[UVEA_ORACLE_BATCH_MAX][8];
    struct uvea_oracle_ruling rulings[UVEA_ORACLE_BATCH_MAX];
    size_t count;
};

static inline struct service_bench *service_open(const struct uvea_oracle_config *config,
                                                 const struct uvea_oracle_gates *gates,
                                                 uint32_t records)
{
    struct service_bench *b = uvea_mem_alloc(1, sizeof(*b));
    assert_non_null(b);
    uvea_oracle_service_init(&b->service, config, gates);
    for (uint32_t s = 1; s <= records; s++) {
        struct uvea_oracle_pair pair = random_pair(s);
        uint32_t serial;
        assert_int_equal(uvea_oracle_service_seed(&b->service, &pair, &serial), UVEA_OK);
        assert_int_equal(serial, s);
    }
    return b;
}

// Forgets the batch.
static inline void service_clear(struct service_bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        uvea_oracle_ruling_deinit(&b->rulings[i]);
    }
    b->count = 0;
}

static inline void service_close(struct service_bench *b)
{
    service_clear(b);
    uvea_oracle_service_deinit(&b->service);
    uvea_mem_free(b);
}

// Adds an order with a pair of its own, which no other holds, and the id "r-N".
static inline struct uvea_oracle_order *service_add(struct service_bench *b,
                                                    enum uvea_oracle_kind kind, uint32_t serial)
{
    size_t at = b->count++;
    b->pairs[at] = random_pair(1000 + at);
    (void)snprintf(b->ids[at], sizeof(b->ids[at]), "r-%zu", at);
    b->orders[at] = (struct uvea_oracle_order){
        .kind = kind,
        .id = b->ids[at],
        .message_id = b->ids[at],
        .pair = &b->pairs[at],
        .serial_id = serial,
    };
    return &b->orders[at];
}

// The pair that the newest order shares out.
static inline struct uvea_oracle_pair *service_pair(struct service_bench *b)
{
    return &b->pairs[b->count - 1];
}

// Adds an order that shares out what is enrolled as `of`.
static inline struct uvea_oracle_order *
service_copy(struct service_bench *b, enum uvea_oracle_kind kind, uint32_t serial, uint32_t of)
{
    struct uvea_oracle_order *order = service_add(b, kind, serial);
    *service_pair(b) = b->service.records[of - 1].pair;
    return order;
}

// The eyes exchanged and mirrored.
static inline struct uvea_oracle_pair service_mirrored(const struct uvea_oracle_pair *pair)
{
    struct uvea_oracle_pair out;
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_LEFT], &out.eye[UVEA_ORACLE_RIGHT]);
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_RIGHT], &out.eye[UVEA_ORACLE_LEFT]);
    return out;
}

static inline const struct uvea_oracle_ruling *service_rule(struct service_bench *b)
{
    struct uvea_error_context context = {{0}};
    for (size_t i = 0; i < b->count; i++) {
        uvea_oracle_ruling_deinit(&b->rulings[i]);
    }
    assert_int_equal(uvea_oracle_rule(&b->service, b->orders, b->count, b->rulings, &context),
                     UVEA_OK);
    return b->rulings;
}

// Rules, applies and forgets.
static inline void service_do(struct service_bench *b)
{
    (void)service_rule(b);
    assert_int_equal(uvea_oracle_apply(&b->service, b->orders, b->count, b->rulings), UVEA_OK);
    service_clear(b);
}

static inline void service_expect_json(const struct service_bench *b, size_t at, unsigned node_id,
                                       const char *expected)
{
    struct uvea_buf buf = {0};
    struct uvea_error_context context;
    assert_int_equal(uvea_oracle_result(&b->service, b->orders, b->count, b->rulings, at, node_id,
                                        &buf, &context),
                     UVEA_OK);
    assert_int_equal(uvea_buf_append(&buf, "", 1), UVEA_OK);
    assert_string_equal((char *)buf.data, expected);
    uvea_buf_deinit(&buf);
}

#endif
