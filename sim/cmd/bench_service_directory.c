// The directory of the service benchmark.
#include "core/base/check.h"
#include "sim/cmd/bench_service.h"
#include "sim/cmd/cluster.h"
#include "sim/live/cluster_make.h"
#include "sim/live/output.h"
#include "sim/scenario/scenario.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SETTINGS_MAX = 9,
    SETTING_CHARS = 48,
    FILES_OPEN_MAX = 8,
    NOTE_CHARS = 24,
};

// ---- the note

uint64_t uvea_bench_directory_records(const struct uvea_bench_service *service)
{
    uint64_t records = 0;
    FILE *file = fopen(service->note, "re");
    if (file != NULL) {
        records = fscanf(file, "%" SCNu64, &records) == 1 ? records : 0;
        (void)fclose(file);
    }
    return records;
}

enum uvea_error uvea_bench_directory_note(const struct uvea_bench_service *service,
                                          uint64_t records, struct uvea_error_context *context)
{
    char text[NOTE_CHARS];
    const int len = snprintf(text, sizeof(text), "%" PRIu64 "\n", records);
    return uvea_live_write(service->note, text, (size_t)len, false, true, context);
}

// ---- the cluster

// What uvead is to be told that is not its default, as a scenario says it. What a run changes is
// left to its environment.
static enum uvea_error make_scenario(const struct uvea_bench_service *service,
                                     struct uvea_scenario *scenario,
                                     struct uvea_error_context *context)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"sessions", service->sessions},
        {"connections", service->connections},
        {"chunk_records", service->chunk_records},
        {"service.batch_requests_max", service->in_flight},
        {"service.record_limit", service->records + 1},
        {"database.records", 0},            // the stores are filled otherwise
        {"network.recv_timeout_ms", 60000}, // other programs may be busy
    };
    char texts[UVEA_COUNT_OF(numbers)][SETTING_CHARS];
    const char *settings[SETTINGS_MAX] = {"predicate=two-term", "field_predicate=valid-range"};
    _Static_assert(UVEA_COUNT_OF(numbers) + 2 == SETTINGS_MAX, "all are passed on");
    for (size_t i = 0; i < UVEA_COUNT_OF(numbers); i++) {
        (void)snprintf(texts[i], SETTING_CHARS, "%s=%" PRIu64, numbers[i].key, numbers[i].value);
        settings[i + 2] = texts[i];
    }
    return uvea_scenario_parse("bench", (const uint8_t *)"{}", 2, settings, SETTINGS_MAX, scenario,
                               context);
}

static enum uvea_error make_cluster(const struct uvea_bench_service *service, bool overwrite,
                                    struct uvea_error_context *context)
{
    char own[PATH_MAX];
    struct uvea_scenario scenario;
    UVEA_TRY(uvea_cluster_own_program(own, context));
    UVEA_TRY(make_scenario(service, &scenario, context));
    const struct uvea_cluster_plan plan = {
        .directory = service->directory,
        .scenario = &scenario,
        .hosts = {"127.0.0.1", "127.0.0.1", "127.0.0.1"},
        .port = (uint32_t)service->port,
        .overwrite = overwrite,
        .now_s = time(NULL),
        .uvea = own,
        .uvead = service->uvead,
    };
    const enum uvea_error error = uvea_cluster_make(&plan, context);
    uvea_scenario_deinit(&scenario);
    return error;
}

// ---- the whole

static enum uvea_error make_temporary(char made[PATH_MAX], struct uvea_error_context *context)
{
    const char *parent = getenv("TMPDIR");
    const int len = snprintf(made, PATH_MAX, "%s/uvea-bench-XXXXXX",
                             parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    return len < PATH_MAX && mkdtemp(made) != NULL
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_IO, "no temporary directory: %s",
                                strerror(errno));
}

// Only where the note is may anything be overwritten: a cluster of somebody else has none.
enum uvea_error uvea_bench_directory_open(struct uvea_bench_service *service, const char *directory,
                                          struct uvea_error_context *context)
{
    char made[PATH_MAX];
    char file[PATH_MAX];
    if (directory == NULL) {
        UVEA_TRY(make_temporary(made, context));
    } else {
        UVEA_TRY(uvea_live_make_directory(directory, false, context));
    }
    if (realpath(directory == NULL ? made : directory, service->directory) == NULL) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", directory == NULL ? made : directory,
                              strerror(errno));
    }
    if (snprintf(service->note, PATH_MAX, "%s/RECORDS", service->directory) >= PATH_MAX ||
        snprintf(file, PATH_MAX, "%s/cluster.yaml", service->directory) >= PATH_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the directory's name is too long");
    }
    const bool again = access(service->note, F_OK) == 0;
    UVEA_TRY(make_cluster(service, again, context));
    if (!again) {
        UVEA_TRY(uvea_bench_directory_note(service, 0, context));
    }
    return uvea_cluster_load(file, &service->cluster, context);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
    (void)stat;
    (void)type;
    (void)at;
    return remove(path);
}

void uvea_bench_directory_remove(const struct uvea_bench_service *service)
{
    if (service->directory[0] != '\0' &&
        nftw(service->directory, remove_one, FILES_OPEN_MAX, FTW_DEPTH | FTW_PHYS) != 0) {
        (void)fprintf(stderr, "uvea bench service: %s is left: %s\n", service->directory,
                      strerror(errno));
    }
}
