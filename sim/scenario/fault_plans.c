#include "core/base/mem.h"
#include "core/base/party.h"
#include "sim/scenario/resolve.h"

#include <string.h>

enum { MILLION = 1000000 };

static const struct uvea_fault_info infos[UVEA_FAULT_COUNT] = {
#define FAULT_INFO(name, text, fields, meaning) {text, fields, meaning},
    UVEA_FAULTS(FAULT_INFO)
#undef FAULT_INFO
};

const struct uvea_fault_info *uvea_fault_info(enum uvea_fault_plan_kind kind)
{
    return &infos[kind];
}

bool uvea_fault_is_hostile(enum uvea_fault_plan_kind kind)
{
    switch (kind) {
    case UVEA_FAULT_DISK_LYING:
    case UVEA_FAULT_DISK_WIPED:
    case UVEA_FAULT_DISK_FOREIGN:
    case UVEA_FAULT_DISK_STALE:
    case UVEA_FAULT_DISK_ROT:
        return true;
    default:
        return false;
    }
}

// One field of the list above UVEA_FAULTS.
struct fault_field {
    char letter;
    const char *name;
    const char *text;
};

static enum uvea_error check_fields(const struct uvea_source *source, const char *where,
                                    const struct uvea_fault_info *info,
                                    const struct uvea_raw_fault *raw)
{
    const struct fault_field fields[] = {
        {'f', "from", raw->from},   {'t', "to", raw->to},         {'b', "at_byte", raw->at_byte},
        {'m', "at_ms", raw->at_ms}, {'d', "for_ms", raw->for_ms}, {'p', "point", raw->point},
        {'n', "nth", raw->nth},     {'a', "amount", raw->amount}, {'w', "what", raw->what},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const bool has = strchr(info->fields, fields[i].letter) != NULL;
        struct uvea_path path;
        path = uvea_path_of(where, fields[i].name);
        if (has && fields[i].text == NULL && fields[i].letter != 'n') {
            return uvea_resolve_complain(source, where, "%s: a fault of kind '%s' needs '%s'",
                                         where, info->text, fields[i].name);
        }
        if (!has && fields[i].text != NULL) {
            return uvea_resolve_complain(source, path.text,
                                         "%s: a fault of kind '%s' has no such field", path.text,
                                         info->text);
        }
    }
    return UVEA_OK;
}

static enum uvea_error resolve_kind(const struct uvea_source *source, const char *where,
                                    const char *text, enum uvea_fault_plan_kind *kind)
{
    struct uvea_path path;
    path = uvea_path_of(where, "kind");
    for (unsigned i = 0; i < UVEA_FAULT_COUNT; i++) {
        if (strcmp(infos[i].text, text) == 0) {
            *kind = (enum uvea_fault_plan_kind)i;
            return UVEA_OK;
        }
    }
    return uvea_resolve_complain(source, path.text, "%s: there is no fault '%.60s'", path.text,
                                 text);
}

static enum uvea_error resolve_point(const struct uvea_source *source, const char *where,
                                     const char *text, enum uvea_point *point)
{
    struct uvea_path path;
    path = uvea_path_of(where, "point");
    if (text == NULL) {
        return UVEA_OK;
    }
    *point = uvea_point_find(text);
    return *point != UVEA_POINT_COUNT
               ? UVEA_OK
               : uvea_resolve_complain(source, path.text, "%s: there is no point '%.60s'",
                                       path.text, text);
}

static enum uvea_error resolve_numbers(const struct uvea_source *source, const char *where,
                                       const struct uvea_raw_fault *raw,
                                       struct uvea_fault_plan *fault)
{
    struct uvea_path path;
    path = uvea_path_of(where, "at_ms");
    UVEA_TRY(
        uvea_resolve_optional_number(source, path.text, raw->at_ms, 0, 1000000000, &fault->at_ms));
    path = uvea_path_of(where, "for_ms");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->for_ms, 1, 1000000000,
                                          &fault->for_ms));
    path = uvea_path_of(where, "at_byte");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->at_byte, 0, UINT64_MAX,
                                          &fault->at_byte));
    path = uvea_path_of(where, "amount");
    UVEA_TRY(uvea_resolve_optional_number(source, path.text, raw->amount, 1, UINT64_MAX / 1000000,
                                          &fault->amount));
    path = uvea_path_of(where, "nth");
    fault->nth = 1;
    return uvea_resolve_optional_number(source, path.text, raw->nth, 1, 1000000, &fault->nth);
}

static enum uvea_error resolve_fault(const struct uvea_source *source, const char *where,
                                     const struct uvea_raw_fault *raw,
                                     struct uvea_fault_plan *fault)
{
    struct uvea_path path;
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t what = 0;
    UVEA_TRY(resolve_kind(source, where, raw->kind, &fault->kind));
    const struct uvea_fault_info *info = &infos[fault->kind];
    UVEA_TRY(check_fields(source, where, info, raw));
    path = uvea_path_of(where, "from");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->from, &from));
    path = uvea_path_of(where, "to");
    UVEA_TRY(uvea_resolve_optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->to, &to));
    if (raw->to != NULL && from == to) {
        return uvea_resolve_complain(source, path.text, "%s: needs two different nodes", path.text);
    }
    path = uvea_path_of(where, "what");
    UVEA_TRY(
        uvea_resolve_optional_choice(source, path.text, UVEA_HTTP_FAULT_CHOICES, raw->what, &what));
    UVEA_TRY(resolve_point(source, where, raw->point, &fault->point));
    UVEA_TRY(resolve_numbers(source, where, raw, fault));
    path = uvea_path_of(where, "from");
    if (fault->kind > UVEA_FAULT_DISCONNECT && from >= UVEA_PARTY_COUNT) {
        return uvea_resolve_complain(source, path.text,
                                     "%s: a fault of kind '%s' befalls parties only", path.text,
                                     info->text);
    }
    path = uvea_path_of(where, "amount");
    if ((fault->kind == UVEA_FAULT_HTTP || fault->kind == UVEA_FAULT_DISK_ERROR) &&
        fault->amount > MILLION) {
        return uvea_resolve_complain(source, path.text, "%s: more than 1,000,000 in 1,000,000",
                                     path.text);
    }
    fault->from = (unsigned)from;
    fault->to = (unsigned)to;
    fault->what = (unsigned)what;
    return UVEA_OK;
}

enum uvea_error uvea_resolve_faults(const struct uvea_source *source, const struct uvea_raw *raw,
                                    struct uvea_scenario *scenario)
{
    if (raw->faults_count > UVEA_SCENARIO_FAULTS_MAX) {
        return uvea_resolve_complain(source, "faults", "faults: more than %d",
                                     UVEA_SCENARIO_FAULTS_MAX);
    }
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
