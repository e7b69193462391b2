// Requests with their answers, kept beyond the ledger that judged them: for reports, and to hold
// two runs of one scenario against each other.
#ifndef UVEA_SIM_LIVE_ROWS_H
#define UVEA_SIM_LIVE_ROWS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "sim/world/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Outcomes are compact JSON, sorted, without node_id and without members that are null; "" where
// there is none.
struct uvea_row {
    char *key;  // "message-7"
    char *kind; // "uniqueness"
    char *oracle;
    char *party[UVEA_PARTY_COUNT];
    uint64_t latency_ns; // 0: not known
};

// All zero is none.
struct uvea_rows {
    struct uvea_row *at; // owned, in the order of the scenario
    size_t count;
    size_t capacity;
};
void uvea_rows_deinit(struct uvea_rows *rows);

// A uvea_ledger_answer_fn; arg is the struct uvea_rows. MEMORY.
UVEA_MUST_USE enum uvea_error uvea_rows_add(void *arg, const struct uvea_ledger_answer *answer);

// Where two runs answer differently: a party's outcome in each, or the oracle's. NULL stands for a
// request that a run has not.
struct uvea_row_difference {
    const struct uvea_row *left;
    const struct uvea_row *right;
    int party; // -1: the oracle, or the whole row
};
typedef void uvea_rows_differ_fn(void *arg, const struct uvea_row_difference *difference);

// Shows the first difference of each request, by key; returns how many requests differ.
size_t uvea_rows_compare(const struct uvea_rows *left, const struct uvea_rows *right,
                         uvea_rows_differ_fn *fn, void *arg);

#endif
