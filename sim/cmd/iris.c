#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/records.h"
#include "sim/gen/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: uvea iris gen [--seed N] [--count N] [-o FILE]\n"
    "           N synthetic pairs (default 1), from the seed alone (default 1): two lines each,\n"
    "           left eye, then right eye\n"
    "       uvea iris show FILE [--line N]\n"
    "           mask, distances to itself when shifted, and a small picture of one record\n"
    "       uvea iris distance FILE [FILE] [--lines A,B]\n"
    "           distance of two records (default: lines 1 and 2 of one file, or line 1 of each of\n"
    "           two), unrotated and the best of 31 rotations of the second record, and how many "
    "of\n"
    "           the rotations pass each threshold of the service\n"
    "       uvea iris rotate FILE --by K [-o FILE]\n"
    "           every record rotated by K columns, positive to the right, -199..199\n"
    "       uvea iris mirror FILE [-o FILE]\n"
    "           every record as in a mirror\n"
    "\n"
    "A FILE holds one JSON object per line with the members iris_codes and mask_codes; - is "
    "standard\n"
    "input. Lines are counted from 1. Without -o the result goes to standard output.\n";

// ---- gen

enum { PAIRS_MAX = 1000000, PAIRS_PER_REPORT = 64 };

static enum uvea_error write_pairs(struct uvea_output *out, uint64_t seed, uint64_t count,
                                   bool progress, struct uvea_error_context *context)
{
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, seed, "iris/gen");
    for (uint64_t n = 0; n < count; n++) {
        struct uvea_template_pair pair;
        uvea_gen_pair(&random, &pair);
        UVEA_TRY(uvea_records_write(out, &pair.eye[UVEA_EYE_LEFT], context));
        UVEA_TRY(uvea_records_write(out, &pair.eye[UVEA_EYE_RIGHT], context));
        if (progress && (n + 1 == count || n % PAIRS_PER_REPORT == 0)) {
            fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " pairs%s", n + 1, count,
                    n + 1 == count ? "\n" : "");
        }
    }
    return UVEA_OK;
}

static int gen(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    uint64_t seed = 1;
    uint64_t count = 1;
    const char *path = NULL;
    const struct uvea_arg_option options[] = {
        {"--seed", UVEA_ARG_U64, &seed, NULL},
        {"--count", UVEA_ARG_U64, &count, NULL},
        {"-o", UVEA_ARG_TEXT, &path, NULL},
    };
    struct uvea_arg_positionals none = {.what = "nothing"};
    UVEA_TRY_CLEANUP(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &none, &context));
    if (count < 1 || count > PAIRS_MAX) {
        error = uvea_error_set(&context, UVEA_ERR_USAGE, "--count: %" PRIu64 " is not in 1..%d",
                               count, PAIRS_MAX);
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(uvea_output_open(&out, path, false, &context));
    // Beside a file only: on a terminal the records themselves would be torn apart.
    bool progress = out.staged && isatty(STDERR_FILENO) == 1;
    UVEA_TRY_CLEANUP(write_pairs(&out, seed, count, progress, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("iris gen", error, &context);
}

// ---- distances

enum { NUMBER_CHARS = 40 };

// The shortest decimal that reads back as the same double.
static void format_ratio(unsigned differing, unsigned common, char text[NUMBER_CHARS])
{
    double ratio = (double)differing / (double)common;
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, NUMBER_CHARS, "%.*g", digits, ratio);
        if (strtod(text, NULL) == ratio) {
            return;
        }
    }
}

static enum uvea_error print_distance(struct uvea_output *out, const char *label,
                                      unsigned differing, unsigned common, const char *rest,
                                      struct uvea_error_context *context)
{
    char ratio[NUMBER_CHARS];
    if (common == 0) {
        return uvea_output_print(out, context, "%s 0/0 no bit in common\n", label);
    }
    format_ratio(differing, common, ratio);
    return uvea_output_print(out, context, "%s %u/%u %s%s\n", label, differing, common, ratio,
                             rest);
}

static enum uvea_error print_best(struct uvea_output *out, const struct uvea_oracle_template *first,
                                  const struct uvea_oracle_template *second,
                                  struct uvea_error_context *context)
{
    struct uvea_oracle_distance best;
    char rotation[80] = " rotation 0";
    uvea_oracle_best_distance(first, second, &best);
    if (best.rotation != 0) {
        (void)snprintf(rotation, sizeof(rotation), " rotation %s %d of the second record",
                       best.rotation < 0 ? "left" : "right", abs(best.rotation));
    }
    return print_distance(out, "best", best.differing, best.common, rotation, context);
}

