// A sweep as JUnit XML: a suite for each scenario file, a case for each seed.

#include "sim/cmd/file.h"
#include "sim/cmd/sweep.h"

#include <stdio.h>
#include <string.h>

// The text as it may stand in an attribute; what XML cannot hold becomes a question mark.
static void escape(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (; *text != '\0' && used + 8 < size; text++) {
        unsigned char c = (unsigned char)*text;
        const char *as = c == '&'                             ? "&amp;"
                         : c == '<'                           ? "&lt;"
                         : c == '>'                           ? "&gt;"
                         : c == '"'                           ? "&quot;"
                         : c == '\n' || c == '\t'             ? " "
                         : c < 0x20 || c == 0x7f || c >= 0x80 ? "?"
                                                              : NULL;
        if (as == NULL) {
            out[used++] = (char)c;
        } else {
            used += (size_t)snprintf(out + used, size - used, "%s", as);
        }
    }
    out[used] = '\0';
}

static const char *reason_of(const struct uvea_sweep *sweep, size_t file, uint64_t seed)
{
    for (size_t i = 0; i < sweep->tally.failure_count; i++) {
        const struct uvea_sweep_failure *failure = &sweep->tally.failures[i];
        if (failure->file == file && failure->seed == seed) {
            return failure->reason;
        }
    }
    return "";
}

static enum uvea_error write_case(const struct uvea_sweep *sweep, size_t file, uint64_t slot,
                                  const char *path, struct uvea_output *out,
                                  struct uvea_error_context *context)
{
    const struct uvea_sweep_slot *run = &sweep->files[file].slots[slot];
    enum uvea_verdict verdict = (enum uvea_verdict)run->verdict;
    unsigned long long seed = (unsigned long long)uvea_sweep_seed(sweep, slot);
    char reason[4096];
    UVEA_TRY(uvea_output_print(out, context,
                               "<testcase classname=\"%s\" name=\"seed %llu\" time=\"%u.%03u\"",
                               path, seed, run->wall_ms / 1000, run->wall_ms % 1000));
    if (verdict == UVEA_VERDICT_PASS) {
        return uvea_output_print(out, context, "/>\n");
    }
    if (verdict == UVEA_VERDICT_SKIPPED) {
        escape(sweep->files[file].why_skipped, reason, sizeof(reason));
        return uvea_output_print(out, context, "><skipped message=\"%s\"/></testcase>\n", reason);
    }
    escape(reason_of(sweep, file, seed), reason, sizeof(reason));
    return uvea_output_print(out, context, "><failure type=\"%s\" message=\"%s\"/></testcase>\n",
                             uvea_verdict_text(verdict), reason);
}

static enum uvea_error write_suite(const struct uvea_sweep *sweep, size_t file,
                                   struct uvea_output *out, struct uvea_error_context *context)
{
    char path[4096];
    uint64_t tests = 0;
    uint64_t failures = 0;
    uint64_t skipped = 0;
    const struct uvea_sweep_file *at = &sweep->files[file];
    for (uint64_t slot = 0; slot < sweep->slot_count; slot++) {
        const struct uvea_sweep_slot *run = &at->slots[slot];
        tests += run->done;
        skipped += run->done && run->verdict == UVEA_VERDICT_SKIPPED;
        failures +=
            run->done && run->verdict != UVEA_VERDICT_SKIPPED && run->verdict != UVEA_VERDICT_PASS;
    }
    escape(at->path, path, sizeof(path));
    UVEA_TRY(uvea_output_print(
        out, context, "<testsuite name=\"%s\" tests=\"%llu\" failures=\"%llu\" skipped=\"%llu\">\n",
        path, (unsigned long long)tests, (unsigned long long)failures,
        (unsigned long long)skipped));
    for (uint64_t slot = 0; slot < sweep->slot_count; slot++) {
        if (at->slots[slot].done) {
            UVEA_TRY(write_case(sweep, file, slot, path, out, context));
        }
    }
    return uvea_output_print(out, context, "</testsuite>\n");
}

// What only lists runs that passed must not look like all of them.
static enum uvea_error write_stop(const struct uvea_sweep *sweep, struct uvea_output *out,
                                  struct uvea_error_context *context)
{
    char reason[4096];
    escape(sweep->stopped, reason, sizeof(reason));
    return uvea_output_print(out, context,
                             "<testsuite name=\"uvea sweep\" tests=\"1\" errors=\"1\">\n<testcase "
                             "classname=\"uvea sweep\" name=\"completed\"><error "
                             "message=\"%.600s\"/></testcase>\n</testsuite>\n",
                             reason);
}

static enum uvea_error write_all(const struct uvea_sweep *sweep, struct uvea_output *out,
                                 struct uvea_error_context *context)
{
    UVEA_TRY(uvea_output_print(out, context,
                               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"));
    for (size_t file = 0; file < sweep->arguments.file_count; file++) {
        UVEA_TRY(write_suite(sweep, file, out, context));
    }
    if (sweep->stopped[0] != '\0') {
        UVEA_TRY(write_stop(sweep, out, context));
    }
    UVEA_TRY(uvea_output_print(out, context, "</testsuites>\n"));
    return uvea_output_finish(out, context);
}

enum uvea_error uvea_sweep_write_junit(const struct uvea_sweep *sweep,
                                       struct uvea_error_context *context)
{
    struct uvea_output out = {0};
    enum uvea_error error = uvea_output_open(&out, sweep->arguments.junit, false, context);
    if (error == UVEA_OK) {
        error = write_all(sweep, &out, context);
    }
    uvea_output_close(&out);
    return error;
}
