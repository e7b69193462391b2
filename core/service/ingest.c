#include "core/service/ingest.h"

#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/service/message.h"
#include "core/service/topic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STATUS_OK = 200 };

struct uvea_ingest {
    struct uvea_ingest_config config;
    struct uvea_task *task;
    struct uvea_channel *stop; // shut when the task is to end
    struct uvea_topic_page page;
    uint64_t backoff_ns; // 0 while all is well
    bool broken;         // the store or memory failed: trying again is of no use
    struct uvea_error_context context;
};

// ---- one pull

// What a peer or the network did wrong is worth another attempt.
static enum uvea_error read_answer(struct uvea_ingest *ingest,
                                   const struct uvea_http_response *response)
{
    if (response->status != STATUS_OK) {
        return uvea_error_set(&ingest->context, UVEA_ERR_PEER, "topic: status %u",
                              response->status);
    }
    return uvea_topic_page_decode(response->body.data, response->body.len, &ingest->page,
                                  &ingest->context);
}

static enum uvea_error call_topic(struct uvea_ingest *ingest, uint64_t after)
{
    const struct uvea_ingest_config *config = &ingest->config;
    struct uvea_http_response response = {0};
    char target[96];
    const struct uvea_http_request request = {.method = "GET", .target = target};
    enum uvea_error error;

    (void)snprintf(target, sizeof(target), "/v1/topic?after=%" PRIu64 "&max=%d", after,
                   UVEA_PAGE_ENTRIES_MAX);
    UVEA_TRY(uvea_rt_http_call(config->rt, config->topic_address, &request, &response,
                               uvea_rt_deadline_ns(config->rt, config->attempt_ns)));
    error = read_answer(ingest, &response);
    uvea_http_response_deinit(&response);
    return error;
}

// Whether a message is a request depends on its bytes alone.
static enum uvea_error classify(const struct uvea_topic_message *message,
                                struct uvea_store_message *out)
{
    struct uvea_message parsed = {0};

    UVEA_TRY(uvea_message_parse(message->body, message->body_bytes, &parsed));
    *out = (struct uvea_store_message){
        .sequence = message->sequence,
        .body = message->body,
        .body_bytes = message->body_bytes,
        .valid = parsed.kind != UVEA_MESSAGE_MALFORMED,
    };
    uvea_message_deinit(&parsed);
    return UVEA_OK;
}

static enum uvea_error store_page(struct uvea_ingest *ingest)
{
    struct uvea_store_message messages[UVEA_PAGE_ENTRIES_MAX];
    const struct uvea_topic_page *page = &ingest->page;

    for (size_t i = 0; i < page->count; i++) {
        UVEA_TRY(classify(&page->messages[i], &messages[i]));
    }
    UVEA_TRY(uvea_store_ingest(ingest->config.store, messages, page->count, &ingest->context));
    return uvea_rt_point(ingest->config.rt, UVEA_POINT_INGESTED);
}

// *progress: more of the topic is here without a gap than before.
static enum uvea_error pull(struct uvea_ingest *ingest, bool *progress)
{
    const struct uvea_ingest_config *config = &ingest->config;
    struct uvea_store_ingest_state state;
    struct uvea_store_ingest_state after;
    enum uvea_error error;

    ingest->broken = true;
    UVEA_TRY(uvea_store_ingest_state(config->store, &state, &ingest->context));
    if (config->topic_address == NULL) {
        error = uvea_topic_page_read(config->store, state.contiguous, UVEA_PAGE_ENTRIES_MAX,
                                     &ingest->page, &ingest->context);
    } else {
        error = call_topic(ingest, state.contiguous);
        ingest->broken = error == UVEA_OK || error == UVEA_ERR_MEMORY;
    }
    UVEA_TRY(error);
    *progress = false;
    if (ingest->page.count > 0) {
        UVEA_TRY(store_page(ingest));
        UVEA_TRY(uvea_store_ingest_state(config->store, &after, &ingest->context));
        *progress = after.contiguous > state.contiguous;
    }
    ingest->broken = false;
    return UVEA_OK;
}

// ---- the task

static uint64_t double_up(uint64_t value, uint64_t max)
{
    return value > max / 2 ? max : value * 2;
}

// The back-off and up to as much again, at most backoff_ns_max.
static enum uvea_error draw_backoff(struct uvea_ingest *ingest, uint64_t *delay_ns)
{
    const struct uvea_ingest_config *config = &ingest->config;
    uint8_t bytes[8];

    ingest->backoff_ns = ingest->backoff_ns == 0
                             ? config->backoff_ns_min
                             : double_up(ingest->backoff_ns, config->backoff_ns_max);
    UVEA_TRY(uvea_rt_entropy(config->rt, bytes, sizeof(bytes)));
    *delay_ns = ingest->backoff_ns + uvea_load_le64(bytes) % (ingest->backoff_ns + 1);
    if (*delay_ns > config->backoff_ns_max) {
        *delay_ns = config->backoff_ns_max;
    }
    return UVEA_OK;
}

// Returns whether the task is to go on.
static bool pause_for(struct uvea_ingest *ingest, uint64_t delay_ns)
{
    struct uvea_rt *rt = ingest->config.rt;
    void *item;

    return uvea_rt_channel_recv(rt, ingest->stop, &item, uvea_rt_deadline_ns(rt, delay_ns)) ==
           UVEA_ERR_TIMEOUT;
}

static bool wait_after(struct uvea_ingest *ingest, enum uvea_error error, bool progress)
{
    uint64_t delay_ns = progress ? 0 : ingest->config.pause_ns;

    if (error == UVEA_OK) {
        ingest->backoff_ns = 0;
    } else if (draw_backoff(ingest, &delay_ns) != UVEA_OK) {
        return false;
    }
    return pause_for(ingest, delay_ns);
}

static void run_ingest(void *arg)
{
    struct uvea_ingest *ingest = arg;
    bool progress;
    enum uvea_error error;

    do {
        progress = false;
        ingest->context.text[0] = '\0';
        error = pull(ingest, &progress);
        uvea_topic_page_deinit(&ingest->page);
        if (error != UVEA_OK && ingest->broken) {
            uvea_coord_stop(ingest->config.coord, error, "ingest: %s",
                            ingest->context.text[0] != '\0' ? ingest->context.text
                                                            : uvea_error_text(error));
            return;
        }
    } while (wait_after(ingest, error, progress));
}

enum uvea_error uvea_ingest_open(const struct uvea_ingest_config *config,
                                 struct uvea_ingest **ingest)
{
    struct uvea_ingest *made = uvea_mem_alloc(1, sizeof(*made));
    enum uvea_error error;

    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->config = *config;
    UVEA_TRY_CLEANUP(uvea_rt_channel_open(config->rt, 1, &made->stop));
    UVEA_TRY_CLEANUP(uvea_rt_spawn(config->rt, "ingest", run_ingest, made, &made->task));
    *ingest = made;
    return UVEA_OK;
cleanup:
    uvea_rt_channel_close(config->rt, made->stop);
    uvea_mem_free(made);
    return error;
}

void uvea_ingest_close(struct uvea_ingest *ingest)
{
    if (ingest == NULL) {
        return;
    }
    uvea_rt_channel_shut(ingest->config.rt, ingest->stop);
    uvea_rt_join(ingest->config.rt, ingest->task);
    uvea_rt_channel_close(ingest->config.rt, ingest->stop);
    uvea_mem_free(ingest);
}