// As the service would see it: the first record as the query.
static enum uvea_error print_thresholds(struct uvea_output *out,
                                        const struct uvea_oracle_template *first,
                                        const struct uvea_oracle_template *second,
                                        struct uvea_error_context *context)
{
    unsigned anonymous = 0;
    unsigned strict = 0;
    for (int k = -UVEA_ORACLE_ROTATION_MAX; k <= UVEA_ORACLE_ROTATION_MAX; k++) {
        struct uvea_oracle_template turned;
        struct uvea_oracle_counts counts;
        struct uvea_oracle_verdict verdict;
        uvea_oracle_rotate(first, k, &turned);
        uvea_oracle_count(&turned, second, &counts);
        UVEA_TRY(uvea_oracle_judge(&counts, &verdict, context));
        anonymous += verdict.anonymous;
        strict += verdict.strict;
    }
    return uvea_output_print(out, context, "passes anonymous %u of 31, strict %u of 31 rotations\n",
                             anonymous, strict);
}

static enum uvea_error print_pair(struct uvea_output *out, const struct uvea_template *first,
                                  const struct uvea_template *second,
                                  struct uvea_error_context *context)
{
    struct uvea_oracle_template a;
    struct uvea_oracle_template b;
    struct uvea_oracle_counts counts;
    uvea_records_to_oracle(first, &a);
    uvea_records_to_oracle(second, &b);
    uvea_oracle_count(&a, &b, &counts);
    UVEA_TRY(print_distance(out, "unrotated", counts.differing, counts.common, "", context));
    UVEA_TRY(print_best(out, &a, &b, context));
    return print_thresholds(out, &a, &b, context);
}

static int distance(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    struct uvea_records records[2] = {0};
    const char *lines_text = NULL;
    const char *paths[2];
    const struct uvea_arg_option options[] = {{"--lines", UVEA_ARG_TEXT, &lines_text, NULL}};
    struct uvea_arg_positionals files = {.at = paths, .min = 1, .max = 2, .what = "FILE"};
    UVEA_TRY_CLEANUP(
        uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &files, &context));
    uint64_t lines[2] = {1, files.count == 1 ? 2 : 1};
    if (lines_text != NULL) {
        UVEA_TRY_CLEANUP(uvea_args_parse_two("--lines", lines_text, ",", lines, &context));
    }
    for (size_t i = 0; i < files.count; i++) {
        UVEA_TRY_CLEANUP(uvea_records_read(paths[i], &records[i], &context));
    }
    const struct uvea_template *first;
    const struct uvea_template *second;
    UVEA_TRY_CLEANUP(uvea_records_get(&records[0], lines[0], &first, &context));
    UVEA_TRY_CLEANUP(uvea_records_get(&records[files.count - 1], lines[1], &second, &context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, NULL, false, &context));
    UVEA_TRY_CLEANUP(print_pair(&out, first, second, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    uvea_records_deinit(&records[0]);
    uvea_records_deinit(&records[1]);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("iris distance", error, &context);
}

// ---- show

static bool bit_of(const uint64_t *plane, unsigned row, unsigned column, unsigned bit)
{
    unsigned i = 800 * row + 4 * column + bit;
    return (plane[i / 64] >> (i % 64) & 1) != 0;
}

static enum uvea_error show_mask(struct uvea_output *out, const struct uvea_template *record,
                                 struct uvea_error_context *context)
{
    unsigned valid = 0;
    unsigned uneven = 0;
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        uint64_t mask = record->mask[i];
        valid += (unsigned)__builtin_popcountll(mask);
        uneven +=
            (unsigned)__builtin_popcountll((mask ^ (mask >> 1)) & UINT64_C(0x5555555555555555));
    }
    UVEA_TRY(uvea_output_print(out, context, "mask %u of %d bits valid, %u.%u %%\n", valid,
                               UVEA_IRIS_BITS, valid * 100 / UVEA_IRIS_BITS,
                               valid * 1000 / UVEA_IRIS_BITS % 10));
    return uvea_output_print(out, context,
                             "mask differs between real and imaginary bit in %u of %d places\n",
                             uneven, UVEA_IRIS_BITS / 2);
}

static enum uvea_error show_shifts(struct uvea_output *out, const struct uvea_template *record,
                                   struct uvea_error_context *context)
{
    static const int shifts[] = {1, 2, 3, 4, 6};
    struct uvea_oracle_template still;
    uvea_records_to_oracle(record, &still);
    for (size_t i = 0; i < UVEA_COUNT_OF(shifts); i++) {
        struct uvea_oracle_template moved;
        struct uvea_oracle_counts counts;
        char label[32];
        uvea_oracle_rotate(&still, shifts[i], &moved);
        uvea_oracle_count(&still, &moved, &counts);
        (void)snprintf(label, sizeof(label), "shifted by %d", shifts[i]);
        UVEA_TRY(print_distance(out, label, counts.differing, counts.common, "", context));
    }
    return UVEA_OK;
}

