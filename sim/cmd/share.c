#include "core/iris/share.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/json.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/records.h"
#include "sim/cmd/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: uvea share split FILE --out-prefix P [--lines A,B] [--seed N]\n"
    "           the left and right template on two lines (default 1,2) of an NDJSON file become\n"
    "           three share files, one per party: P.0.json, P.1.json, P.2.json. With --seed the\n"
    "           shares can be made again by anyone: for tests only\n"
    "       uvea share join FILE FILE [FILE] [-o FILE]\n"
    "           the two templates, from the share files of any two parties; of three files every "
    "two\n"
    "           must agree. Shares hold no code bit that the mask hides: those come back as 0\n"
    "       uvea share inspect FILE\n"
    "           party, versions, share ids and lengths; never the contents of a share\n"
    "       uvea share dummy --party N [-o FILE]\n"
    "           the share file that replaces a deleted identity at party N (0, 1 or 2)\n"
    "\n"
    "Share files are written readable by their owner only.\n";

// Both eyes of all parties: the whole secret. Wiped before it is released.
struct split {
    struct uvea_iris_upload party[UVEA_PARTY_COUNT];
};

static void *secret_alloc(size_t size)
{
    return uvea_mem_alloc(1, size);
}

static void secret_free(void *secret, size_t size)
{
    if (secret != NULL) {
        uvea_mem_wipe(secret, size);
    }
    uvea_mem_free(secret);
}

// ---- split

static enum uvea_error write_upload(struct uvea_output *out, struct uvea_party party,
                                    const struct uvea_iris_upload *upload,
                                    struct uvea_error_context *context)
{
    struct uvea_buf buf = {0};
    enum uvea_error error = uvea_iris_encode_upload(party, upload, &buf);
    if (error == UVEA_OK) {
        error = uvea_output_write(out, buf.data, buf.len, context);
    }
    if (buf.data != NULL) {
        uvea_mem_wipe(buf.data, buf.capacity);
    }
    uvea_buf_deinit(&buf);
    return error;
}

// All three files are complete before the first gets its name.
static enum uvea_error write_split(const char *prefix, const struct split *split,
                                   struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    struct uvea_output out[UVEA_PARTY_COUNT] = {0};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof(path), "%s.%u.json", prefix, party) >= (int)sizeof(path)) {
            error = uvea_error_set(context, UVEA_ERR_USAGE, "--out-prefix is too long");
            goto cleanup;
        }
        UVEA_TRY_CLEANUP(uvea_output_open(&out[party], path, true, context));
        UVEA_TRY_CLEANUP(
            write_upload(&out[party], uvea_party_at(party), &split->party[party], context));
        UVEA_TRY_CLEANUP(uvea_output_seal(&out[party], context));
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY_CLEANUP(uvea_output_publish(&out[party], context));
    }
cleanup:
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_output_close(&out[party]);
    }
    return error;
}

struct split_options {
    const char *from;
    const char *prefix;
    uint64_t lines[UVEA_EYE_COUNT];
    uint64_t seed;
    bool seeded;
};

static enum uvea_error split_parse(int argc, char **argv, struct split_options *out,
                                   struct uvea_error_context *context)
{
    const char *lines = NULL;
    const struct uvea_arg_option options[] = {
        {"--lines", UVEA_ARG_TEXT, &lines, NULL},
        {"--out-prefix", UVEA_ARG_TEXT, &out->prefix, NULL},
        {"--seed", UVEA_ARG_U64, &out->seed, &out->seeded},
    };
    struct uvea_arg_positionals files = {.at = &out->from, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &files, context));
    if (out->prefix == NULL || out->prefix[0] == '\0') {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--out-prefix is missing");
    }
    out->lines[0] = 1;
    out->lines[1] = 2;
    return lines == NULL ? UVEA_OK
                         : uvea_args_parse_two("--lines", lines, ",", out->lines, context);
}

static int split(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct split_options options = {0};
    struct uvea_records records = {0};
    struct split *shares = secret_alloc(sizeof(*shares));
    if (shares == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(split_parse(argc, argv, &options, &context));
    UVEA_TRY_CLEANUP(uvea_records_read(options.from, &records, &context));
    const struct uvea_template *eyes[UVEA_EYE_COUNT];
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        UVEA_TRY_CLEANUP(uvea_records_get(&records, options.lines[eye], &eyes[eye], &context));
    }
    if (options.seeded) {
        fprintf(stderr,
                "uvea share split: shares made from --seed %" PRIu64
                " hide nothing from who knows it; for tests only\n",
                options.seed);
    }
    UVEA_TRY_CLEANUP(
        uvea_cmd_split(eyes, options.seeded ? &options.seed : NULL, shares->party, &context));
    UVEA_TRY_CLEANUP(write_split(options.prefix, shares, &context));
cleanup:
    uvea_records_deinit(&records);
    secret_free(shares, sizeof(*shares));
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("share split", error, &context);
}

