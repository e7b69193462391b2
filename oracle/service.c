#include "oracle/service.h"

#include "core/base/mem.h"

#include <string.h>

// ---- the database

void uvea_oracle_service_init(struct uvea_oracle_service *service,
                              const struct uvea_oracle_config *config,
                              const struct uvea_oracle_gates *gates)
{
    *service = (struct uvea_oracle_service){.config = *config, .gates = *gates};
}

void uvea_oracle_service_deinit(struct uvea_oracle_service *service)
{
    uvea_mem_free(service->records);
    *service = (struct uvea_oracle_service){.records = NULL};
}

// Makes room for `more` records, so that what follows cannot fail.
static enum uvea_error reserve(struct uvea_oracle_service *service, uint32_t more)
{
    if (service->record_capacity - service->record_count >= more) {
        return UVEA_OK;
    }
    if (service->record_capacity > UINT32_MAX / 4) {
        return UVEA_ERR_LIMIT;
    }
    uint32_t capacity = 2 * service->record_capacity + UVEA_ORACLE_BATCH_MAX;
    struct uvea_oracle_identity *records = uvea_mem_alloc(capacity, sizeof(*records));
    if (records == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (service->record_count > 0) {
        memcpy(records, service->records, service->record_count * sizeof(*records));
    }
    uvea_mem_free(service->records);
    service->records = records;
    service->record_capacity = capacity;
    return UVEA_OK;
}

enum uvea_error uvea_oracle_service_seed(struct uvea_oracle_service *service,
                                         const struct uvea_oracle_pair *pair, uint32_t *serial)
{
    UVEA_TRY(reserve(service, 1));
    service->records[service->record_count++] = (struct uvea_oracle_identity){.pair = *pair};
    if (serial != NULL) {
        *serial = service->record_count;
    }
    return UVEA_OK;
}

// What stands in a deleted identity's place: all code bits 0, all mask bits valid.
static void dummy_make(struct uvea_oracle_pair *dummy)
{
    memset(dummy, 0, sizeof(*dummy));
    for (unsigned eye = 0; eye < UVEA_ORACLE_EYES; eye++) {
        memset(dummy->eye[eye].mask, 0xff, sizeof(dummy->eye[eye].mask));
    }
}

// ---- kinds

const char *uvea_oracle_kind_text(enum uvea_oracle_kind kind)
{
    switch (kind) {
    case UVEA_ORACLE_UNIQUENESS:
        return "uniqueness";
    case UVEA_ORACLE_REAUTH:
        return "reauth";
    case UVEA_ORACLE_DELETION:
        return "identity_deletion";
    case UVEA_ORACLE_RESET_CHECK:
        return "reset_check";
    case UVEA_ORACLE_RESET_UPDATE:
        return "reset_update";
    case UVEA_ORACLE_RECOVERY_CHECK:
        return "recovery_check";
    case UVEA_ORACLE_RECOVERY_UPDATE:
        return "recovery_update";
    case UVEA_ORACLE_MALFORMED:
        return "malformed";
    }
    return "?";
}

static bool is_update(enum uvea_oracle_kind kind)
{
    return kind == UVEA_ORACLE_RESET_UPDATE || kind == UVEA_ORACLE_RECOVERY_UPDATE;
}

static bool names_serial(enum uvea_oracle_kind kind)
{
    return kind == UVEA_ORACLE_REAUTH || kind == UVEA_ORACLE_DELETION || is_update(kind);
}

static bool is_searched(enum uvea_oracle_kind kind)
{
    return kind == UVEA_ORACLE_UNIQUENESS || kind == UVEA_ORACLE_REAUTH ||
           kind == UVEA_ORACLE_RESET_CHECK || kind == UVEA_ORACLE_RECOVERY_CHECK;
}

// ---- intake

static const char *gate_reason(const struct uvea_oracle_service *service,
                               const struct uvea_oracle_order *order)
{
    const struct uvea_oracle_gates *gates = &service->gates;
    const struct uvea_oracle_config *config = &service->config;
    bool or_rule_usable = config->luc_enabled && config->luc_serial_ids_from_request;
    switch (order->kind) {
    case UVEA_ORACLE_UNIQUENESS:
        return NULL;
    case UVEA_ORACLE_REAUTH:
        if (!gates->reauth) {
            return "Reauth is disabled";
        }
        return order->use_or_rule && !or_rule_usable ? "LUC is not enabled for use_or_rule" : NULL;
    case UVEA_ORACLE_DELETION:
        return gates->deletion ? NULL : "Identity deletions are disabled";
    case UVEA_ORACLE_RESET_CHECK:
        return gates->reset ? NULL : "reset_check is disabled";
    case UVEA_ORACLE_RESET_UPDATE:
        return gates->reset ? NULL : "reset_update is disabled";
    case UVEA_ORACLE_RECOVERY_CHECK:
        return gates->recovery ? NULL : "recovery_check is disabled";
    case UVEA_ORACLE_RECOVERY_UPDATE:
        return gates->recovery ? NULL : "recovery_update is disabled";
    case UVEA_ORACLE_MALFORMED:
        break;
    }
    return "malformed_request";
}

// Whether a request before `at` was taken in that names the same serial. Bad shares show only
// later, so a request that has them counts.
static bool is_duplicate(const struct uvea_oracle_order *orders, size_t at,
                         const struct uvea_oracle_ruling *rulings)
{
    for (size_t i = 0; i < at; i++) {
        if (rulings[i].error_reason == NULL && names_serial(orders[i].kind) &&
            orders[i].serial_id == orders[at].serial_id) {
            return true;
        }
    }
    return false;
}

static const char *intake_reason(const struct uvea_oracle_service *service,
                                 const struct uvea_oracle_order *orders, size_t at,
                                 const struct uvea_oracle_ruling *rulings)
{
    const struct uvea_oracle_order *order = &orders[at];
    const char *reason = gate_reason(service, order);
    if (reason != NULL || !names_serial(order->kind)) {
        return reason;
    }
    if (is_duplicate(orders, at, rulings)) {
        return "duplicate serial_id in batch";
    }
    bool known = order->serial_id >= 1 && order->serial_id <= service->record_count;
    return known ? NULL : "unknown serial_id";
}

static void take_in(const struct uvea_oracle_service *service,
                    const struct uvea_oracle_order *orders, size_t count,
                    struct uvea_oracle_ruling *rulings)
{
    for (size_t i = 0; i < count; i++) {
        rulings[i].error_reason = intake_reason(service, orders, i, rulings);
        rulings[i].serial = names_serial(orders[i].kind) ? orders[i].serial_id : 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (rulings[i].error_reason == NULL && orders[i].pair == NULL &&
            orders[i].kind != UVEA_ORACLE_DELETION) {
            rulings[i].error_reason = "failed_to_process_iris_shares";
        }
    }
}

// ---- search

// What a batch is decided with. On the heap: it is large.
struct hearing {
    const struct uvea_oracle_service *service;
    const struct uvea_oracle_order *orders;
    size_t count;
    struct uvea_oracle_ruling *rulings;
    struct uvea_error_context *context;
    bool mirror;                             // the batch's flag
    const struct uvea_oracle_pair **records; // owned; after the batch's deletions
    bool *luc;                               // owned; scratch, per record
    struct uvea_oracle_pair dummy;
    struct uvea_oracle_search_input in;
};

static bool mirror_flag(const struct uvea_oracle_order *orders, size_t count)
{
    bool flag = false;
    for (size_t i = 0; i < count; i++) {
        if (orders[i].kind == UVEA_ORACLE_UNIQUENESS && orders[i].has_mirror_flag) {
            flag = orders[i].mirror_flag;
        }
    }
    return flag;
}

static bool is_heard(const struct hearing *h, size_t at)
{
    return h->rulings[at].error_reason == NULL && is_searched(h->orders[at].kind);
}

// The LUC set of one request, and the target of a reauth that is in none.
static void name_known(struct hearing *h, const struct uvea_oracle_order *order,
                       enum uvea_oracle_orientation orientation)
{
    const struct uvea_oracle_config *config = &h->service->config;
    uint32_t count = h->service->record_count;
    memset(h->luc, 0, count * sizeof(*h->luc));
    h->in.target = 0;
    if (order->kind == UVEA_ORACLE_UNIQUENESS) {
        if (config->luc_enabled && config->luc_serial_ids_from_request) {
            uvea_oracle_search_name(order->or_rule_serials, order->or_rule_count, count, h->luc);
        }
        uvea_oracle_search_lookback(config, count, h->luc);
    } else if (order->kind == UVEA_ORACLE_REAUTH) {
        if (order->use_or_rule) {
            uvea_oracle_search_name(&order->serial_id, 1, count, h->luc);
        }
        h->in.target = orientation == UVEA_ORACLE_NORMAL ? order->serial_id : 0;
    }
}

// One request in one orientation: the database, then the requests before it as they came.
static enum uvea_error search_one(struct hearing *h, size_t at,
                                  enum uvea_oracle_orientation orientation)
{
    const struct uvea_oracle_order *order = &h->orders[at];
    struct uvea_oracle_ruling *ruling = &h->rulings[at];
    name_known(h, order, orientation);
    uvea_oracle_search_prepare(order->pair, orientation, &h->in);
    UVEA_TRY(uvea_oracle_search_run(&h->in, &ruling->search[orientation], h->context));
    for (size_t before = 0; before < at; before++) {
        bool match = false;
        if (is_heard(h, before)) {
            UVEA_TRY(uvea_oracle_search_pair(&h->in, h->orders[before].pair, &match, h->context));
        }
        if (match) {
            uint32_t *matches = ruling->batch_matches[orientation];
            matches[ruling->batch_match_count[orientation]++] = (uint32_t)before;
        }
    }
    return UVEA_OK;
}

static enum uvea_error search_all(struct hearing *h)
{
    for (size_t at = 0; at < h->count; at++) {
        if (!is_heard(h, at)) {
            continue;
        }
        UVEA_TRY(search_one(h, at, UVEA_ORACLE_NORMAL));
        if (h->mirror) {
            UVEA_TRY(search_one(h, at, UVEA_ORACLE_MIRROR));
        }
    }
    return UVEA_OK;
}

// ---- decisions

// Decided as something that is enrolled: what may make a later request of the batch no longer
// unique. A reauth that is told not to write counts all the same.
static bool is_enrolled(const struct hearing *h, size_t at)
{
    return h->rulings[at].inserts ||
           (h->orders[at].kind == UVEA_ORACLE_REAUTH && h->rulings[at].matched);
}

static void decide_uniqueness(const struct hearing *h, size_t at)
{
    struct uvea_oracle_ruling *ruling = &h->rulings[at];
    bool any[UVEA_ORACLE_ORIENTATIONS]; // earlier requests count, whatever became of them
    bool taken = false;                 // they count when they are enrolled
    for (unsigned o = 0; o < UVEA_ORACLE_ORIENTATIONS; o++) {
        bool hit = uvea_oracle_search_hit(&ruling->search[o]);
        any[o] = hit || ruling->batch_match_count[o] > 0;
        taken |= hit;
        for (uint32_t i = 0; i < ruling->batch_match_count[o]; i++) {
            taken |= is_enrolled(h, ruling->batch_matches[o][i]);
        }
    }
    ruling->matched = taken;
    ruling->mirror_attack = any[UVEA_ORACLE_MIRROR] && !any[UVEA_ORACLE_NORMAL];
    ruling->inserts = !taken && !h->orders[at].skip_persistence;
}

static void decide_reauth(const struct hearing *h, size_t at)
{
    const struct uvea_oracle_order *order = &h->orders[at];
    struct uvea_oracle_ruling *ruling = &h->rulings[at];
    const struct uvea_oracle_record *target =
        &ruling->search[UVEA_ORACLE_NORMAL].records[order->serial_id - 1];
    bool left = target->strict[UVEA_ORACLE_LEFT] != 0;
    bool right = target->strict[UVEA_ORACLE_RIGHT] != 0;
    ruling->matched = order->use_or_rule ? left || right : left && right;
    ruling->updates = ruling->matched && !order->skip_persistence;
}

// Serials are given out and versions counted up in order of arrival.
static void decide_all(const struct hearing *h)
{
    uint32_t next = h->service->record_count + 1;
    for (size_t at = 0; at < h->count; at++) {
        enum uvea_oracle_kind kind = h->orders[at].kind;
        struct uvea_oracle_ruling *ruling = &h->rulings[at];
        if (ruling->error_reason != NULL) {
            continue;
        }
        if (kind == UVEA_ORACLE_UNIQUENESS) {
            decide_uniqueness(h, at);
        } else if (kind == UVEA_ORACLE_REAUTH) {
            decide_reauth(h, at);
        } else if (is_searched(kind)) {
            ruling->matched = ruling->search[UVEA_ORACLE_NORMAL].match_count > 0;
        } else {
            ruling->updates = true;
        }
        if (ruling->inserts) {
            ruling->serial = next++;
        }
        if (ruling->updates) {
            ruling->version = (uint16_t)(h->service->records[ruling->serial - 1].version + 1);
        }
    }
}

static enum uvea_error hear(struct hearing *h)
{
    uint32_t count = h->service->record_count;
    h->records = uvea_mem_alloc(count, sizeof(const struct uvea_oracle_pair *));
    h->luc = uvea_mem_alloc(count, sizeof(*h->luc));
    if (h->records == NULL || h->luc == NULL) {
        return UVEA_ERR_MEMORY;
    }
    take_in(h->service, h->orders, h->count, h->rulings);
    dummy_make(&h->dummy);
    for (uint32_t i = 0; i < count; i++) {
        h->records[i] = &h->service->records[i].pair;
    }
    for (size_t i = 0; i < h->count; i++) {
        if (h->orders[i].kind == UVEA_ORACLE_DELETION && h->rulings[i].error_reason == NULL) {
            h->records[h->orders[i].serial_id - 1] = &h->dummy;
        }
    }
    h->mirror = mirror_flag(h->orders, h->count);
    h->in.config = &h->service->config;
    h->in.records = h->records;
    h->in.record_count = count;
    h->in.luc = h->luc;
    UVEA_TRY(search_all(h));
    decide_all(h);
    return UVEA_OK;
}

enum uvea_error uvea_oracle_rule(const struct uvea_oracle_service *service,
                                 const struct uvea_oracle_order *orders, size_t count,
                                 struct uvea_oracle_ruling *rulings,
                                 struct uvea_error_context *context)
{
    if (count < 1 || count > UVEA_ORACLE_BATCH_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "a batch of %zu requests is not ruled on",
                              count);
    }
    struct hearing *h = uvea_mem_alloc(1, sizeof(*h));
    if (h == NULL) {
        return UVEA_ERR_MEMORY;
    }
    h->service = service;
    h->orders = orders;
    h->count = count;
    h->rulings = rulings;
    h->context = context;
    enum uvea_error error = hear(h);
    for (size_t i = 0; error != UVEA_OK && i < count; i++) {
        uvea_oracle_ruling_deinit(&rulings[i]);
    }
    uvea_mem_free(h->records);
    uvea_mem_free(h->luc);
    uvea_mem_free(h);
    return error;
}

