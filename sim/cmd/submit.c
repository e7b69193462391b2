// uvea submit: one request to a cluster.
#include "sim/live/submit.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/posix.h"
#include "core/service/share_object.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/entropy.h"
#include "sim/cmd/file.h"
#include "sim/cmd/records.h"
#include "sim/cmd/split.h"
#include "sim/live/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: uvea submit --target CLUSTER.yaml [--type TYPE] [--left FILE] [--right FILE]\n"
    "           [--lines A,B] [--serial N] [--skip-persistence] [--use-or-rule] [--id ID]\n"
    "           [--wait] [--seconds N]\n"
    "\n"
    "Sends one request and prints its sequence number; with --wait also the three parties' "
    "answers\n"
    "and whether they agree but for node_id: exit status 10 when they do not, 11 when one is not\n"
    "there, or the cluster is not reached, within N seconds (60) in all.\n"
    "\n"
    "TYPE is uniqueness, unless given, or reauth, identity_deletion, reset_check, reset_update,\n"
    "recovery_check or recovery_update. All but deletions send two templates: line A (1) of the "
    "file\n"
    "--left and line B (1) of --right. Reauth, updates and deletions name the record with "
    "--serial.\n"
    "Records of uniqueness requests that match nobody are enrolled, unless --skip-persistence is\n"
    "given. The ID of the message is random unless given, and can be used once.\n";

enum { ID_CHARS = 32 };

struct options {
    const char *target;
    const char *files[UVEA_EYE_COUNT];
    uint64_t lines[UVEA_EYE_COUNT];
    uint64_t seconds;
    bool wait;
    struct uvea_message message;
};

// ---- arguments

static enum uvea_error check_eyes(const struct options *options, struct uvea_error_context *context)
{
    const char *type = uvea_message_kind_text(options->message.kind);
    const bool wanted = uvea_message_has_shares(options->message.kind);
    static const char *const names[] = {"--left", "--right"};
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        if (wanted && options->files[eye] == NULL) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "%s is missing", names[eye]);
        }
        if (!wanted && options->files[eye] != NULL) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "%s: %s sends no templates", names[eye],
                                  type);
        }
    }
    return UVEA_OK;
}

static enum uvea_error check(struct options *options, const char *type, uint64_t serial,
                             bool has_serial, struct uvea_error_context *context)
{
    options->message.kind = uvea_message_kind_find(type);
    if (options->message.kind == UVEA_MESSAGE_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--type: '%s' is none (see: uvea help submit)", type);
    }
    if (has_serial != uvea_message_has_target(options->message.kind)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              has_serial ? "--serial: %s names no record"
                                         : "--serial is missing: "
                                           "%s names a record",
                              type);
    }
    if ((has_serial && serial == 0) || serial > UINT32_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--serial: %" PRIu64 " is not in 1..%u",
                              serial, UINT32_MAX);
    }
    if (options->seconds < 1 || options->seconds > 86400) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seconds: %" PRIu64 " is not in 1..86400",
                              options->seconds);
    }
    if (options->target == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--target is missing");
    }
    options->message.serial_id = (uint32_t)serial;
    return check_eyes(options, context);
}

static enum uvea_error parse(int argc, char **argv, struct options *out,
                             struct uvea_error_context *context)
{
    const char *type = "uniqueness";
    const char *lines = NULL;
    uint64_t serial = 0;
    bool has_serial = false;
    const struct uvea_arg_option options[] = {
        {"--target", UVEA_ARG_TEXT, &out->target, NULL},
        {"--type", UVEA_ARG_TEXT, &type, NULL},
        {"--left", UVEA_ARG_TEXT, &out->files[UVEA_EYE_LEFT], NULL},
        {"--right", UVEA_ARG_TEXT, &out->files[UVEA_EYE_RIGHT], NULL},
        {"--lines", UVEA_ARG_TEXT, &lines, NULL},
        {"--serial", UVEA_ARG_U64, &serial, &has_serial},
        {"--skip-persistence", UVEA_ARG_FLAG, &out->message.skip_persistence, NULL},
        {"--use-or-rule", UVEA_ARG_FLAG, &out->message.use_or_rule, NULL},
        {"--id", UVEA_ARG_TEXT, &out->message.message_id, NULL},
        {"--wait", UVEA_ARG_FLAG, &out->wait, NULL},
        {"--seconds", UVEA_ARG_U64, &out->seconds, NULL},
    };
    struct uvea_arg_positionals none = {.what = "nothing"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &none, context));
    if (lines != NULL) {
        UVEA_TRY(uvea_args_parse_two("--lines", lines, ",", out->lines, context));
    }
    return check(out, type, serial, has_serial, context);
}