// ---- join

struct share_file {
    const char *path;
    struct uvea_party party;
    struct uvea_iris_upload upload;
};

// The party that the first share string belongs to; decoding the file then requires the same of the
// other three.
static enum uvea_error party_of(const json_t *object, struct uvea_party *party,
                                struct uvea_error_context *context)
{
    static const char member[] = "left_iris_code_shares";
    const char *text;
    size_t len;
    uint64_t id;
    UVEA_TRY(uvea_iris_get_string(object, member, &text, &len, context));
    uint16_t *share = uvea_mem_alloc(UVEA_SHARE_COEFFICIENTS, sizeof(*share));
    if (share == NULL) {
        return UVEA_ERR_MEMORY;
    }
    struct uvea_error_context inner = {{0}};
    enum uvea_error error = uvea_iris_decode_share(text, len, &id, share, &inner);
    if (error == UVEA_OK) {
        *party = uvea_party_at((unsigned)id - 1);
    } else {
        error = uvea_error_set(context, error, "member %s: %.400s", member, inner.text);
    }
    secret_free(share, UVEA_SHARE_COEFFICIENTS * sizeof(*share));
    return error;
}

static enum uvea_error decode_file(const struct uvea_buf *buf, struct share_file *file,
                                   struct uvea_error_context *context)
{
    json_t *object = NULL;
    UVEA_TRY(uvea_iris_load_object((const char *)buf->data, buf->len, &object, context));
    enum uvea_error error = party_of(object, &file->party, context);
    json_decref(object);
    UVEA_TRY(error);
    return uvea_iris_decode_upload(file->party, buf->data, buf->len, &file->upload, context);
}

static enum uvea_error read_share_file(const char *path, struct share_file *file,
                                       struct uvea_error_context *context)
{
    struct uvea_buf buf = {0};
    struct uvea_error_context inner = {{0}};
    file->path = path;
    enum uvea_error error = uvea_input_read(path, &buf, context);
    if (error == UVEA_OK) {
        error = decode_file(&buf, file, &inner);
        if (error != UVEA_OK) {
            error = uvea_error_set(context, error, "%s: %.400s", path,
                                   inner.text[0] != '\0' ? inner.text : uvea_error_text(error));
        }
    }
    if (buf.data != NULL) {
        uvea_mem_wipe(buf.data, buf.capacity);
    }
    uvea_buf_deinit(&buf);
    return error;
}

static enum uvea_error join_two(const struct share_file *first, const struct share_file *second,
                                struct uvea_template_pair *out, struct uvea_error_context *context)
{
    static const char *const eyes[UVEA_EYE_COUNT] = {"left", "right"};
    if (first->party.index == second->party.index) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s and %s are both shares of party %u",
                              first->path, second->path, first->party.index);
    }
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        struct uvea_error_context inner = {{0}};
        enum uvea_error error = uvea_iris_join(first->party, &first->upload.eye[eye], second->party,
                                               &second->upload.eye[eye], &out->eye[eye], &inner);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "%s and %s, %s eye: %.300s", first->path,
                                  second->path, eyes[eye], inner.text);
        }
    }
    return UVEA_OK;
}

// Every two of the files must give the same templates.
static enum uvea_error join_all(const struct share_file *files, size_t count,
                                struct uvea_template_pair *out, struct uvea_error_context *context)
{
    UVEA_TRY(join_two(&files[0], &files[1], out, context));
    for (size_t i = 0; count == UVEA_PARTY_COUNT && i < 2; i++) {
        struct uvea_template_pair again;
        UVEA_TRY(join_two(&files[i], &files[2], &again, context));
        if (memcmp(&again, out, sizeof(again)) != 0) {
            return uvea_error_set(context, UVEA_ERR_FORMAT,
                                  "%s and %s give other templates than %s and %s", files[i].path,
                                  files[2].path, files[0].path, files[1].path);
        }
    }
    return UVEA_OK;
}

static int join(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    struct uvea_template_pair pair;
    const char *paths[UVEA_PARTY_COUNT];
    const char *to = NULL;
    const struct uvea_arg_option options[] = {{"-o", UVEA_ARG_TEXT, &to, NULL}};
    struct uvea_arg_positionals positionals = {
        .at = paths, .min = 2, .max = UVEA_PARTY_COUNT, .what = "FILE FILE"};
    struct share_file *files = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*files));
    if (files == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(
        uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &positionals, &context));
    for (size_t i = 0; i < positionals.count; i++) {
        UVEA_TRY_CLEANUP(read_share_file(paths[i], &files[i], &context));
    }
    UVEA_TRY_CLEANUP(join_all(files, positionals.count, &pair, &context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, to, true, &context));
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        UVEA_TRY_CLEANUP(uvea_records_write(&out, &pair.eye[eye], &context));
    }
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    secret_free(files, UVEA_PARTY_COUNT * sizeof(*files));
    uvea_mem_wipe(&pair, sizeof(pair));
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("share join", error, &context);
}

