#include "sim/world/ledger.h"

#include "core/base/mem.h"
#include "sim/world/ledger_impl.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- what is wrong

void uvea_ledger_fault(struct uvea_ledger *ledger, enum uvea_ledger_kind kind, const char *format,
                       ...)
{
    struct uvea_ledger_verdict *verdict = &ledger->verdict;
    verdict->violations[kind]++;
    if (verdict->reason[0] == '\0') {
        verdict->first = kind;
        va_list args;
        va_start(args, format);
        (void)vsnprintf(verdict->reason, sizeof(verdict->reason), format, args);
        va_end(args);
    }
}

void uvea_ledger_fail(struct uvea_ledger *ledger, enum uvea_error error,
                      const struct uvea_error_context *context)
{
    if (ledger->failure == UVEA_OK && error != UVEA_OK) {
        ledger->failure = error;
        (void)snprintf(ledger->failed.text, sizeof(ledger->failed.text), "%s",
                       context == NULL ? "" : context->text);
    }
}

struct uvea_ledger_verdict uvea_ledger_verdict(const struct uvea_ledger *ledger)
{
    struct uvea_ledger_verdict verdict = ledger->verdict;
    verdict.records = ledger->model.record_count;
    verdict.committed = ledger->committed;
    return verdict;
}

bool uvea_ledger_wrong(const struct uvea_ledger *ledger)
{
    return ledger->failure != UVEA_OK || ledger->verdict.reason[0] != '\0';
}

enum uvea_error uvea_ledger_failure(const struct uvea_ledger *ledger,
                                    struct uvea_error_context *context)
{
    if (ledger->failure == UVEA_OK) {
        return UVEA_OK;
    }
    const char *said = ledger->failed.text;
    return uvea_error_set(context, ledger->failure, "the judge failed: %.400s",
                          said[0] == '\0' ? uvea_error_text(ledger->failure) : said);
}

bool uvea_ledger_complete(const struct uvea_ledger *ledger)
{
    return ledger->verdict.results == UVEA_PARTY_COUNT * (uint64_t)ledger->entry_count &&
           ledger->committed == ledger->entry_count;
}

// ---- opening and closing

enum uvea_error uvea_ledger_open(const struct uvea_ledger_config *config, struct uvea_ledger **out)
{
    struct uvea_ledger *ledger = uvea_mem_alloc(1, sizeof(*ledger));
    if (ledger == NULL) {
        return UVEA_ERR_MEMORY;
    }
    ledger->config = *config;
    uvea_oracle_service_init(&ledger->model, &config->oracle, &config->gates);
    *out = ledger;
    return UVEA_OK;
}

static void entry_free(struct uvea_ledger_entry *entry)
{
    if (entry == NULL) {
        return;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_buf_deinit(&entry->right[party]);
        uvea_buf_deinit(&entry->read[party].body);
    }
    uvea_mem_free((void *)entry->order.id);
    uvea_mem_free((void *)entry->order.message_id);
    uvea_mem_free((void *)entry->order.pair);
    uvea_mem_free((void *)entry->order.or_rule_serials);
    uvea_mem_free(entry->key);
    uvea_mem_free(entry);
}

void uvea_ledger_close(struct uvea_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    uvea_ledger_trial_free(ledger->last);
    for (size_t i = 0; i < UVEA_ORACLE_BATCH_MAX; i++) {
        uvea_ledger_trial_free(ledger->trials[i]);
    }
    for (size_t i = 0; i < ledger->entry_count; i++) {
        entry_free(ledger->entries[i]);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_mem_free(ledger->numbers[party].sequences);
    }
    uvea_mem_free(ledger->entries);
    uvea_mem_free(ledger->by_sequence);
    uvea_oracle_service_deinit(&ledger->model);
    uvea_mem_free(ledger);
}

enum uvea_error uvea_ledger_seed(struct uvea_ledger *ledger, const struct uvea_oracle_pair *pair,
                                 uint32_t *serial)
{
    if (ledger->second != NULL) {
        uvea_ledger_fail(ledger->second, uvea_ledger_seed(ledger->second, pair, NULL), NULL);
    }
    return ledger->begun ? UVEA_ERR_USAGE : uvea_oracle_service_seed(&ledger->model, pair, serial);
}

const struct uvea_oracle_service *uvea_ledger_model(const struct uvea_ledger *ledger)
{
    return &ledger->model;
}

