// The oracle's search of one request in one orientation, shared by the models in decide.h and
// service.h. Source: service.md 2.5, 2.6.
#ifndef UVEA_ORACLE_SEARCH_H
#define UVEA_ORACLE_SEARCH_H

#include "core/base/error.h"
#include "oracle/decide.h"

#include <stdbool.h>
#include <stdint.h>

// Everything a search reads. About 200 kB: keep it off small stacks.
struct uvea_oracle_search_input {
    const struct uvea_oracle_config *config;
    const struct uvea_oracle_pair *const *records; // serial s is records[s - 1]
    uint32_t record_count;
    const bool *luc; // per record: matches on either eye
    uint32_t target; // serial that is evaluated on both eyes without being in the LUC set; 0: none
    struct uvea_oracle_query query[UVEA_ORACLE_EYES]; // by the database's eye
};

// Fills input->query. In mirror orientation the query's right eye, mirrored, meets the database's
// left eyes.
void uvea_oracle_search_prepare(const struct uvea_oracle_pair *pair,
                                enum uvea_oracle_orientation orientation,
                                struct uvea_oracle_search_input *input);

// Marks the window of the N + 1 newest records, when the configuration has one.
void uvea_oracle_search_lookback(const struct uvea_oracle_config *config, uint32_t record_count,
                                 bool *luc);

// Marks these serials, those that are enrolled.
void uvea_oracle_search_name(const uint32_t *serials, size_t count, uint32_t record_count,
                             bool *luc);

// search: all zero before; unchanged on failure. STATE is an oracle fault.
UVEA_MUST_USE enum uvea_error uvea_oracle_search_run(const struct uvea_oracle_search_input *input,
                                                     struct uvea_oracle_search *search,
                                                     struct uvea_error_context *context);
void uvea_oracle_search_deinit(struct uvea_oracle_search *search);

// Whether two pairs match on both eyes, the second as it is and the first as prepared.
UVEA_MUST_USE enum uvea_error uvea_oracle_search_pair(const struct uvea_oracle_search_input *input,
                                                      const struct uvea_oracle_pair *pair,
                                                      bool *match,
                                                      struct uvea_error_context *context);

// A match of any kind, supermatch included.
bool uvea_oracle_search_hit(const struct uvea_oracle_search *search);

#endif
