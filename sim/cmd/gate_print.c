#include "sim/cmd/gate.h"
#include "uvea_build_id.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

struct totals {
    uint64_t cases;
    uint64_t wrong;
    size_t failed;  // checks
    size_t skipped; // checks and parts of checks
};

static struct totals add_up(const struct uvea_gate_report *report)
{
    struct totals totals = {.cases = 0};
    for (size_t i = 0; i < report->count; i++) {
        const struct uvea_gate_result *result = &report->outcomes[i].result;
        totals.cases += result->cases;
        totals.wrong += result->wrong;
        totals.failed += result->status == UVEA_GATE_WRONG;
        totals.skipped += result->skip_count + (result->status == UVEA_GATE_SKIPPED);
    }
    return totals;
}

enum uvea_gate_status uvea_gate_report_status(const struct uvea_gate_report *report)
{
    struct totals totals = add_up(report);
    if (totals.failed > 0) {
        return UVEA_GATE_WRONG;
    }
    return totals.cases == 0 ? UVEA_GATE_SKIPPED : UVEA_GATE_PASS;
}

// ---- text

void uvea_gate_print_check(const struct uvea_gate_result *result)
{
    (void)printf("%s: %s cases=%" PRIu64, result->name, uvea_gate_status_text(result->status),
                 result->cases);
    if (result->wrong > 0) {
        (void)printf(" wrong=%" PRIu64 "\n  first: %s", result->wrong, result->reason);
    }
    if (result->covered[0] != '\0') {
        (void)printf("\n  %s", result->covered);
    }
    for (size_t i = 0; i < result->skip_count; i++) {
        (void)printf("\n  skipped: %s: %s", result->skips[i].part, result->skips[i].reason);
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

void uvea_gate_print_verdict(const struct uvea_gate_report *report)
{
    struct totals totals = add_up(report);
    (void)printf("gate: %s checks=%zu failed=%zu cases=%" PRIu64 " wrong=%" PRIu64
                 " skipped=%zu seed=%" PRIu64 "\n",
                 uvea_gate_status_text(uvea_gate_report_status(report)), report->count,
                 totals.failed, totals.cases, totals.wrong, totals.skipped, report->seed);
}

// ---- JSON

static json_t *json_skips(const struct uvea_gate_result *result)
{
    json_t *skips = json_array();
    for (size_t i = 0; i < result->skip_count; i++) {
        (void)json_array_append_new(skips, json_pack("{s:s, s:s}", "part", result->skips[i].part,
                                                     "reason", result->skips[i].reason));
    }
    return skips;
}

static json_t *json_checks(const struct uvea_gate_report *report)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const struct uvea_gate_outcome *outcome = &report->outcomes[i];
        const struct uvea_gate_result *result = &outcome->result;
        (void)json_array_append_new(
            checks,
            json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:o}", "name", result->name, "status",
                      uvea_gate_status_text(result->status), "cases", (json_int_t)result->cases,
                      "wrong", (json_int_t)result->wrong, "reason", result->reason, "covered",
                      result->covered, "elapsed_ms", (json_int_t)(outcome->elapsed_ns / 1000000),
                      "skipped", json_skips(result)));
    }
    return checks;
}

// A seed may have 64 bits, which JSON's readers do not all keep: it goes as text.
enum uvea_error uvea_gate_print_json(const struct uvea_gate_report *report)
{
    struct totals totals = add_up(report);
    char seed[24];
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, report->seed);
    json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "verdict",
                               uvea_gate_status_text(uvea_gate_report_status(report)), "build",
                               UVEA_BUILD_ID, "seed", seed, "cases", (json_int_t)totals.cases,
                               "wrong", (json_int_t)totals.wrong, "skipped",
                               (json_int_t)totals.skipped, "checks", json_checks(report));
    int status = object == NULL ? -1 : json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
    if (status != 0) {
        return UVEA_ERR_MEMORY;
    }
    (void)putchar('\n');
    return UVEA_OK;
}

// ---- JUnit

