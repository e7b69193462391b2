#include "sim/cmd/sweep.h"

#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/interrupt.h"
#include "sim/cmd/plant.h"
#include "uvea_build_id.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEED_MAX (UINT64_MAX / 2) // a database's integers go so far

uint64_t uvea_sweep_seed(const struct uvea_sweep *sweep, uint64_t slot)
{
    return uvea_sweep_by_steps(sweep) ? sweep->first_seed
                                      : sweep->first_seed + slot * sweep->arguments.shard_count;
}

struct uvea_run_arguments uvea_sweep_run_arguments(const struct uvea_sweep *sweep, size_t file)
{
    return (struct uvea_run_arguments){
        .file = sweep->files[file].path,
        .overrides = sweep->arguments.overrides,
        .plant = sweep->arguments.plant,
        .quiet = true,
    };
}

// ---- arguments

static enum uvea_error check_seeds(struct uvea_sweep_arguments *arguments, const char *seeds,
                                   struct uvea_error_context *context)
{
    uint64_t range[2];
    if (seeds == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seeds is missing");
    }
    UVEA_TRY(uvea_args_parse_two("--seeds", seeds, "..", range, context));
    if (range[1] < range[0] || range[1] > SEED_MAX || range[1] - range[0] >= UVEA_SWEEP_RUNS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--seeds %s: the second is less than the first, 2^63 or more, or "
                              "these are more than %d seeds",
                              seeds, UVEA_SWEEP_RUNS_MAX);
    }
    arguments->first_seed = range[0];
    arguments->last_seed = range[1];
    return UVEA_OK;
}

static enum uvea_error check_shard(struct uvea_sweep_arguments *arguments, const char *shard,
                                   struct uvea_error_context *context)
{
    uint64_t pair[2] = {0, 1};
    if (shard != NULL) {
        UVEA_TRY(uvea_args_parse_two("--shard", shard, "/", pair, context));
    }
    if (pair[0] >= pair[1]) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--shard %s: I/N with I from 0 to N-1",
                              shard);
    }
    arguments->shard = pair[0];
    arguments->shard_count = pair[1];
    return UVEA_OK;
}

static bool is_mark(const char *name)
{
    for (size_t mark = 0; mark < UVEA_SWEEP_MARK_COUNT; mark++) {
        if (strcmp(uvea_sweep_mark_text(mark), name) == 0) {
            return true;
        }
    }
    return strcmp(name, "all") == 0;
}

static enum uvea_error check_numbers(const struct uvea_sweep_arguments *arguments,
                                     struct uvea_error_context *context)
{
    if (arguments->jobs == 0 || arguments->jobs > UVEA_SWEEP_JOBS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--jobs: a number from 1 to %d",
                              UVEA_SWEEP_JOBS_MAX);
    }
    if (arguments->twice_percent > 100) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--twice-percent: a number from 0 to 100");
    }
    if (arguments->limit_s > UINT32_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--limit: a number of seconds below 2^32");
    }
    for (size_t i = 0; i < arguments->allow_cold.count; i++) {
        if (!is_mark(arguments->allow_cold.at[i])) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "--allow-cold %.100s: there is no such point or mark",
                                  arguments->allow_cold.at[i]);
        }
    }
    return UVEA_OK;
}

static uint64_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > UVEA_SWEEP_JOBS_MAX ? UVEA_SWEEP_JOBS_MAX : (uint64_t)count;
}

// files has room for argc paths.
static enum uvea_error parse_arguments(int argc, char **argv, const char **files,
                                       struct uvea_sweep_arguments *arguments,
                                       struct uvea_error_context *context)
{
    const char *seeds = NULL;
    const char *shard = NULL;
    const char *each_step = NULL;
    arguments->stride = 1;
    arguments->jobs = processors();
    arguments->twice_percent = 5;
    arguments->limit_s = 600;
    const struct uvea_arg_option options[] = {
        {"--seeds", UVEA_ARG_TEXT, &seeds, NULL},
        {"--jobs", UVEA_ARG_U64, &arguments->jobs, NULL},
        {"--shard", UVEA_ARG_TEXT, &shard, NULL},
        {"--each-step", UVEA_ARG_TEXT, &each_step, NULL},
        {"--stride", UVEA_ARG_U64, &arguments->stride, NULL},
        {"--junit", UVEA_ARG_TEXT, &arguments->junit, NULL},
        {"--db", UVEA_ARG_TEXT, &arguments->db, NULL},
        {"--set", UVEA_ARG_LIST, &arguments->overrides, NULL},
        {"--twice-percent", UVEA_ARG_U64, &arguments->twice_percent, NULL},
        {"--limit", UVEA_ARG_U64, &arguments->limit_s, NULL},
        {"--allow-cold", UVEA_ARG_LIST, &arguments->allow_cold, NULL},
#ifdef UVEA_ALARM
        {"--plant", UVEA_ARG_TEXT, &arguments->plant, NULL},
#endif
    };
    struct uvea_arg_positionals paths = {
        .at = files, .min = 1, .max = argc > 0 ? (size_t)argc : 1, .what = "FILE"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &paths, context));
    arguments->files = files;
    arguments->file_count = paths.count;
    UVEA_TRY(check_seeds(arguments, seeds, context));
    UVEA_TRY(check_shard(arguments, shard, context));
    UVEA_TRY(check_numbers(arguments, context));
    return uvea_sweep_check_steps(arguments, each_step, context);
}

