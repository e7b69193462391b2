#include "core/base/mem.h"
#include "sim/scenario/position.h"
#include "sim/scenario/resolve.h"

#include <stdio.h>
#include <string.h>

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
    path = uvea_path_of(where, "success");
    expect->has_success = raw->success != NULL;
    UVEA_TRY(uvea_resolve_optional_bool(source, path.text, raw->success, &expect->success));
    if (raw->error != NULL) {
        UVEA_TRY(uvea_resolve_text(raw->error, &expect->error));
    }
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

// Which fields a request has beside the general ones: by whose eyes it sends, and by what it asks
// for. A letter per field; a capital one is needed.
//   o of  b by  t bits  i index  e eyes  h threshold and place
//   k kind  s serial  u use_or_rule  x bad_share  w how  p party  n enrolments  m mirror_detection
//   r or_rule  q skip_persistence
static const char *const fields_of_kind[] = {
    [UVEA_PLAN_NEW] = "",           [UVEA_PLAN_DUPLICATE] = "o", [UVEA_PLAN_MIRRORED] = "o",
    [UVEA_PLAN_ROTATED] = "oB",     [UVEA_PLAN_FLIPPED] = "oTe", [UVEA_PLAN_THRESHOLD] = "oH",
    [UVEA_PLAN_ZERO_OVERLAP] = "o", [UVEA_PLAN_TEMPLATE] = "I",  [UVEA_PLAN_FORMER] = "o",
};
static const char *const fields_of_type[] = {
    [UVEA_PLAN_UNIQUENESS] = "Kmrqx",
    [UVEA_PLAN_REAUTH] = "Ksuqx",
    [UVEA_PLAN_DELETION] = "s",
    [UVEA_PLAN_RESET_CHECK] = "Kx",
    [UVEA_PLAN_RESET_UPDATE] = "Ksx",
    [UVEA_PLAN_RECOVERY_CHECK] = "Kx",
    [UVEA_PLAN_RECOVERY_UPDATE] = "Ksx",
    [UVEA_PLAN_MALFORMED] = "w",
    [UVEA_PLAN_MIX] = "n",
    [UVEA_PLAN_RESTART] = "pw",
};

bool uvea_plan_sends_eyes(enum uvea_request_plan_type type)
{
    return strchr(fields_of_type[type], 'K') != NULL;
}

struct field {
    char letter;
    const char *name;
    const char *text; // NULL: not given
};

static bool has_field(const char *fields, char letter)
{
    return strchr(fields, letter) != NULL || strchr(fields, letter - 'a' + 'A') != NULL;
}

// A field is given only when the request has it, and always when it needs it.
static enum uvea_error check_field(const struct uvea_source *source, const char *where,
                                   const char *fields, const char *what, const struct field *field)
{
    struct uvea_path path;
    path = uvea_path_of(where, field->name);
    if (field->text != NULL && !has_field(fields, field->letter)) {
        return uvea_resolve_complain(source, path.text, "%s: a request of %s has no such field",
                                     path.text, what);
    }
    if (field->text == NULL && strchr(fields, field->letter - 'a' + 'A') != NULL) {
        return uvea_resolve_complain(source, where, "%s: a request of %s needs '%s'", where, what,
                                     field->name);
    }
    return UVEA_OK;
}

