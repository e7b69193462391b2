#include "sim/runtime/network.h"

#include "core/base/check.h"
#include "sim/runtime/state.h"

#include <inttypes.h>
#include <stdio.h>

#define WINDOW_BYTES_MAX (UINT64_C(1) << 30)

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UVEA_NEVER : sum;
}

// ---- configuration

static enum uvea_error link_config_check(const struct uvea_sim_link_config *config,
                                         struct uvea_error_context *context)
{
    if (config->window_bytes < 1 || config->window_bytes > WINDOW_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "link window of %zu bytes is outside 1 .. %" PRIu64,
                              config->window_bytes, WINDOW_BYTES_MAX);
    }
    if (config->piece_bytes_max > UVEA_SIM_PIECE_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "link pieces of %zu bytes exceed %d",
                              config->piece_bytes_max, UVEA_SIM_PIECE_BYTES_MAX);
    }
    return UVEA_OK;
}

static void link_init(struct uvea_sim *sim, unsigned from, unsigned to,
                      const struct uvea_sim_link_config *config)
{
    struct uvea_sim_link *link = &sim->links[from][to];
    char name[128];
    link->from = from;
    link->to = to;
    link->config = *config;
    (void)snprintf(name, sizeof(name), "net/%s>%s", sim->nodes[from].name, sim->nodes[to].name);
    uvea_sim_random_init(&link->random, sim->config.seed, name);
    (void)snprintf(name, sizeof(name), "net/%s>%s/read", sim->nodes[from].name,
                   sim->nodes[to].name);
    uvea_sim_random_init(&link->read_random, sim->config.seed, name);
}

enum uvea_error uvea_sim_network_open(struct uvea_sim *sim, struct uvea_error_context *context)
{
    const struct uvea_sim_network_config *config = &sim->config.network;
    unsigned count = sim->config.node_count;
    UVEA_TRY(link_config_check(&config->link, context));
    for (unsigned from = 0; from < count; from++) {
        for (unsigned to = 0; to < count; to++) {
            link_init(sim, from, to, &config->link);
        }
    }
    if (config->link_count > UVEA_SIM_LINKS_MAX || config->fault_count > UVEA_SIM_FAULTS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "more than %d links or %d faults",
                              UVEA_SIM_LINKS_MAX, UVEA_SIM_FAULTS_MAX);
    }
    for (unsigned i = 0; i < config->link_count; i++) {
        unsigned from = config->links[i].from;
        unsigned to = config->links[i].to;
        UVEA_TRY(link_config_check(&config->links[i].link, context));
        if (from >= count || to >= count) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "link %u names an unknown node", i);
        }
        sim->links[from][to].config = config->links[i].link;
    }
    UVEA_TRY(uvea_sim_queue_reserve(&sim->queue, UVEA_SIM_FAULTS_MAX));
    for (unsigned i = 0; i < config->fault_count; i++) {
        enum uvea_error error = uvea_sim_inject(sim, &config->faults[i]);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "fault %u is not valid", i);
        }
    }
    return UVEA_OK;
}

struct uvea_sim_traffic uvea_sim_link_traffic(const struct uvea_sim *sim, unsigned from,
                                              unsigned to)
{
    UVEA_CHECK(from < sim->config.node_count && to < sim->config.node_count);
    return sim->links[from][to].traffic;
}

// ---- carriers

static void carrier_leave(struct uvea_sim_carrier *carrier)
{
    if (carrier->link != NULL) {
        UVEA_SIM_LIST_REMOVE(carrier->link->carriers, carrier);
        carrier->link = NULL;
    }
}

static void carrier_schedule(struct uvea_sim *sim, struct uvea_sim_carrier *carrier)
{
    uint64_t held_until_ns = carrier->link->held_until_ns;
    uint64_t at_ns = carrier->due_ns > held_until_ns ? carrier->due_ns : held_until_ns;
    uvea_sim_queue_schedule(&sim->queue, &carrier->event, at_ns);
}

void uvea_sim_carry(struct uvea_sim *sim, struct uvea_sim_carrier *carrier,
                    struct uvea_sim_link *link, uint64_t due_ns)
{
    if (carrier->link != link) {
        carrier_leave(carrier);
        carrier->link = link;
        UVEA_SIM_LIST_ADD(link->carriers, carrier);
    }
    carrier->due_ns = due_ns;
    carrier_schedule(sim, carrier);
}

