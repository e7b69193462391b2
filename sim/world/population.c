#include "sim/world/population.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gen/template.h"
#include "sim/world/population_impl.h"

#include <string.h>

enum {
    STRICT_ACCEPTED = 45220, // 65536 - 20316: differing / common * 131072 at the strict limit
};

enum uvea_error uvea_population_init(struct uvea_population *population,
                                     const struct uvea_scenario *scenario,
                                     struct uvea_error_context *context)
{
    uint64_t seed = scenario->options[UVEA_OPTION_root_seed];
    *population = (struct uvea_population){.scenario = scenario};
    uint64_t people = scenario->options[UVEA_OPTION_root_people];
    uvea_sim_random_init(&population->templates, people != 0 ? people : seed, "templates");
    uvea_sim_random_init(&population->workload, seed, "workload");
    population->expects = uvea_mem_alloc(scenario->request_count, sizeof(*population->expects));
    if (population->expects == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = uvea_population_read_pool(population, context);
    if (error != UVEA_OK) {
        uvea_population_deinit(population);
    }
    return error;
}

void uvea_population_deinit(struct uvea_population *population)
{
    for (size_t i = 0; population->expects != NULL && i < population->scenario->request_count;
         i++) {
        uvea_mem_free(population->expects[i].matched.serials);
    }
    uvea_mem_free(population->expects);
    uvea_mem_free(population->memory);
    uvea_mem_free(population->pool);
    *population = (struct uvea_population){.pool_count = 0};
}

// ---- records

static void generate_pair(struct uvea_population *population, struct uvea_template_pair *out)
{
    uvea_gen_pair(&population->templates, out);
    if (population->scenario->options[UVEA_OPTION_database_masks] != 0) {
        uvea_gen_fill_mask(&out->eye[UVEA_EYE_LEFT], true);
        uvea_gen_fill_mask(&out->eye[UVEA_EYE_RIGHT], true);
    }
}

static enum uvea_error pool_entry(const struct uvea_population *population, size_t index,
                                  struct uvea_template_pair *out,
                                  struct uvea_error_context *context)
{
    if (index >= population->pool_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "the template files hold %zu entries: there is no entry %zu",
                              population->pool_count, index + 1);
    }
    *out = population->pool[index];
    return UVEA_OK;
}

enum uvea_error uvea_population_record(struct uvea_population *population, size_t index,
                                       struct uvea_template_pair *out,
                                       struct uvea_error_context *context)
{
    if (population->scenario->options[UVEA_OPTION_database_source] != 0) {
        return pool_entry(population, index, out, context);
    }
    generate_pair(population, out);
    return UVEA_OK;
}

static uint16_t draw_u16(void *random)
{
    return (uint16_t)uvea_sim_random_next_u64(random);
}

void uvea_population_split(const struct uvea_template_pair *pair, struct uvea_sim_random *random,
                           struct uvea_iris_share scratch[UVEA_PARTY_COUNT],
                           struct uvea_iris_upload uploads[UVEA_PARTY_COUNT])
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        uvea_iris_split(&pair->eye[eye], draw_u16, random, scratch);
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            uploads[party].eye[eye] = scratch[party];
        }
    }
}

// ---- before a run

// Whether the eyes it sends are made from somebody's.
static bool has_target(const struct uvea_request_plan *plan)
{
    return plan->kind != UVEA_PLAN_NEW && plan->kind != UVEA_PLAN_TEMPLATE;
}

// index: of the request; every one before it may have enrolled somebody.
static enum uvea_error check_plan(const struct uvea_population *population, size_t index,
                                  struct uvea_error_context *context)
{
    const struct uvea_request_plan *plan = &population->scenario->requests[index];
    uint64_t enrolled = population->scenario->options[UVEA_OPTION_database_records] + index;
    if (uvea_plan_sends_eyes(plan->type) && plan->kind == UVEA_PLAN_TEMPLATE &&
        plan->index > population->pool_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "requests[%u].index: the template files hold %zu entries",
                              plan->entry, population->pool_count);
    }
    if (uvea_plan_sends_eyes(plan->type) && has_target(plan) && !plan->mixed &&
        (plan->of > enrolled || enrolled == 0)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "requests[%u].of: no more than %llu can be enrolled by then",
                              plan->entry, (unsigned long long)enrolled);
    }
    return UVEA_OK;
}

