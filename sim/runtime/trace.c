#include "sim/runtime/trace.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>

enum {
    BATCH_BYTES = 16 * 1024,          // serialised events gathered before they are hashed
    HEADER_BYTES = 8 + 8 + 1 + 1 + 1, // time, amount, kind, node, peer
    EVENT_BYTES_MAX = HEADER_BYTES + UVEA_SIM_HASH_BYTES,
    LANE_WIDTH = 36, // columns of one lane in the report
};

_Static_assert(sizeof(struct uvea_sim_record) <= 40, "a kept list stays small");

// An event in a node's lane, with what only people read.
struct lane_entry {
    uint64_t index;
    struct uvea_sim_record record;
    char text[UVEA_SIM_TRACE_TEXT_BYTES];
};

struct lane {
    const char *name;
    uint64_t count; // entry i is at i mod UVEA_SIM_TRACE_LAST
    struct lane_entry last[UVEA_SIM_TRACE_LAST];
};

struct uvea_sim_trace {
    EVP_MD *sha256;
    EVP_MD_CTX *rolling;
    EVP_MD_CTX *payload;
    uint64_t count;
    size_t batch_bytes;
    struct uvea_sim_record_list *keep;
    const struct uvea_sim_record_list *expected;
    struct uvea_sim_difference difference;
    FILE *out;
    unsigned lane_count;
    struct lane lanes[UVEA_SIM_NODES_MAX];
    uint8_t batch[BATCH_BYTES];
};

static const char *const kind_texts[] = {
#define UVEA_SIM_EVENT_TEXT(name, text, what) text,
    UVEA_SIM_EVENTS(UVEA_SIM_EVENT_TEXT)
#undef UVEA_SIM_EVENT_TEXT
};

const char *uvea_sim_event_text(enum uvea_sim_event_kind kind)
{
    return (size_t)kind < UVEA_COUNT_OF(kind_texts) ? kind_texts[kind] : "unknown";
}

void uvea_sim_record_list_deinit(struct uvea_sim_record_list *list)
{
    uvea_mem_free(list->records);
    *list = (struct uvea_sim_record_list){0};
}

static void list_append(struct uvea_sim_record_list *list, const struct uvea_sim_record *record)
{
    if (list->cut) {
        return;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
        struct uvea_sim_record *records = uvea_mem_alloc(capacity, sizeof(*records));
        if (records == NULL) {
            list->cut = true;
            return;
        }
        if (list->count > 0) {
            memcpy(records, list->records, list->count * sizeof(*records));
        }
        uvea_mem_free(list->records);
        list->records = records;
        list->capacity = capacity;
    }
    list->records[list->count++] = *record;
}

// ---- making and ending

enum uvea_error uvea_sim_trace_open(const char *const *names, unsigned node_count,
                                    struct uvea_sim_trace **trace)
{
    UVEA_CHECK(node_count >= 1 && node_count <= UVEA_SIM_NODES_MAX);
    struct uvea_sim_trace *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->lane_count = node_count;
    for (unsigned i = 0; i < node_count; i++) {
        made->lanes[i].name = names[i];
    }
    made->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    made->rolling = EVP_MD_CTX_new();
    made->payload = EVP_MD_CTX_new();
    if (made->sha256 == NULL || made->rolling == NULL || made->payload == NULL ||
        EVP_DigestInit_ex2(made->rolling, made->sha256, NULL) != 1 ||
        EVP_DigestInit_ex2(made->payload, made->sha256, NULL) != 1) {
        uvea_sim_trace_close(made);
        return UVEA_ERR_CRYPTO;
    }
    *trace = made;
    return UVEA_OK;
}

void uvea_sim_trace_close(struct uvea_sim_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    EVP_MD_CTX_free(trace->payload);
    EVP_MD_CTX_free(trace->rolling);
    EVP_MD_free(trace->sha256);
    uvea_mem_free(trace);
}

void uvea_sim_trace_keep(struct uvea_sim_trace *trace, struct uvea_sim_record_list *list)
{
    UVEA_CHECK(trace->count == 0);
    trace->keep = list;
}

