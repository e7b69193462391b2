#include "sim/chaos/expand.h"

#include "core/base/mem.h"
#include "sim/chaos/swarm.h"
#include "sim/runtime/random.h"

// ---- mixes (service.md 11)

struct mix_entry {
    enum uvea_request_plan_type type;
    enum uvea_request_plan_kind kind;
};
enum { MIX_ENTRIES = 10 };
static const struct mix_entry cycle[MIX_ENTRIES] = {
    {UVEA_PLAN_UNIQUENESS, UVEA_PLAN_NEW},
    {UVEA_PLAN_UNIQUENESS, UVEA_PLAN_DUPLICATE},
    {UVEA_PLAN_UNIQUENESS, UVEA_PLAN_MIRRORED},
    {UVEA_PLAN_REAUTH, UVEA_PLAN_DUPLICATE},
    {UVEA_PLAN_REAUTH, UVEA_PLAN_NEW},
    {UVEA_PLAN_RESET_CHECK, UVEA_PLAN_DUPLICATE},
    {UVEA_PLAN_RECOVERY_CHECK, UVEA_PLAN_DUPLICATE},
    {UVEA_PLAN_RESET_UPDATE, UVEA_PLAN_NEW},
    {UVEA_PLAN_RECOVERY_UPDATE, UVEA_PLAN_NEW},
    {UVEA_PLAN_DELETION, UVEA_PLAN_NEW},
};

// One after the other in cycles of ten, each a random permutation.
struct mixer {
    struct uvea_sim_random random;
    struct mix_entry entries[MIX_ENTRIES];
    unsigned left;
};

static struct mix_entry mix_next(struct mixer *mixer)
{
    if (mixer->left == 0) {
        for (unsigned i = 0; i < MIX_ENTRIES; i++) {
            mixer->entries[i] = cycle[i];
        }
        mixer->left = MIX_ENTRIES;
    }
    const unsigned at = (unsigned)uvea_sim_random_below(&mixer->random, mixer->left);
    const struct mix_entry chosen = mixer->entries[at];
    mixer->entries[at] = mixer->entries[--mixer->left];
    return chosen;
}

static void expand_mixes(struct uvea_scenario *scenario)
{
    struct mixer mixer = {.left = 0};
    uvea_sim_random_init(&mixer.random, scenario->options[UVEA_OPTION_root_seed], "schedule");
    for (size_t i = 0; i < scenario->request_count; i++) {
        struct uvea_request_plan *plan = &scenario->requests[i];
        if (plan->type == UVEA_PLAN_MIX) {
            const struct mix_entry entry = plan->enrols ? cycle[0] : mix_next(&mixer);
            plan->type = entry.type;
            plan->kind = entry.kind;
            plan->mixed = true;
            plan->enrols = false;
        }
    }
}

// The list of faults grows to the most there can be, for what is drawn.
static enum uvea_error make_room(struct uvea_scenario *scenario)
{
    struct uvea_fault_plan *faults = uvea_mem_alloc(UVEA_SCENARIO_FAULTS_MAX, sizeof(*faults));
    if (faults == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < scenario->fault_count; i++) {
        faults[i] = scenario->faults[i];
    }
    uvea_mem_free(scenario->faults);
    scenario->faults = faults;
    return UVEA_OK;
}

enum uvea_error uvea_expand(const struct uvea_scenario *in, struct uvea_scenario *out)
{
    UVEA_TRY(uvea_scenario_copy(in, out));
    expand_mixes(out);
    if (out->options[UVEA_OPTION_swarm_faults] == 0) {
        return UVEA_OK;
    }
    const enum uvea_error error = make_room(out);
    if (error != UVEA_OK) {
        uvea_scenario_deinit(out);
        return error;
    }
    uvea_swarm_draw(out);
    out->options[UVEA_OPTION_swarm_faults] = 0;
    return UVEA_OK;
}
