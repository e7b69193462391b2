#include "core/base/mem.h"
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

UVEA_PRINTF(2, 3)
static enum uvea_error put(struct uvea_buf *yaml, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return len < 0 || (size_t)len >= sizeof(text) ? UVEA_ERR_LIMIT
                                                  : uvea_buf_append(yaml, text, (size_t)len);
}

// A text between single quotes, in which a quote stands twice.
static enum uvea_error put_quoted(struct uvea_buf *yaml, const char *text)
{
    UVEA_TRY(put(yaml, "'"));
    for (; *text != '\0'; text++) {
        UVEA_TRY(uvea_buf_append(yaml, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1));
    }
    return put(yaml, "'");
}

// ", name: choice" of a list of choices separated by one space.
static enum uvea_error put_choice(struct uvea_buf *yaml, const char *name, const char *choices,
                                  uint64_t index)
{
    while (index-- > 0) {
        choices = strchr(choices, ' ') + 1;
    }
    return put(yaml, ", %s: %.*s", name, (int)strcspn(choices, " "), choices);
}

// ---- options

static enum uvea_error put_section(struct uvea_buf *yaml, const char *section,
                                   const uint64_t options[UVEA_OPTION_COUNT])
{
    const bool root = strcmp(section, "root") == 0;
    bool begun = root;
    for (unsigned i = 0; i < UVEA_OPTION_COUNT; i++) {
        const enum uvea_option option = (enum uvea_option)i;
        const struct uvea_option_info *info = uvea_option_info(option);
        char text[64];
        uvea_option_format(option, options[i], text);
        if (strcmp(info->section, section) != 0 || strcmp(text, info->value) == 0) {
            continue;
        }
        if (!begun) {
            UVEA_TRY(put(yaml, "%s:\n", section));
            begun = true;
        }
        UVEA_TRY(put(yaml, "%s%s: %s\n", root ? "" : "  ", info->name, text));
    }
    return UVEA_OK;
}

static enum uvea_error put_options(struct uvea_buf *yaml, const struct uvea_scenario *scenario)
{
    const char *last = "";
    for (unsigned i = 0; i < UVEA_OPTION_COUNT; i++) {
        const char *section = uvea_option_info((enum uvea_option)i)->section;
        if (strcmp(section, last) != 0 && strcmp(section, "templates") != 0) {
            UVEA_TRY(put_section(yaml, section, scenario->options));
        }
        last = section;
    }
    return UVEA_OK;
}

static enum uvea_error put_templates(struct uvea_buf *yaml, const struct uvea_scenario *scenario)
{
    char text[64];
    if (scenario->template_file_count == 0) {
        return UVEA_OK;
    }
    uvea_option_format(UVEA_OPTION_templates_pairing,
                       scenario->options[UVEA_OPTION_templates_pairing], text);
    UVEA_TRY(put(yaml, "templates:\n  pairing: %s\n", text));
    UVEA_TRY(put(yaml, "  directory: "));
    UVEA_TRY(put_quoted(yaml, scenario->template_directory));
    UVEA_TRY(put(yaml, "\n  files:\n"));
    for (size_t i = 0; i < scenario->template_file_count; i++) {
        UVEA_TRY(put(yaml, "    - "));
        UVEA_TRY(put_quoted(yaml, scenario->template_files[i]));
        UVEA_TRY(put(yaml, "\n"));
    }
    return UVEA_OK;
}

// ---- requests

static enum uvea_error put_serials(struct uvea_buf *yaml, const char *name,
                                   const struct uvea_serial_list *list)
{
    UVEA_TRY(put(yaml, ", %s: [", name));
    for (size_t i = 0; i < list->count; i++) {
        UVEA_TRY(put(yaml, "%s%u", i == 0 ? "" : ", ", (unsigned)list->serials[i]));
    }
    return put(yaml, "]");
}

static bool expects(const struct uvea_expectation *expect)
{
    return expect->has_match || expect->has_mirror_attack || expect->has_serial ||
           expect->has_success || expect->error != NULL || expect->has_matched ||
           expect->has_anonymous;
}

static enum uvea_error put_expect(struct uvea_buf *yaml, const struct uvea_expectation *expect)
{
    // The first member of a flow mapping has no comma before it: the one here is taken out below.
    size_t start;
    UVEA_TRY(put(yaml, ", expect: {"));
    start = yaml->len;
    if (expect->has_match) {
        UVEA_TRY(put(yaml, ", match: %s", expect->match ? "true" : "false"));
    }
    if (expect->has_mirror_attack) {
        UVEA_TRY(put(yaml, ", mirror_attack: %s", expect->mirror_attack ? "true" : "false"));
    }
    if (expect->has_serial) {
        UVEA_TRY(put(yaml, ", serial: %" PRIu64, expect->serial));
    }
    if (expect->has_success) {
        UVEA_TRY(put(yaml, ", success: %s", expect->success ? "true" : "false"));
    }
    if (expect->error != NULL) {
        UVEA_TRY(put(yaml, ", error: "));
        UVEA_TRY(put_quoted(yaml, expect->error));
    }
    if (expect->has_matched) {
        UVEA_TRY(put_serials(yaml, "matched", &expect->matched));
    }
    if (expect->has_anonymous) {
        UVEA_TRY(put_serials(yaml, "anonymous", &expect->anonymous));
    }
    // there is at least one member
    memmove(yaml->data + start, yaml->data + start + 2, yaml->len - start - 2);
    yaml->len -= 2;
    return put(yaml, "}");
}