enum uvea_error uvea_ledger_grow(void **array, uint64_t *capacity, uint64_t count, size_t size)
{
    if (count <= *capacity) {
        return UVEA_OK;
    }
    if (count > UINT64_MAX / 4 / size) {
        return UVEA_ERR_LIMIT;
    }
    uint64_t wanted = 2 * count + 64;
    void *grown = uvea_mem_alloc((size_t)wanted, size);
    if (grown == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (*capacity > 0) {
        memcpy(grown, *array, (size_t)*capacity * size);
    }
    uvea_mem_free(*array);
    *array = grown;
    *capacity = wanted;
    return UVEA_OK;
}

// ---- what clients send

// A copy of `bytes` bytes, or NULL when memory is short or there is nothing to copy; then missing
// says which.
static void *copy(const void *from, size_t bytes, bool *missing)
{
    if (from == NULL) {
        return NULL;
    }
    void *to = uvea_mem_alloc(bytes, 1);
    if (to == NULL) {
        *missing = true;
    } else if (bytes > 0) {
        memcpy(to, from, bytes);
    }
    return to;
}

static void *copy_text(const char *text, bool *missing)
{
    const char *from = text == NULL ? "" : text;
    return copy(from, strlen(from) + 1, missing);
}

static enum uvea_error entry_make(const char *key, const struct uvea_oracle_order *order,
                                  struct uvea_ledger_entry **out)
{
    struct uvea_ledger_entry *entry = uvea_mem_alloc(1, sizeof(*entry));
    if (entry == NULL) {
        return UVEA_ERR_MEMORY;
    }
    bool missing = false;
    entry->key = copy_text(key, &missing);
    entry->order = *order;
    entry->order.id = copy_text(order->id, &missing);
    entry->order.message_id = copy_text(order->message_id, &missing);
    entry->order.pair = copy(order->pair, sizeof(*order->pair), &missing);
    entry->order.or_rule_serials =
        copy(order->or_rule_serials, order->or_rule_count * sizeof(uint32_t), &missing);
    if (missing) {
        entry_free(entry);
        return UVEA_ERR_MEMORY;
    }
    *out = entry;
    return UVEA_OK;
}

static struct uvea_ledger_entry *find(const struct uvea_ledger *ledger, const char *key)
{
    for (size_t i = ledger->entry_count; i-- > 0;) { // mostly one of the newest
        if (strcmp(ledger->entries[i]->key, key) == 0) {
            return ledger->entries[i];
        }
    }
    return NULL;
}

enum uvea_error uvea_ledger_offer(struct uvea_ledger *ledger, const char *key,
                                  const struct uvea_oracle_order *order,
                                  const struct uvea_expectation *expect)
{
    struct uvea_ledger_entry *entry;
    if (ledger->second != NULL) {
        uvea_ledger_fail(ledger->second, uvea_ledger_offer(ledger->second, key, order, expect),
                         NULL);
    }
    if (find(ledger, key) != NULL) {
        return UVEA_ERR_USAGE;
    }
    uint64_t capacity = ledger->entry_capacity;
    UVEA_TRY(uvea_ledger_grow((void **)&ledger->entries, &capacity, ledger->entry_count + 1,
                              sizeof(struct uvea_ledger_entry *)));
    ledger->entry_capacity = (size_t)capacity;
    UVEA_TRY(entry_make(key, order, &entry));
    entry->expect = expect;
    ledger->entries[ledger->entry_count++] = entry;
    return UVEA_OK;
}

struct uvea_ledger_entry *uvea_ledger_at(const struct uvea_ledger *ledger, uint64_t sequence)
{
    const bool within = sequence >= 1 && sequence <= ledger->sequence_capacity;
    return within ? ledger->by_sequence[sequence - 1] : NULL;
}

// The number is free, and so is the entry.
static void give_number(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                        uint64_t sequence)
{
    if (sequence > ledger->entry_count) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s is message number %llu, but only %zu were sent", entry->key,
                          (unsigned long long)sequence, ledger->entry_count);
        return;
    }
    enum uvea_error error =
        uvea_ledger_grow((void **)&ledger->by_sequence, &ledger->sequence_capacity, sequence,
                         sizeof(struct uvea_ledger_entry *));
    if (error != UVEA_OK) {
        uvea_ledger_fail(ledger, error, NULL);
        return;
    }
    entry->sequence = sequence;
    ledger->by_sequence[sequence - 1] = entry;
    ledger->verdict.accepted++;
    if (sequence > ledger->sequence_max) {
        ledger->sequence_max = sequence;
    }
}

// The message that had this number has none any more.
static void take_number(struct uvea_ledger *ledger, uint64_t sequence)
{
    struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, sequence);
    if (entry == NULL) {
        return;
    }
    entry->sequence = 0;
    ledger->by_sequence[sequence - 1] = NULL;
    ledger->verdict.accepted--;
    for (size_t i = 0; i < UVEA_ORACLE_BATCH_MAX; i++) { // what it was tried with
        uvea_ledger_trial_free(ledger->trials[i]);
        ledger->trials[i] = NULL;
    }
}

// A disk lost that numbers were given. What is committed keeps its own all the same: who answers
// under it anew is wrong.
static void renumber(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry, uint64_t sequence)
{
    const struct uvea_ledger_entry *holder = uvea_ledger_at(ledger, sequence);
    if (entry->ruled || (holder != NULL && holder->ruled)) {
        return;
    }
    take_number(ledger, sequence);
    take_number(ledger, entry->sequence);
    give_number(ledger, entry, sequence);
}

// Whether nothing but their keys tells two messages apart: both are answered as malformed, with the
// same id.
static bool interchangeable(const struct uvea_ledger_entry *a, const struct uvea_ledger_entry *b)
{
    return a->order.kind == UVEA_ORACLE_MALFORMED && b->order.kind == UVEA_ORACLE_MALFORMED &&
           strcmp(a->order.message_id, b->order.message_id) == 0;
}

