// GET /metrics: the text format, and what stands in it.
#include "core/daemon/monitor.h"
#include "tests/daemon/rig.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stage {
    struct rig *rig;
    struct uvea_settings settings;
    struct uvea_monitor monitor;
    struct uvea_log log;
    struct uvea_store *store;
    struct uvea_http_response response;
};

static int open_stage(void **state)
{
    static const char key[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    struct stage *stage = calloc(1, sizeof(*stage));
    void *rig;

    assert_non_null(stage);
    assert_int_equal(rig_open(&rig), 0);
    stage->rig = rig;
    rig_write(stage->rig, "share.key", key, sizeof(key) - 1, 0600);
    rig_read(stage->rig, rig_good, NULL);
    uvea_settings_make(&stage->rig->config, &stage->settings, &stage->rig->complaints);
    assert_string_equal(rig_said(stage->rig), "");
    uvea_log_init(&stage->log, 2);
    stage->monitor.log = &stage->log;
    stage->monitor.version = "1.2.3";
    stage->monitor.build = "abc";
    uvea_monitor_attach(&stage->monitor, &stage->settings);
    assert_int_equal(uvea_posix_open(&stage->settings.posix, &stage->monitor.rt, NULL), UVEA_OK);
    assert_int_equal(
        uvea_store_open_sqlite(stage->monitor.rt,
                               uvea_config_text(&stage->rig->config, UVEA_KEY_store_sqlite), NULL,
                               &stage->store, NULL),
        UVEA_OK);
    assert_int_equal(uvea_node_open(stage->monitor.rt, &stage->settings.node, stage->store,
                                    &stage->monitor.node, NULL),
                     UVEA_OK);
    *state = stage;
    return 0;
}

static int close_stage(void **state)
{
    struct stage *stage = *state;
    void *rig = stage->rig;

    uvea_http_response_deinit(&stage->response);
    uvea_node_close(stage->monitor.node);
    uvea_store_close(stage->store);
    uvea_posix_close(stage->monitor.rt);
    uvea_log_deinit(&stage->log);
    uvea_settings_deinit(&stage->settings);
    free(stage);
    return rig_close(&rig);
}

// The body as a text.
static const char *ask(struct stage *stage, const char *method, const char *target, unsigned status)
{
    const struct uvea_http_request request = {.method = method, .target = target};

    uvea_http_response_deinit(&stage->response);
    stage->response = (struct uvea_http_response){.status = 0};
    uvea_metrics_handle(&stage->monitor, &request, &stage->response);
    assert_int_equal(stage->response.status, status);
    assert_int_equal(uvea_buf_append(&stage->response.body, "", 1), UVEA_OK);
    return (const char *)stage->response.body.data;
}

static void test_paths(void **state)
{
    struct stage *stage = *state;

    assert_string_equal(ask(stage, "GET", "/metric", 404), "no such path");
    assert_string_equal(ask(stage, "GET", "/metrics/x", 404), "no such path");
    assert_string_equal(ask(stage, "POST", "/metrics", 405), "use GET");
    assert_non_null(strstr(ask(stage, "GET", "/metrics?x=1", 200), "uvea_info{"));
}

// Name of the metric that a line is about, in a static buffer.
static const char *name_of(const char *line)
{
    static char name[128];
    const char *start = *line == '#' ? line + strlen("# HELP ") : line;

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, " {"), start);
    return name;
}

// One line: "# HELP name text", "# TYPE name counter|gauge", or a sample of the metric at hand.
static void check_line(const char *line, char *at_hand)
{
    if (strncmp(line, "# HELP ", 7) == 0) {
        (void)snprintf(at_hand, 128, "%s", name_of(line));
        return;
    }
    assert_string_equal(name_of(line), at_hand);
    if (strncmp(line, "# TYPE ", 7) == 0) {
        const bool counter = strstr(line, " counter") != NULL;

        assert_true(counter || strstr(line, " gauge") != NULL);
        assert_int_equal(counter, strcmp(at_hand + strlen(at_hand) - 6, "_total") == 0);
        return;
    }
    const char *value = strrchr(line, ' ');
    char *end;
    assert_non_null(value);
    (void)strtod(value + 1, &end);
    assert_int_equal(*end, '\0');
}

static void test_format(void **state)
{
    struct stage *stage = *state;
    const char *text = ask(stage, "GET", "/metrics", 200);
    char *copy = strdup(text);
    char at_hand[128] = "";
    unsigned lines = 0;

    assert_non_null(copy);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = copy; *line != '\0';) {
        char *end = strchr(line, '\n');

        *end = '\0';
        check_line(line, at_hand);
        line = end + 1;
        lines++;
    }
    assert_true(lines > 80);
    free(copy);
}

static void test_numbers(void **state)
{
    struct stage *stage = *state;
    const char *text;

    atomic_store(&stage->monitor.outcomes[UVEA_OUTCOME_INSERTED], 7);
    stage->settings.node.mesh.refused(stage->settings.node.mesh.refused_arg, UVEA_ERR_PEER,
                                      &(struct uvea_error_context){"10.0.0.1:9: no certificate"});
    assert_int_equal(uvea_rt_point(stage->monitor.rt, UVEA_POINT_LOADED), UVEA_OK);
    text = ask(stage, "GET", "/metrics", 200);
    assert_non_null(
        strstr(text, "uvea_info{version=\"1.2.3\",build=\"abc\",party=\"1\",scan=\"ring\""));
    assert_non_null(strstr(text, "\nuvea_requests_total{outcome=\"inserted\"} 7\n"));
    assert_non_null(strstr(text, "\nuvea_refused_total{where=\"mesh\"} 1\n"));
    assert_non_null(strstr(text, "\nuvea_points_total{point=\"loaded\"} 1\n"));
    assert_non_null(strstr(text, "\nuvea_stage_seconds_total{stage=\"idle\"} 0.000000000\n"));
    assert_non_null(strstr(text, "\nuvea_published_sequence 0\n"));
    assert_null(strstr(text, "process_resident_memory_bytes 0\n"));
    assert_null(strstr(text, "uvea_certificate_not_after_seconds"));
    static const char cpu[] = "\nprocess_cpu_seconds_total ";
    text = strstr(text, cpu);
    assert_non_null(text);
    const double cpu_s = strtod(text + sizeof(cpu) - 1, NULL);
    assert_true(cpu_s > 0 && cpu_s <= (double)clock() / CLOCKS_PER_SEC);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_paths),
        ON_STAGE(test_format),
        ON_STAGE(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