void uvea_sim_trace_compare(struct uvea_sim_trace *trace,
                            const struct uvea_sim_record_list *expected)
{
    UVEA_CHECK(trace->count == 0);
    trace->expected = expected;
}

void uvea_sim_trace_write(struct uvea_sim_trace *trace, FILE *out)
{
    UVEA_CHECK(trace->count == 0);
    trace->out = out;
}

// ---- hashing

static void flush_batch(struct uvea_sim_trace *trace)
{
    UVEA_CHECK(EVP_DigestUpdate(trace->rolling, trace->batch, trace->batch_bytes) == 1);
    trace->batch_bytes = 0;
}

static void hash_event(struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                       const uint8_t *payload_hash)
{
    if (trace->batch_bytes + EVENT_BYTES_MAX > BATCH_BYTES) {
        flush_batch(trace);
    }
    uint8_t *at = trace->batch + trace->batch_bytes;
    uvea_store_le64(at, record->time_ns);
    uvea_store_le64(at + 8, record->amount);
    at[16] = record->kind;
    at[17] = record->node;
    at[18] = record->peer;
    trace->batch_bytes += HEADER_BYTES;
    if (payload_hash != NULL) {
        memcpy(at + HEADER_BYTES, payload_hash, UVEA_SIM_HASH_BYTES);
        trace->batch_bytes += UVEA_SIM_HASH_BYTES;
    }
}

static void hash_payload(struct uvea_sim_trace *trace, struct uvea_sim_bytes first,
                         struct uvea_sim_bytes second, uint8_t hash[UVEA_SIM_HASH_BYTES])
{
    EVP_MD_CTX *context = trace->payload;
    UVEA_CHECK(EVP_DigestInit_ex2(context, NULL, NULL) == 1);
    if (first.bytes > 0) {
        UVEA_CHECK(EVP_DigestUpdate(context, first.data, first.bytes) == 1);
    }
    if (second.bytes > 0) {
        UVEA_CHECK(EVP_DigestUpdate(context, second.data, second.bytes) == 1);
    }
    UVEA_CHECK(EVP_DigestFinal_ex(context, hash, NULL) == 1);
}

uint64_t uvea_sim_trace_count(const struct uvea_sim_trace *trace)
{
    return trace->count;
}

void uvea_sim_trace_hash(struct uvea_sim_trace *trace, uint8_t hash[UVEA_SIM_HASH_BYTES])
{
    flush_batch(trace);
    UVEA_CHECK(EVP_MD_CTX_copy_ex(trace->payload, trace->rolling) == 1);
    UVEA_CHECK(EVP_DigestFinal_ex(trace->payload, hash, NULL) == 1);
}

// ---- comparing

static bool records_equal(const struct uvea_sim_record *a, const struct uvea_sim_record *b)
{
    return a->time_ns == b->time_ns && a->amount == b->amount && a->digest == b->digest &&
           a->kind == b->kind && a->node == b->node && a->peer == b->peer;
}

static void compare_event(struct uvea_sim_trace *trace, const struct uvea_sim_record *record)
{
    const struct uvea_sim_record_list *expected = trace->expected;
    struct uvea_sim_difference *difference = &trace->difference;
    bool has_expected = trace->count < expected->count;
    if (difference->found || (!has_expected && expected->cut) ||
        (has_expected && records_equal(record, &expected->records[trace->count]))) {
        return;
    }
    difference->found = true;
    difference->index = trace->count;
    difference->has_got = true;
    difference->got = *record;
    difference->has_expected = has_expected;
    if (has_expected) {
        difference->expected = expected->records[trace->count];
    }
}

void uvea_sim_trace_difference(const struct uvea_sim_trace *trace,
                               struct uvea_sim_difference *difference)
{
    *difference = trace->difference;
    if (!difference->found && trace->expected != NULL && trace->count < trace->expected->count) {
        difference->found = true;
        difference->index = trace->count;
        difference->has_expected = true;
        difference->expected = trace->expected->records[trace->count];
    }
}

// ---- writing

static void print_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
        if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < 0x20) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fputc(*at, out);
        }
    }
    fputc('"', out);
}

static const char *node_name(const struct uvea_sim_trace *trace, unsigned node)
{
    return node < trace->lane_count ? trace->lanes[node].name : "?";
}

