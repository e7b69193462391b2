#include "sim/world/judge.h"

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/iris/share.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The first fault's sentence is kept; all are counted.
UVEA_PRINTF(2, 3)
static void fault(struct uvea_judgement *judgement, const char *format, ...)
{
    judgement->mismatches++;
    if (judgement->reason[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(judgement->reason, sizeof(judgement->reason), format, args);
        va_end(args);
    }
}

// ---- answers as text

// The first member in which two answers differ, for the sentence; "form" when they are not objects.
static const char *differing_member(const struct uvea_buf *got, const struct uvea_buf *want,
                                    char name[64])
{
    json_t *left = json_loadb((const char *)got->data, got->len, 0, NULL);
    json_t *right = json_loadb((const char *)want->data, want->len, 0, NULL);
    (void)snprintf(name, 64, "form");
    const char *key;
    json_t *value;
    json_object_foreach(right, key, value)
    {
        if (!json_equal(value, json_object_get(left, key))) {
            (void)snprintf(name, 64, "%s", key);
            break;
        }
    }
    json_decref(left);
    json_decref(right);
    return name;
}

static bool same_bytes(const struct uvea_buf *left, const struct uvea_buf *right)
{
    return left->len == right->len && memcmp(left->data, right->data, left->len) == 0;
}

static enum uvea_error judge_text(const struct uvea_oracle_config *config,
                                  const struct uvea_oracle_request *request,
                                  const struct uvea_oracle_answer *oracle,
                                  struct uvea_response *const answers[UVEA_PARTY_COUNT],
                                  struct uvea_judgement *judgement,
                                  struct uvea_error_context *context)
{
    struct uvea_buf want = {.len = 0};
    enum uvea_error error = UVEA_OK;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_buf_clear(&want);
        UVEA_TRY_CLEANUP(
            uvea_oracle_uniqueness_json(config, request, oracle, party, &want, context));
        const struct uvea_buf *got = &answers[party]->json;
        if (!same_bytes(got, &want)) {
            char name[64];
            fault(judgement, "%s: party %u's answer is not the oracle's: member %s",
                  request->signup_id, party, differing_member(got, &want, name));
        }
    }
cleanup:
    uvea_buf_deinit(&want);
    return error;
}

// An answer without its node_id, for comparison between parties.
static json_t *without_node(const struct uvea_buf *json)
{
    json_t *answer = json_loadb((const char *)json->data, json->len, 0, NULL);
    if (answer != NULL) {
        (void)json_object_del(answer, "node_id");
    }
    return answer;
}

static void judge_agreement(const char *signup_id,
                            struct uvea_response *const answers[UVEA_PARTY_COUNT],
                            struct uvea_judgement *judgement)
{
    json_t *first = without_node(&answers[0]->json);
    for (unsigned party = 1; party < UVEA_PARTY_COUNT; party++) {
        json_t *other = without_node(&answers[party]->json);
        if (first == NULL || other == NULL || !json_equal(first, other)) {
            judgement->disagreement = true;
            if (judgement->reason[0] == '\0') {
                (void)snprintf(judgement->reason, sizeof(judgement->reason),
                               "%s: parties 0 and %u disagree", signup_id, party);
            }
        }
        json_decref(other);
    }
    json_decref(first);
}

// ---- opened values

static void judge_candidates(const char *signup_id, const struct uvea_oracle_search *search,
                             const struct uvea_eye_result *got, unsigned party, unsigned eye,
                             const char *orientation, struct uvea_judgement *judgement)
{
    size_t at = 0;
    for (uint32_t index = 0; index < search->record_count; index++) {
        const struct uvea_oracle_record *record = &search->records[index];
        if (record->anonymous[eye] == 0) {
            continue;
        }
        const struct uvea_candidate *candidate =
            at < got->candidate_count ? &got->candidates[at++] : NULL;
        if (candidate == NULL || candidate->index != index ||
            candidate->anonymous != record->anonymous[eye] ||
            candidate->strict != record->strict[eye]) {
            fault(judgement,
                  "%s: party %u opened other rotations than the oracle for serial %u, %s eye, %s "
                  "orientation",
                  signup_id, party, index + 1, eye == 0 ? "left" : "right", orientation);
            return;
        }
    }
    if (at != got->candidate_count) {
        fault(judgement, "%s: party %u opened %zu candidates too many, %s eye, %s orientation",
              signup_id, party, got->candidate_count - at, eye == 0 ? "left" : "right",
              orientation);
    }
}

// The retained distances of one eye, put together from the three parties' shares.
static bool distances_right(const struct uvea_eye_result *const got[UVEA_PARTY_COUNT],
                            const struct uvea_oracle_pass *pass, size_t at)
{
    uint32_t code = 0;
    uint32_t mask = 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_eye_result *before = got[(party + 2) % UVEA_PARTY_COUNT];
        if (got[party]->codes.b[at] != before->codes.a[at] ||
            got[party]->masks.b[at] != before->masks.a[at]) {
            return false;
        }
        code += got[party]->codes.a[at];
        mask += got[party]->masks.a[at];
    }
    return code == (uint32_t)pass->code_dot && mask == (uint32_t)pass->mask_dot;
}

