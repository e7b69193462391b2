#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

enum uvea_error uvea_sim_op_channel_open(struct uvea_rt *rt, size_t capacity,
                                         struct uvea_channel **channel)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(capacity >= 1);
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    struct uvea_channel *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->items = uvea_mem_alloc(capacity, sizeof(*made->items));
    if (made->items == NULL) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    made->node = node;
    made->capacity = capacity;
    UVEA_SIM_LIST_ADD(node->sim->channels, made);
    *channel = made;
    return UVEA_OK;
}

// Each item wakes one receiver and each free place one sender; a woken task looks again, because
// another may have been faster.
enum uvea_error uvea_sim_op_channel_send(struct uvea_rt *rt, struct uvea_channel *channel,
                                         void *item, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(channel->node == node);
    while (!channel->shut && channel->count == channel->capacity) {
        UVEA_TRY(uvea_sim_wait(node, &channel->senders, UVEA_SIM_WAIT_SEND, channel, deadline_ns));
    }
    if (channel->shut) {
        (void)uvea_sim_refuses(node);
        return UVEA_ERR_CLOSED;
    }
    channel->items[(channel->first + channel->count) % channel->capacity] = item;
    channel->count++;
    uvea_sim_wake_first(&channel->receivers, UVEA_OK);
    return UVEA_OK;
}

enum uvea_error uvea_sim_op_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel,
                                         void **item, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(channel->node == node);
    while (!channel->shut && channel->count == 0) {
        UVEA_TRY(
            uvea_sim_wait(node, &channel->receivers, UVEA_SIM_WAIT_RECEIVE, channel, deadline_ns));
    }
    if (channel->count == 0) {
        (void)uvea_sim_refuses(node);
        return UVEA_ERR_CLOSED;
    }
    *item = channel->items[channel->first];
    channel->first = (channel->first + 1) % channel->capacity;
    channel->count--;
    uvea_sim_wake_first(&channel->senders, UVEA_OK);
    return UVEA_OK;
}

void uvea_sim_op_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel)
{
    UVEA_CHECK(channel->node == uvea_sim_node_of(rt));
    channel->shut = true;
    uvea_sim_wake_all(&channel->senders, UVEA_OK);
    uvea_sim_wake_all(&channel->receivers, UVEA_OK);
}

static void channel_free(struct uvea_channel *channel)
{
    UVEA_SIM_LIST_REMOVE(channel->node->sim->channels, channel);
    uvea_mem_free(channel->items);
    uvea_mem_free(channel);
}

void uvea_sim_op_channel_close(struct uvea_rt *rt, struct uvea_channel *channel)
{
    UVEA_CHECK(channel->node == uvea_sim_node_of(rt));
    UVEA_CHECK(channel->senders.first == NULL && channel->receivers.first == NULL);
    channel_free(channel);
}

unsigned uvea_sim_channels_drop(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    unsigned dropped = 0;
    struct uvea_channel *channel = sim->channels;
    while (channel != NULL) {
        struct uvea_channel *next = channel->next;
        if (node == NULL || channel->node == node) {
            channel_free(channel);
            dropped++;
        }
        channel = next;
    }
    return dropped;
}
