// Scenario files: whatever the bytes, the reader gives a scenario within all its bounds, or an
// error with a sentence that names the file.
#include "sim/scenario/scenario.h"

#include "core/base/check.h"
#include "fuzz/fuzz.h"

#include <string.h>

static void check_options(const struct uvea_scenario *scenario)
{
    for (unsigned which = 0; which < UVEA_OPTION_COUNT; which++) {
        char text[64];
        uint64_t again;
        uvea_option_format((enum uvea_option)which, scenario->options[which], text);
        UVEA_CHECK(uvea_option_parse((enum uvea_option)which, text, &again, NULL) == UVEA_OK);
        UVEA_CHECK(again == scenario->options[which]);
    }
}

static void check_requests(const struct uvea_scenario *scenario)
{
    UVEA_CHECK(scenario->request_count <= UVEA_SCENARIO_REQUESTS_MAX);
    for (size_t i = 0; i < scenario->request_count; i++) {
        const struct uvea_request_plan *plan = &scenario->requests[i];
        UVEA_CHECK(plan->by >= -200 && plan->by <= 200);
        UVEA_CHECK(plan->bits <= 12800);
        UVEA_CHECK(plan->or_rule.count <= UVEA_SCENARIO_LIST_MAX);
    }
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    struct uvea_scenario scenario;
    struct uvea_error_context context = {.text = ""};
    if (uvea_scenario_parse("f.yaml", data, len, NULL, 0, &scenario, &context) != UVEA_OK) {
        UVEA_CHECK(strncmp(context.text, "f.yaml:", 7) == 0);
        return 0;
    }
    check_options(&scenario);
    check_requests(&scenario);
    uvea_scenario_deinit(&scenario);
    return 0;
}
