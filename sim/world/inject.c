#include "sim/world/inject.h"

#include "core/base/mem.h"
#include "sim/runtime/network.h"
#include "sim/runtime/process.h"

#include <string.h>

enum { WHOLE_SPEED = 100 };

// One fault of the list and when it ends.
struct uvea_injection {
    struct uvea_injector *injector;
    const struct uvea_fault_plan *plan;
    bool over;
};

enum uvea_family uvea_fault_family(enum uvea_fault_plan_kind kind)
{
    switch (kind) {
    case UVEA_FAULT_RESET:
    case UVEA_FAULT_STALL:
    case UVEA_FAULT_PARTITION:
    case UVEA_FAULT_PARTITION_IN:
    case UVEA_FAULT_PARTITION_OUT:
    case UVEA_FAULT_DISCONNECT:
        return UVEA_FAMILY_NETWORK;
    case UVEA_FAULT_HTTP:
        return UVEA_FAMILY_HTTP;
    case UVEA_FAULT_CRASH:
    case UVEA_FAULT_CRASH_AT_POINT:
    case UVEA_FAULT_CRASH_AT_STEP:
    case UVEA_FAULT_STOP:
    case UVEA_FAULT_PAUSE:
    case UVEA_FAULT_SLOW:
        return UVEA_FAMILY_PROCESS;
    case UVEA_FAULT_CRASH_AT_WRITE:
    case UVEA_FAULT_DISK_ERROR:
    case UVEA_FAULT_DISK_FAIL_NTH:
    case UVEA_FAULT_DISK_FULL:
    case UVEA_FAULT_DISK_STALL:
        return UVEA_FAMILY_STORAGE;
    case UVEA_FAULT_CLOCK_STEP:
    case UVEA_FAULT_CLOCK_BACK:
    case UVEA_FAULT_CLOCK_SET:
        return UVEA_FAMILY_CLOCK;
    case UVEA_FAULT_MEMORY:
    case UVEA_FAULT_MEMORY_ALL:
        return UVEA_FAMILY_MEMORY;
    default:
        return UVEA_FAMILY_HOSTILE;
    }
}

uint64_t uvea_injector_end_ns(const struct uvea_scenario *scenario)
{
    uint64_t end_ms = 0;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        const uint64_t over_ms = scenario->faults[i].at_ms + scenario->faults[i].for_ms;
        end_ms = over_ms > end_ms ? over_ms : end_ms;
    }
    return end_ms * UVEA_MS;
}

// ---- the network

static enum uvea_error arm_network(struct uvea_injector *injector,
                                   const struct uvea_fault_plan *plan)
{
    static const enum uvea_sim_fault_kind kinds[] = {
        [UVEA_FAULT_RESET] = UVEA_SIM_FAULT_RESET,
        [UVEA_FAULT_STALL] = UVEA_SIM_FAULT_STALL,
        [UVEA_FAULT_PARTITION] = UVEA_SIM_FAULT_PARTITION,
        [UVEA_FAULT_PARTITION_IN] = UVEA_SIM_FAULT_PARTITION_IN,
        [UVEA_FAULT_PARTITION_OUT] = UVEA_SIM_FAULT_PARTITION_OUT,
        [UVEA_FAULT_DISCONNECT] = UVEA_SIM_FAULT_RESET,
    };
    const struct uvea_sim_fault fault = {
        .kind = kinds[plan->kind],
        .from = plan->from,
        .to = plan->to,
        .connection = UVEA_SIM_ANY_CONNECTION,
        .at_byte = plan->kind == UVEA_FAULT_RESET ? plan->at_byte : UVEA_SIM_NO_BYTE,
        .at_ns = plan->at_ms * UVEA_MS,
        .for_ns = plan->for_ms * UVEA_MS,
    };
    return uvea_sim_inject(injector->sim, &fault);
}

// ---- one party

// The member of the HTTP faults that the plan's `what` names; they stand in the same order.
static uint32_t *http_rate(struct uvea_sim_http_faults *faults, unsigned what)
{
    uint32_t *const rates[] = {
        &faults->status_409, &faults->status_5xx, &faults->no_answer, &faults->lost_answer,
        &faults->reset,      &faults->duplicate,  &faults->truncated, &faults->empty,
        &faults->wrong_type, &faults->stale,      &faults->slow,
    };
    return rates[what];
}