// ---- what is run

// Adds a file's contents; one that is missing counts as such.
static enum uvea_error hash_file(EVP_MD_CTX *hash, const char *path,
                                 struct uvea_error_context *context)
{
    struct uvea_buf buf = {0};
    enum uvea_error error = uvea_input_read(path, &buf, context);
    if (error == UVEA_OK) {
        uint64_t len = buf.len;
        (void)EVP_DigestUpdate(hash, &len, sizeof(len));
        (void)EVP_DigestUpdate(hash, buf.data, buf.len);
    } else if (error == UVEA_ERR_NOT_FOUND) {
        (void)EVP_DigestUpdate(hash, "missing", 7);
        error = UVEA_OK;
    }
    uvea_buf_deinit(&buf);
    return error;
}

static enum uvea_error hash_content(struct uvea_sweep_file *file,
                                    struct uvea_error_context *context)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    enum uvea_error error = UVEA_OK;
    if (hash == NULL || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) {
        error = UVEA_ERR_CRYPTO;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(hash_file(hash, file->path, context));
    for (size_t i = 0; i < file->scenario.template_file_count; i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "%s/%s", file->scenario.template_directory,
                       file->scenario.template_files[i]);
        UVEA_TRY_CLEANUP(hash_file(hash, path, context));
    }
    (void)EVP_DigestFinal_ex(hash, digest, NULL);
    for (unsigned i = 0; i < UVEA_SWEEP_CONTENT_CHARS / 2; i++) {
        (void)snprintf(file->content + 2 * (size_t)i, 3, "%02x", digest[i]);
    }
cleanup:
    EVP_MD_CTX_free(hash);
    return error;
}

static enum uvea_error load_file(const struct uvea_sweep *sweep, struct uvea_sweep_file *file,
                                 struct uvea_error_context *context)
{
    UVEA_TRY(uvea_scenario_load(file->path, sweep->arguments.overrides.at,
                                sweep->arguments.overrides.count, &file->scenario, context));
    file->loaded = true;
    UVEA_TRY(uvea_run_check(file->path, &file->scenario, context));
    UVEA_TRY(hash_content(file, context));
    file->slots = uvea_mem_alloc((size_t)sweep->slot_count, sizeof(*file->slots));
    return file->slots == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

// A scenario that came twice would count twice.
static enum uvea_error check_new(const struct uvea_sweep *sweep, size_t file,
                                 struct uvea_error_context *context)
{
    for (size_t i = 0; i < file; i++) {
        if (strcmp(sweep->files[i].content, sweep->files[file].content) == 0) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "%.200s is given twice, or is the same as %.200s",
                                  sweep->files[file].path, sweep->files[i].path);
        }
    }
    return UVEA_OK;
}

static enum uvea_error plan(struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    const struct uvea_sweep_arguments *arguments = &sweep->arguments;
    uint64_t every = arguments->shard_count;
    uint64_t ahead = (arguments->shard + every - arguments->first_seed % every) % every;
    uint64_t span = arguments->last_seed - arguments->first_seed;
    sweep->first_seed = arguments->first_seed + ahead;
    sweep->slot_count = ahead > span ? 0 : (span - ahead) / every + 1;
    if (sweep->slot_count > UVEA_SWEEP_RUNS_MAX / arguments->file_count) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "more than %d runs", UVEA_SWEEP_RUNS_MAX);
    }
    sweep->files = uvea_mem_alloc(arguments->file_count, sizeof(*sweep->files));
    if (sweep->files == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < arguments->file_count; i++) {
        sweep->files[i].path = arguments->files[i];
        UVEA_TRY(load_file(sweep, &sweep->files[i], context));
        UVEA_TRY(check_new(sweep, i, context));
    }
    return uvea_sweep_plan_steps(sweep, context);
}

