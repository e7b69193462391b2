// Results as clients read them.
#include "core/base/mem.h"
#include "sim/world/ledger_impl.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *parsed(const struct uvea_buf *text)
{
    return json_loadb((const char *)text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
}

void uvea_ledger_member(const struct uvea_buf *got, const struct uvea_buf *want, char name[64])
{
    json_t *left = parsed(got);
    json_t *right = parsed(want);
    (void)snprintf(name, 64, "form");
    const char *key;
    json_t *value;
    json_object_foreach(right, key, value)
    {
        if (json_is_object(left) && !json_equal(value, json_object_get(left, key))) {
            (void)snprintf(name, 64, "%s", key);
            break;
        }
    }
    json_decref(left);
    json_decref(right);
}

static bool same_bytes(const struct uvea_buf *a, const struct uvea_buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

void uvea_ledger_compare(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                         struct uvea_party party)
{
    const struct uvea_buf *got = &entry->read[party.index].body;
    const struct uvea_buf *want = &entry->right[party.index];
    if (!entry->ruled || entry->read[party.index].number == 0 || same_bytes(got, want)) {
        return;
    }
    char member[64];
    uvea_ledger_member(got, want, member);
    uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                      "%s (%s): the result read from party %u is not the oracle's: member %s",
                      entry->key, uvea_oracle_kind_text(entry->order.kind), party.index, member);
    ledger->verdict.mismatches++;
}

// Whether two parties' results are the same but for node_id, which is the party's.
static bool agree(const struct uvea_ledger_entry *entry, unsigned a, unsigned b)
{
    json_t *left = parsed(&entry->read[a].body);
    json_t *right = parsed(&entry->read[b].body);
    bool same = json_integer_value(json_object_get(left, "node_id")) == (json_int_t)a &&
                json_integer_value(json_object_get(right, "node_id")) == (json_int_t)b;
    (void)json_object_del(left, "node_id");
    (void)json_object_del(right, "node_id");
    same = same && json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return same;
}

static void judge_agreement(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                            unsigned party)
{
    for (unsigned other = 0; other < UVEA_PARTY_COUNT; other++) {
        if (other == party || entry->read[other].number == 0 || agree(entry, party, other)) {
            continue;
        }
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "%s: parties %u and %u answer differently",
                          entry->key, other, party);
        ledger->verdict.disagreements += !entry->disagreed;
        entry->disagreed = true;
    }
}

// A number stands for one result for ever, and a message has one number at each party.
static bool number_fits(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry, unsigned party,
                        uint64_t number)
{
    enum uvea_error error = uvea_ledger_grow((void **)&ledger->numbers[party].sequences,
                                             &ledger->numbers[party].capacity, number,
                                             sizeof(*ledger->numbers[party].sequences));
    if (error != UVEA_OK) {
        uvea_ledger_fail(ledger, error, NULL);
        return false;
    }
    uint64_t *holder = &ledger->numbers[party].sequences[number - 1];
    if (*holder != 0 && *holder != entry->sequence) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u's result %llu was message %llu's and is now message %llu's",
                          party, (unsigned long long)number, (unsigned long long)*holder,
                          (unsigned long long)entry->sequence);
        return false;
    }
    if (entry->read[party].number != 0 && entry->read[party].number != number) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u publishes it twice, as result %llu and as result %llu",
                          entry->key, party, (unsigned long long)entry->read[party].number,
                          (unsigned long long)number);
        return false;
    }
    *holder = entry->sequence;
    return true;
}

// What a result tells of the batch it belongs to.
static void judge_batch(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry, unsigned party,
                        uint64_t batch)
{
    if (ledger->config.from_results) {
        uvea_ledger_form(ledger, entry, uvea_party_at(party), batch);
    } else if (!uvea_ledger_infer(ledger, entry->sequence, false)) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u has a result of it, but nobody has processed it",
                          entry->key, party);
    } else if (batch != 0 && entry->ruled && batch != entry->batch) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u answers it as of a batch that begins with message %llu, "
                          "but it was committed in one that begins with message %llu",
                          entry->key, party, (unsigned long long)batch,
                          (unsigned long long)entry->batch);
    }
}

static void read_first(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry, unsigned party,
                       const struct uvea_ledger_read *result)
{
    const bool ruled = entry->ruled; // else it is compared as soon as it is
    entry->read[party].number = result->number;
    uvea_ledger_fail(ledger, uvea_buf_append(&entry->read[party].body, result->body, result->bytes),
                     NULL);
    ledger->verdict.results++;
    judge_agreement(ledger, entry, party);
    judge_batch(ledger, entry, party, result->batch);
    if (ruled) {
        uvea_ledger_compare(ledger, entry, uvea_party_at(party));
    }
}

void uvea_ledger_result(struct uvea_ledger *ledger, struct uvea_party party,
                        const struct uvea_ledger_read *result)
{
    struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, result->sequence);
    const uint64_t number = result->number;
    if (ledger->second != NULL) {
        uvea_ledger_result(ledger->second, party, result);
    }
    if (entry == NULL || number == 0 || number > ledger->entry_count) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u's result %llu is of message %llu: nobody sent it, or there are "
                          "not so many results",
                          party.index, (unsigned long long)number,
                          (unsigned long long)result->sequence);
        return;
    }
    if (strcmp(result->type, uvea_oracle_kind_text(entry->order.kind)) != 0) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u publishes it as '%.40s', but it is %s", entry->key,
                          party.index, result->type, uvea_oracle_kind_text(entry->order.kind));
    }
    if (!number_fits(ledger, entry, party.index, number)) {
        return;
    }
    const struct uvea_buf *known = &entry->read[party.index].body;
    if (entry->read[party.index].number == 0) {
        read_first(ledger, entry, party.index, result);
    } else if (known->len != result->bytes ||
               memcmp(known->data, result->body, result->bytes) != 0) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u's result has changed since it was read", entry->key,
                          party.index);
    }
}
