#include "sim/chaos/swarm.h"

#include "core/base/party.h"
#include "sim/runtime/random.h"

enum {
    MILLION = 1000000,
    OFF = 0, // choices of the family options
    DRAW = 1,
};

struct swarm {
    struct uvea_scenario *scenario;
    struct uvea_sim_random random; // of the family that draws
    uint64_t end_ms;               // when drawn faults stop
};

static uint64_t below(struct swarm *swarm, uint64_t n)
{
    return uvea_sim_random_below(&swarm->random, n);
}

static uint64_t between(struct swarm *swarm, uint64_t low, uint64_t high)
{
    return uvea_sim_random_range(&swarm->random, low, high);
}

static bool chance(struct swarm *swarm, uint64_t percent)
{
    return uvea_sim_random_chance(&swarm->random, percent, 100);
}

static unsigned party(struct swarm *swarm)
{
    return (unsigned)below(swarm, UVEA_PARTY_COUNT);
}

// Somewhere in the first nine tenths of the time for faults.
static uint64_t moment(struct swarm *swarm)
{
    return below(swarm, swarm->end_ms * 9 / 10 + 1);
}

// How long something lasts: an exponential, or a time close to one after which something gives up.
static uint64_t lag_ms(struct swarm *swarm, uint64_t mean_ms)
{
    static const uint64_t limits_ms[] = {1000, 2000, 6000, 10000, 20000};
    if (chance(swarm, 40)) {
        const uint64_t limit = limits_ms[below(swarm, 5)];
        return limit - 50 + 50 * below(swarm, 3);
    }
    return 1 + uvea_sim_random_exponential(&swarm->random, mean_ms);
}

// Drawn faults end with the time for faults.
static void add(struct swarm *swarm, struct uvea_fault_plan fault)
{
    struct uvea_scenario *scenario = swarm->scenario;
    if (scenario->fault_count == UVEA_SCENARIO_FAULTS_MAX) {
        return;
    }
    if (fault.for_ms > 0 && fault.at_ms + fault.for_ms > swarm->end_ms &&
        fault.kind != UVEA_FAULT_DISK_STALE) {
        fault.for_ms = swarm->end_ms > fault.at_ms ? swarm->end_ms - fault.at_ms : 1;
    }
    scenario->faults[scenario->fault_count++] = fault;
}

// A fault of some party at some time. C leaves the order open in which the members of one
// initialiser are computed, so draws are always statements of their own.
static struct uvea_fault_plan somewhere(struct swarm *swarm, enum uvea_fault_plan_kind kind)
{
    struct uvea_fault_plan fault = {.kind = kind, .nth = 1};
    fault.from = party(swarm);
    fault.to = (fault.from + 1) % UVEA_PARTY_COUNT;
    fault.at_ms = moment(swarm);
    return fault;
}

static bool family_on(struct swarm *swarm, enum uvea_option option, const char *stream)
{
    uvea_sim_random_init(&swarm->random, swarm->scenario->options[UVEA_OPTION_root_seed], stream);
    const uint64_t choice = swarm->scenario->options[option];
    return choice == DRAW ? chance(swarm, 50) : choice != OFF;
}

// ---- families

static void draw_links(struct swarm *swarm)
{
    uint64_t *options = swarm->scenario->options;
    static const uint64_t pieces[] = {16384, 16384, 4096, 1000, 512};
    options[UVEA_OPTION_network_latency_us] = below(swarm, 30001);
    options[UVEA_OPTION_network_jitter_us] = between(swarm, 100, chance(swarm, 20) ? 50000 : 5000);
    options[UVEA_OPTION_network_piece_bytes_max] = pieces[below(swarm, 5)];
    if (chance(swarm, 20)) {
        options[UVEA_OPTION_network_bandwidth_mbit] = between(swarm, 10, 100);
    }
}

static void draw_network(struct swarm *swarm)
{
    if (!family_on(swarm, UVEA_OPTION_swarm_network, "swarm/network")) {
        return;
    }
    draw_links(swarm);
    for (uint64_t n = below(swarm, 5); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_STALL);
        fault.from = (unsigned)below(swarm, UVEA_PARTY_COUNT + 1);
        fault.to = (fault.from + 1 + (unsigned)below(swarm, UVEA_PARTY_COUNT)) % 4;
        fault.for_ms = lag_ms(swarm, 1000);
        add(swarm, fault);
    }
    for (uint64_t n = below(swarm, 4); n > 0; n--) {
        add(swarm, somewhere(swarm, UVEA_FAULT_DISCONNECT));
    }
    for (uint64_t n = below(swarm, 3); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_RESET);
        fault.at_byte = below(swarm, UINT64_C(4) * MILLION);
        add(swarm, fault);
    }
    for (uint64_t n = below(swarm, 3); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_PARTITION);
        fault.kind = (enum uvea_fault_plan_kind)between(swarm, UVEA_FAULT_PARTITION,
                                                        UVEA_FAULT_PARTITION_OUT);
        fault.for_ms = 500 + lag_ms(swarm, 4000);
        add(swarm, fault);
    }
}