// Text for an attribute or an element; control characters, which XML 1.0 has no way to write,
// become spaces.
static enum uvea_error write_escaped(struct uvea_output *out, const char *text,
                                     struct uvea_error_context *context)
{
    for (; *text != '\0'; text++) {
        const char character[2] = {*text, '\0'};
        const char *as;
        switch (*text) {
        case '&':
            as = "&amp;";
            break;
        case '<':
            as = "&lt;";
            break;
        case '>':
            as = "&gt;";
            break;
        case '"':
            as = "&quot;";
            break;
        default:
            as = (unsigned char)*text < 0x20 ? " " : character;
            break;
        }
        UVEA_TRY(uvea_output_print(out, context, "%s", as));
    }
    return UVEA_OK;
}

static enum uvea_error write_attribute(struct uvea_output *out, const char *name, const char *text,
                                       struct uvea_error_context *context)
{
    UVEA_TRY(uvea_output_print(out, context, " %s=\"", name));
    UVEA_TRY(write_escaped(out, text, context));
    return uvea_output_print(out, context, "\"");
}

static enum uvea_error write_skipped(struct uvea_output *out, const char *name, const char *reason,
                                     struct uvea_error_context *context)
{
    UVEA_TRY(uvea_output_print(out, context, "    <testcase classname=\"gate\""));
    UVEA_TRY(write_attribute(out, "name", name, context));
    UVEA_TRY(uvea_output_print(out, context, " time=\"0.000\">\n      <skipped"));
    UVEA_TRY(write_attribute(out, "message", reason, context));
    return uvea_output_print(out, context, "/>\n    </testcase>\n");
}

static enum uvea_error write_check(struct uvea_output *out, const struct uvea_gate_outcome *outcome,
                                   struct uvea_error_context *context)
{
    const struct uvea_gate_result *result = &outcome->result;
    if (result->status == UVEA_GATE_SKIPPED) {
        return write_skipped(out, result->name, "nothing of it can run on this machine", context);
    }
    UVEA_TRY(uvea_output_print(out, context, "    <testcase classname=\"gate\""));
    UVEA_TRY(write_attribute(out, "name", result->name, context));
    UVEA_TRY(uvea_output_print(out, context, " time=\"%" PRIu64 ".%03" PRIu64 "\">\n",
                               outcome->elapsed_ns / 1000000000,
                               outcome->elapsed_ns / 1000000 % 1000));
    if (result->status == UVEA_GATE_WRONG) {
        UVEA_TRY(uvea_output_print(out, context, "      <failure"));
        UVEA_TRY(write_attribute(out, "message", result->reason, context));
        UVEA_TRY(uvea_output_print(out, context, "/>\n"));
    }
    UVEA_TRY(uvea_output_print(out, context, "      <system-out>"));
    UVEA_TRY(write_escaped(out, result->covered, context));
    return uvea_output_print(out, context, "; cases %" PRIu64 "</system-out>\n    </testcase>\n",
                             result->cases);
}

static enum uvea_error write_checks(struct uvea_output *out, const struct uvea_gate_report *report,
                                    struct uvea_error_context *context)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct uvea_gate_result *result = &report->outcomes[i].result;
        UVEA_TRY(write_check(out, &report->outcomes[i], context));
        for (size_t k = 0; k < result->skip_count; k++) {
            char name[96];
            (void)snprintf(name, sizeof(name), "%s: %s", result->name, result->skips[k].part);
            UVEA_TRY(write_skipped(out, name, result->skips[k].reason, context));
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_gate_write_junit(const struct uvea_gate_report *report,
                                      struct uvea_output *out, struct uvea_error_context *context)
{
    struct totals totals = add_up(report);
    size_t parts = 0;
    uint64_t elapsed_ms = 0;
    for (size_t i = 0; i < report->count; i++) {
        parts += report->outcomes[i].result.skip_count;
        elapsed_ms += report->outcomes[i].elapsed_ns / 1000000;
    }
    UVEA_TRY(uvea_output_print(out, context,
                               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                               "  <testsuite name=\"uvea gate, seed %" PRIu64
                               "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
                               "time=\"%" PRIu64 ".%03" PRIu64 "\">\n",
                               report->seed, report->count + parts, totals.failed, totals.skipped,
                               elapsed_ms / 1000, elapsed_ms % 1000));
    UVEA_TRY(write_checks(out, report, context));
    return uvea_output_print(out, context, "  </testsuite>\n</testsuites>\n");
}
