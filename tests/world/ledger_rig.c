#include "tests/world/ledger_rig.h"

#include "core/base/mem.h"
#include "core/iris/share.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

static const struct uvea_ledger_config config = {
    .oracle =
        {
            .full_scan_eye = UVEA_ORACLE_LEFT,
            .return_partial_results = true,
            .luc_enabled = true,
            .luc_serial_ids_from_request = true,
            .supermatch_limit = 4000,
        },
    .gates = {true, true, true, true},
    .batch_requests_max = 8,
};

static struct rig *open_with(uint32_t records, bool from_results)
{
    struct uvea_ledger_config wanted = config;
    struct rig *rig = uvea_mem_alloc(1, sizeof(*rig));
    assert_non_null(rig);
    wanted.from_results = from_results;
    assert_int_equal(uvea_ledger_open(&wanted, &rig->ledger), UVEA_OK);
    uvea_oracle_service_init(&rig->model, &config.oracle, &config.gates);
    for (uint32_t s = 1; s <= records; s++) {
        struct uvea_oracle_pair pair = random_pair(s);
        uint32_t serial;
        assert_int_equal(uvea_oracle_service_seed(&rig->model, &pair, NULL), UVEA_OK);
        assert_int_equal(uvea_ledger_seed(rig->ledger, &pair, &serial), UVEA_OK);
        assert_int_equal(serial, s);
    }
    for (unsigned party = 0; party < 3; party++) {
        uvea_ledger_started(rig->ledger, uvea_party_at(party));
    }
    return rig;
}

struct rig *rig_open(uint32_t records)
{
    return open_with(records, false);
}

struct rig *rig_open_blind(uint32_t records)
{
    return open_with(records, true);
}