void uvea_sim_carrier_drop(struct uvea_sim *sim, struct uvea_sim_carrier *carrier)
{
    carrier_leave(carrier);
    uvea_sim_queue_cancel(&sim->queue, &carrier->event);
}

bool uvea_sim_carrier_held(struct uvea_sim *sim, struct uvea_sim_carrier *carrier)
{
    if (sim->now_ns >= carrier->link->held_until_ns) {
        return false;
    }
    carrier_schedule(sim, carrier);
    return true;
}

uint64_t uvea_sim_link_arrival_ns(struct uvea_sim *sim, struct uvea_sim_link *link)
{
    uint64_t jitter_ns = uvea_sim_random_exponential(&link->random, link->config.jitter_ns);
    return add_saturating(add_saturating(sim->now_ns, link->config.latency_ns), jitter_ns);
}

// ---- faults

static void link_hold(struct uvea_sim *sim, struct uvea_sim_link *link, uint64_t for_ns)
{
    uint64_t until_ns = add_saturating(sim->now_ns, for_ns);
    if (until_ns > link->held_until_ns) {
        link->held_until_ns = until_ns;
    }
    uvea_sim_record(&sim->nodes[link->from], UVEA_SIM_EVENT_STALL, link->to, for_ns, NULL);
}

void uvea_sim_heal(struct uvea_sim *sim)
{
    for (unsigned from = 0; from < sim->config.node_count; from++) {
        for (unsigned to = 0; to < sim->config.node_count; to++) {
            struct uvea_sim_link *link = &sim->links[from][to];
            if (link->held_until_ns <= sim->now_ns) {
                continue;
            }
            link->held_until_ns = sim->now_ns;
            uvea_sim_record(&sim->nodes[from], UVEA_SIM_EVENT_HEAL, to, 0, NULL);
            struct uvea_sim_carrier *carrier = link->carriers;
            for (; carrier != NULL; carrier = carrier->next) {
                if (carrier->event.place != 0) {
                    carrier_schedule(sim, carrier);
                }
            }
        }
    }
}

static bool between(const struct uvea_sim_connection *connection, unsigned a, unsigned b)
{
    unsigned dialer = connection->ends[0].node->index;
    unsigned acceptor = connection->ends[1].node->index;
    return (dialer == a && acceptor == b) || (dialer == b && acceptor == a);
}

static void reset_connections(struct uvea_sim *sim, const struct uvea_sim_fault *fault)
{
    struct uvea_sim_connection *connection = sim->connections;
    for (; connection != NULL; connection = connection->next) {
        if (between(connection, fault->from, fault->to) &&
            (fault->connection == UVEA_SIM_ANY_CONNECTION ||
             fault->connection == connection->ordinal)) {
            uvea_sim_connection_break(connection);
        }
    }
}

static void partition(struct uvea_sim *sim, const struct uvea_sim_fault *fault)
{
    for (unsigned other = 0; other < sim->config.node_count; other++) {
        if (other == fault->from) {
            continue;
        }
        if (fault->kind != UVEA_SIM_FAULT_PARTITION_IN) {
            link_hold(sim, &sim->links[fault->from][other], fault->for_ns);
        }
        if (fault->kind != UVEA_SIM_FAULT_PARTITION_OUT) {
            link_hold(sim, &sim->links[other][fault->from], fault->for_ns);
        }
    }
}

static void fault_fire(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    struct uvea_sim_armed_fault *armed = (struct uvea_sim_armed_fault *)event;
    const struct uvea_sim_fault *fault = &armed->fault;
    armed->done = true;
    switch (fault->kind) {
    case UVEA_SIM_FAULT_RESET:
        reset_connections(sim, fault);
        break;
    case UVEA_SIM_FAULT_STALL:
        link_hold(sim, &sim->links[fault->from][fault->to], fault->for_ns);
        break;
    case UVEA_SIM_FAULT_PARTITION:
    case UVEA_SIM_FAULT_PARTITION_IN:
    case UVEA_SIM_FAULT_PARTITION_OUT:
        partition(sim, fault);
        break;
    }
}