static enum uvea_error check_fields(const struct uvea_source *source, const char *where,
                                    const struct uvea_raw_request *raw,
                                    enum uvea_request_plan_type type,
                                    enum uvea_request_plan_kind kind)
{
    const char *or_rule = raw->or_rule != NULL ? "" : NULL;
    const struct field by_kind[] = {
        {'o', "of", raw->of},       {'b', "by", raw->by},     {'t', "bits", raw->bits},
        {'i', "index", raw->index}, {'e', "eyes", raw->eyes}, {'h', "threshold", raw->threshold},
        {'h', "place", raw->place},
    };
    const struct field by_type[] = {
        {'k', "kind", raw->kind},
        {'s', "serial", raw->serial},
        {'u', "use_or_rule", raw->use_or_rule},
        {'x', "bad_share", raw->bad_share},
        {'w', "how", raw->how},
        {'p', "party", raw->party},
        {'n', "enrolments", raw->enrolments},
        {'m', "mirror_detection", raw->mirror_detection},
        {'r', "or_rule", or_rule},
        {'q', "skip_persistence", raw->skip_persistence},
    };
    char what[64];
    (void)snprintf(what, sizeof(what), "type '%.40s'",
                   raw->type != NULL ? raw->type : "uniqueness");
    for (size_t i = 0; i < sizeof(by_type) / sizeof(by_type[0]); i++) {
        UVEA_TRY(check_field(source, where, fields_of_type[type], what, &by_type[i]));
    }
    (void)snprintf(what, sizeof(what), "kind '%.40s'", raw->kind != NULL ? raw->kind : "none");
    const char *fields = raw->kind != NULL ? fields_of_kind[kind] : "";
    for (size_t i = 0; i < sizeof(by_kind) / sizeof(by_kind[0]); i++) {
        UVEA_TRY(check_field(source, where, fields, what, &by_kind[i]));
    }
    return UVEA_OK;
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

// What belongs to the type of a request rather than to whose eyes it sends.
static enum uvea_error resolve_demand(const struct uvea_source *source, const char *where,
                                      const struct uvea_raw_request *raw,
                                      struct uvea_request_plan *plan)
{
    struct uvea_path path;
    uint64_t bad_share = UVEA_PLAN_PARTY_NONE;
    uint64_t party = UVEA_PLAN_PARTY_ALL;
    path = uvea_path_of(where, "serial");
    plan->has_serial = raw->serial != NULL;
    UVEA_TRY(
        uvea_resolve_optional_number(source, path.text, raw->serial, 0, UINT32_MAX, &plan->serial));
    path = uvea_path_of(where, "use_or_rule");
    UVEA_TRY(uvea_resolve_optional_bool(source, path.text, raw->use_or_rule, &plan->use_or_rule));
    path = uvea_path_of(where, "bad_share");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_PARTY_CHOICES, raw->bad_share,
                                          &bad_share));
    path = uvea_path_of(where, "party");
    UVEA_TRY(
        uvea_resolve_optional_choice(source, path.text, UVEA_PARTY_CHOICES, raw->party, &party));
    path = uvea_path_of(where, "how");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text,
                                          plan->type == UVEA_PLAN_RESTART ? UVEA_RESTART_CHOICES
                                                                          : UVEA_MALFORMED_CHOICES,
                                          raw->how, &plan->how));
    plan->bad_share = (enum uvea_plan_party)bad_share;
    plan->party = (enum uvea_plan_party)party;
    return UVEA_OK;
}

static enum uvea_error resolve_request(const struct uvea_source *source, const char *where,
                                       const struct uvea_raw_request *raw,
                                       struct uvea_request_plan *plan)
{
    struct uvea_path path;
    uint64_t type = UVEA_PLAN_UNIQUENESS;
    uint64_t kind = UVEA_PLAN_NEW;
    path = uvea_path_of(where, "type");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_REQUEST_TYPES, raw->type, &type));
    path = uvea_path_of(where, "kind");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_REQUEST_KINDS, raw->kind, &kind));
    plan->type = (enum uvea_request_plan_type)type;
    plan->kind = (enum uvea_request_plan_kind)kind;
    UVEA_TRY(check_fields(source, where, raw, plan->type, plan->kind));
    UVEA_TRY(resolve_shape(source, where, raw, plan));
    UVEA_TRY(resolve_demand(source, where, raw, plan));
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

// One walk through the text for all of them.
static enum uvea_error find_lines(const struct uvea_source *source, const struct uvea_raw *raw,
                                  unsigned **lines)
{
    *lines = uvea_mem_alloc(raw->requests_count, sizeof(**lines));
    if (*lines == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_yaml_entry_lines(source->text, source->len, "requests", "of", *lines, raw->requests_count);
    return UVEA_OK;
}

static enum uvea_error resolve_entry(const struct uvea_source *source,
                                     const struct uvea_raw_request *raw, unsigned entry,
                                     unsigned line, struct uvea_scenario *scenario)
{
    struct uvea_path where;
    struct uvea_path path;
    uint64_t repeat = 1;
    uint64_t enrolments = 0;
    where = uvea_path_entry("requests", entry);
    UVEA_TRY(uvea_resolve_optional_number(source, where.text, raw->repeat, 1,
                                          UVEA_SCENARIO_REQUESTS_MAX, &repeat));
    path = uvea_path_of(where.text, "enrolments");
    UVEA_TRY(
        uvea_resolve_optional_number(source, path.text, raw->enrolments, 0, repeat, &enrolments));
    for (uint64_t at = 0; at < repeat; at++) {
        struct uvea_request_plan *plan = &scenario->requests[scenario->request_count++];
        plan->entry = entry;
        plan->line = line;
        plan->enrols = at < enrolments;
        UVEA_TRY(resolve_request(source, where.text, raw, plan));
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
    unsigned *lines = NULL;
    UVEA_TRY(find_lines(source, raw, &lines));
    enum uvea_error error = UVEA_OK;
    for (unsigned i = 0; i < raw->requests_count && error == UVEA_OK; i++) {
        error = resolve_entry(source, &raw->requests[i], i, lines[i], scenario);
    }
    uvea_mem_free(lines);
    return error;
}
