#include "sim/cmd/bench.h"

#include "core/base/check.h"
#include "sim/cmd/args.h"
#include "sim/cmd/bench_service.h"
#include "sim/cmd/cmd.h"

#include <time.h>

double uvea_bench_now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char usage[] =
    "usage: uvea bench kernel [--records N] [--queries Q] [--threads T]\n"
    "           every score kernel this processor can run, over N resident records (default\n"
    "           16384, 38,400 bytes each): comparisons and bytes per second, and the share of the\n"
    "           memory read bandwidth that the same threads reach in the same minute; for one\n"
    "           query in both orientations, and for Q queries (1..4, default 4) in one pass. A\n"
    "           comparison is one record, one eye, one orientation, all 31 rotations\n"
    "       uvea bench predicate\n"
    "           the forms of the anonymous predicate: processor time and bytes of one comparison "
    "at\n"
    "           one party, for exchanges of several sizes\n"
    "       uvea bench service [--records N] [--requests N] [--scan ring|ntt] [--tls on|off]\n"
    "                          [--in-flight N] [--chunk N] [--sessions N] [--connections N]\n"
    "                          [--directory DIR] [--uvead PROGRAM] [--port BASE] [--json]\n"
    "           three uvead over loopback with N records each (default 65536, which takes 16 GB\n"
    "           of memory and 25 GB of disk) and N requests posted to them (default 32), the\n"
    "           first 16 not counted; both paths, with TLS and without, unless one is named. All\n"
    "           answers are read and judged. DIR is kept, and its stores are used again. PROGRAM\n"
    "           is uvead beside this command's build, unless given\n"
    "\n"
    "Build with -O3 (./dev bench does). Times are processor times of the threads, so that other\n"
    "programs on the machine disturb them as little as they can.\n";

static enum uvea_error check_range(const char *name, uint64_t value, uint64_t max,
                                   struct uvea_error_context *context)
{
    if (value == 0 || value > max) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s %llu: not a number from 1 to %llu", name,
                              (unsigned long long)value, (unsigned long long)max);
    }
    return UVEA_OK;
}

static enum uvea_error parse(int argc, char **argv, struct uvea_bench_arguments *out,
                             struct uvea_error_context *context)
{
    uint64_t records = 16384;
    uint64_t queries = UVEA_BENCH_QUERIES_MAX;
    uint64_t threads = 1;
    const struct uvea_arg_option options[] = {
        {"--records", UVEA_ARG_U64, &records, NULL},
        {"--queries", UVEA_ARG_U64, &queries, NULL},
        {"--threads", UVEA_ARG_U64, &threads, NULL},
    };
    struct uvea_arg_positionals none = {.what = "argument"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &none, context));
    UVEA_TRY(check_range("--records", records, UVEA_BENCH_RECORDS_MAX, context));
    UVEA_TRY(check_range("--queries", queries, UVEA_BENCH_QUERIES_MAX, context));
    UVEA_TRY(check_range("--threads", threads, UVEA_BENCH_THREADS_MAX, context));
    *out = (struct uvea_bench_arguments){(size_t)records, (size_t)queries, (size_t)threads};
    return UVEA_OK;
}

static int run_kernel(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    struct uvea_bench_arguments arguments;
    enum uvea_error error = parse(argc, argv, &arguments, &context);
    if (error == UVEA_OK) {
        error = uvea_bench_kernel(&arguments, &context);
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("bench kernel", error, &context);
}

static int run_predicate(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    struct uvea_arg_positionals none = {.what = "argument"};
    enum uvea_error error = uvea_args_parse(argc, argv, NULL, 0, &none, &context);
    if (error == UVEA_OK) {
        error = uvea_bench_predicate(&context);
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("bench predicate", error, &context);
}

static const struct uvea_cmd subcommands[] = {
    {.name = "predicate", .run = run_predicate},
    {.name = "service", .run = uvea_bench_service_command},
    {.name = "kernel", .run = run_kernel},
};

static int run(int argc, char **argv)
{
    return uvea_cmd_dispatch("bench", subcommands, UVEA_COUNT_OF(subcommands), argc, argv);
}

const struct uvea_cmd uvea_cmd_bench = {
    .name = "bench",
    .summary = "measure: score kernels, predicates, the whole service",
    .usage = usage,
    .run = run,
};
