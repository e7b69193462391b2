// The judge: holds the three parties' answers to one request against each other, against the
// oracle, and against what the scenario expects. Everything a party says or opened is looked at;
// shares are put together only here.
#ifndef UVEA_SIM_WORLD_JUDGE_H
#define UVEA_SIM_WORLD_JUDGE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/scan/cold.h"
#include "core/scan/resident.h"
#include "core/service/request.h"
#include "oracle/decide.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_judgement {
    bool disagreement;   // the three answers differ beyond node_id
    uint64_t mismatches; // answers, candidate lists, distances, expectations that are not right
    char reason[400];    // the first of them, one sentence
};

// answers: what each party sent, as text and as the response it came from. oracle: the right
// answer. UVEA_OK with a judgement; other errors only when memory is short or the oracle fails.
UVEA_MUST_USE enum uvea_error
uvea_judge_answers(const struct uvea_oracle_config *config,
                   const struct uvea_oracle_request *request,
                   const struct uvea_oracle_answer *oracle, const struct uvea_expectation *expect,
                   struct uvea_response *const answers[UVEA_PARTY_COUNT],
                   struct uvea_judgement *judgement, struct uvea_error_context *context);

// The ledger check: equal record counts and versions on all parties, and every record, put together
// from two parties' shares (all three pairs in turn), equal to what the oracle has enrolled. colds
// hold the eyes that are not scanned.
UVEA_MUST_USE enum uvea_error
uvea_judge_ledger(const struct uvea_oracle_model *model,
                  const struct uvea_resident *const residents[UVEA_PARTY_COUNT],
                  struct uvea_cold *const colds[UVEA_PARTY_COUNT], enum uvea_eye scanned,
                  struct uvea_judgement *judgement);

#endif