static void draw_http(struct swarm *swarm)
{
    // Per million requests at most, in the order of UVEA_HTTP_FAULT_CHOICES.
    static const uint64_t rates[] = {200000, 100000, 20000, 100000, 50000, 100000,
                                     20000,  20000,  20000, 100000, 10000};
    if (!family_on(swarm, UVEA_OPTION_swarm_http, "swarm/http")) {
        return;
    }
    for (uint64_t n = between(swarm, 1, 5); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_HTTP);
        fault.what = (unsigned)below(swarm, sizeof(rates) / sizeof(rates[0]));
        fault.for_ms = between(swarm, 1000, 20000);
        fault.amount = between(swarm, 1, rates[fault.what]);
        add(swarm, fault);
    }
}

static void draw_crash(struct swarm *swarm, unsigned victim, uint64_t at_ms)
{
    struct uvea_fault_plan fault = {.from = victim, .at_ms = at_ms, .nth = 1};
    switch (below(swarm, 4)) {
    case 0:
        fault.kind = UVEA_FAULT_CRASH;
        break;
    case 1:
        fault.kind = UVEA_FAULT_CRASH_AT_STEP;
        fault.amount = 1 + uvea_sim_random_exponential(&swarm->random, 300);
        break;
    default:
        fault.kind = UVEA_FAULT_CRASH_AT_POINT;
        fault.point = (enum uvea_point)below(swarm, UVEA_POINT_COUNT);
        fault.nth = between(swarm, 1, 3);
        break;
    }
    add(swarm, fault);
}

static void draw_process(struct swarm *swarm)
{
    if (!family_on(swarm, UVEA_OPTION_swarm_process, "swarm/process")) {
        return;
    }
    const uint64_t who = below(swarm, 10);
    const unsigned victim = party(swarm);
    const unsigned victims = who < 7 ? 1 : who < 9 ? 2 : 3;
    for (uint64_t n = between(swarm, 1, 3); n > 0; n--) {
        const uint64_t at_ms = moment(swarm);
        for (unsigned i = 0; i < victims; i++) {
            const uint64_t later = at_ms + below(swarm, 2000);
            draw_crash(swarm, (victim + i) % UVEA_PARTY_COUNT, later);
        }
    }
    if (chance(swarm, 20)) { // a crash loop
        uint64_t at_ms = moment(swarm);
        for (uint64_t n = between(swarm, 3, 6); n > 0; n--, at_ms += between(swarm, 500, 5000)) {
            draw_crash(swarm, victim, at_ms);
        }
    }
    if (chance(swarm, 40)) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_PAUSE);
        fault.for_ms = 50 + lag_ms(swarm, 3000);
        add(swarm, fault);
    }
    if (chance(swarm, 30)) {
        add(swarm, somewhere(swarm, UVEA_FAULT_STOP));
    }
    if (chance(swarm, 30)) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_SLOW);
        fault.for_ms = between(swarm, 1000, 30000);
        fault.amount = between(swarm, 200, 2000);
        add(swarm, fault);
    }
}

static void draw_storage(struct swarm *swarm)
{
    if (!family_on(swarm, UVEA_OPTION_swarm_storage, "swarm/storage")) {
        return;
    }
    for (uint64_t n = between(swarm, 1, 3); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_DISK_ERROR);
        switch (below(swarm, 5)) {
        case 0:
            fault.for_ms = between(swarm, 100, 10000);
            fault.amount = between(swarm, 1, 10000);
            break;
        case 1:
            fault.kind = UVEA_FAULT_DISK_FAIL_NTH;
            fault.amount = 1 + uvea_sim_random_exponential(&swarm->random, 50);
            break;
        case 2:
            fault.kind = UVEA_FAULT_DISK_FULL;
            fault.for_ms = between(swarm, 1000, 20000);
            fault.amount = 1 + uvea_sim_random_exponential(&swarm->random, MILLION);
            break;
        case 3:
            fault.kind = UVEA_FAULT_DISK_STALL;
            fault.for_ms = between(swarm, 500, 10000);
            fault.amount = chance(swarm, 10) ? between(swarm, 5000, 30000) : between(swarm, 1, 500);
            break;
        default:
            fault.kind = UVEA_FAULT_CRASH_AT_WRITE;
            fault.amount = 1 + uvea_sim_random_exponential(&swarm->random, 50);
            break;
        }
        add(swarm, fault);
    }
}