void uvea_ledger_accept(struct uvea_ledger *ledger, const char *key, uint64_t sequence)
{
    struct uvea_ledger_entry *entry = find(ledger, key);
    if (ledger->second != NULL) {
        uvea_ledger_accept(ledger->second, key, sequence);
    }
    if (entry == NULL || sequence == 0) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "number %llu is given to %s, which is unsent",
                          (unsigned long long)sequence, key);
        return;
    }
    struct uvea_ledger_entry *holder = uvea_ledger_at(ledger, sequence);
    if (holder == entry) {
        return;
    }
    if (holder != NULL && interchangeable(holder, entry)) {
        // The parties showed it first, and which of the two it was could not be seen.
        char *name = holder->key;
        const struct uvea_expectation *expect = holder->expect;
        holder->key = entry->key;
        holder->expect = entry->expect;
        entry->key = name;
        entry->expect = expect;
        return;
    }
    if (ledger->config.hostile && (holder != NULL || entry->sequence != 0)) {
        renumber(ledger, entry, sequence);
        return;
    }
    if (holder != NULL) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "message number %llu is given to %s and to %s",
                          (unsigned long long)sequence, holder->key, key);
    } else if (entry->sequence != 0) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "%s has two message numbers, %llu and %llu",
                          key, (unsigned long long)entry->sequence, (unsigned long long)sequence);
    } else {
        give_number(ledger, entry, sequence);
    }
}

static bool reads(const struct uvea_ledger_entry *entry, const char *message_id)
{
    return strcmp(entry->order.kind == UVEA_ORACLE_MALFORMED ? entry->order.message_id : entry->key,
                  message_id) == 0;
}

// Whether this is the message that the number may be given to by being seen.
static bool may_bind(const struct uvea_ledger *ledger, const struct uvea_ledger_entry *entry,
                     const char *message_id)
{
    return reads(entry, message_id) &&
           (entry->sequence == 0 || (ledger->config.hostile && !entry->ruled));
}

struct uvea_ledger_entry *uvea_ledger_bind(struct uvea_ledger *ledger, uint64_t sequence,
                                           const char *message_id)
{
    struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, sequence);
    if (entry != NULL && (!ledger->config.hostile || entry->ruled || reads(entry, message_id))) {
        return entry;
    }
    for (size_t i = 0; sequence != 0 && i < ledger->entry_count; i++) {
        struct uvea_ledger_entry *candidate = ledger->entries[i];
        if (may_bind(ledger, candidate, message_id)) {
            renumber(ledger, candidate, sequence);
            return candidate->sequence == 0 ? NULL : candidate;
        }
    }
    return entry;
}

enum uvea_error uvea_ledger_outcome(const struct uvea_ledger *ledger, const char *key,
                                    struct uvea_ledger_outcome *outcome)
{
    const struct uvea_ledger_entry *entry = find(ledger, key);
    if (entry == NULL) {
        return UVEA_ERR_NOT_FOUND;
    }
    *outcome = entry->outcome;
    outcome->sequence = entry->sequence;
    return UVEA_OK;
}

enum uvea_error uvea_ledger_answers(const struct uvea_ledger *ledger, uvea_ledger_answer_fn *fn,
                                    void *arg)
{
    for (size_t i = 0; i < ledger->entry_count; i++) {
        const struct uvea_ledger_entry *entry = ledger->entries[i];
        struct uvea_ledger_answer answer = {
            .key = entry->key,
            .kind = uvea_oracle_kind_text(entry->order.kind),
            .sequence = entry->sequence,
            .ruled = entry->ruled,
        };
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            answer.right[party] = &entry->right[party];
            answer.read[party] = &entry->read[party].body;
        }
        UVEA_TRY(fn(arg, &answer));
    }
    return UVEA_OK;
}

void uvea_ledger_repeat(struct uvea_ledger *ledger, struct uvea_ledger *second)
{
    ledger->second = second;
}

// ---- one hash for all

static bool hash_message(EVP_MD_CTX *hash, const struct uvea_ledger_entry *entry)
{
    bool done = EVP_DigestUpdate(hash, entry->opened, sizeof(entry->opened)) == 1;
    for (unsigned party = 0; done && party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_buf *body = &entry->read[party].body;
        done = EVP_DigestUpdate(hash, body->data, body->len) == 1 &&
               EVP_DigestUpdate(hash, "", 1) == 1;
    }
    return done;
}

enum uvea_error uvea_ledger_hash(const struct uvea_ledger *ledger, uint64_t after,
                                 uint8_t out[UVEA_LEDGER_HASH_BYTES])
{
    _Static_assert(UVEA_LEDGER_HASH_BYTES == 32, "SHA-256");
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool done = hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;
    for (uint64_t sequence = after + 1; done && sequence <= ledger->sequence_max; sequence++) {
        const struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, sequence);
        done = entry == NULL || hash_message(hash, entry);
    }
    done = done && EVP_DigestFinal_ex(hash, out, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return done ? UVEA_OK : UVEA_ERR_CRYPTO;
}
