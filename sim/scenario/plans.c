#include "core/base/mem.h"
#include "sim/scenario/resolve.h"

// ---- requests

static enum uvea_error resolve_expect(const struct uvea_source *source, const char *where,
                                      const struct uvea_raw_expect *raw,
                                      struct uvea_expectation *expect)
{
    struct uvea_path path;
    path = uvea_path_of(where, "match");
    expect->has_match = raw->match != NULL;
    UVEA_TRY(uvea_resolve_optional_bool(source, path.text, raw->match, &expect->match));
    path = uvea_path_of(where, "mirror_attack");
    expect->has_mirror_attack = raw->mirror_attack != NULL;
    UVEA_TRY(
        uvea_resolve_optional_bool(source, path.text, raw->mirror_attack, &expect->mirror_attack));
    path = uvea_path_of(where, "serial");
    expect->has_serial = raw->serial != NULL;
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->serial, 0, UINT32_MAX,
                                          &expect->serial));
    if (raw->matched != NULL) {
        path = uvea_path_of(where, "matched");
        expect->has_matched = true;
        UVEA_TRY(uvea_resolve_serials(source, path.text, raw->matched, raw->matched_count,
                                      &expect->matched));
    }
    if (raw->anonymous != NULL) {
        path = uvea_path_of(where, "anonymous");
        expect->has_anonymous = true;
        UVEA_TRY(uvea_resolve_serials(source, path.text, raw->anonymous, raw->anonymous_count,
                                      &expect->anonymous));
    }
    return UVEA_OK;
}

static enum uvea_error resolve_by(const struct uvea_source *source, const char *path,
                                  const char *text, int *by)
{
    uint64_t columns;
    bool left = text[0] == '-';
    enum uvea_error error = uvea_number_parse(path, text + left, 0, 200, &columns, NULL);
    if (error != UVEA_OK) {
        return uvea_resolve_complain(source, path,
                                     "%s: '%s' is not a whole number from -200 to 200", path, text);
    }
    *by = left ? -(int)columns : (int)columns;
    return UVEA_OK;
}

// Which fields a kind of request has beside the general ones.
struct kind_fields {
    bool of, of_needed, by, bits, index, eyes, threshold;
};
static const struct kind_fields fields_of[] = {
    [UVEA_PLAN_NEW] = {0},
    [UVEA_PLAN_DUPLICATE] = {.of = true},
    [UVEA_PLAN_MIRRORED] = {.of = true},
    [UVEA_PLAN_ROTATED] = {.of = true, .by = true},
    [UVEA_PLAN_FLIPPED] = {.of = true, .bits = true, .eyes = true},
    [UVEA_PLAN_THRESHOLD] = {.of = true, .threshold = true},
    [UVEA_PLAN_ZERO_OVERLAP] = {.of = true},
    [UVEA_PLAN_TEMPLATE] = {.index = true},
};

// A field is given exactly when the kind has it.
static enum uvea_error check_field(const struct uvea_source *source, const char *where,
                                   const char *field, const char *kind, bool has, bool needed,
                                   const char *text)
{
    struct uvea_path path;
    path = uvea_path_of(where, field);
    if (text != NULL && !has) {
        return uvea_resolve_complain(
            source, path.text, "%s: a request of kind '%s' has no such field", path.text, kind);
    }
    if (text == NULL && needed) {
        return uvea_resolve_complain(source, where, "%s: a request of kind '%s' needs '%s'", where,
                                     kind, field);
    }
    return UVEA_OK;
}