static void judge_distances(const char *signup_id, const struct uvea_oracle_search *search,
                            const struct uvea_eye_result *const got[UVEA_PARTY_COUNT], unsigned eye,
                            struct uvea_judgement *judgement)
{
    size_t at = 0;
    for (size_t i = 0; i < search->pass_count; i++) {
        if ((unsigned)search->passes[i].eye != eye) {
            continue;
        }
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            if (at >= got[party]->codes.count || at >= got[party]->masks.count) {
                fault(judgement, "%s: party %u retains too few distances", signup_id, party);
                return;
            }
        }
        if (!distances_right(got, &search->passes[i], at)) {
            fault(judgement, "%s: the retained distance of serial %u, rotation %d is wrong",
                  signup_id, search->passes[i].serial, search->passes[i].rotation);
            return;
        }
        at++;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (got[party]->codes.count != at || got[party]->masks.count != at) {
            fault(judgement, "%s: party %u retains too many distances", signup_id, party);
        }
    }
}

static void judge_search(const char *signup_id, const struct uvea_oracle_answer *oracle,
                         struct uvea_response *const answers[UVEA_PARTY_COUNT],
                         struct uvea_judgement *judgement)
{
    static const char *const orientations[] = {"normal", "mirror"};
    for (unsigned orientation = 0; orientation < UVEA_ORIENTATION_COUNT; orientation++) {
        const struct uvea_oracle_search *search = &oracle->search[orientation];
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_eye_result *got[UVEA_PARTY_COUNT];
            uint64_t before = judgement->mismatches;
            for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
                got[party] = &answers[party]->search.eye[orientation][eye];
                judge_candidates(signup_id, search, got[party], party, eye,
                                 orientations[orientation], judgement);
            }
            if (judgement->mismatches == before) {
                judge_distances(signup_id, search, got, eye, judgement);
            }
        }
    }
}

// ---- the scenario's own expectations

static bool list_has(const struct uvea_serial_list *list, uint32_t serial)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->serials[i] == serial) {
            return true;
        }
    }
    return false;
}

// Every enrolled serial is in the list exactly when the oracle says so.
static void judge_list(const char *signup_id, const char *name, const struct uvea_serial_list *want,
                       const struct uvea_oracle_search *search, bool anonymous,
                       struct uvea_judgement *judgement)
{
    size_t found = 0;
    for (uint32_t index = 0; index < search->record_count; index++) {
        const struct uvea_oracle_record *record = &search->records[index];
        bool is = anonymous ? record->prefiltered : record->matched;
        if (is != list_has(want, index + 1)) {
            fault(judgement, "%s: expected list %s %s serial %u, the oracle says otherwise",
                  signup_id, name, is ? "lacks" : "has", index + 1);
            return;
        }
        found += is;
    }
    if (found != want->count) {
        fault(judgement, "%s: expected list %s names a serial that is not enrolled, or one twice",
              signup_id, name);
    }
}

static void judge_expectation(const char *signup_id, const struct uvea_expectation *expect,
                              const struct uvea_oracle_answer *oracle,
                              struct uvea_judgement *judgement)
{
    bool match = oracle->decision == UVEA_ORACLE_NO_MUTATION;
    if (expect->has_match && expect->match != match) {
        fault(judgement, "%s: expected match %s, the oracle says otherwise", signup_id,
              expect->match ? "true" : "false");
    }
    if (expect->has_mirror_attack && expect->mirror_attack != oracle->mirror_attack) {
        fault(judgement, "%s: expected mirror_attack %s, the oracle says otherwise", signup_id,
              expect->mirror_attack ? "true" : "false");
    }
    if (expect->has_serial && expect->serial != oracle->serial) {
        fault(judgement, "%s: expected serial %llu, the oracle gives %u", signup_id,
              (unsigned long long)expect->serial, oracle->serial);
    }
    const struct uvea_oracle_search *normal = &oracle->search[UVEA_ORACLE_NORMAL];
    if (expect->has_matched) {
        judge_list(signup_id, "matched", &expect->matched, normal, false, judgement);
    }
    if (expect->has_anonymous) {
        judge_list(signup_id, "anonymous", &expect->anonymous, normal, true, judgement);
    }
}

