// Parties that run out of memory, whose disk fails once, whose connections break or stand still:
// they stop, are started again, and the story goes on.
#include "tests/service/story.h"

#include <inttypes.h>
#include <stdio.h>

enum { SAMPLES = 15 };

// ---- memory

static uint64_t count_allocations(unsigned party)
{
    struct story *story = story_open(77);
    uint64_t count;

    story->fleet.member[party].fails_allocation = UINT64_MAX;
    story_tell(story);
    count = story->fleet.member[party].allocations;
    story_close(story);
    return count;
}

static void no_allocation_is_indispensable(void **state)
{
    (void)state;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const uint64_t count = count_allocations(party);
        assert_true(count > SAMPLES);
        for (uint64_t i = party; i < SAMPLES; i += UVEA_PARTY_COUNT) {
            // Most of them early, where all is set up.
            const uint64_t nth = 1 + count * i * i / (SAMPLES * SAMPLES);
            struct story *story = story_open(77);
            print_message("  party %u, allocation %" PRIu64 " of %" PRIu64 "\n", party, nth, count);
            story->fleet.member[party].fails_allocation = nth;
            story_tell(story);
            story_close(story);
        }
    }
}

// ---- disks

static void a_disk_that_fails_once_is_no_loss(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct story *story = story_open(78);
        struct fleet_member *member = &story->fleet.member[i % UVEA_PARTY_COUNT];
        const struct uvea_sim_disk_faults faults = {.fail_nth = 1 + 17 * i};
        print_message("  party %u, call %" PRIu64 " of its disk\n", member->party, faults.fail_nth);
        uvea_sim_disk_faults_set(member->disk, &faults);
        story_tell(story);
        assert_true(member->starts > 1 || uvea_sim_disk_stats(member->disk).injected == 0);
        story_close(story);
    }
}

// ---- networks

static void tell_with(const struct uvea_sim_fault *fault, const char *name)
{
    struct story *story = story_open(79);

    print_message("  %s %u>%u\n", name, fault->from, fault->to);
    assert_int_equal(uvea_sim_inject(story->fleet.sim, fault), UVEA_OK);
    story_tell(story);
    story_close(story);
}

static void connections_may_break_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SAMPLES / 2; i++) {
        const struct uvea_sim_fault fault = {
            .kind = UVEA_SIM_FAULT_RESET,
            .from = i % UVEA_PARTY_COUNT,
            .to = (i + 1 + i / 3 % 2) % UVEA_PARTY_COUNT,
            .connection = UVEA_SIM_ANY_CONNECTION,
            .at_byte = 1000 + 9001 * i,
        };
        tell_with(&fault, "reset");
    }
}

static void links_may_stand_still(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SAMPLES / 4; i++) {
        const struct uvea_sim_fault fault = {
            .kind = i % 2 == 0 ? UVEA_SIM_FAULT_PARTITION : UVEA_SIM_FAULT_STALL,
            .from = i % UVEA_PARTY_COUNT,
            .to = (i + 1) % UVEA_PARTY_COUNT,
            .at_byte = UVEA_SIM_NO_BYTE,
            .at_ns = UVEA_SECOND + 700 * i * UVEA_MS,
            .for_ns = 25 * UVEA_SECOND,
        };
        tell_with(&fault, i % 2 == 0 ? "partition" : "stall");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_is_indispensable),
        cmocka_unit_test(a_disk_that_fails_once_is_no_loss),
        cmocka_unit_test(connections_may_break_anywhere),
        cmocka_unit_test(links_may_stand_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
