#include "sim/cmd/file.h"
#include "sim/cmd/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void show_progress(void *arg, size_t answered, size_t requests)
{
    const uint64_t *seed = arg;
    (void)fprintf(stderr, "\rseed %" PRIu64 ": %zu of %zu requests answered ", *seed, answered,
                  requests);
    if (answered == requests) {
        (void)fputs("\r\033[K", stderr);
    }
    (void)fflush(stderr);
}

// A stdio stream over an output of the command, which knows what may be replaced and what not.
static enum uvea_error open_trace(const char *path, struct uvea_output *out, FILE **stream,
                                  struct uvea_error_context *context)
{
    UVEA_TRY(uvea_output_open(out, path, false, context));
    int fd = dup(out->fd);
    *stream = fd < 0 ? NULL : fdopen(fd, "w");
    return *stream != NULL ? UVEA_OK
                           : uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path, strerror(errno));
}

static enum uvea_error close_trace(const char *path, struct uvea_output *out, FILE *stream,
                                   struct uvea_error_context *context)
{
    bool failed = fflush(stream) != 0 || ferror(stream) != 0;
    int reason = errno;
    failed = fclose(stream) != 0 || failed;
    if (failed) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path, strerror(reason));
    }
    return uvea_output_finish(out, context);
}

static enum uvea_error run_traced(const char *path, const struct uvea_scenario *scenario,
                                  struct uvea_world_options *options,
                                  struct uvea_run_report *report)
{
    struct uvea_output out = {0};
    enum uvea_error error = open_trace(path, &out, &options->trace, &report->context);
    if (error == UVEA_OK) {
        error = uvea_world_run(scenario, options, &report->result, &report->context);
        enum uvea_error closing = close_trace(path, &out, options->trace, &report->context);
        error = error != UVEA_OK ? error : closing;
    }
    uvea_output_close(&out);
    return error;
}

static void run_once(const struct uvea_run_arguments *arguments,
                     const struct uvea_scenario *scenario, struct uvea_world_options *options,
                     struct uvea_run_report *report)
{
    if (arguments->trace != NULL) {
        report->error = run_traced(arguments->trace, scenario, options, report);
    } else {
        report->error = uvea_world_run(scenario, options, &report->result, &report->context);
    }
}

// The second run is compared with the first event by event, as it happens.
static void run_again(const struct uvea_run_arguments *arguments,
                      const struct uvea_scenario *scenario,
                      const struct uvea_sim_record_list *first, struct uvea_run_report *report)
{
    const struct uvea_world_options options = {.judge = arguments->judge, .compare = first};
    struct uvea_world_result result;
    report->error = uvea_world_run(scenario, &options, &result, &report->context);
    if (report->error == UVEA_OK && result.difference.found) {
        report->result.difference = result.difference;
        report->result.verdict = UVEA_VERDICT_DIFFERS;
        (void)snprintf(report->result.reason, sizeof(report->result.reason),
                       "the second run differs from the first in event %" PRIu64,
                       result.difference.index);
    }
}

static void run_child(const struct uvea_run_arguments *arguments,
                      const struct uvea_scenario *scenario, struct uvea_run_report *report)
{
    uint64_t seed = scenario->options[UVEA_OPTION_root_seed];
    struct uvea_sim_record_list first = {.count = 0};
    struct uvea_world_options options = {
        .judge = arguments->judge,
        .trace = arguments->trace_stream,
        .failure_report = arguments->quiet ? NULL : stderr,
        .keep = arguments->twice ? &first : NULL,
        .progress = !arguments->quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
        .progress_arg = &seed,
    };
    run_once(arguments, scenario, &options, report);
    if (arguments->twice && report->error == UVEA_OK) {
        run_again(arguments, scenario, &first, report);
    }
    uvea_sim_record_list_deinit(&first);
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t done = write(fd, at, len);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        if (done > 0) {
            at += done;
            len -= (size_t)done;
        }
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t len)
{
    char *at = bytes;
    while (len > 0) {
        ssize_t done = read(fd, at, len);
        if (done == 0 || (done < 0 && errno != EINTR)) {
            return false;
        }
        if (done > 0) {
            at += done;
            len -= (size_t)done;
        }
    }
    return true;
}