static bool fault_valid(const struct uvea_sim *sim, const struct uvea_sim_fault *fault)
{
    unsigned count = sim->config.node_count;
    bool by_byte = fault->at_byte != UVEA_SIM_NO_BYTE;
    switch (fault->kind) {
    case UVEA_SIM_FAULT_RESET:
        return fault->from < count && fault->to < count;
    case UVEA_SIM_FAULT_STALL:
        return fault->from < count && fault->to < count &&
               (!by_byte || fault->connection == UVEA_SIM_ANY_CONNECTION);
    case UVEA_SIM_FAULT_PARTITION:
    case UVEA_SIM_FAULT_PARTITION_IN:
    case UVEA_SIM_FAULT_PARTITION_OUT:
        return fault->from < count && !by_byte;
    }
    return false;
}

// A new place, or that of a fault that is over, or NULL.
static struct uvea_sim_armed_fault *fault_place(struct uvea_sim *sim)
{
    if (sim->fault_count < UVEA_SIM_FAULTS_MAX) {
        return &sim->faults[sim->fault_count++];
    }
    for (unsigned i = 0; i < UVEA_SIM_FAULTS_MAX; i++) {
        if (sim->faults[i].done) {
            return &sim->faults[i];
        }
    }
    return NULL;
}

enum uvea_error uvea_sim_inject(struct uvea_sim *sim, const struct uvea_sim_fault *fault)
{
    if (!fault_valid(sim, fault)) {
        return UVEA_ERR_USAGE;
    }
    struct uvea_sim_armed_fault *armed = fault_place(sim);
    if (armed == NULL) {
        return UVEA_ERR_LIMIT;
    }
    *armed = (struct uvea_sim_armed_fault){.event.fire = fault_fire, .fault = *fault};
    if (fault->at_byte != UVEA_SIM_NO_BYTE) {
        sim->byte_fault_count++;
        return UVEA_OK;
    }
    uint64_t at_ns = fault->at_ns > sim->now_ns ? fault->at_ns : sim->now_ns;
    uvea_sim_queue_schedule(&sim->queue, &armed->event, at_ns);
    return UVEA_OK;
}

// Whether the fault counts the bytes of this pipe; *count is where it stands.
static bool fault_counts(const struct uvea_sim_armed_fault *armed, const struct uvea_sim_pipe *pipe,
                         uint64_t *count)
{
    const struct uvea_sim_fault *fault = &armed->fault;
    if (armed->done || fault->at_byte == UVEA_SIM_NO_BYTE || fault->from != pipe->link->from ||
        fault->to != pipe->link->to) {
        return false;
    }
    bool any = fault->connection == UVEA_SIM_ANY_CONNECTION;
    *count = any ? pipe->link->traffic.bytes_written : pipe->written_at;
    return any || fault->connection == pipe->connection->ordinal;
}

size_t uvea_sim_fault_limit(struct uvea_sim *sim, const struct uvea_sim_pipe *pipe, size_t bytes,
                            struct uvea_sim_armed_fault **fault)
{
    *fault = NULL;
    if (sim->byte_fault_count == 0) {
        return bytes;
    }
    for (unsigned i = 0; i < sim->fault_count; i++) {
        struct uvea_sim_armed_fault *armed = &sim->faults[i];
        uint64_t count;
        if (!fault_counts(armed, pipe, &count)) {
            continue;
        }
        uint64_t at_byte = armed->fault.at_byte;
        uint64_t left = at_byte > count ? at_byte - count : 0;
        if (left < bytes || (left == bytes && *fault == NULL)) {
            bytes = (size_t)left;
            *fault = armed;
        }
    }
    return bytes;
}

void uvea_sim_fault_at_byte(struct uvea_sim *sim, struct uvea_sim_pipe *pipe,
                            struct uvea_sim_armed_fault *fault)
{
    fault->done = true;
    sim->byte_fault_count--;
    if (fault->fault.kind == UVEA_SIM_FAULT_RESET) {
        uvea_sim_pipe_finish(pipe, UVEA_SIM_TAIL_RESET);
    } else {
        link_hold(sim, pipe->link, fault->fault.for_ns);
    }
}

void uvea_sim_watch(struct uvea_sim *sim, uvea_sim_watch_fn *fn, void *arg)
{
    sim->watch = fn;
    sim->watch_arg = arg;
}