// A key of the share store is a part of a path there.
static bool is_key(const char *id)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t len = strlen(id);
    return len >= 1 && len <= 128 && strspn(id, allowed) == len;
}

static enum uvea_error name_message(struct uvea_message *message, char fresh[ID_CHARS + 1],
                                    struct uvea_error_context *context)
{
    uint8_t bytes[ID_CHARS / 2];
    if (message->message_id != NULL && !is_key(message->message_id)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--id: 1 to 128 letters, digits, - and _ are wanted");
    }
    if (message->message_id == NULL) {
        UVEA_TRY(uvea_cmd_entropy(bytes, sizeof(bytes)));
        for (size_t i = 0; i < sizeof(bytes); i++) {
            (void)snprintf(fresh + 2 * i, 3, "%02x", bytes[i]);
        }
        message->message_id = fresh;
    }
    message->id = message->message_id;
    message->s3_key = message->message_id;
    message->has_mirror_flag = true;
    message->mirror_flag = true;
    return UVEA_OK;
}

// ---- the share object

static enum uvea_error seal(const struct uvea_template *eyes[UVEA_EYE_COUNT],
                            const struct uvea_cluster *cluster, struct uvea_buf *object,
                            struct uvea_error_context *context)
{
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    uint8_t keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));
    if (uploads == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        memcpy(keys[party], cluster->parties[party].share_public_key, sizeof(keys[party]));
    }
    enum uvea_error error = uvea_cmd_split(eyes, NULL, uploads, context);
    if (error == UVEA_OK) {
        error = uvea_cmd_entropy(entropy, sizeof(entropy));
    }
    if (error == UVEA_OK) {
        error = uvea_share_object_encode(uploads, (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])keys,
                                         (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])entropy, object);
    }
    uvea_mem_wipe(entropy, sizeof(entropy));
    uvea_mem_wipe(uploads, UVEA_PARTY_COUNT * sizeof(*uploads));
    uvea_mem_free(uploads);
    return error;
}

static enum uvea_error make_object(const struct options *options,
                                   const struct uvea_cluster *cluster, struct uvea_buf *object,
                                   struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    struct uvea_records records[UVEA_EYE_COUNT] = {0};
    const struct uvea_template *eyes[UVEA_EYE_COUNT];
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        UVEA_TRY_CLEANUP(uvea_records_read(options->files[eye], &records[eye], context));
        UVEA_TRY_CLEANUP(uvea_records_get(&records[eye], options->lines[eye], &eyes[eye], context));
    }
    UVEA_TRY_CLEANUP(seal(eyes, cluster, object, context));
cleanup:
    uvea_records_deinit(&records[0]);
    uvea_records_deinit(&records[1]);
    return error;
}

// ---- asking

static const char *agreement(const struct uvea_buf answers[UVEA_PARTY_COUNT])
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (answers[party].len == 0) {
            return "not known";
        }
    }
    return uvea_submit_agree(answers) ? "yes" : "no";
}

static enum uvea_error print_answers(uint64_t sequence,
                                     const struct uvea_buf answers[UVEA_PARTY_COUNT], bool waited,
                                     struct uvea_error_context *context)
{
    struct uvea_output out = {0};
    enum uvea_error error = uvea_output_open(&out, NULL, false, context);
    if (error == UVEA_OK) {
        error = uvea_output_print(&out, context, "sequence %" PRIu64 "\n", sequence);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT && error == UVEA_OK && waited; party++) {
        char head[16];
        const struct uvea_buf *answer = &answers[party];
        const int len = snprintf(head, sizeof(head), "party %u ", party);
        UVEA_TRY_CLEANUP(uvea_output_write(&out, head, (size_t)len, context));
        UVEA_TRY_CLEANUP(answer->len > 0
                             ? uvea_output_write(&out, answer->data, answer->len, context)
                             : uvea_output_print(&out, context, "no answer"));
        UVEA_TRY_CLEANUP(uvea_output_print(&out, context, "\n"));
    }
    if (error == UVEA_OK && waited) {
        error = uvea_output_print(&out, context, "agree: %s\n", agreement(answers));
    }
    if (error == UVEA_OK) {
        error = uvea_output_finish(&out, context);
    }
cleanup:
    uvea_output_close(&out);
    return error;
}