static enum uvea_error check_fields(const struct uvea_source *source, const char *where,
                                    const struct uvea_raw_request *raw,
                                    enum uvea_request_plan_kind kind)
{
    const struct kind_fields *has = &fields_of[kind];
    const char *name = raw->kind;
    UVEA_TRY(check_field(source, where, "of", name, has->of, false, raw->of));
    UVEA_TRY(check_field(source, where, "by", name, has->by, has->by, raw->by));
    UVEA_TRY(check_field(source, where, "bits", name, has->bits, has->bits, raw->bits));
    UVEA_TRY(check_field(source, where, "index", name, has->index, has->index, raw->index));
    UVEA_TRY(check_field(source, where, "eyes", name, has->eyes, false, raw->eyes));
    UVEA_TRY(check_field(source, where, "threshold", name, has->threshold, has->threshold,
                         raw->threshold));
    return check_field(source, where, "place", name, has->threshold, has->threshold, raw->place);
}

static enum uvea_error resolve_shape(const struct uvea_source *source, const char *where,
                                     const struct uvea_raw_request *raw,
                                     struct uvea_request_plan *plan)
{
    struct uvea_path path;
    uint64_t eyes = UVEA_PLAN_BOTH;
    uint64_t threshold = 0;
    uint64_t at = 0;
    path = uvea_path_of(where, "of");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->of, 1, UINT32_MAX, &plan->of));
    path = uvea_path_of(where, "by");
    if (raw->by != NULL) {
        UVEA_TRY(resolve_by(source, path.text, raw->by, &plan->by));
    }
    path = uvea_path_of(where, "bits");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->bits, 0, 12800, &plan->bits));
    path = uvea_path_of(where, "index");
    UVEA_TRY(
        uvea_resolve_optional_number(source, path.text, raw->index, 1, UINT32_MAX, &plan->index));
    path = uvea_path_of(where, "eyes");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_EYE_CHOICES, raw->eyes, &eyes));
    path = uvea_path_of(where, "threshold");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_THRESHOLD_CHOICES, raw->threshold,
                                          &threshold));
    path = uvea_path_of(where, "place");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_PLACE_CHOICES, raw->place, &at));
    plan->eyes = (enum uvea_plan_eyes)eyes;
    plan->threshold = (enum uvea_plan_threshold)threshold;
    plan->place = (enum uvea_plan_place)at;
    return UVEA_OK;
}

static enum uvea_error resolve_request(const struct uvea_source *source, const char *where,
                                       const struct uvea_raw_request *raw,
                                       struct uvea_request_plan *plan)
{
    struct uvea_path path;
    uint64_t kind = 0;
    path = uvea_path_of(where, "kind");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_REQUEST_KINDS, raw->kind, &kind));
    plan->kind = (enum uvea_request_plan_kind)kind;
    UVEA_TRY(check_fields(source, where, raw, plan->kind));
    UVEA_TRY(resolve_shape(source, where, raw, plan));
    plan->mirror_detection = true;
    path = uvea_path_of(where, "mirror_detection");
    UVEA_TRY(uvea_resolve_optional_bool(source, path.text, raw->mirror_detection,
                                        &plan->mirror_detection));
    path = uvea_path_of(where, "skip_persistence");
    UVEA_TRY(uvea_resolve_optional_bool(source, path.text, raw->skip_persistence,
                                        &plan->skip_persistence));
    if (raw->or_rule != NULL) {
        path = uvea_path_of(where, "or_rule");
        UVEA_TRY(uvea_resolve_serials(source, path.text, raw->or_rule, raw->or_rule_count,
                                      &plan->or_rule));
    }
    if (raw->expect == NULL) {
        return UVEA_OK;
    }
    path = uvea_path_of(where, "expect");
    return resolve_expect(source, path.text, raw->expect, &plan->expect);
}