static void sweep_deinit(struct uvea_sweep *sweep)
{
    for (size_t i = 0; sweep->files != NULL && i < sweep->arguments.file_count; i++) {
        if (sweep->files[i].loaded) {
            uvea_scenario_deinit(&sweep->files[i].scenario);
        }
        uvea_mem_free(sweep->files[i].slots);
    }
    uvea_mem_free(sweep->files);
    uvea_mem_free(sweep->tally.failures);
    uvea_sweep_db_close(sweep->db);
}

// ---- what is known already

// A build with local changes has no name of its own: its program's hash is added.
static enum uvea_error build_name(char *name, size_t size, struct uvea_error_context *context)
{
    size_t len = strlen(UVEA_BUILD_ID);
    (void)snprintf(name, size, "%s", UVEA_BUILD_ID);
    if (strstr(UVEA_BUILD_ID, "dirty") == NULL && strcmp(UVEA_BUILD_ID, "unknown") != 0) {
        return UVEA_OK;
    }
    uint8_t digest[EVP_MAX_MD_SIZE];
    struct uvea_buf buf = {0};
    UVEA_TRY(uvea_input_read("/proc/self/exe", &buf, context));
    bool done = EVP_Digest(buf.data, buf.len, digest, NULL, EVP_sha256(), NULL) == 1;
    uvea_buf_deinit(&buf);
    if (!done) {
        return UVEA_ERR_CRYPTO;
    }
    for (unsigned i = 0; i < 8; i++) {
        (void)snprintf(name + len + 2 * (size_t)i, size - len - 2 * (size_t)i, "%s%02x",
                       i == 0 ? "+" : "", digest[i]);
        len += i == 0;
    }
    return UVEA_OK;
}

enum uvea_error uvea_sweep_key(const struct uvea_sweep *sweep, size_t file,
                               struct uvea_sweep_key *key, struct uvea_error_context *context)
{
    static char build[sizeof(UVEA_BUILD_ID) + 32];
    const struct uvea_arg_list *overrides = &sweep->arguments.overrides;
    if (build[0] == '\0') {
        UVEA_TRY(build_name(build, sizeof(build), context));
    }
    struct uvea_buf text = {0};
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < overrides->count; i++) {
        UVEA_TRY_CLEANUP(uvea_buf_append(&text, overrides->at[i], strlen(overrides->at[i])));
        UVEA_TRY_CLEANUP(uvea_buf_append(&text, "\n", 1));
    }
    if (sweep->arguments.plant != NULL) {
        UVEA_TRY_CLEANUP(uvea_buf_append(&text, "plant=", 6));
        UVEA_TRY_CLEANUP(
            uvea_buf_append(&text, sweep->arguments.plant, strlen(sweep->arguments.plant)));
    }
    UVEA_TRY_CLEANUP(uvea_buf_append(&text, "", 1));
    *key = (struct uvea_sweep_key){
        .build = build,
        .content = sweep->files[file].content,
        .overrides = (const char *)text.data,
    };
    return UVEA_OK;
cleanup:
    uvea_buf_deinit(&text);
    return error;
}

struct known {
    struct uvea_sweep *sweep;
    size_t file;
};

static enum uvea_error see_known(void *arg, const struct uvea_sweep_run *run)
{
    const struct known *known = arg;
    struct uvea_sweep *sweep = known->sweep;
    uint64_t behind = run->seed - sweep->first_seed;
    bool once = run->result.verdict == UVEA_VERDICT_PASS && !run->twice &&
                uvea_sweep_twice(sweep, known->file, run->seed);
    if (run->seed < sweep->first_seed || behind % sweep->arguments.shard_count != 0 || once) {
        return UVEA_OK;
    }
    return uvea_sweep_count(sweep, known->file, behind / sweep->arguments.shard_count, run, true);
}

static enum uvea_error load_known(struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_sweep_db_open(sweep->arguments.db, &sweep->db, context));
    for (size_t i = 0; i < sweep->arguments.file_count; i++) {
        struct known known = {.sweep = sweep, .file = i};
        struct uvea_sweep_key key;
        UVEA_TRY(uvea_sweep_key(sweep, i, &key, context));
        enum uvea_error error =
            uvea_sweep_db_load(sweep->db, &key, sweep->arguments.first_seed,
                               sweep->arguments.last_seed, see_known, &known, context);
        uvea_mem_free((char *)key.overrides);
        UVEA_TRY(error);
    }
    return UVEA_OK;
}

// ---- the command