// ---- inspect

// What a share file says about itself, without anything secret. Strings are borrowed from the JSON
// object; %.40s keeps a hostile version string short.
static enum uvea_error print_share_file(struct uvea_output *out, const json_t *object,
                                        const struct share_file *file,
                                        struct uvea_error_context *context)
{
    static const char *const versions[] = {"IRIS_version", "IRIS_shares_version"};
    static const char *const members[] = {"left_iris_code_shares", "right_iris_code_shares",
                                          "left_mask_code_shares", "right_mask_code_shares"};
    UVEA_TRY(uvea_output_print(out, context, "party %u\n", file->party.index));
    for (size_t i = 0; i < UVEA_COUNT_OF(versions); i++) {
        const char *text;
        size_t len;
        UVEA_TRY(uvea_iris_get_string(object, versions[i], &text, &len, context));
        UVEA_TRY(uvea_output_print(out, context, "%s %.40s\n", versions[i], text));
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(members); i++) {
        const char *text;
        size_t len;
        UVEA_TRY(uvea_iris_get_string(object, members[i], &text, &len, context));
        UVEA_TRY(uvea_output_print(
            out, context, "%s share id %u, %zu characters, %d bytes, %d coefficients\n", members[i],
            file->party.index + 1u, len, UVEA_SHARE_BYTES, UVEA_SHARE_COEFFICIENTS));
    }
    return UVEA_OK;
}

static int inspect(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    struct uvea_buf buf = {0};
    json_t *object = NULL;
    const char *path;
    struct uvea_arg_positionals positionals = {.at = &path, .min = 1, .max = 1, .what = "FILE"};
    struct share_file *file = secret_alloc(sizeof(*file));
    if (file == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(uvea_args_parse(argc, argv, NULL, 0, &positionals, &context));
    UVEA_TRY_CLEANUP(read_share_file(path, file, &context));
    UVEA_TRY_CLEANUP(uvea_input_read(path, &buf, &context));
    UVEA_TRY_CLEANUP(uvea_iris_load_object((const char *)buf.data, buf.len, &object, &context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, NULL, false, &context));
    UVEA_TRY_CLEANUP(print_share_file(&out, object, file, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    json_decref(object);
    uvea_buf_deinit(&buf);
    uvea_output_close(&out);
    secret_free(file, sizeof(*file));
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("share inspect", error, &context);
}

// ---- dummy

static enum uvea_error dummy_parse(int argc, char **argv, struct uvea_party *party, const char **to,
                                   struct uvea_error_context *context)
{
    uint64_t index = 0;
    bool given = false;
    const struct uvea_arg_option options[] = {
        {"--party", UVEA_ARG_U64, &index, &given},
        {"-o", UVEA_ARG_TEXT, to, NULL},
    };
    struct uvea_arg_positionals none = {.what = "nothing"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &none, context));
    if (!given) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--party is missing");
    }
    if (index >= UVEA_PARTY_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--party: %" PRIu64 " is not 0, 1 or 2",
                              index);
    }
    *party = uvea_party_at((unsigned)index);
    return UVEA_OK;
}

static int dummy(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    struct uvea_party party = uvea_party_at(0);
    const char *to = NULL;
    struct uvea_iris_upload *upload = uvea_mem_alloc(1, sizeof(*upload));
    if (upload == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(dummy_parse(argc, argv, &party, &to, &context));
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        uvea_iris_deletion_dummy(party, &upload->eye[eye]);
    }
    UVEA_TRY_CLEANUP(uvea_output_open(&out, to, true, &context));
    UVEA_TRY_CLEANUP(write_upload(&out, party, upload, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    uvea_mem_free(upload);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("share dummy", error, &context);
}

static int share(int argc, char **argv)
{
    static const struct uvea_cmd table[] = {
        {.name = "split", .run = split},
        {.name = "join", .run = join},
        {.name = "inspect", .run = inspect},
        {.name = "dummy", .run = dummy},
    };
    return uvea_cmd_dispatch("share", table, UVEA_COUNT_OF(table), argc, argv);
}

const struct uvea_cmd uvea_cmd_share = {
    .name = "share",
    .summary = "split templates into share files, join and inspect them",
    .usage = usage,
    .run = share,
};
