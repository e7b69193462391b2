// What the parties of the service benchmark say of themselves.
#include "core/base/buf.h"
#include "sim/cmd/bench_service.h"
#include "sim/live/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_S_MAX = 1800, NAME_CHARS = 96 };
#define LOOK_NS (20 * UVEA_MS)
#define CALL_NS (10 * UVEA_SECOND)

static enum uvea_error get(const struct uvea_bench_trio *trio, unsigned party, const char *target,
                           struct uvea_http_response *response, struct uvea_error_context *context)
{
    const struct uvea_http_request request = {.method = "GET", .target = target};
    return uvea_live_call(trio->rt, party, trio->service->cluster.parties[party].http, &request,
                          response, uvea_rt_deadline_ns(trio->rt, CALL_NS), context);
}

// ---- ready

enum uvea_error uvea_bench_await_ready(struct uvea_bench_trio *trio,
                                       struct uvea_error_context *context)
{
    // A large database is read and checked, and converted where its spectra are not there.
    const uint64_t deadline_ns = uvea_rt_deadline_ns(trio->rt, START_S_MAX * UVEA_SECOND);
    struct uvea_error_context reason = {{0}};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT;) {
        struct uvea_http_response response = {.status = 0};
        UVEA_TRY(uvea_bench_trio_check(trio, context));
        if (get(trio, party, "/ready", &response, &reason) == UVEA_OK) {
            uvea_http_response_deinit(&response);
            party++;
            continue;
        }
        if (uvea_rt_now_ns(trio->rt) >= deadline_ns) {
            return uvea_error_set(context, UVEA_ERR_TIMEOUT, "not ready after %d s: %.400s",
                                  START_S_MAX, reason.text);
        }
        UVEA_TRY(uvea_rt_sleep_ns(trio->rt, LOOK_NS));
    }
    return UVEA_OK;
}

// ---- metrics

// The value behind a name with its labels, at the beginning of a line of the text; NULL: none.
static const char *find_value(const char *text, const char *name)
{
    const size_t chars = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, chars) == 0 && line[chars] == ' ') {
            return line + chars + 1;
        }
    }
    return NULL;
}

struct reading {
    const char *text;
    unsigned party;
    struct uvea_error_context *context;
};

static enum uvea_error read_number(const struct reading *reading, const char *name,
                                   uint64_t *number)
{
    const char *value = find_value(reading->text, name);
    if (value == NULL) {
        return uvea_error_set(reading->context, UVEA_ERR_FORMAT,
                              "party %u: its metrics have no %s; is uvead another version's?",
                              reading->party, name);
    }
    *number = strtoull(value, NULL, 10);
    return UVEA_OK;
}

// Written with nine digits behind the point.
static enum uvea_error read_seconds(const struct reading *reading, const char *name, uint64_t *ns)
{
    uint64_t seconds;
    UVEA_TRY(read_number(reading, name, &seconds));
    const char *point = find_value(reading->text, name);
    point += strspn(point, "0123456789");
    *ns = seconds * UVEA_SECOND + (*point == '.' ? strtoull(point + 1, NULL, 10) : 0);
    return UVEA_OK;
}

static enum uvea_error read_requests(const struct reading *reading, uint64_t *requests)
{
    static const char *const outcomes[] = {"inserted", "updated", "unchanged", "error"};
    *requests = 0;
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        char name[NAME_CHARS];
        uint64_t number;
        (void)snprintf(name, sizeof(name), "uvea_requests_total{outcome=\"%s\"}", outcomes[i]);
        UVEA_TRY(read_number(reading, name, &number));
        *requests += number;
    }
    return UVEA_OK;
}

static enum uvea_error read_all(const struct reading *reading, struct uvea_bench_snapshot *snapshot)
{
    UVEA_TRY(read_number(reading, "uvea_published_sequence", &snapshot->published));
    UVEA_TRY(read_requests(reading, &snapshot->requests));
    UVEA_TRY(read_number(reading, "uvea_comparisons_total", &snapshot->comparisons));
    UVEA_TRY(read_number(reading, "uvea_mesh_bytes_sent_total", &snapshot->bytes_sent));
    UVEA_TRY(read_seconds(reading, "process_cpu_seconds_total", &snapshot->cpu_ns));
    for (unsigned stage = 0; stage < UVEA_STAGE_COUNT; stage++) {
        char name[NAME_CHARS];
        (void)snprintf(name, sizeof(name), "uvea_stage_seconds_total{stage=\"%s\"}",
                       uvea_stage_text((enum uvea_stage)stage));
        UVEA_TRY(read_seconds(reading, name, &snapshot->stage_ns[stage]));
    }
    return UVEA_OK;
}

static enum uvea_error look_at(const struct uvea_bench_trio *trio, unsigned party,
                               struct uvea_bench_snapshot *snapshot,
                               struct uvea_error_context *context)
{
    struct uvea_http_response response = {.status = 0};
    UVEA_TRY(get(trio, party, "/metrics", &response, context));
    enum uvea_error error = uvea_buf_append(&response.body, "", 1);
    if (error == UVEA_OK) {
        const struct reading reading = {
            .text = (const char *)response.body.data, .party = party, .context = context};
        error = read_all(&reading, snapshot);
    }
    uvea_http_response_deinit(&response);
    return error;
}

enum uvea_error uvea_bench_look(const struct uvea_bench_trio *trio, struct uvea_bench_look *look,
                                struct uvea_error_context *context)
{
    look->from_ns = uvea_rt_now_ns(trio->rt);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(look_at(trio, party, &look->party[party], context));
    }
    look->to_ns = uvea_rt_now_ns(trio->rt);
    return UVEA_OK;
}