enum uvea_error uvea_population_check(const struct uvea_population *population, unsigned *line,
                                      struct uvea_error_context *context)
{
    const uint64_t *options = population->scenario->options;
    *line = 0;
    if (options[UVEA_OPTION_database_source] != 0 &&
        options[UVEA_OPTION_database_records] > population->pool_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "database.records: the template files hold %zu entries",
                              population->pool_count);
    }
    for (size_t i = 0; i < population->scenario->request_count; i++) {
        *line = population->scenario->requests[i].line;
        UVEA_TRY(check_plan(population, i, context));
    }
    return UVEA_OK;
}

// ---- queries

void uvea_population_to_oracle(const struct uvea_template_pair *in, struct uvea_oracle_pair *out)
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        memcpy(out->eye[eye].code, in->eye[eye].code, sizeof(in->eye[eye].code));
        memcpy(out->eye[eye].mask, in->eye[eye].mask, sizeof(in->eye[eye].mask));
    }
}

static void from_oracle(const struct uvea_oracle_pair *in, struct uvea_template_pair *out)
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        memcpy(out->eye[eye].code, in->eye[eye].code, sizeof(in->eye[eye].code));
        memcpy(out->eye[eye].mask, in->eye[eye].mask, sizeof(in->eye[eye].mask));
    }
}

// Inverts exactly `bits` of the template's valid code bits, or all of them when there are fewer.
static void flip(struct uvea_population *population, struct uvea_template *template, uint64_t bits)
{
    unsigned valid = uvea_gen_common_bits(template, template);
    unsigned differing = bits < valid ? (unsigned)bits : valid;
    UVEA_CHECK(uvea_gen_flip(&population->workload, template, differing, template) == UVEA_OK);
}

// The number of differing bits at the threshold, moved by one below or above it.
static uint64_t bits_at(const struct uvea_request_plan *plan, const struct uvea_template *template)
{
    uint64_t common = uvea_gen_common_bits(template, template);
    uint64_t last =
        plan->threshold == UVEA_PLAN_STRICT ? common * STRICT_ACCEPTED / 131072 : common * 3 / 8;
    switch (plan->place) {
    case UVEA_PLAN_BELOW:
        return last > 0 ? last - 1 : 0;
    case UVEA_PLAN_AT:
        return last;
    default:
        return last + 1;
    }
}

// Strict: both eyes stand at the threshold. Anonymous: the scanned eye does, and the other is an
// exact copy, so that it is visible whether the record was passed on to the second eye.
static void to_threshold(struct uvea_population *population, const struct uvea_request_plan *plan,
                         struct uvea_template_pair *pair)
{
    uint64_t scanned = population->scenario->options[UVEA_OPTION_service_full_scan_eye];
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        if (plan->threshold == UVEA_PLAN_STRICT || eye == scanned) {
            flip(population, &pair->eye[eye], bits_at(plan, &pair->eye[eye]));
        }
    }
}

static void mirror_pair(struct uvea_template_pair *pair)
{
    const struct uvea_template_pair before = *pair;
    uvea_iris_mirror(&before.eye[UVEA_EYE_RIGHT], &pair->eye[UVEA_EYE_LEFT]);
    uvea_iris_mirror(&before.eye[UVEA_EYE_LEFT], &pair->eye[UVEA_EYE_RIGHT]);
}

static void rotate_pair(struct uvea_template_pair *pair, int columns)
{
    const struct uvea_template_pair before = *pair;
    uvea_iris_rotate(&before.eye[UVEA_EYE_LEFT], columns, &pair->eye[UVEA_EYE_LEFT]);
    uvea_iris_rotate(&before.eye[UVEA_EYE_RIGHT], columns, &pair->eye[UVEA_EYE_RIGHT]);
}

