// Scenarios as text, run once.
#ifndef UVEA_TESTS_WORLD_DESK_H
#define UVEA_TESTS_WORLD_DESK_H

#include "sim/world/world.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

#define SMALL "sessions: 8\nconnections: 2\n"
#define PAIR_OF_REQUESTS "requests:\n  - {kind: new}\n  - {kind: duplicate, of: 1}\n"

static inline void load(const char *text, struct uvea_scenario *scenario)
{
    struct uvea_error_context context = {.text = ""};
    enum uvea_error error = uvea_scenario_parse("world.yaml", (const uint8_t *)text, strlen(text),
                                                NULL, 0, scenario, &context);
    if (error != UVEA_OK) {
        fail_msg("%s", context.text);
    }
}

static inline struct uvea_world_result run_with(const char *text,
                                                const struct uvea_world_options *options)
{
    struct uvea_scenario scenario;
    struct uvea_world_result result = {.requests = 0};
    struct uvea_error_context context = {.text = ""};
    load(text, &scenario);
    enum uvea_error error = uvea_world_run(&scenario, options, &result, &context);
    uvea_scenario_deinit(&scenario);
    if (error != UVEA_OK) {
        fail_msg("%s: %s", uvea_error_text(error), context.text);
    }
    return result;
}

static inline struct uvea_world_result run(const char *text)
{
    const struct uvea_world_options options = {.trace = NULL};
    return run_with(text, &options);
}

static inline void assert_verdict_is(const char *text, const struct uvea_world_result *result,
                                     enum uvea_verdict verdict, const char *sentence)
{
    if (result->verdict != verdict || strstr(result->reason, sentence) == NULL) {
        fail_msg("wanted %s with <%s>, got %s: %s\n%s", uvea_verdict_text(verdict), sentence,
                 uvea_verdict_text(result->verdict), result->reason, text);
    }
}

static inline void assert_verdict(const char *text, enum uvea_verdict verdict, const char *sentence)
{
    struct uvea_world_result result = run(text);
    assert_verdict_is(text, &result, verdict, sentence);
}

#endif
