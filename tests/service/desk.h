// A store on a simulated disk, and one task that works with it: for tests of what a party does
// without its peers.
#ifndef UVEA_TESTS_SERVICE_DESK_H
#define UVEA_TESTS_SERVICE_DESK_H

#include "core/store/store.h"
#include "sim/disk/disk.h"
#include "sim/runtime/sim.h"
#include "tests/support/cmocka.h"

struct desk {
    struct uvea_sim *sim;
    struct uvea_sim_disk *disk;
    struct uvea_rt *rt; // of node 0
    struct uvea_store *store;
};

static uint64_t desk_wall_ns(void *arg)
{
    const struct desk *desk = arg;

    return uvea_rt_wall_ns(desk->rt);
}

static inline int desk_open(struct desk *desk)
{
    struct uvea_sim_config config;

    *desk = (struct desk){0};
    uvea_sim_config_init(&config);
    assert_int_equal(uvea_sim_open(&config, &desk->sim, NULL), UVEA_OK);
    desk->rt = uvea_sim_rt(desk->sim, 0);
    assert_int_equal(uvea_sim_disk_open("desk", 1, desk_wall_ns, desk, &desk->disk), UVEA_OK);
    assert_int_equal(uvea_store_open_sqlite(desk->rt, "desk.db", uvea_sim_disk_vfs(desk->disk),
                                            &desk->store, NULL),
                     UVEA_OK);
    return 0;
}

// Runs the tasks that were started to their end.
static inline void desk_run(struct desk *desk)
{
    struct uvea_sim_outcome outcome;

    uvea_sim_run(desk->sim, &outcome);
    if (outcome.end != UVEA_SIM_FINISHED) {
        fail_msg("%s:\n%s", uvea_sim_end_text(outcome.end), outcome.blocked);
    }
    assert_int_equal(outcome.unjoined_tasks, 0);
    assert_int_equal(outcome.open_streams, 0);
    assert_int_equal(outcome.open_channels, 0);
}

static inline void desk_close(struct desk *desk)
{
    uvea_store_close(desk->store);
    uvea_sim_close(desk->sim);
    uvea_sim_disk_close(desk->disk);
}

#endif
