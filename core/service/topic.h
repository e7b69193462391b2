// A page of the topic: some of its messages in order, as the sequencing party reads them from its
// store and hands them to the others; and sequence numbers as text, which clients read too.
#ifndef UVEA_CORE_SERVICE_TOPIC_H
#define UVEA_CORE_SERVICE_TOPIC_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_PAGE_ENTRIES_MAX = 64,    // messages or results in one answer
    UVEA_PAGE_BYTES_MAX = 4 << 20, // of their bodies together; the first one always fits
};

struct uvea_topic_message {
    uint64_t sequence;
    uint8_t *body; // owned
    size_t body_bytes;
};

// All zero is empty.
struct uvea_topic_page {
    struct uvea_topic_message messages[UVEA_PAGE_ENTRIES_MAX];
    size_t count;
    size_t bytes;
    bool full; // something that followed was left out
};

void uvea_topic_page_deinit(struct uvea_topic_page *page);

// Up to max messages with a number above `after`, ascending, from the sequencing party's own store.
// page is empty before, and on failure.
UVEA_MUST_USE enum uvea_error uvea_topic_page_read(struct uvea_store *store, uint64_t after,
                                                   size_t max, struct uvea_topic_page *page,
                                                   struct uvea_error_context *context);

// Appends {"messages": [{"sequence_number", "body"}]}. FORMAT: a body is not UTF-8.
UVEA_MUST_USE enum uvea_error uvea_topic_page_encode(const struct uvea_topic_page *page,
                                                     struct uvea_buf *json);

// FORMAT or LIMIT, with a sentence, for everything that is no page: of wrong shape, numbers that
// are 0, too many messages or bytes. In which order the numbers come is not looked at. page is
// empty before, and on failure.
UVEA_MUST_USE enum uvea_error uvea_topic_page_decode(const uint8_t *json, size_t bytes,
                                                     struct uvea_topic_page *page,
                                                     struct uvea_error_context *context);

// ---- sequence numbers as text

// UVEA_STORE_SEQUENCE_DIGITS digits and a NUL.
void uvea_sequence_print(uint64_t sequence, char text[UVEA_STORE_SEQUENCE_DIGITS + 1]);

// 1..UVEA_STORE_SEQUENCE_DIGITS digits and nothing else, at most 2^63 - 1.
UVEA_MUST_USE bool uvea_sequence_parse(const char *text, size_t chars, uint64_t *sequence);

#endif