// What came of it as an exit status; error says why there is none.
static int conclude(const struct options *options, enum uvea_error error,
                    const struct uvea_buf answers[UVEA_PARTY_COUNT],
                    const struct uvea_error_context *context)
{
    if (error != UVEA_OK) {
        return uvea_cmd_fail("submit", error, context);
    }
    return !options->wait || uvea_submit_agree(answers) ? UVEA_EXIT_PASS : UVEA_EXIT_WRONG;
}

static enum uvea_error ask(const struct uvea_submit *submit, bool wait,
                           struct uvea_buf answers[UVEA_PARTY_COUNT],
                           struct uvea_error_context *context)
{
    uint64_t sequence;
    uint64_t read[UVEA_PARTY_COUNT] = {0};
    struct uvea_error_context unread = {{0}};
    UVEA_TRY(uvea_submit_upload(submit, context));
    UVEA_TRY(uvea_submit_post(submit, &sequence, context));
    const enum uvea_error error =
        wait ? uvea_submit_await(submit, sequence, read, answers, context) : UVEA_OK;
    const enum uvea_error printed = print_answers(sequence, answers, wait, &unread);
    if (error == UVEA_OK && printed != UVEA_OK) {
        *context = unread;
        return printed;
    }
    return error;
}

// The connection to the cluster.
struct door {
    struct uvea_cluster cluster;
    struct uvea_tls *tls;
    struct uvea_rt *rt;
};

static enum uvea_error open_door(const char *file, struct door *door,
                                 struct uvea_error_context *context)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    UVEA_TRY(uvea_cluster_load(file, &door->cluster, context));
    const struct uvea_tls_config tls = uvea_cluster_tls(&door->cluster);
    UVEA_TRY(uvea_tls_open(&tls, &door->tls, context));
    config.tls = door->tls;
    return uvea_posix_open(&config, &door->rt, context);
}

static void close_door(struct door *door)
{
    uvea_posix_close(door->rt);
    uvea_tls_close(door->tls);
    uvea_cluster_deinit(&door->cluster);
}

static int submit(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct options options = {.lines = {1, 1}, .seconds = 60};
    struct door door = {.rt = NULL};
    struct uvea_buf object = {0};
    struct uvea_buf answers[UVEA_PARTY_COUNT] = {{0}};
    char fresh[ID_CHARS + 1];
    UVEA_TRY_CLEANUP(parse(argc, argv, &options, &context));
    UVEA_TRY_CLEANUP(name_message(&options.message, fresh, &context));
    UVEA_TRY_CLEANUP(open_door(options.target, &door, &context));
    const bool eyes = uvea_message_has_shares(options.message.kind);
    if (eyes) {
        UVEA_TRY_CLEANUP(make_object(&options, &door.cluster, &object, &context));
    }
    struct uvea_submit request = {
        .rt = door.rt,
        .message = &options.message,
        .object = eyes ? &object : NULL,
        .deadline_ns = uvea_rt_deadline_ns(door.rt, options.seconds * UVEA_SECOND),
    };
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        request.addresses[party] = door.cluster.parties[party].http;
    }
    UVEA_TRY_CLEANUP(ask(&request, options.wait, answers, &context));
cleanup:;
    const int status = conclude(&options, error, answers, &context);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_buf_deinit(&answers[party]);
    }
    uvea_buf_deinit(&object);
    close_door(&door);
    return status;
}

const struct uvea_cmd uvea_cmd_submit = {
    .name = "submit",
    .summary = "send one request to a cluster and read its answers",
    .usage = usage,
    .run = submit,
};
