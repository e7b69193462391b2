// What befalls HTTP, at the server.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/http_state.h"
#include "sim/runtime/state.h"

#include <stdio.h>
#include <string.h>

enum { CHANCE_ONE = 1000000 };

static const char *const fault_texts[UVEA_SIM_HTTP_FAULT_COUNT] = {
    [UVEA_SIM_HTTP_STATUS_409] = "409",
    [UVEA_SIM_HTTP_STATUS_5XX] = "5xx",
    [UVEA_SIM_HTTP_NO_ANSWER] = "no-answer",
    [UVEA_SIM_HTTP_LOST_ANSWER] = "lost-answer",
    [UVEA_SIM_HTTP_RESET] = "reset",
    [UVEA_SIM_HTTP_DUPLICATE] = "duplicate",
    [UVEA_SIM_HTTP_TRUNCATED] = "truncated",
    [UVEA_SIM_HTTP_EMPTY] = "empty",
    [UVEA_SIM_HTTP_WRONG_TYPE] = "wrong-type",
    [UVEA_SIM_HTTP_STALE] = "stale",
    [UVEA_SIM_HTTP_SLOW] = "slow",
};

// ---- life

void uvea_sim_http_init(struct uvea_sim_node *node)
{
    char name[UVEA_SIM_ADDRESS_BYTES + 16];
    (void)snprintf(name, sizeof(name), "http/%s", node->name);
    uvea_sim_random_init(&node->http.random, node->sim->config.seed, name);
}

void uvea_sim_http_deinit(struct uvea_sim_node *node)
{
    for (unsigned i = 0; i < UVEA_SIM_HTTP_STALE_MAX; i++) {
        struct uvea_sim_http_answered *answered = node->http.answered[i];
        if (answered != NULL) {
            uvea_buf_deinit(&answered->body);
            uvea_mem_free(answered);
        }
    }
}

void uvea_sim_http_faults_set(struct uvea_sim *sim, unsigned node,
                              const struct uvea_sim_http_faults *faults)
{
    UVEA_CHECK(node < sim->config.node_count);
    sim->nodes[node].http.faults = *faults;
    sim->nodes[node].http.run_left = 0;
}

const char *uvea_sim_http_fault_text(unsigned which)
{
    return which < UVEA_SIM_HTTP_FAULT_COUNT ? fault_texts[which] : "unknown";
}

uint64_t uvea_sim_http_fault_count(const struct uvea_sim *sim, unsigned which)
{
    UVEA_CHECK(which < UVEA_SIM_HTTP_FAULT_COUNT);
    return sim->http_fault_counts[which];
}

// ---- drawing

struct uvea_sim_http_plan uvea_sim_http_draw(struct uvea_sim_node *node, const char *target)
{
    struct uvea_sim_http *http = &node->http;
    const struct uvea_sim_http_faults *faults = &http->faults;
    const uint32_t chances[UVEA_SIM_HTTP_FAULT_COUNT] = {
        faults->status_409, faults->status_5xx, faults->no_answer, faults->lost_answer,
        faults->reset,      faults->duplicate,  faults->truncated, faults->empty,
        faults->wrong_type, faults->stale,      faults->slow,
    };
    struct uvea_sim_http_plan plan = {.fault = UVEA_SIM_HTTP_HONEST};
    const char *prefix = faults->path_prefix != NULL ? faults->path_prefix : "";
    if (strncmp(target, prefix, strlen(prefix)) != 0) {
        return plan;
    }
    if (http->run_left > 0) {
        http->run_left--;
        plan.fault = UVEA_SIM_HTTP_STATUS_409;
        return plan;
    }
    unsigned which = 0;
    while (which < UVEA_SIM_HTTP_FAULT_COUNT &&
           !uvea_sim_random_chance(&http->random, chances[which], CHANCE_ONE)) {
        which++;
    }
    plan.fault = (enum uvea_sim_http_fault)which;
    if (plan.fault == UVEA_SIM_HTTP_STATUS_409) {
        uint32_t longest = faults->run_max > 1 ? faults->run_max : 1;
        http->run_left = (uint32_t)uvea_sim_random_below(&http->random, longest);
    } else if (plan.fault != UVEA_SIM_HTTP_HONEST) {
        plan.random = uvea_sim_random_next_u64(&http->random);
    }
    return plan;
}