static void print_json(const struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                       const char *text)
{
    FILE *out = trace->out;
    fprintf(out, "{\"i\":%" PRIu64 ",\"t\":%" PRIu64 ",\"node\":", trace->count, record->time_ns);
    print_json_string(out, node_name(trace, record->node));
    fprintf(out, ",\"kind\":\"%s\"", uvea_sim_event_text(record->kind));
    if (record->peer != UVEA_SIM_NO_PEER) {
        fputs(",\"peer\":", out);
        print_json_string(out, node_name(trace, record->peer));
    }
    fprintf(out, ",\"amount\":%" PRIu64, record->amount);
    if (record->digest != 0) {
        fprintf(out, ",\"digest\":\"%016" PRIx64 "\"", record->digest);
    }
    if (record->label != NULL) {
        fputs(",\"label\":", out);
        print_json_string(out, record->label);
    }
    if (text != NULL) {
        fputs(",\"text\":", out);
        print_json_string(out, text);
    }
    fputs("}\n", out);
}

// ---- events

// What goes down after a failure goes down in dozens of ends and exits: they would push out of the
// lanes what led to it.
static bool is_telling(enum uvea_sim_event_kind kind)
{
    return kind != UVEA_SIM_EVENT_EXIT && kind != UVEA_SIM_EVENT_SHUT && kind != UVEA_SIM_EVENT_END;
}

static void keep_in_lane(struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                         const char *text)
{
    struct lane *lane = &trace->lanes[record->node];
    struct lane_entry *entry = &lane->last[lane->count++ % UVEA_SIM_TRACE_LAST];
    entry->index = trace->count;
    entry->record = *record;
    entry->text[0] = '\0';
    if (text != NULL) {
        (void)snprintf(entry->text, sizeof(entry->text), "%s", text);
    }
}

static void enter(struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                  const uint8_t *payload_hash, const char *text)
{
    UVEA_CHECK(record->node < trace->lane_count);
    hash_event(trace, record, payload_hash);
    if (is_telling((enum uvea_sim_event_kind)record->kind)) {
        keep_in_lane(trace, record, text);
    }
    if (trace->keep != NULL) {
        list_append(trace->keep, record);
    }
    if (trace->expected != NULL) {
        compare_event(trace, record);
    }
    if (trace->out != NULL) {
        print_json(trace, record, text);
    }
    trace->count++;
}

void uvea_sim_trace_event(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, const char *label)
{
    struct uvea_sim_record record = {
        .time_ns = time_ns,
        .amount = amount,
        .label = label,
        .kind = (uint8_t)kind,
        .node = (uint8_t)node,
        .peer = (uint8_t)peer,
    };
    enter(trace, &record, NULL, NULL);
}

void uvea_sim_trace_bytes(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, struct uvea_sim_bytes first,
                          struct uvea_sim_bytes second)
{
    uint8_t hash[UVEA_SIM_HASH_BYTES];
    hash_payload(trace, first, second, hash);
    struct uvea_sim_record record = {
        .time_ns = time_ns,
        .amount = amount,
        .digest = uvea_load_le64(hash),
        .kind = (uint8_t)kind,
        .node = (uint8_t)node,
        .peer = (uint8_t)peer,
    };
    enter(trace, &record, hash, NULL);
}

void uvea_sim_trace_words(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, const char *label, const char *text)
{
    uint8_t hash[UVEA_SIM_HASH_BYTES];
    struct uvea_sim_bytes first = {label, label != NULL ? strlen(label) + 1 : 0};
    struct uvea_sim_bytes second = {text, text != NULL ? strlen(text) : 0};
    hash_payload(trace, first, second, hash);
    struct uvea_sim_record record = {
        .time_ns = time_ns,
        .amount = amount,
        .digest = uvea_load_le64(hash),
        .label = label,
        .kind = (uint8_t)kind,
        .node = (uint8_t)node,
        .peer = (uint8_t)peer,
    };
    enter(trace, &record, hash, text);
}

// ---- for people