static enum uvea_error put_eyes(struct uvea_buf *yaml, const struct uvea_request_plan *plan)
{
    UVEA_TRY(put_choice(yaml, "kind", UVEA_REQUEST_KINDS, plan->kind));
    if (plan->of != 0) {
        UVEA_TRY(put(yaml, ", of: %" PRIu64, plan->of));
    }
    if (plan->kind == UVEA_PLAN_ROTATED) {
        UVEA_TRY(put(yaml, ", by: %d", plan->by));
    }
    if (plan->kind == UVEA_PLAN_FLIPPED) {
        UVEA_TRY(put(yaml, ", bits: %" PRIu64, plan->bits));
        UVEA_TRY(put_choice(yaml, "eyes", UVEA_EYE_CHOICES, plan->eyes));
    }
    if (plan->kind == UVEA_PLAN_THRESHOLD) {
        UVEA_TRY(put_choice(yaml, "threshold", UVEA_THRESHOLD_CHOICES, plan->threshold));
        UVEA_TRY(put_choice(yaml, "place", UVEA_PLACE_CHOICES, plan->place));
    }
    return plan->kind == UVEA_PLAN_TEMPLATE ? put(yaml, ", index: %" PRIu64, plan->index) : UVEA_OK;
}

static enum uvea_error put_demand(struct uvea_buf *yaml, const struct uvea_request_plan *plan)
{
    if (plan->has_serial) {
        UVEA_TRY(put(yaml, ", serial: %" PRIu64, plan->serial));
    }
    if (plan->use_or_rule) {
        UVEA_TRY(put(yaml, ", use_or_rule: true"));
    }
    if (plan->bad_share != UVEA_PLAN_PARTY_NONE) {
        UVEA_TRY(put_choice(yaml, "bad_share", UVEA_PARTY_CHOICES, plan->bad_share));
    }
    if (plan->type == UVEA_PLAN_MALFORMED) {
        UVEA_TRY(put_choice(yaml, "how", UVEA_MALFORMED_CHOICES, plan->how));
    }
    if (plan->type == UVEA_PLAN_RESTART) {
        UVEA_TRY(put_choice(yaml, "how", UVEA_RESTART_CHOICES, plan->how));
        UVEA_TRY(put_choice(yaml, "party", UVEA_PARTY_CHOICES, plan->party));
    }
    if (plan->enrols) {
        UVEA_TRY(put(yaml, ", enrolments: 1"));
    }
    return UVEA_OK;
}

static enum uvea_error put_request(struct uvea_buf *yaml, const struct uvea_request_plan *plan)
{
    const char *types = UVEA_REQUEST_TYPES;
    for (unsigned i = 0; i < (unsigned)plan->type; i++) {
        types = strchr(types, ' ') + 1;
    }
    UVEA_TRY(put(yaml, "  - {type: %.*s", (int)strcspn(types, " "), types));
    if (uvea_plan_sends_eyes(plan->type)) {
        UVEA_TRY(put_eyes(yaml, plan));
    }
    UVEA_TRY(put_demand(yaml, plan));
    if (plan->skip_persistence) {
        UVEA_TRY(put(yaml, ", skip_persistence: true"));
    }
    if (plan->type == UVEA_PLAN_UNIQUENESS && !plan->mirror_detection) {
        UVEA_TRY(put(yaml, ", mirror_detection: false"));
    }
    if (plan->or_rule.count > 0) {
        UVEA_TRY(put_serials(yaml, "or_rule", &plan->or_rule));
    }
    if (expects(&plan->expect)) {
        UVEA_TRY(put_expect(yaml, &plan->expect));
    }
    return put(yaml, "}\n");
}

// ---- faults

static enum uvea_error put_fault(struct uvea_buf *yaml, const struct uvea_fault_plan *fault)
{
    const struct uvea_fault_info *info = uvea_fault_info(fault->kind);
    UVEA_TRY(put(yaml, "  - {kind: %s", info->text));
    for (const char *field = info->fields; *field != '\0'; field++) {
        switch (*field) {
        case 'f':
            UVEA_TRY(put_choice(yaml, "from", UVEA_NODE_CHOICES, fault->from));
            break;
        case 't':
            UVEA_TRY(put_choice(yaml, "to", UVEA_NODE_CHOICES, fault->to));
            break;
        case 'b':
            UVEA_TRY(put(yaml, ", at_byte: %" PRIu64, fault->at_byte));
            break;
        case 'm':
            UVEA_TRY(put(yaml, ", at_ms: %" PRIu64, fault->at_ms));
            break;
        case 'd':
            UVEA_TRY(put(yaml, ", for_ms: %" PRIu64, fault->for_ms));
            break;
        case 'p':
            UVEA_TRY(put(yaml, ", point: %s", uvea_point_text(fault->point)));
            break;
        case 'n':
            UVEA_TRY(put(yaml, ", nth: %" PRIu64, fault->nth));
            break;
        case 'a':
            UVEA_TRY(put(yaml, ", amount: %" PRIu64, fault->amount));
            break;
        default:
            UVEA_TRY(put_choice(yaml, "what", UVEA_HTTP_FAULT_CHOICES, fault->what));
            break;
        }
    }
    return put(yaml, "}\n");
}

enum uvea_error uvea_scenario_write(const struct uvea_scenario *scenario, struct uvea_buf *yaml)
{
    UVEA_TRY(put_options(yaml, scenario));
    UVEA_TRY(put_templates(yaml, scenario));
    if (scenario->request_count > 0) {
        UVEA_TRY(put(yaml, "requests:\n"));
    }
    for (size_t i = 0; i < scenario->request_count; i++) {
        UVEA_TRY(put_request(yaml, &scenario->requests[i]));
    }
    if (scenario->fault_count > 0) {
        UVEA_TRY(put(yaml, "faults:\n"));
    }
    for (size_t i = 0; i < scenario->fault_count; i++) {
        UVEA_TRY(put_fault(yaml, &scenario->faults[i]));
    }
    return UVEA_OK;
}