static void note_stop(struct uvea_sweep *sweep, enum uvea_error error,
                      const struct uvea_error_context *context)
{
    const char *said = context->text[0] != '\0' ? context->text : uvea_error_text(error);
    if (uvea_interrupt_signal() != 0 && sweep->tally.runs < uvea_sweep_planned(sweep)) {
        (void)snprintf(sweep->stopped, sizeof(sweep->stopped), "interrupted by signal %d (%s)",
                       uvea_interrupt_signal(), strsignal(uvea_interrupt_signal()));
    } else if (error != UVEA_OK) {
        (void)snprintf(sweep->stopped, sizeof(sweep->stopped), "stopped by: %.480s", said);
    }
}

static enum uvea_error report(const struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_sweep_print_summary(sweep));
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "standard output: %s", strerror(errno));
    }
    return sweep->arguments.junit == NULL ? UVEA_OK : uvea_sweep_write_junit(sweep, context);
}

static enum uvea_error sweep_all(struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    struct uvea_error_context said = {.text = ""};
    sweep->started_ns = sweep->ended_ns = uvea_sweep_now_ns();
    UVEA_TRY(uvea_output_check(sweep->arguments.junit, context));
    uvea_interrupt_listen();
    UVEA_TRY(plan(sweep, context));
    if (sweep->arguments.db != NULL) {
        UVEA_TRY(load_known(sweep, context));
    }
    enum uvea_error error = uvea_sweep_run(sweep, context);
    note_stop(sweep, error, context);
    enum uvea_error reporting = report(sweep, &said);
    if (error == UVEA_OK && reporting != UVEA_OK) {
        *context = said;
    }
    return error != UVEA_OK ? error : reporting;
}

static int run_command(int argc, char **argv)
{
    struct uvea_sweep sweep = {.slot_count = 0};
    struct uvea_error_context context = {.text = ""};
    const char **files = uvea_mem_alloc((size_t)argc + 1, sizeof(*files));
    enum uvea_error error = files == NULL
                                ? UVEA_ERR_MEMORY
                                : parse_arguments(argc, argv, files, &sweep.arguments, &context);
#ifdef UVEA_ALARM
    if (error == UVEA_OK) {
        error = uvea_cmd_set_plant(sweep.arguments.plant, &context);
    }
#endif
    if (error == UVEA_OK) {
        error = sweep_all(&sweep, &context);
    }
    int status =
        error == UVEA_OK ? uvea_sweep_status(&sweep) : uvea_cmd_fail("sweep", error, &context);
    sweep_deinit(&sweep);
    uvea_mem_free(files);
    return status;
}

const struct uvea_cmd uvea_cmd_sweep = {
    .name = "sweep",
    .summary = "run many scenarios with many seeds, and say what they met",
    .usage =
        "usage: uvea sweep FILE... --seeds A..B [--jobs N] [--shard I/N] [--junit FILE]\n"
        "                  [--db FILE|URL] [--set KEY=VALUE]... [--twice-percent P]\n"
        "                  [--limit SECONDS] [--allow-cold NAME]... [--each-step pN [--stride S]]\n"
        "\n"
        "Runs every file with every seed, each pair in a process of its own, and closes with a\n"
        "summary: verdicts, failures as commands to paste, faults by where they struck, points\n"
        "and marks that were met or stayed cold, times.\n"
        "\n"
        "  --seeds A..B        both included, below 2^63\n"
        "  --jobs N            runs at a time (default: the number of processors)\n"
        "  --shard I/N         only the seeds s with s mod N = I\n"
        "  --db FILE|URL       record every run in SQLite, or in PostgreSQL given a postgres://\n"
        "                      URL; what is recorded of the same build, files and overrides is\n"
        "                      counted and not run again. Several shards may use one database\n"
        "  --junit FILE        write JUnit XML\n"
        "  --set KEY=VALUE     override an option in all files\n"
        "  --twice-percent P   of the passing runs are repeated, twice in one more process; the\n"
        "                      hashes must be equal (default 5)\n"
        "  --limit SECONDS     of real time for one run (default 600; 0: none)\n"
        "  --allow-cold NAME   this point or mark need not be met; `all` for all of them\n"
        "  --each-step pN      instead of seeds (one is given): one run for each step of party "
        "N's\n"
        "                      first process, which dies there; cold marks are allowed\n"
        "  --stride S          only every S-th step\n"
#ifdef UVEA_ALARM
        "  --plant NAME        switch a planted fault on\n"
#endif
        "\n"
        "Exit status: that of the worst run as of `uvea run` (10, 15, 12, 11, 13 in this order); "
        "14 when\n"
        "more than one run in a hundred was skipped, 16 when a point or mark stayed cold, 0 "
        "otherwise\n"
        "(a shard without seeds included); 1 output, database or the machine failed, 2 usage or "
        "bad\n"
        "input, 130 or 143 interrupted (128 and the signal's number).\n",
    .run = run_command,
};