enum uvea_error uvea_judge_answers(const struct uvea_oracle_config *config,
                                   const struct uvea_oracle_request *request,
                                   const struct uvea_oracle_answer *oracle,
                                   const struct uvea_expectation *expect,
                                   struct uvea_response *const answers[UVEA_PARTY_COUNT],
                                   struct uvea_judgement *judgement,
                                   struct uvea_error_context *context)
{
    *judgement = (struct uvea_judgement){.mismatches = 0};
    judge_agreement(request->signup_id, answers, judgement);
    UVEA_TRY(judge_text(config, request, oracle, answers, judgement, context));
    judge_search(request->signup_id, oracle, answers, judgement);
    judge_expectation(request->signup_id, expect, oracle, judgement);
    return UVEA_OK;
}

// ---- the ledger

// A resident record as an upload would carry it: the mask's imaginary half repeats the real one.
static void record_share(const uint16_t *record, struct uvea_iris_share *out)
{
    const uint16_t *mask = record + UVEA_SHARE_COEFFICIENTS;
    memcpy(out->code, record, sizeof(out->code));
    memcpy(out->mask, mask, sizeof(out->mask) / 2);
    memcpy(out->mask + UVEA_MASK_COEFFICIENTS, mask, sizeof(out->mask) / 2);
}

struct ledger {
    const struct uvea_resident *const *residents;
    struct uvea_cold *const *colds;
    enum uvea_eye scanned;
    uint16_t record[UVEA_RECORD_COEFFICIENTS];
    struct uvea_iris_share first;
    struct uvea_iris_share second;
    struct uvea_template joined;
};

// One party's share of one eye of a record.
static enum uvea_error take_share(struct ledger *ledger, unsigned party, enum uvea_eye eye,
                                  uint32_t index, struct uvea_iris_share *out)
{
    const struct uvea_resident *resident = ledger->residents[party];
    if (eye == ledger->scanned) {
        record_share(uvea_resident_record(resident, index), out);
        return UVEA_OK;
    }
    UVEA_TRY(uvea_cold_read(ledger->colds[party], index + 1, uvea_resident_version(resident, index),
                            ledger->record, NULL));
    record_share(ledger->record, out);
    return UVEA_OK;
}

static enum uvea_error join_record(struct ledger *ledger, uint32_t index, enum uvea_eye eye)
{
    struct uvea_party first = uvea_party_at(index);
    struct uvea_party second = uvea_party_at(index + 1);
    struct uvea_error_context said = {.text = ""};
    UVEA_TRY(take_share(ledger, first.index, eye, index, &ledger->first));
    UVEA_TRY(take_share(ledger, second.index, eye, index, &ledger->second));
    return uvea_iris_join(first, &ledger->first, second, &ledger->second, &ledger->joined, &said);
}

static void judge_record(const struct uvea_oracle_model *model, uint32_t index,
                         struct ledger *ledger, struct uvea_judgement *judgement)
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        enum uvea_error error = join_record(ledger, index, (enum uvea_eye)eye);
        const struct uvea_oracle_template *want = &model->records[index].eye[eye];
        bool equal = error == UVEA_OK;
        for (unsigned word = 0; equal && word < UVEA_IRIS_WORDS; word++) {
            // Code bits count only where they are valid: shares hold nothing else.
            equal = ledger->joined.mask[word] == want->mask[word] &&
                    ((ledger->joined.code[word] ^ want->code[word]) & want->mask[word]) == 0;
        }
        if (!equal) {
            fault(judgement,
                  "ledger: serial %u as shared by parties %u and %u is not what was "
                  "enrolled, %s eye",
                  index + 1, uvea_party_at(index).index, uvea_party_at(index + 1).index,
                  eye == 0 ? "left" : "right");
        }
    }
}

enum uvea_error uvea_judge_ledger(const struct uvea_oracle_model *model,
                                  const struct uvea_resident *const residents[UVEA_PARTY_COUNT],
                                  struct uvea_cold *const colds[UVEA_PARTY_COUNT],
                                  enum uvea_eye scanned, struct uvea_judgement *judgement)
{
    *judgement = (struct uvea_judgement){.mismatches = 0};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (residents[party]->count != model->record_count) {
            fault(judgement, "ledger: party %u holds %zu records, the oracle %u", party,
                  residents[party]->count, model->record_count);
        }
        if (uvea_resident_checksum(residents[party]) != uvea_resident_checksum(residents[0])) {
            fault(judgement, "ledger: parties 0 and %u hold different versions", party);
        }
    }
    if (judgement->mismatches > 0) {
        return UVEA_OK;
    }
    struct ledger *ledger = uvea_mem_alloc(1, sizeof(*ledger));
    if (ledger == NULL) {
        return UVEA_ERR_MEMORY;
    }
    ledger->residents = residents;
    ledger->colds = colds;
    ledger->scanned = scanned;
    for (uint32_t index = 0; index < model->record_count; index++) {
        judge_record(model, index, ledger, judgement);
    }
    uvea_mem_wipe(ledger, sizeof(*ledger));
    uvea_mem_free(ledger);
    return UVEA_OK;
}