void rig_close(struct rig *rig)
{
    struct uvea_error_context context = {.text = ""};
    if (uvea_ledger_failure(rig->ledger, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    uvea_ledger_close(rig->ledger);
    uvea_oracle_service_deinit(&rig->model);
    uvea_mem_free(rig);
}

const struct uvea_oracle_pair *rig_fresh(struct rig *rig)
{
    rig->pairs[rig->sent] = random_pair(500 + rig->sent);
    return &rig->pairs[rig->sent];
}

struct uvea_oracle_order *rig_offer(struct rig *rig, enum uvea_oracle_kind kind, uint32_t serial,
                                    const struct uvea_oracle_pair *pair)
{
    const size_t at = rig->sent++;
    assert_true(at < RIG_MESSAGES_MAX);
    if (pair != NULL && pair != &rig->pairs[at]) {
        rig->pairs[at] = *pair;
    }
    (void)snprintf(rig->keys[at], sizeof(rig->keys[at]), "m-%zu", at + 1);
    rig->orders[at] = (struct uvea_oracle_order){
        .kind = kind,
        .id = rig->keys[at],
        .message_id = rig->keys[at],
        .pair = pair == NULL ? NULL : &rig->pairs[at],
        .serial_id = serial,
        .has_mirror_flag = true,
        .mirror_flag = true,
    };
    assert_int_equal(uvea_ledger_offer(rig->ledger, rig->keys[at], &rig->orders[at], NULL),
                     UVEA_OK);
    return &rig->orders[at];
}

void rig_send(struct rig *rig, enum uvea_oracle_kind kind, uint32_t serial,
              const struct uvea_oracle_pair *pair)
{
    (void)rig_offer(rig, kind, serial, pair);
    uvea_ledger_accept(rig->ledger, rig->keys[rig->sent - 1], rig->sent);
}

// ---- batches

static void deal(struct rig *rig, uint32_t value, size_t at, struct uvea_share32 *const shares[3])
{
    uint32_t x[3];
    x[0] = (uint32_t)mix(&rig->random);
    x[1] = (uint32_t)mix(&rig->random);
    x[2] = value - x[0] - x[1];
    for (unsigned party = 0; party < 3; party++) {
        shares[party]->a[at] = x[party];
        shares[party]->b[at] = x[(party + 2) % 3];
    }
}

// The three parties' findings on one eye in one orientation.
static void find(struct rig *rig, const struct uvea_oracle_search *search, unsigned eye,
                 struct uvea_eye_result *const out[3])
{
    struct uvea_share32 *codes[3];
    struct uvea_share32 *masks[3];
    size_t passes = 0;
    for (size_t i = 0; i < search->pass_count; i++) {
        passes += (unsigned)search->passes[i].eye == eye;
    }
    for (unsigned party = 0; party < 3; party++) {
        out[party]->candidates =
            uvea_mem_alloc(search->record_count + 1, sizeof(*out[party]->candidates));
        assert_non_null(out[party]->candidates);
        codes[party] = &out[party]->codes;
        masks[party] = &out[party]->masks;
        assert_int_equal(uvea_share32_init(codes[party], passes), UVEA_OK);
        assert_int_equal(uvea_share32_init(masks[party], passes), UVEA_OK);
        for (uint32_t index = 0; index < search->record_count; index++) {
            if (search->records[index].anonymous[eye] != 0) {
                out[party]->candidates[out[party]->candidate_count++] =
                    (struct uvea_candidate){index, search->records[index].anonymous[eye],
                                            search->records[index].strict[eye]};
            }
        }
    }
    size_t at = 0;
    for (size_t i = 0; i < search->pass_count; i++) {
        if ((unsigned)search->passes[i].eye == eye) {
            deal(rig, (uint32_t)search->passes[i].code_dot, at, codes);
            deal(rig, (uint32_t)search->passes[i].mask_dot, at, masks);
            at++;
        }
    }
}

static enum uvea_message_kind kind_of(enum uvea_oracle_kind kind)
{
    return kind == UVEA_ORACLE_MALFORMED ? UVEA_MESSAGE_MALFORMED
                                         : uvea_message_kind_find(uvea_oracle_kind_text(kind));
}

static void fill(struct rig *rig, struct rig_batch *out, size_t at)
{
    const struct uvea_oracle_order *orders = &rig->orders[out->first];
    const struct uvea_oracle_ruling *ruling = &out->rulings[at];
    for (unsigned party = 0; party < 3; party++) {
        struct uvea_batch_entry *entry = &out->batch[party].entries[at];
        struct uvea_error_context context;
        entry->sequence = out->first + at + 1;
        entry->modification_id = entry->sequence;
        entry->message.kind = kind_of(orders[at].kind);
        entry->message.message_id = orders[at].message_id;
        entry->error_reason = ruling->error_reason;
        entry->mutation = ruling->inserts   ? UVEA_MUTATION_INSERT
                          : ruling->updates ? UVEA_MUTATION_UPDATE
                                            : UVEA_MUTATION_NONE;
        entry->serial = ruling->serial;
        entry->version = ruling->version;
        assert_int_equal(uvea_oracle_result(&rig->model, orders, out->count, out->rulings, at,
                                            party, &entry->result, &context),
                         UVEA_OK);
    }
    for (unsigned o = 0; o < 2; o++) {
        for (unsigned eye = 0; eye < 2; eye++) {
            struct uvea_eye_result *const results[3] = {
                &out->batch[0].entries[at].search.eye[o][eye],
                &out->batch[1].entries[at].search.eye[o][eye],
                &out->batch[2].entries[at].search.eye[o][eye],
            };
            find(rig, &ruling->search[o], eye, results);
        }
    }
}

void rig_process(struct rig *rig, size_t count, struct rig_batch *out)
{
    struct uvea_error_context context = {.text = ""};
    *out = (struct rig_batch){.first = rig->applied, .count = count};
    assert_true(rig->applied + count <= rig->sent);
    assert_int_equal(
        uvea_oracle_rule(&rig->model, &rig->orders[out->first], count, out->rulings, &context),
        UVEA_OK);
    for (unsigned party = 0; party < 3; party++) {
        assert_int_equal(uvea_batch_init(&out->batch[party], ++rig->batch_id[party], count),
                         UVEA_OK);
        out->batch[party].record_count = rig->model.record_count;
    }
    for (size_t at = 0; at < count; at++) {
        fill(rig, out, at);
    }
}

void rig_batch_free(struct rig_batch *batch)
{
    for (unsigned party = 0; party < 3; party++) {
        uvea_batch_deinit(&batch->batch[party]);
    }
    for (size_t at = 0; at < batch->count; at++) {
        uvea_oracle_ruling_deinit(&batch->rulings[at]);
    }
}

void rig_processed(struct rig *rig, struct rig_batch *batch, unsigned party)
{
    uvea_ledger_processed(rig->ledger, uvea_party_at(party), &batch->batch[party]);
}

void rig_committed(struct rig *rig, struct rig_batch *batch, unsigned party)
{
    uvea_ledger_committed(rig->ledger, uvea_party_at(party), &batch->batch[party]);
}

void rig_published(struct rig *rig, struct rig_batch *batch, unsigned party)
{
    uvea_ledger_published(rig->ledger, uvea_party_at(party), &batch->batch[party]);
}

void rig_restart(struct rig *rig)
{
    for (unsigned party = 0; party < 3; party++) {
        uvea_ledger_started(rig->ledger, uvea_party_at(party));
        rig->batch_id[party] = 0;
    }
}

void rig_apply(struct rig *rig, const struct rig_batch *batch)
{
    assert_int_equal(batch->first, rig->applied);
    for (size_t i = 0; i < batch->count; i++) {
        const size_t at = batch->first + i;
        const struct uvea_oracle_ruling *ruling = &batch->rulings[i];
        rig->persisted[at] = ruling->inserts || ruling->updates;
        rig->serials[at] = ruling->serial;
        rig->batches[at] = batch->first + 1;
        for (unsigned party = 0; party < 3; party++) {
            struct uvea_buf buf = {.len = 0};
            struct uvea_error_context context;
            assert_int_equal(uvea_oracle_result(&rig->model, &rig->orders[batch->first],
                                                batch->count, batch->rulings, i, party, &buf,
                                                &context),
                             UVEA_OK);
            (void)snprintf(rig->results[at][party], sizeof(rig->results[at][party]), "%.*s",
                           (int)buf.len, (const char *)buf.data);
            uvea_buf_deinit(&buf);
        }
    }
    assert_int_equal(
        uvea_oracle_apply(&rig->model, &rig->orders[batch->first], batch->count, batch->rulings),
        UVEA_OK);
    rig->applied += batch->count;
}

void rig_read(struct rig *rig, unsigned party, size_t at)
{
    const char *body = rig->results[at][party];
    const struct uvea_ledger_read read = {
        .number = ++rig->numbers[party],
        .sequence = at + 1,
        .batch = rig->batches[at],
        .type = uvea_oracle_kind_text(rig->orders[at].kind),
        .body = body,
        .bytes = strlen(body),
    };
    uvea_ledger_result(rig->ledger, uvea_party_at(party), &read);
}

void rig_do(struct rig *rig, size_t count)
{
    struct rig_batch batch;
    rig_process(rig, count, &batch);
    for (unsigned party = 0; party < 3; party++) {
        rig_processed(rig, &batch, party);
    }
    for (unsigned party = 0; party < 3; party++) {
        rig_committed(rig, &batch, party);
        rig_published(rig, &batch, party);
    }
    rig_apply(rig, &batch);
    for (size_t at = batch.first; at < batch.first + count; at++) {
        for (unsigned party = 0; party < 3; party++) {
            rig_read(rig, party, at);
        }
    }
    rig_batch_free(&batch);
}

// ---- stores

static uint16_t draw(void *arg)
{
    return (uint16_t)mix(arg);
}

static void store_record(struct rig *rig, struct uvea_store *stores[3], uint32_t index)
{
    struct uvea_iris_share *shares = uvea_mem_alloc(3, sizeof(*shares));
    assert_non_null(shares);
    const struct uvea_oracle_identity *record = &rig->model.records[index];
    for (unsigned eye = 0; eye < 2; eye++) {
        struct uvea_template plain;
        memcpy(plain.code, record->pair.eye[eye].code, sizeof(plain.code));
        memcpy(plain.mask, record->pair.eye[eye].mask, sizeof(plain.mask));
        uvea_iris_split(&plain, draw, &rig->random, shares);
        for (unsigned party = 0; party < 3; party++) {
            if (record->deleted) {
                uvea_iris_deletion_dummy(uvea_party_at(party), &shares[party]);
            }
            uint16_t *out = stores[party]->records[index].eye[eye];
            memcpy(out, shares[party].code, sizeof(shares[party].code));
            memcpy(out + UVEA_SHARE_COEFFICIENTS, shares[party].mask,
                   UVEA_MASK_COEFFICIENTS * sizeof(*out));
            stores[party]->records[index].version = record->version;
        }
    }
    uvea_mem_free(shares);
}

void rig_stores(struct rig *rig, struct uvea_store *stores[3])
{
    for (unsigned party = 0; party < 3; party++) {
        struct uvea_store *store = stores[party] = uvea_mem_alloc(1, sizeof(*store));
        assert_non_null(store);
        assert_true(rig->model.record_count <= FAKE_RECORDS_MAX);
        store->record_count = rig->model.record_count;
        store->serial_max = rig->model.record_count;
        store->row_count = rig->applied;
        store->result_count = rig->applied;
        store->frontier = rig->applied;
        store->ingest.contiguous = rig->applied;
        store->ingest.max_persisted = rig->applied;
        for (size_t at = 0; at < rig->applied; at++) {
            struct fake_row *row = &store->rows[at];
            const char *type = uvea_oracle_kind_text(rig->orders[at].kind);
            memcpy(row->text, rig->results[at][party], sizeof(row->text));
            row->modification = (struct uvea_modification){
                .id = at + 1,
                .sequence = at + 1,
                .serial = rig->serials[at],
                .type = type,
                .completed = true,
                .persisted = rig->persisted[at],
                .result = row->text,
            };
            row->result = (struct uvea_store_result){
                .number = at + 1,
                .modification_id = at + 1,
                .sequence = at + 1,
                .batch = rig->batches[at],
                .type = type,
                .body = row->text,
            };
        }
    }
    for (uint32_t index = 0; index < rig->model.record_count; index++) {
        store_record(rig, stores, index);
    }
}

void rig_stores_free(struct uvea_store *stores[3])
{
    for (unsigned party = 0; party < 3; party++) {
        uvea_mem_free(stores[party]);
    }
}

// ---- verdicts

void rig_expect_good(const struct rig *rig)
{
    struct uvea_ledger_verdict verdict = uvea_ledger_verdict(rig->ledger);
    if (verdict.reason[0] != '\0') {
        fail_msg("%s", verdict.reason);
    }
    assert_false(uvea_ledger_wrong(rig->ledger));
}

void rig_expect_wrong(const struct rig *rig, enum uvea_ledger_kind kind, const char *says)
{
    struct uvea_ledger_verdict verdict = uvea_ledger_verdict(rig->ledger);
    assert_true(uvea_ledger_wrong(rig->ledger));
    if (strstr(verdict.reason, says) == NULL) {
        fail_msg("it says '%s', not '%s'", verdict.reason, says);
    }
    assert_int_equal(verdict.first, kind);
    assert_true(verdict.violations[kind] > 0);
}