static void flip_pair(struct uvea_population *population, const struct uvea_request_plan *plan,
                      struct uvea_template_pair *pair)
{
    if (plan->eyes != UVEA_PLAN_RIGHT) {
        flip(population, &pair->eye[UVEA_EYE_LEFT], plan->bits);
    }
    if (plan->eyes != UVEA_PLAN_LEFT) {
        flip(population, &pair->eye[UVEA_EYE_RIGHT], plan->bits);
    }
}

// With a named target: valid only where the target is not. Without: valid nowhere.
static void remove_overlap(const struct uvea_request_plan *plan, struct uvea_template_pair *pair)
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        for (unsigned word = 0; word < UVEA_IRIS_WORDS; word++) {
            uint64_t *mask = &pair->eye[eye].mask[word];
            *mask = plan->of != 0 ? ~*mask : 0;
        }
    }
}

static void change_target(struct uvea_population *population, const struct uvea_request_plan *plan,
                          struct uvea_template_pair *pair)
{
    switch (plan->kind) {
    case UVEA_PLAN_MIRRORED:
        mirror_pair(pair);
        break;
    case UVEA_PLAN_ROTATED:
        rotate_pair(pair, plan->by);
        break;
    case UVEA_PLAN_FLIPPED:
        flip_pair(population, plan, pair);
        break;
    case UVEA_PLAN_THRESHOLD:
        to_threshold(population, plan, pair);
        break;
    case UVEA_PLAN_ZERO_OVERLAP:
        remove_overlap(plan, pair);
        break;
    default:
        break;
    }
}

// ---- what was enrolled before

enum uvea_error uvea_population_remember(struct uvea_population *population,
                                         const struct uvea_oracle_service *model)
{
    if (model->record_count > population->memory_count) {
        struct uvea_memory *grown = uvea_mem_alloc(model->record_count, sizeof(*grown));
        if (grown == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (population->memory_count > 0) {
            memcpy(grown, population->memory, population->memory_count * sizeof(*grown));
        }
        for (size_t i = population->memory_count; i < model->record_count; i++) {
            grown[i].now = model->records[i].pair;
            grown[i].version = model->records[i].version;
        }
        uvea_mem_free(population->memory);
        population->memory = grown;
        population->memory_count = model->record_count;
    }
    for (uint32_t i = 0; i < model->record_count; i++) {
        struct uvea_memory *memory = &population->memory[i];
        if (memory->version != model->records[i].version) {
            memory->former = memory->now;
            memory->has_former = true;
            memory->now = model->records[i].pair;
            memory->version = model->records[i].version;
        }
    }
    return UVEA_OK;
}

// ---- demands

// The serial of somebody who lives, drawn; 0 when there is nobody.
static uint32_t draw_living(struct uvea_population *population,
                            const struct uvea_oracle_service *model)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < model->record_count; i++) {
        living += !model->records[i].deleted;
    }
    if (living == 0) {
        return 0;
    }
    uint64_t nth = uvea_sim_random_below(&population->workload, living);
    for (uint32_t i = 0;; i++) {
        if (!model->records[i].deleted && nth-- == 0) {
            return i + 1;
        }
    }
}

static enum uvea_error target_of(struct uvea_population *population,
                                 const struct uvea_request_plan *plan, uint32_t serial,
                                 const struct uvea_oracle_service *model,
                                 struct uvea_template_pair *out, struct uvea_error_context *context)
{
    if (serial == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "a request needs an enrolled target and nobody is enrolled");
    }
    if (serial > model->record_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "a request's target is serial %u and only %u are enrolled",
                              (unsigned)serial, model->record_count);
    }
    const struct uvea_memory *memory = &population->memory[serial - 1];
    if (plan->kind == UVEA_PLAN_FORMER && !memory->has_former) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "serial %u has been written only once: it has no former pair",
                              (unsigned)serial);
    }
    from_oracle(plan->kind == UVEA_PLAN_FORMER ? &memory->former : &memory->now, out);
    return UVEA_OK;
}