static void report_death(int status, struct uvea_run_report *report)
{
    report->error = UVEA_OK;
    report->result = (struct uvea_world_result){.verdict = UVEA_VERDICT_CRASH};
    if (WIFSIGNALED(status)) {
        (void)snprintf(report->result.reason, sizeof(report->result.reason),
                       "the run died of signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    } else {
        (void)snprintf(report->result.reason, sizeof(report->result.reason),
                       "the run ended with status %d and without a result", WEXITSTATUS(status));
    }
}

// One process per run: nothing is left over from an earlier one, and a crash is a verdict.
enum uvea_error uvea_run_start(const struct uvea_run_arguments *arguments,
                               const struct uvea_scenario *scenario, struct uvea_run_child *child,
                               struct uvea_error_context *context)
{
    int ends[2];
    (void)fflush(NULL);
    if (pipe(ends) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "cannot start a run: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid < 0) {
        int reason = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return uvea_error_set(context, UVEA_ERR_IO, "cannot start a run: %s", strerror(reason));
    }
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would hear of its result
        (void)signal(SIGINT, SIG_IGN);          // meant for the parent, who decides what it means
        (void)signal(SIGTERM, SIG_IGN);
        (void)close(ends[0]);
        struct uvea_run_report report = {.error = UVEA_OK};
        run_child(arguments, scenario, &report);
        bool told = write_all(ends[1], &report, sizeof(report));
        exit(told ? 0 : 1);
    }
    (void)close(ends[1]);
    *child = (struct uvea_run_child){.pid = pid, .fd = ends[0]};
    return UVEA_OK;
}

// A missing template file is a skip, not a failure.
void uvea_run_finish(struct uvea_run_child *child, struct uvea_run_report *report)
{
    *report = (struct uvea_run_report){.error = UVEA_OK};
    bool told = read_all(child->fd, report, sizeof(*report));
    (void)close(child->fd);
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!told || status != 0) {
        report_death(status, report);
    }
    if (report->error == UVEA_ERR_NOT_FOUND) {
        report->error = UVEA_OK;
        report->result = (struct uvea_world_result){.verdict = UVEA_VERDICT_SKIPPED};
        (void)snprintf(report->result.reason, sizeof(report->result.reason), "%s",
                       report->context.text);
    }
}

static void run_process(const struct uvea_run_arguments *arguments,
                        const struct uvea_scenario *scenario, struct uvea_run_report *report)
{
    struct uvea_run_child child;
    *report = (struct uvea_run_report){.error = UVEA_OK};
    report->error = uvea_run_start(arguments, scenario, &child, &report->context);
    if (report->error == UVEA_OK) {
        uvea_run_finish(&child, report);
    }
}

// With --twice the run is repeated in a second process, which must come to the same hash.
void uvea_run_seed(const struct uvea_run_arguments *arguments, const struct uvea_scenario *scenario,
                   struct uvea_run_report *report)
{
    run_process(arguments, scenario, report);
    if (!arguments->twice || report->error != UVEA_OK ||
        report->result.verdict != UVEA_VERDICT_PASS) {
        return;
    }
    struct uvea_run_arguments once = *arguments;
    once.twice = false;
    once.trace = NULL;
    struct uvea_run_report other;
    run_process(&once, scenario, &other);
    if (other.error != UVEA_OK ||
        memcmp(other.result.hash, report->result.hash, sizeof(other.result.hash)) != 0) {
        report->result.verdict = UVEA_VERDICT_DIFFERS;
        (void)snprintf(report->result.reason, sizeof(report->result.reason),
                       "a second process came to another hash");
    }
}