void uvea_sim_http_happens(struct uvea_sim_node *node, unsigned peer,
                           enum uvea_sim_http_fault fault, unsigned status, const char *target)
{
    UVEA_CHECK((unsigned)fault < UVEA_SIM_HTTP_FAULT_COUNT);
    node->sim->http_fault_counts[fault]++;
    uvea_sim_record_words(node, UVEA_SIM_EVENT_HTTP_FAULT, peer, status, fault_texts[fault],
                          target);
}

// ---- changing an answer

static enum uvea_sim_http_fault truncate(struct uvea_http_response *answer, uint64_t random)
{
    if (answer->body.len == 0) {
        return UVEA_SIM_HTTP_HONEST;
    }
    answer->body.len = (size_t)(random % answer->body.len);
    return UVEA_SIM_HTTP_TRUNCATED;
}

static enum uvea_sim_http_fault change_type(struct uvea_http_response *answer, uint64_t random)
{
    static const char *const bodies[] = {
        "{}", "[]", "null", "true", "17", "\"\"", "[{\"0\":{}}]", "{\"state\":[null,-1]}",
    };
    const char *body = bodies[random % UVEA_COUNT_OF(bodies)];
    uvea_buf_clear(&answer->body);
    if (uvea_buf_append(&answer->body, body, strlen(body)) != UVEA_OK) {
        return UVEA_SIM_HTTP_HONEST;
    }
    answer->status = 200;
    return UVEA_SIM_HTTP_WRONG_TYPE;
}

// Where the path's answer before is kept, or a free place, or NULL.
static struct uvea_sim_http_answered **answered_place(struct uvea_sim_http *http,
                                                      const char *target, size_t path_bytes)
{
    for (unsigned i = 0; i < UVEA_SIM_HTTP_STALE_MAX; i++) {
        const struct uvea_sim_http_answered *at = http->answered[i];
        if (at == NULL ||
            (strncmp(at->path, target, path_bytes) == 0 && at->path[path_bytes] == '\0')) {
            return &http->answered[i];
        }
    }
    return NULL;
}

static void remember(struct uvea_sim_http *http, const char *target,
                     const struct uvea_http_response *answer)
{
    size_t path_bytes = strcspn(target, "?");
    struct uvea_sim_http_answered **place = answered_place(http, target, path_bytes);
    if (place == NULL || answer->body.len > UVEA_SIM_HTTP_STALE_BYTES_MAX) {
        return;
    }
    if (*place == NULL) {
        struct uvea_sim_http_answered *made = uvea_mem_alloc(1, sizeof(*made));
        if (made == NULL) {
            return;
        }
        memcpy(made->path, target, path_bytes);
        *place = made;
    }
    uvea_buf_clear(&(*place)->body);
    // Without memory the answer before is an empty one.
    (void)!uvea_buf_append(&(*place)->body, answer->body.data, answer->body.len);
}

// The handler's own answer becomes the answer before.
static enum uvea_sim_http_fault make_stale(struct uvea_sim_http *http, const char *target,
                                           struct uvea_http_response *answer)
{
    struct uvea_sim_http_answered **place = answered_place(http, target, strcspn(target, "?"));
    if (place == NULL || *place == NULL) {
        return UVEA_SIM_HTTP_HONEST;
    }
    struct uvea_buf fresh = answer->body;
    answer->body = (*place)->body;
    (*place)->body = fresh;
    return UVEA_SIM_HTTP_STALE;
}

enum uvea_sim_http_fault uvea_sim_http_distort(struct uvea_sim_node *node,
                                               const struct uvea_sim_http_plan *plan,
                                               const char *target,
                                               struct uvea_http_response *answer)
{
    enum uvea_sim_http_fault fault = plan->fault;
    if (fault == UVEA_SIM_HTTP_STALE) {
        fault = make_stale(&node->http, target, answer);
    }
    if (fault != UVEA_SIM_HTTP_STALE && node->http.faults.stale > 0) {
        remember(&node->http, target, answer);
    }
    switch (fault) {
    case UVEA_SIM_HTTP_TRUNCATED:
        return truncate(answer, plan->random);
    case UVEA_SIM_HTTP_EMPTY:
        uvea_buf_clear(&answer->body);
        answer->status = 200;
        return fault;
    case UVEA_SIM_HTTP_WRONG_TYPE:
        return change_type(answer, plan->random);
    case UVEA_SIM_HTTP_SLOW:
        return answer->body.len > 0 ? fault : UVEA_SIM_HTTP_HONEST;
    default:
        return fault;
    }
}

uint64_t uvea_sim_http_conflicts(const struct uvea_sim *sim)
{
    return sim->http_conflicts;
}
