#include "sim/world/machine.h"

#include "sim/runtime/process.h"

#include <stdio.h>
#include <string.h>

enum {
    HURRY_MAX = 5, // pauses double this often
};
#define RESTART_NS (500 * UVEA_MS) // pause before the first restart
#define LASTING_NS (30 * UVEA_SECOND)

// ---- the process

static void serve(void *arg)
{
    struct uvea_machine *machine = arg;
    struct uvea_error_context reason = {.text = ""};
    enum uvea_error error;

    if (machine->retired) { // before it was there to be stopped
        return;
    }
    machine->started_ns = uvea_sim_now_ns(machine->sim);
    uvea_sim_onlooker(machine->sim, true);
    uvea_ledger_started(machine->ledger, uvea_party_at(machine->index));
    uvea_sim_onlooker(machine->sim, false);
    if (machine->armed) {
        machine->armed = false;
        uvea_sim_process_crash_at_point(machine->sim, machine->index, machine->point, machine->nth);
    }
    UVEA_TRY_CLEANUP(uvea_store_open_sqlite(machine->rt, UVEA_MACHINE_STORE,
                                            uvea_sim_disk_vfs(machine->disk), &machine->store,
                                            &reason));
    UVEA_TRY_CLEANUP(
        uvea_node_open(machine->rt, &machine->config, machine->store, &machine->node, &reason));
    error = uvea_node_run(machine->node, &reason);
    machine->comparisons += uvea_node_stats(machine->node).comparisons;
cleanup:
    uvea_node_close(machine->node);
    machine->node = NULL;
    uvea_store_close(machine->store);
    machine->store = NULL;
    machine->last = (struct uvea_machine_end){error, reason};
    if (error != UVEA_OK) {
        uvea_sim_note(machine->rt, "stopped", reason.text);
    }
}

static void died(void *arg)
{
    struct uvea_machine *machine = arg;
    uvea_sim_disk_crash(machine->disk);
    if (machine->starts == 1 &&
        uvea_sim_process_steps(machine->sim, machine->index) + 1 == machine->planned_step) {
        machine->died_as_planned = true;
        machine->planned_phase = uvea_sim_process_phase(machine->sim, machine->index);
    }
}

static void harm_disk(struct uvea_machine *machine)
{
    enum uvea_error error = UVEA_OK;
    switch (machine->damage) {
    case UVEA_MACHINE_UNHARMED:
        break;
    case UVEA_MACHINE_WIPED:
        uvea_sim_disk_wipe(machine->disk);
        break;
    case UVEA_MACHINE_FOREIGN:
        error = uvea_sim_disk_copy(machine->disk, machine->neighbour->disk);
        break;
    case UVEA_MACHINE_STALE:
        if (machine->backup != NULL) {
            error = uvea_sim_disk_copy(machine->disk, machine->backup);
        }
        break;
    case UVEA_MACHINE_ROTTEN:
        error = uvea_sim_disk_rot(machine->disk);
        break;
    }
    machine->damage = UVEA_MACHINE_UNHARMED;
    if (error != UVEA_OK) {
        uvea_sim_note(machine->rt, "damage", uvea_error_text(error));
    }
}

static bool is_impossible(enum uvea_error error)
{
    switch (error) {
    case UVEA_ERR_STATE:
    case UVEA_ERR_DRIFT:
    case UVEA_ERR_PEER:
    case UVEA_ERR_USAGE:
    case UVEA_ERR_CRYPTO:
    case UVEA_ERR_IN_USE:
    case UVEA_ERR_NOT_HERE:
        return true;
    default:
        return false;
    }
}

static void keep_first(const struct uvea_machine_end *end, struct uvea_machine_end *first)
{
    if (first->error == UVEA_OK) {
        *first = *end;
    }
}

// The next process may well get over it, but that it happened stays.
static void keep_end(struct uvea_machine *machine)
{
    keep_first(&machine->last, &machine->failed);
    if (is_impossible(machine->last.error)) {
        keep_first(&machine->last, &machine->impossible);
    }
}

