// How a cluster is, and waiting until it is well.
#include "sim/cmd/args.h"
#include "sim/cmd/cluster.h"
#include "sim/cmd/cmd.h"

#include <stdio.h>
#include <time.h>

struct state {
    pid_t pids[UVEA_CLUSTER_PROCESSES];
    bool ready[UVEA_PARTY_COUNT];
    struct uvea_error_context reason[UVEA_PARTY_COUNT];
};

static enum uvea_error look(const struct uvea_cluster_target *target, struct state *out,
                            struct uvea_error_context *context)
{
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES; i++) {
        struct uvea_cluster_process process;
        UVEA_TRY(uvea_cluster_process_of(target->directory, i, &process, context));
        out->pids[i] = uvea_cluster_process_pid(&process);
    }
    return uvea_cluster_ask_ready(target->cluster_file, 2, out->ready, out->reason, context);
}

static bool all_ready(const struct state *state)
{
    return state->ready[0] && state->ready[1] && state->ready[2];
}

static void print_state(const struct uvea_cluster_target *target, const struct state *state)
{
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES; i++) {
        char name[16] = "proxy";
        if (i < UVEA_PARTY_COUNT) {
            (void)snprintf(name, sizeof(name), "p%u", i);
        }
        if (!target->chosen[i]) {
            continue;
        }
        printf("%-6s", name);
        if (state->pids[i] == 0) {
            printf("not running");
        } else {
            printf("process %d", (int)state->pids[i]);
        }
        if (i < UVEA_PARTY_COUNT) {
            printf("%s%s", state->ready[i] ? ", ready" : ", not ready: ", state->reason[i].text);
        }
        printf("\n");
    }
}

int uvea_cluster_status(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    struct uvea_cluster_target target = {.seconds = 1};
    struct state state = {.ready = {false}};
    enum uvea_error error = uvea_cluster_target_parse(argc, argv, 1, &target, &context);
    if (error == UVEA_OK) {
        error = look(&target, &state, &context);
    }
    if (error != UVEA_OK) {
        return uvea_cmd_fail("cluster status", error, &context);
    }
    print_state(&target, &state);
    return all_ready(&state) ? UVEA_EXIT_PASS : UVEA_EXIT_STUCK;
}

// A party that started here and has ended will not become ready.
static bool one_ended(const struct state *state)
{
    return state->pids[0] == 0 || state->pids[1] == 0 || state->pids[2] == 0;
}

// Those that keep the others waiting, with their logs.
static void print_missing(const struct uvea_cluster_target *target, const struct state *state)
{
    const bool ended = one_ended(state);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (ended ? state->pids[i] == 0 : !state->ready[i]) {
            fprintf(stderr, "uvea cluster wait: p%u %s; see %s/p%u/uvead.log\n", i,
                    ended ? "does not run" : "did not become ready in time", target->directory, i);
        }
    }
}

int uvea_cluster_wait(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = 100000000L};
    struct uvea_error_context context = {{0}};
    struct uvea_cluster_target target = {.seconds = 60};
    struct state state = {.ready = {false}};
    enum uvea_error error = uvea_cluster_target_parse(argc, argv, 1, &target, &context);
    const time_t began = time(NULL);
    while (error == UVEA_OK) {
        error = look(&target, &state, &context);
        if (error == UVEA_OK && all_ready(&state)) {
            return UVEA_EXIT_PASS;
        }
        if (one_ended(&state) || (uint64_t)(time(NULL) - began) >= target.seconds) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    if (error != UVEA_OK) {
        return uvea_cmd_fail("cluster wait", error, &context);
    }
    print_state(&target, &state);
    print_missing(&target, &state);
    return UVEA_EXIT_STUCK;
}