static void set_http(struct uvea_injector *injector, const struct uvea_fault_plan *plan, bool on)
{
    struct uvea_sim_http_faults *faults = &injector->http[plan->from];
    faults->path_prefix = plan->what == 0 ? "/batch" : ""; // 409 is said by agreements only
    faults->run_max = 20;
    *http_rate(faults, plan->what) = on ? (uint32_t)plan->amount : 0;
    uvea_sim_http_faults_set(injector->sim, plan->from, faults);
}

static void set_disk(struct uvea_injector *injector, const struct uvea_fault_plan *plan, bool on)
{
    struct uvea_sim_disk *disk = injector->machines[plan->from].disk;
    struct uvea_sim_disk_faults *faults = &injector->disk[plan->from];
    const uint32_t rate = on ? (uint32_t)plan->amount : 0;
    switch (plan->kind) {
    case UVEA_FAULT_DISK_ERROR:
        faults->eio_read = rate;
        faults->eio_write = rate;
        faults->eio_sync = rate;
        break;
    case UVEA_FAULT_DISK_FULL:
        faults->space_bytes = on ? uvea_sim_disk_stats(disk).bytes + plan->amount : 0;
        break;
    case UVEA_FAULT_DISK_STALL:
        faults->stall_ns = on ? plan->amount * UVEA_MS : 0;
        break;
    case UVEA_FAULT_DISK_LYING:
        faults->lying_sync = on;
        break;
    case UVEA_FAULT_DISK_FAIL_NTH:
        faults->fail_nth = plan->amount;
        break;
    default:
        faults->crash_at_write = plan->amount;
        break;
    }
    uvea_sim_disk_faults_set(disk, faults);
    faults->fail_nth = 0; // once each
    faults->crash_at_write = 0;
}

static void crash_planned(struct uvea_injector *injector, const struct uvea_fault_plan *plan)
{
    struct uvea_sim *sim = injector->sim;
    struct uvea_machine *machine = &injector->machines[plan->from];
    switch (plan->kind) {
    case UVEA_FAULT_CRASH_AT_POINT:
        if (plan->point >= UVEA_POINT_SYNC_EXCHANGED) { // passed at a start only
            uvea_machine_kill_twice(machine, plan->point, plan->nth);
        } else {
            uvea_sim_process_crash_at_point(sim, plan->from, plan->point, plan->nth);
        }
        break;
    case UVEA_FAULT_CRASH_AT_STEP:
        uvea_sim_process_crash_at_step(sim, plan->from,
                                       uvea_sim_process_steps(sim, plan->from) + plan->amount);
        break;
    case UVEA_FAULT_DISK_WIPED:
        uvea_machine_kill(machine, UVEA_MACHINE_WIPED);
        break;
    case UVEA_FAULT_DISK_FOREIGN:
        machine->neighbour = &injector->machines[plan->to];
        uvea_machine_kill(machine, UVEA_MACHINE_FOREIGN);
        break;
    case UVEA_FAULT_DISK_ROT:
        uvea_machine_kill(machine, UVEA_MACHINE_ROTTEN);
        break;
    default:
        uvea_machine_kill(machine, UVEA_MACHINE_UNHARMED);
        break;
    }
}

static void set_clock(struct uvea_injector *injector, const struct uvea_fault_plan *plan)
{
    const int64_t by_ns = (int64_t)(plan->amount * UVEA_MS);
    if (plan->kind == UVEA_FAULT_CLOCK_SET) {
        uvea_sim_wall_set(injector->sim, plan->from, plan->amount * UVEA_SECOND);
    } else {
        uvea_sim_wall_step(injector->sim, plan->from,
                           plan->kind == UVEA_FAULT_CLOCK_STEP ? by_ns : -by_ns);
    }
}