static void ended(void *arg, bool crashed)
{
    struct uvea_machine *machine = arg;
    if (crashed) {
        machine->last = (struct uvea_machine_end){.error = UVEA_OK};
    }
    keep_end(machine);
    uvea_sim_disk_restart(machine->disk);
    harm_disk(machine);
    if (machine->retired || machine->unsupervised) {
        return;
    }
    if (uvea_sim_now_ns(machine->sim) - machine->started_ns > LASTING_NS) {
        machine->hurry = 0;
    }
    const enum uvea_error error = uvea_machine_start(machine);
    if (error != UVEA_OK) {
        uvea_sim_note(machine->rt, "not started", uvea_error_text(error));
    }
}

// A write of the disk's that a crash was planned for: the process ends there.
static void killed_by_disk(void *arg)
{
    struct uvea_machine *machine = arg;
    uvea_sim_process_crash(machine->sim, machine->index);
}

// The task that syncs waits, with the store's lock; others of its process go on until they need it.
// A process that ends wakes it.
static void stalled_by_disk(void *arg, uint64_t ns)
{
    struct uvea_machine *machine = arg;
    const enum uvea_error error = uvea_rt_sleep_ns(machine->rt, ns);
    (void)error; // the disk is dead then
}

// ---- what others call

static uint64_t wall_ns(void *arg)
{
    return uvea_rt_wall_ns(arg);
}

enum uvea_error uvea_machine_open(struct uvea_machine *machine, uint64_t seed)
{
    const struct uvea_sim_process process = {
        .main = serve,
        .arg = machine,
        .died = died,
        .ended = ended,
    };
    char name[16];
    (void)snprintf(name, sizeof(name), "p%u", machine->index);
    machine->rt = uvea_sim_rt(machine->sim, machine->index);
    UVEA_TRY(uvea_sim_disk_open(name, seed, wall_ns, machine->rt, &machine->disk));
    uvea_sim_disk_on_crash(machine->disk, killed_by_disk, machine);
    uvea_sim_disk_on_stall(machine->disk, stalled_by_disk, machine);
    uvea_sim_process_set(machine->sim, machine->index, &process);
    return UVEA_OK;
}

void uvea_machine_close(struct uvea_machine *machine)
{
    uvea_sim_disk_close(machine->disk);
    uvea_sim_disk_close(machine->backup);
    machine->disk = NULL;
    machine->backup = NULL;
}

enum uvea_error uvea_machine_start(struct uvea_machine *machine)
{
    const uint64_t delay_ns = machine->starts == 0 ? 0 : RESTART_NS << machine->hurry;
    if (machine->starts++ > 0 && machine->hurry < HURRY_MAX && !machine->unsupervised) {
        machine->hurry++;
    }
    return uvea_sim_process_start(machine->sim, machine->index, delay_ns);
}

void uvea_machine_plan_death(struct uvea_machine *machine, uint64_t step)
{
    machine->planned_step = step;
    uvea_sim_process_crash_at_step(machine->sim, machine->index, step);
}

void uvea_machine_stop(struct uvea_machine *machine, bool retire, const char *reason)
{
    machine->retired = machine->retired || retire;
    if (machine->node != NULL) {
        uvea_node_stop(machine->node, reason);
    } else if (retire) {
        uvea_sim_process_crash(machine->sim, machine->index);
    }
}

void uvea_machine_kill(struct uvea_machine *machine, enum uvea_machine_damage damage)
{
    machine->damage = damage;
    uvea_sim_process_crash(machine->sim, machine->index);
}

void uvea_machine_kill_twice(struct uvea_machine *machine, enum uvea_point point, uint64_t nth)
{
    machine->armed = true;
    machine->point = point;
    machine->nth = nth;
    uvea_machine_kill(machine, UVEA_MACHINE_UNHARMED);
}

enum uvea_error uvea_machine_keep_backup(struct uvea_machine *machine)
{
    if (machine->backup == NULL) {
        char name[24];
        (void)snprintf(name, sizeof(name), "p%u-backup", machine->index);
        UVEA_TRY(uvea_sim_disk_open(name, 0, wall_ns, machine->rt, &machine->backup));
    }
    return uvea_sim_disk_copy(machine->backup, machine->disk);
}
