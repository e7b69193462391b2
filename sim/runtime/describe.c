// What the tasks that are left wait for, in words.
#include "sim/runtime/state.h"

#include <inttypes.h>
#include <stdio.h>

static const char *peer_name(const struct uvea_stream *stream)
{
    return stream->connection->ends[1 - stream->end].node->name;
}

static void describe_stream(const struct uvea_stream *stream, const char *verb, char *text,
                            size_t bytes)
{
    (void)snprintf(text, bytes, "%s %s (connection %" PRIu64 ", %s)", verb, peer_name(stream),
                   stream->connection->number, stream->connection->address);
}

static void describe_wait(const struct uvea_task *task, char *text, size_t bytes)
{
    const void *object = task->wait_object;
    switch (task->wait_kind) {
    case UVEA_SIM_WAIT_NONE:
        (void)snprintf(text, bytes,
                       !task->ready              ? "runs without ever waiting"
                       : task->node->life.paused ? "is ready to run when the pause ends"
                                                 : "is ready to run");
        break;
    case UVEA_SIM_WAIT_START:
        (void)snprintf(text, bytes, "is not started yet");
        break;
    case UVEA_SIM_WAIT_SLEEP:
        (void)snprintf(text, bytes, "sleeps");
        break;
    case UVEA_SIM_WAIT_CHARGE:
        (void)snprintf(text, bytes, "computes");
        break;
    case UVEA_SIM_WAIT_JOIN:
        (void)snprintf(text, bytes, "joins task '%s'", ((const struct uvea_task *)object)->name);
        break;
    case UVEA_SIM_WAIT_SEND:
        (void)snprintf(text, bytes, "sends into a full channel of %zu",
                       ((const struct uvea_channel *)object)->capacity);
        break;
    case UVEA_SIM_WAIT_RECEIVE:
        (void)snprintf(text, bytes, "receives from an empty channel of %zu",
                       ((const struct uvea_channel *)object)->capacity);
        break;
    case UVEA_SIM_WAIT_ACCEPT:
        (void)snprintf(text, bytes, "accepts at %s",
                       ((const struct uvea_listener *)object)->address);
        break;
    case UVEA_SIM_WAIT_DIAL:
        (void)snprintf(text, bytes, "dials %s",
                       ((const struct uvea_sim_connection *)object)->address);
        break;
    case UVEA_SIM_WAIT_READ:
        describe_stream(object, "reads from", text, bytes);
        break;
    case UVEA_SIM_WAIT_WRITE:
        describe_stream(object, "writes to", text, bytes);
        break;
    case UVEA_SIM_WAIT_LOCK:
        (void)snprintf(text, bytes, "takes a lock that task '%s' holds",
                       ((const struct uvea_lock *)object)->holder->name);
        break;
    case UVEA_SIM_WAIT_SERVER:
        (void)snprintf(text, bytes, "closes the HTTP server at %s",
                       uvea_sim_http_server_address(object));
        break;
    }
}

static int describe_task(const struct uvea_task *task, char *text, size_t bytes)
{
    char what[160];
    char until[48] = "";
    describe_wait(task, what, sizeof(what));
    if (task->wait_kind != UVEA_SIM_WAIT_NONE && task->wait_until_ns != UVEA_NEVER) {
        uint64_t us = task->wait_until_ns / 1000;
        (void)snprintf(until, sizeof(until), ", until %" PRIu64 ".%06" PRIu64 " s", us / 1000000,
                       us % 1000000);
    }
    return snprintf(text, bytes, "%s task '%s' %s%s\n", task->node->name, task->name, what, until);
}

void uvea_sim_describe_blocked(const struct uvea_sim *sim, char *text, size_t bytes)
{
    enum { REST_BYTES = 64 }; // for the last line
    const struct uvea_task *task = sim->tasks;
    size_t used = 0;
    unsigned left = sim->live_tasks;
    text[0] = '\0';
    while (task != NULL && task->next != NULL) {
        task = task->next;
    }
    for (; task != NULL; task = task->prev) { // oldest first
        char line[320];
        if (task->finished) {
            continue;
        }
        size_t line_bytes = (size_t)describe_task(task, line, sizeof(line));
        line_bytes = line_bytes < sizeof(line) ? line_bytes : sizeof(line) - 1;
        if (used + line_bytes + REST_BYTES > bytes) {
            (void)snprintf(text + used, bytes - used, "and %u more tasks\n", left);
            return;
        }
        (void)snprintf(text + used, bytes - used, "%s", line);
        used += line_bytes;
        left--;
    }
}