static enum uvea_error make_pair(struct uvea_population *population,
                                 const struct uvea_request_plan *plan, uint32_t target,
                                 const struct uvea_oracle_service *model,
                                 struct uvea_template_pair *out, struct uvea_error_context *context)
{
    if (plan->kind == UVEA_PLAN_NEW) {
        generate_pair(population, out);
        return UVEA_OK;
    }
    if (plan->kind == UVEA_PLAN_TEMPLATE) {
        return pool_entry(population, plan->index - 1, out, context);
    }
    UVEA_TRY(target_of(population, plan, target, model, out, context));
    change_target(population, plan, out);
    return UVEA_OK;
}

static bool names_serial(enum uvea_request_plan_type type)
{
    return type == UVEA_PLAN_REAUTH || type == UVEA_PLAN_DELETION ||
           type == UVEA_PLAN_RESET_UPDATE || type == UVEA_PLAN_RECOVERY_UPDATE;
}

static enum uvea_error expect_matched(struct uvea_expectation *expect, uint32_t serial)
{
    expect->matched.serials = uvea_mem_alloc(1, sizeof(*expect->matched.serials));
    if (expect->matched.serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    expect->has_matched = true;
    expect->matched.serials[0] = serial;
    expect->matched.count = serial != 0;
    return UVEA_OK;
}

// What service.md 11 says about each request of a mix.
static enum uvea_error expect_of_mix(struct uvea_population *population, size_t index,
                                     const struct uvea_oracle_service *model, uint32_t target,
                                     struct uvea_demand *out)
{
    const struct uvea_request_plan *plan = &population->scenario->requests[index];
    const bool fresh = plan->kind == UVEA_PLAN_NEW || out->type != plan->type;
    struct uvea_expectation *expect = &population->expects[index];
    out->expect = expect;
    switch (out->type) {
    case UVEA_PLAN_UNIQUENESS:
        expect->has_match = true;
        expect->match = !fresh;
        expect->has_mirror_attack = true;
        expect->mirror_attack = !fresh && plan->kind == UVEA_PLAN_MIRRORED;
        expect->has_serial = true;
        expect->serial = fresh ? model->record_count + 1 : 0;
        return expect_matched(expect, fresh || expect->mirror_attack ? 0 : target);
    case UVEA_PLAN_REAUTH:
        expect->has_success = true;
        expect->success = !fresh;
        return fresh ? expect_matched(expect, 0) : UVEA_OK;
    case UVEA_PLAN_RESET_CHECK:
    case UVEA_PLAN_RECOVERY_CHECK:
        return expect_matched(expect, target);
    default:
        return UVEA_OK;
    }
}

enum uvea_error uvea_population_demand(struct uvea_population *population, size_t index,
                                       const struct uvea_oracle_service *model, bool certain,
                                       struct uvea_demand *out, struct uvea_error_context *context)
{
    const struct uvea_request_plan *plan = &population->scenario->requests[index];
    struct uvea_request_plan used = *plan;
    uint32_t target = (uint32_t)plan->of;
    UVEA_TRY(uvea_population_remember(population, model));
    const bool needs = (uvea_plan_sends_eyes(plan->type) && has_target(plan)) ||
                       (names_serial(plan->type) && !plan->has_serial);
    if (needs && target == 0) {
        target = draw_living(population, model);
    }
    if (needs && target == 0 && plan->mixed) {
        used.type = UVEA_PLAN_UNIQUENESS;
        used.kind = UVEA_PLAN_NEW;
    }
    out->type = used.type;
    out->serial_id = 0;
    if (names_serial(used.type)) {
        out->serial_id = plan->has_serial ? (uint32_t)plan->serial : target;
    }
    out->has_pair = uvea_plan_sends_eyes(used.type);
    if (out->has_pair) {
        UVEA_TRY(make_pair(population, &used, target, model, &out->pair, context));
    }
    out->expect = &plan->expect;
    return plan->mixed && certain ? expect_of_mix(population, index, model, target, out) : UVEA_OK;
}