void uvea_oracle_ruling_deinit(struct uvea_oracle_ruling *ruling)
{
    for (unsigned o = 0; o < UVEA_ORACLE_ORIENTATIONS; o++) {
        uvea_oracle_search_deinit(&ruling->search[o]);
    }
    *ruling = (struct uvea_oracle_ruling){.error_reason = NULL};
}

// ---- mutations

enum uvea_error uvea_oracle_apply(struct uvea_oracle_service *service,
                                  const struct uvea_oracle_order *orders, size_t count,
                                  const struct uvea_oracle_ruling *rulings)
{
    uint32_t inserts = 0;
    for (size_t i = 0; i < count; i++) {
        inserts += rulings[i].inserts;
    }
    UVEA_TRY(reserve(service, inserts));
    for (size_t i = 0; i < count; i++) {
        const struct uvea_oracle_ruling *ruling = &rulings[i];
        if (ruling->inserts) {
            service->records[service->record_count++] =
                (struct uvea_oracle_identity){.pair = *orders[i].pair};
        } else if (ruling->updates) {
            struct uvea_oracle_identity *record = &service->records[ruling->serial - 1];
            record->version = ruling->version;
            record->deleted = orders[i].kind == UVEA_ORACLE_DELETION;
            if (record->deleted) {
                dummy_make(&record->pair);
            } else {
                record->pair = *orders[i].pair;
            }
        }
    }
    return UVEA_OK;
}