// For example "deliver p2 128 0a1b2c3d", "dial p1 0 p1:4000" or "verdict match". text may be NULL.
static void describe(const struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                     const char *text, char *out, size_t out_bytes)
{
    bool is_note = record->kind == UVEA_SIM_EVENT_NOTE;
    char peer[64] = "";
    char amount[24] = "";
    char digest[16] = "";
    if (record->peer != UVEA_SIM_NO_PEER) {
        (void)snprintf(peer, sizeof(peer), " %s", node_name(trace, record->peer));
    }
    if (record->amount != 0 || record->peer != UVEA_SIM_NO_PEER) {
        (void)snprintf(amount, sizeof(amount), " %" PRIu64, record->amount);
    }
    if (record->kind == UVEA_SIM_EVENT_DELIVER) {
        (void)snprintf(digest, sizeof(digest), " %08x", (unsigned)(record->digest & 0xffffffff));
    }
    (void)snprintf(out, out_bytes, "%s%s%s%s%s%s%s%s",
                   is_note ? "" : uvea_sim_event_text(record->kind), peer, amount, digest,
                   record->label != NULL && !is_note ? " " : "",
                   record->label != NULL ? record->label : "",
                   text != NULL && text[0] != '\0' ? " " : "", text != NULL ? text : "");
}

void uvea_sim_trace_print(const struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                          FILE *out)
{
    char text[160];
    describe(trace, record, NULL, text, sizeof(text));
    fprintf(out, "t=%" PRIu64 " ns %s: %s digest=%016" PRIx64 "\n", record->time_ns,
            node_name(trace, record->node), text, record->digest);
}

// The lane whose next entry (by `next`) comes first, or lane_count when all are used up.
static unsigned earliest_lane(const struct uvea_sim_trace *trace, unsigned lanes,
                              const uint64_t *next)
{
    unsigned best = lanes;
    uint64_t best_index = UINT64_MAX;
    for (unsigned i = 0; i < lanes; i++) {
        const struct lane *lane = &trace->lanes[i];
        if (next[i] < lane->count) {
            uint64_t index = lane->last[next[i] % UVEA_SIM_TRACE_LAST].index;
            if (index < best_index) {
                best_index = index;
                best = i;
            }
        }
    }
    return best;
}

static void print_lane_row(const struct uvea_sim_trace *trace, unsigned lanes, unsigned at,
                           const struct lane_entry *entry, FILE *out)
{
    char text[160];
    uint64_t time_us = entry->record.time_ns / 1000;
    describe(trace, &entry->record, entry->text, text, sizeof(text));
    fprintf(out, "%8" PRIu64 ".%06" PRIu64, time_us / 1000000, time_us % 1000000);
    for (unsigned i = 0; i < lanes; i++) {
        int width = i + 1 == lanes ? 0 : LANE_WIDTH; // no blanks at the end of a line
        fprintf(out, " | %-*.*s", width, LANE_WIDTH, i == at ? text : "");
    }
    fputc('\n', out);
}

void uvea_sim_trace_lanes(const struct uvea_sim_trace *trace, unsigned lanes, unsigned last,
                          FILE *out)
{
    uint64_t kept = last < UVEA_SIM_TRACE_LAST ? last : UVEA_SIM_TRACE_LAST;
    uint64_t next[UVEA_SIM_NODES_MAX] = {0};
    uint64_t total = 0;
    lanes = lanes < trace->lane_count ? lanes : trace->lane_count;
    for (unsigned i = 0; i < lanes; i++) {
        uint64_t count = trace->lanes[i].count;
        next[i] = count > kept ? count - kept : 0;
        total += count - next[i];
    }
    fprintf(out, "%15s", "seconds");
    for (unsigned i = 0; i < lanes; i++) {
        fprintf(out, " | %-*s", i + 1 == lanes ? 0 : LANE_WIDTH, trace->lanes[i].name);
    }
    fputc('\n', out);
    for (; total > 0; total--) {
        unsigned at = earliest_lane(trace, lanes, next);
        UVEA_CHECK(at < lanes); // total counts what the lanes still hold
        const struct lane_entry *entry = &trace->lanes[at].last[next[at]++ % UVEA_SIM_TRACE_LAST];
        print_lane_row(trace, lanes, at, entry, out);
    }
}