static void draw_clock(struct swarm *swarm)
{
    static const enum uvea_option offsets[] = {UVEA_OPTION_clocks_p0_offset_ms,
                                               UVEA_OPTION_clocks_p1_offset_ms,
                                               UVEA_OPTION_clocks_p2_offset_ms};
    static const enum uvea_option drifts[] = {UVEA_OPTION_clocks_p0_drift_ppm,
                                              UVEA_OPTION_clocks_p1_drift_ppm,
                                              UVEA_OPTION_clocks_p2_drift_ppm};
    if (!family_on(swarm, UVEA_OPTION_swarm_clock, "swarm/clock")) {
        return;
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        swarm->scenario->options[offsets[i]] = below(swarm, 10000);
        swarm->scenario->options[drifts[i]] = below(swarm, 400);
    }
    for (uint64_t n = below(swarm, 3); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_CLOCK_STEP);
        fault.kind = chance(swarm, 50) ? UVEA_FAULT_CLOCK_STEP : UVEA_FAULT_CLOCK_BACK;
        fault.amount = between(swarm, 1, 30000);
        if (chance(swarm, 20)) {
            fault.kind = UVEA_FAULT_CLOCK_SET;
            fault.amount = UINT64_C(2147483640); // eight seconds before 2038 ends 32-bit time
        }
        add(swarm, fault);
    }
}

static void draw_memory(struct swarm *swarm)
{
    if (!family_on(swarm, UVEA_OPTION_swarm_memory, "swarm/memory")) {
        return;
    }
    for (uint64_t n = between(swarm, 1, 2); n > 0; n--) {
        struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_MEMORY);
        fault.kind = chance(swarm, 25) ? UVEA_FAULT_MEMORY_ALL : UVEA_FAULT_MEMORY;
        fault.amount = 1 + uvea_sim_random_exponential(&swarm->random, 200);
        add(swarm, fault);
    }
}

// No fault, but it costs real time: in few seeds.
static void draw_tls(struct swarm *swarm)
{
    uint64_t *options = swarm->scenario->options;
    uvea_sim_random_init(&swarm->random, options[UVEA_OPTION_root_seed], "swarm/tls");
    const uint64_t choice = options[UVEA_OPTION_swarm_tls];
    if (choice == DRAW ? below(swarm, 16) == 0 : choice != OFF) {
        options[UVEA_OPTION_network_tls] = 1;
    }
}

// Some requests are replaced by malformed ones, and some shares are spoilt. What these requests
// should have come to is then no longer known beforehand.
static void draw_malformed(struct swarm *swarm)
{
    if (!family_on(swarm, UVEA_OPTION_swarm_malformed, "swarm/malformed")) {
        return;
    }
    for (size_t i = 0; i < swarm->scenario->request_count; i++) {
        struct uvea_request_plan *plan = &swarm->scenario->requests[i];
        if (!plan->mixed || !chance(swarm, 12)) {
            continue;
        }
        if (plan->type == UVEA_PLAN_DELETION || chance(swarm, 50)) {
            plan->type = UVEA_PLAN_MALFORMED;
            plan->how = below(swarm, UVEA_PLAN_MALFORMED_COUNT);
        } else {
            plan->bad_share = (enum uvea_plan_party)below(swarm, 4); // a party, or all of them
        }
        plan->mixed = false;
    }
}

static void draw_hostile(struct swarm *swarm)
{
    uvea_sim_random_init(&swarm->random, swarm->scenario->options[UVEA_OPTION_root_seed],
                         "swarm/hostile");
    const uint64_t choice = swarm->scenario->options[UVEA_OPTION_swarm_hostile];
    if (choice == OFF || (choice == DRAW && !chance(swarm, 5))) {
        return;
    }
    struct uvea_fault_plan fault = somewhere(swarm, UVEA_FAULT_DISK_WIPED);
    fault.kind =
        (enum uvea_fault_plan_kind)between(swarm, UVEA_FAULT_DISK_LYING, UVEA_FAULT_DISK_ROT);
    fault.for_ms = between(swarm, 1000, 20000);
    add(swarm, fault);
    if (fault.kind == UVEA_FAULT_DISK_LYING) {
        add(swarm, (struct uvea_fault_plan){.kind = UVEA_FAULT_CRASH,
                                            .from = fault.from,
                                            .at_ms = fault.at_ms + fault.for_ms / 2});
    }
    swarm->scenario->options[UVEA_OPTION_root_class] = 1;
}

void uvea_swarm_draw(struct uvea_scenario *scenario)
{
    struct swarm swarm = {
        .scenario = scenario,
        .end_ms = scenario->options[UVEA_OPTION_swarm_faults_s] * 1000,
    };
    draw_network(&swarm);
    draw_http(&swarm);
    draw_process(&swarm);
    draw_storage(&swarm);
    draw_clock(&swarm);
    draw_memory(&swarm);
    draw_tls(&swarm);
    draw_malformed(&swarm);
    draw_hostile(&swarm);
}
