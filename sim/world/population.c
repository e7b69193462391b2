#include "sim/world/population.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gen/template.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES_MAX = 65536,     // a line of a template file
    FILE_TEMPLATES_MAX = 65536, // templates of all files
    STRICT_ACCEPTED = 45220,    // 65536 - 20316: differing / common * 131072 at the strict limit
};

// ---- template files

struct template_list {
    struct uvea_template *templates;
    size_t count;
    size_t capacity;
};

static enum uvea_error list_add(struct template_list *list, const struct uvea_template *template)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct uvea_template *grown = uvea_mem_alloc(capacity, sizeof(*grown));
        if (grown == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (list->count > 0) {
            memcpy(grown, list->templates, list->count * sizeof(*grown));
        }
        uvea_mem_free(list->templates);
        list->templates = grown;
        list->capacity = capacity;
    }
    list->templates[list->count++] = *template;
    return UVEA_OK;
}

static enum uvea_error read_line(const char *path, unsigned number, char *line,
                                 struct template_list *list, struct uvea_error_context *context)
{
    size_t len = strcspn(line, "\r\n");
    if (len == 0) {
        return UVEA_OK;
    }
    if (list->count == FILE_TEMPLATES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "%s:%u: more than %d templates", path,
                              number, FILE_TEMPLATES_MAX);
    }
    struct uvea_template template;
    struct uvea_error_context said = {.text = ""};
    if (uvea_iris_decode_json(line, len, &template, &said) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s:%u: %.300s", path, number, said.text);
    }
    return list_add(list, &template);
}

static enum uvea_error read_templates(const char *path, struct template_list *list,
                                      struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        error = errno == ENOENT ? UVEA_ERR_NOT_FOUND : UVEA_ERR_USAGE;
        return uvea_error_set(context, error, "%s: %s", path, strerror(errno));
    }
    char *line = uvea_mem_alloc(LINE_BYTES_MAX, 1);
    if (line == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    for (unsigned number = 1; fgets(line, LINE_BYTES_MAX, file) != NULL; number++) {
        UVEA_TRY_CLEANUP(read_line(path, number, line, list, context));
    }
    if (ferror(file) != 0) {
        error = errno == EISDIR ? UVEA_ERR_USAGE : UVEA_ERR_IO;
        error = uvea_error_set(context, error, "%s: %s", path, strerror(errno));
    }
cleanup:
    uvea_mem_free(line);
    (void)fclose(file);
    return error;
}

static enum uvea_error make_pool(struct uvea_population *population,
                                 const struct template_list *list)
{
    bool pairs = population->scenario->options[UVEA_OPTION_templates_pairing] != 0;
    size_t step = pairs ? 2 : 1;
    population->pool = uvea_mem_alloc(list->count / step, sizeof(*population->pool));
    if (population->pool == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i + step <= list->count; i += step) {
        struct uvea_template_pair *pair = &population->pool[population->pool_count++];
        pair->eye[UVEA_EYE_LEFT] = list->templates[i];
        pair->eye[UVEA_EYE_RIGHT] = list->templates[i + step - 1];
    }
    return UVEA_OK;
}

static enum uvea_error read_pool(struct uvea_population *population,
                                 struct uvea_error_context *context)
{
    const struct uvea_scenario *scenario = population->scenario;
    struct template_list list = {.count = 0};
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < scenario->template_file_count; i++) {
        char path[4096];
        int len = snprintf(path, sizeof(path), "%s/%s", scenario->template_directory,
                           scenario->template_files[i]);
        if (len < 0 || (size_t)len >= sizeof(path)) {
            error =
                uvea_error_set(context, UVEA_ERR_LIMIT, "templates.files[%zu]: path too long", i);
            goto cleanup;
        }
        UVEA_TRY_CLEANUP(read_templates(path, &list, context));
    }
    error = make_pool(population, &list);
cleanup:
    uvea_mem_free(list.templates);
    return error;
}

enum uvea_error uvea_population_init(struct uvea_population *population,
                                     const struct uvea_scenario *scenario,
                                     struct uvea_error_context *context)
{
    uint64_t seed = scenario->options[UVEA_OPTION_root_seed];
    *population = (struct uvea_population){.scenario = scenario};
    uint64_t people = scenario->options[UVEA_OPTION_root_people];
    uvea_sim_random_init(&population->templates, people != 0 ? people : seed, "templates");
    uvea_sim_random_init(&population->workload, seed, "workload");
    enum uvea_error error = read_pool(population, context);
    if (error != UVEA_OK) {
        uvea_population_deinit(population);
    }
    return error;
}

void uvea_population_deinit(struct uvea_population *population)
{
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

static bool needs_target(enum uvea_request_plan_kind kind)
{
    return kind != UVEA_PLAN_NEW && kind != UVEA_PLAN_TEMPLATE;
}

// index: of the request; every one before it may have enrolled somebody.
static enum uvea_error check_plan(const struct uvea_population *population, size_t index,
                                  struct uvea_error_context *context)
{
    const struct uvea_request_plan *plan = &population->scenario->requests[index];
    uint64_t enrolled = population->scenario->options[UVEA_OPTION_database_records] + index;
    if (plan->kind == UVEA_PLAN_TEMPLATE && plan->index > population->pool_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "requests[%u].index: the template files hold %zu entries",
                              plan->entry, population->pool_count);
    }
    if (needs_target(plan->kind) && (plan->of > enrolled || enrolled == 0)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "requests[%u].of: no more than %llu can be enrolled by then",
                              plan->entry, (unsigned long long)enrolled);
    }
    return UVEA_OK;
}

enum uvea_error uvea_population_check(const struct uvea_population *population,
                                      struct uvea_error_context *context)
{
    const uint64_t *options = population->scenario->options;
    if (options[UVEA_OPTION_database_source] != 0 &&
        options[UVEA_OPTION_database_records] > population->pool_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "database.records: the template files hold %zu entries",
                              population->pool_count);
    }
    for (size_t i = 0; i < population->scenario->request_count; i++) {
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

static enum uvea_error target_of(struct uvea_population *population,
                                 const struct uvea_request_plan *plan,
                                 const struct uvea_oracle_model *model,
                                 struct uvea_template_pair *out, struct uvea_error_context *context)
{
    if (model->record_count == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "a request needs an enrolled target and nobody is enrolled");
    }
    if (plan->of > model->record_count) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "a request's target is serial %llu and only %u are enrolled",
                              (unsigned long long)plan->of, model->record_count);
    }
    uint64_t index = plan->of != 0
                         ? plan->of - 1
                         : uvea_sim_random_below(&population->workload, model->record_count);
    from_oracle(&model->records[index], out);
    return UVEA_OK;
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

enum uvea_error uvea_population_query(struct uvea_population *population,
                                      const struct uvea_request_plan *plan,
                                      const struct uvea_oracle_model *model,
                                      struct uvea_template_pair *out,
                                      struct uvea_error_context *context)
{
    if (plan->kind == UVEA_PLAN_NEW) {
        generate_pair(population, out);
        return UVEA_OK;
    }
    if (plan->kind == UVEA_PLAN_TEMPLATE) {
        return pool_entry(population, plan->index - 1, out, context);
    }
    UVEA_TRY(target_of(population, plan, model, out, context));
    change_target(population, plan, out);
    return UVEA_OK;
}