static enum uvea_error count_requests(const struct uvea_source *source, const struct uvea_raw *raw,
                                      size_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < raw->requests_count; i++) {
        struct uvea_path path;
        path = uvea_path_of(uvea_path_entry("requests", i).text, "repeat");
        uint64_t repeat = 1;
        UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->requests[i].repeat, 1,
                                              UVEA_SCENARIO_REQUESTS_MAX, &repeat));
        *count += repeat;
        if (*count > UVEA_SCENARIO_REQUESTS_MAX) {
            return uvea_resolve_complain(source, path.text, "%s: more than %d requests in all",
                                         path.text, UVEA_SCENARIO_REQUESTS_MAX);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_resolve_requests(const struct uvea_source *source, const struct uvea_raw *raw,
                                      struct uvea_scenario *scenario)
{
    size_t count;
    UVEA_TRY(count_requests(source, raw, &count));
    scenario->requests = uvea_mem_alloc(count, sizeof(*scenario->requests));
    if (scenario->requests == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < raw->requests_count; i++) {
        struct uvea_path where;
        where = uvea_path_entry("requests", i);
        uint64_t repeat = 1;
        UVEA_TRY(uvea_resolve_optional_number(source, where.text, raw->requests[i].repeat, 1,
                                              UVEA_SCENARIO_REQUESTS_MAX, &repeat));
        for (; repeat > 0; repeat--) {
            struct uvea_request_plan *plan = &scenario->requests[scenario->request_count++];
            plan->entry = i;
            UVEA_TRY(resolve_request(source, where.text, &raw->requests[i], plan));
        }
    }
    return UVEA_OK;
}

// ---- faults

static enum uvea_error needed(const struct uvea_source *source, const char *where,
                              const char *field, const char *text)
{
    return text != NULL
               ? UVEA_OK
               : uvea_resolve_complain(source, where, "%s: this fault needs '%s'", where, field);
}

static enum uvea_error resolve_fault(const struct uvea_source *source, const char *where,
                                     const struct uvea_raw_fault *raw,
                                     struct uvea_fault_plan *fault)
{
    struct uvea_path path;
    uint64_t kind = 0;
    uint64_t from = 0;
    uint64_t to = 0;
    path = uvea_path_of(where, "kind");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_FAULT_KINDS, raw->kind, &kind));
    UVEA_TRY(needed(source, where, "from", raw->from));
    if (kind != UVEA_FAULT_PARTITION) {
        UVEA_TRY(needed(source, where, "to", raw->to));
    }
    UVEA_TRY(kind == UVEA_FAULT_RESET ? needed(source, where, "at_byte", raw->at_byte)
                                      : needed(source, where, "at_ms", raw->at_ms));
    if (kind != UVEA_FAULT_RESET) {
        UVEA_TRY(needed(source, where, "for_ms", raw->for_ms));
    }
    path = uvea_path_of(where, "from");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->from, &from));
    path = uvea_path_of(where, "to");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->to, &to));
    if (kind != UVEA_FAULT_PARTITION && from == to) {
        return uvea_resolve_complain(source, path.text, "%s: a link has two different ends",
                                     path.text);
    }
    path = uvea_path_of(where, "at_ms");
    UVEA_TRY(
        uvea_resolve_optional_number(source, path.text, raw->at_ms, 0, 1000000000, &fault->at_ms));
    path = uvea_path_of(where, "for_ms");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->for_ms, 1, 1000000000,
                                          &fault->for_ms));
    path = uvea_path_of(where, "at_byte");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->at_byte, 0, UINT64_MAX,
                                          &fault->at_byte));
    fault->kind = (enum uvea_fault_plan_kind)kind;
    fault->from = (unsigned)from;
    fault->to = (unsigned)to;
    return UVEA_OK;
}

enum uvea_error uvea_resolve_faults(const struct uvea_source *source, const struct uvea_raw *raw,
                                    struct uvea_scenario *scenario)
{
    scenario->faults = uvea_mem_alloc(raw->faults_count, sizeof(*scenario->faults));
    if (scenario->faults == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < raw->faults_count; i++) {
        struct uvea_path where;
        where = uvea_path_entry("faults", i);
        UVEA_TRY(resolve_fault(source, where.text, &raw->faults[i], &scenario->faults[i]));
        scenario->fault_count++;
    }
    return UVEA_OK;
}