// Every other column of the first wavelet: its phase as one of four characters.
static enum uvea_error show_picture(struct uvea_output *out, const struct uvea_template *record,
                                    struct uvea_error_context *context)
{
    static const char phases[] = {'.', '-', '+', '#'};
    UVEA_TRY(uvea_output_print(out, context,
                               "phase of wavelet 0, every second column; ' ' is masked\n"));
    for (unsigned row = 0; row < UVEA_IRIS_ROWS; row++) {
        char line[UVEA_IRIS_COLUMNS / 2 + 1] = {0};
        for (unsigned i = 0; i < UVEA_IRIS_COLUMNS / 2; i++) {
            unsigned phase = (bit_of(record->code, row, 2 * i, 0) ? 2u : 0u) +
                             (bit_of(record->code, row, 2 * i, 1) ? 1u : 0u);
            line[i] = ' ';
            if (bit_of(record->mask, row, 2 * i, 0)) {
                line[i] = phases[phase];
            }
        }
        UVEA_TRY(uvea_output_print(out, context, "|%s|\n", line));
    }
    return UVEA_OK;
}

static int show(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    struct uvea_records records = {0};
    uint64_t line = 1;
    const char *path;
    const struct uvea_arg_option options[] = {{"--line", UVEA_ARG_U64, &line, NULL}};
    struct uvea_arg_positionals files = {.at = &path, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY_CLEANUP(
        uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &files, &context));
    UVEA_TRY_CLEANUP(uvea_records_read(path, &records, &context));
    const struct uvea_template *record;
    UVEA_TRY_CLEANUP(uvea_records_get(&records, line, &record, &context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, NULL, false, &context));
    UVEA_TRY_CLEANUP(
        uvea_output_print(&out, &context, "record %" PRIu64 " of %zu\n", line, records.count));
    UVEA_TRY_CLEANUP(show_mask(&out, record, &context));
    UVEA_TRY_CLEANUP(show_shifts(&out, record, &context));
    UVEA_TRY_CLEANUP(show_picture(&out, record, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    uvea_records_deinit(&records);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("iris show", error, &context);
}

// ---- rotate, mirror

typedef void change_fn(const struct uvea_template *in, int columns, struct uvea_template *out);

static void change_mirror(const struct uvea_template *in, int columns, struct uvea_template *out)
{
    (void)columns;
    uvea_iris_mirror(in, out);
}

// Every record of a file, changed, in the order of the file.
static enum uvea_error change_file(const char *from, change_fn *change, int columns, const char *to,
                                   struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_output out = {0};
    struct uvea_records records = {0};
    UVEA_TRY_CLEANUP(uvea_records_read(from, &records, context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, to, false, context));
    for (size_t i = 0; i < records.count; i++) {
        struct uvea_template changed;
        change(&records.at[i], columns, &changed);
        UVEA_TRY_CLEANUP(uvea_records_write(&out, &changed, context));
    }
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, context));
cleanup:
    uvea_output_close(&out);
    uvea_records_deinit(&records);
    return error;
}

static enum uvea_error rotate_parsed(int argc, char **argv, struct uvea_error_context *context)
{
    int64_t columns = 0;
    bool given = false;
    const char *to = NULL;
    const char *from;
    const struct uvea_arg_option options[] = {
        {"--by", UVEA_ARG_INT, &columns, &given},
        {"-o", UVEA_ARG_TEXT, &to, NULL},
    };
    struct uvea_arg_positionals files = {.at = &from, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &files, context));
    if (!given) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--by is missing");
    }
    if (columns <= -UVEA_IRIS_COLUMNS || columns >= UVEA_IRIS_COLUMNS) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--by: %" PRId64 " is not in -199..199",
                              columns);
    }
    return change_file(from, uvea_iris_rotate, (int)columns, to, context);
}

static int rotate(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = rotate_parsed(argc, argv, &context);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("iris rotate", error, &context);
}

static enum uvea_error mirror_parsed(int argc, char **argv, struct uvea_error_context *context)
{
    const char *to = NULL;
    const char *from;
    const struct uvea_arg_option options[] = {{"-o", UVEA_ARG_TEXT, &to, NULL}};
    struct uvea_arg_positionals files = {.at = &from, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &files, context));
    return change_file(from, change_mirror, 0, to, context);
}

static int mirror(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = mirror_parsed(argc, argv, &context);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("iris mirror", error, &context);
}

static int iris(int argc, char **argv)
{
    static const struct uvea_cmd table[] = {
        {.name = "gen", .run = gen},           {.name = "show", .run = show},
        {.name = "distance", .run = distance}, {.name = "rotate", .run = rotate},
        {.name = "mirror", .run = mirror},
    };
    return uvea_cmd_dispatch("iris", table, UVEA_COUNT_OF(table), argc, argv);
}

const struct uvea_cmd uvea_cmd_iris = {
    .name = "iris",
    .summary = "make, show, compare, rotate and mirror templates",
    .usage = usage,
    .run = iris,
};