static void begin(struct uvea_injector *injector, const struct uvea_fault_plan *plan)
{
    struct uvea_sim *sim = injector->sim;
    struct uvea_machine *machine = &injector->machines[plan->from];
    switch (plan->kind) {
    case UVEA_FAULT_STOP:
        uvea_machine_stop(machine, false, "asked to stop");
        break;
    case UVEA_FAULT_PAUSE:
        uvea_sim_process_pause(sim, plan->from, plan->for_ms * UVEA_MS);
        break;
    case UVEA_FAULT_SLOW:
        uvea_sim_process_slow(sim, plan->from, (uint32_t)plan->amount);
        break;
    case UVEA_FAULT_HTTP:
        set_http(injector, plan, true);
        break;
    case UVEA_FAULT_MEMORY:
    case UVEA_FAULT_MEMORY_ALL:
        uvea_sim_process_fail_allocation(sim, plan->from, plan->amount,
                                         plan->kind == UVEA_FAULT_MEMORY_ALL);
        break;
    case UVEA_FAULT_CLOCK_STEP:
    case UVEA_FAULT_CLOCK_BACK:
    case UVEA_FAULT_CLOCK_SET:
        set_clock(injector, plan);
        break;
    case UVEA_FAULT_DISK_STALE:
        if (uvea_machine_keep_backup(machine) != UVEA_OK) {
            uvea_sim_note(machine->rt, "damage", "no backup could be kept");
        }
        break;
    case UVEA_FAULT_CRASH_AT_WRITE:
    case UVEA_FAULT_DISK_ERROR:
    case UVEA_FAULT_DISK_FAIL_NTH:
    case UVEA_FAULT_DISK_FULL:
    case UVEA_FAULT_DISK_STALL:
    case UVEA_FAULT_DISK_LYING:
        set_disk(injector, plan, true);
        break;
    default:
        crash_planned(injector, plan);
        break;
    }
}

static void end(struct uvea_injector *injector, const struct uvea_fault_plan *plan)
{
    switch (plan->kind) {
    case UVEA_FAULT_SLOW:
        uvea_sim_process_slow(injector->sim, plan->from, WHOLE_SPEED);
        break;
    case UVEA_FAULT_HTTP:
        set_http(injector, plan, false);
        break;
    case UVEA_FAULT_DISK_STALE:
        uvea_machine_kill(&injector->machines[plan->from], UVEA_MACHINE_STALE);
        break;
    case UVEA_FAULT_DISK_ERROR:
    case UVEA_FAULT_DISK_FULL:
    case UVEA_FAULT_DISK_STALL:
    case UVEA_FAULT_DISK_LYING:
        set_disk(injector, plan, false);
        break;
    default:
        break;
    }
}

// ---- the plan

static void strike(struct uvea_sim *sim, void *arg)
{
    struct uvea_injection *injection = arg;
    struct uvea_injector *injector = injection->injector;
    const struct uvea_fault_plan *plan = injection->plan;
    const enum uvea_family family = uvea_fault_family(plan->kind);
    if (injection->over) {
        end(injector, plan);
        return;
    }
    injection->over = true;
    if (plan->from < UVEA_PARTY_COUNT) {
        injector->counts[family][uvea_sim_process_phase(sim, plan->from)]++;
    }
    if (family != UVEA_FAMILY_NETWORK) {
        begin(injector, plan);
    }
}

static enum uvea_error arm(struct uvea_injector *injector, struct uvea_injection *injection)
{
    const struct uvea_fault_plan *plan = injection->plan;
    if (uvea_fault_family(plan->kind) == UVEA_FAMILY_NETWORK) {
        UVEA_TRY(arm_network(injector, plan));
    } else if (plan->from >= UVEA_PARTY_COUNT) {
        return UVEA_ERR_USAGE;
    }
    UVEA_TRY(uvea_sim_at(injector->sim, plan->at_ms * UVEA_MS, strike, injection));
    return plan->for_ms == 0 ? UVEA_OK
                             : uvea_sim_at(injector->sim, (plan->at_ms + plan->for_ms) * UVEA_MS,
                                           strike, injection);
}

enum uvea_error uvea_injector_arm(struct uvea_injector *injector,
                                  struct uvea_error_context *context)
{
    const struct uvea_scenario *scenario = injector->scenario;
    injector->injections = uvea_mem_alloc(scenario->fault_count, sizeof(*injector->injections));
    if (injector->injections == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < scenario->fault_count; i++) {
        struct uvea_injection *injection = &injector->injections[i];
        injection->injector = injector;
        injection->plan = &scenario->faults[i];
        const enum uvea_error error = arm(injector, injection);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "faults[%zu] (%s): %s", i,
                                  uvea_fault_info(injection->plan->kind)->text,
                                  error == UVEA_ERR_USAGE ? "it befalls parties only"
                                                          : uvea_error_text(error));
        }
    }
    return UVEA_OK;
}

void uvea_injector_deinit(struct uvea_injector *injector)
{
    uvea_mem_free(injector->injections);
    injector->injections = NULL;
}
