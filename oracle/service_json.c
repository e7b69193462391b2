// Results as a party publishes them. Source: service.md 4, and 12 for malformed requests.
#include "oracle/json.h"
#include "oracle/service.h"

// One result's text, and what it is made from.
struct report {
    struct uvea_oracle_json json;
    const struct uvea_oracle_order *orders;
    const struct uvea_oracle_order *order;
    const struct uvea_oracle_ruling *ruling;
    unsigned node_id;
    bool hidden; // partial results
    bool failed; // the error form
};

static void put_error(struct report *report)
{
    if (report->failed) {
        uvea_oracle_json_bool(&report->json, "error", true);
        uvea_oracle_json_text(&report->json, "error_reason", report->ruling->error_reason);
    } else {
        uvea_oracle_json_null(&report->json, "error");
        uvea_oracle_json_null(&report->json, "error_reason");
    }
}

static void put_nulls(struct report *report, const char *const *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uvea_oracle_json_null(&report->json, members[i]);
    }
}

// The earlier requests of the batch that match: those in normal orientation, then those in mirror
// orientation, each in order of arrival.
static void put_batch_matches(struct report *report)
{
    const char *ids[UVEA_ORACLE_ORIENTATIONS * UVEA_ORACLE_BATCH_MAX];
    size_t count = 0;
    for (unsigned o = 0; o < UVEA_ORACLE_ORIENTATIONS; o++) {
        for (uint32_t i = 0; i < report->ruling->batch_match_count[o]; i++) {
            ids[count++] = report->orders[report->ruling->batch_matches[o][i]].id;
        }
    }
    uvea_oracle_json_texts(&report->json, "matched_batch_request_ids", ids, count);
}

static void uniqueness_failed(struct report *report)
{
    static const char *const normal[] = {
        "matched_serial_ids",
        "matched_serial_ids_left",
        "matched_serial_ids_right",
        "partial_matches_count_right",
        "partial_matches_count_left",
        "partial_match_rotation_indices_left",
        "partial_match_rotation_indices_right",
        "matched_batch_request_ids",
    };
    static const char *const mirror[] = {
        "full_face_mirror_matched_serial_ids",
        "full_face_mirror_matched_serial_ids_left",
        "full_face_mirror_matched_serial_ids_right",
        "full_face_mirror_partial_matches_count_left",
        "full_face_mirror_partial_matches_count_right",
    };
    struct uvea_oracle_json *json = &report->json;
    uvea_oracle_json_number(json, "node_id", report->node_id);
    uvea_oracle_json_null(json, "serial_id");
    uvea_oracle_json_bool(json, "is_match", false);
    uvea_oracle_json_text(json, "signup_id", report->order->id);
    put_nulls(report, normal, sizeof(normal) / sizeof(normal[0]));
    uvea_oracle_json_bool(json, "full_face_mirror_attack_detected", false);
    put_nulls(report, mirror, sizeof(mirror) / sizeof(mirror[0]));
}

static void uniqueness(struct report *report)
{
    const struct uvea_oracle_ruling *ruling = report->ruling;
    const struct uvea_oracle_search *normal = &ruling->search[UVEA_ORACLE_NORMAL];
    struct uvea_oracle_json *json = &report->json;
    uvea_oracle_json_number(json, "node_id", report->node_id);
    if (ruling->inserts) {
        uvea_oracle_json_number(json, "serial_id", ruling->serial);
    } else {
        uvea_oracle_json_null(json, "serial_id");
    }
    uvea_oracle_json_bool(json, "is_match", ruling->matched);
    uvea_oracle_json_text(json, "signup_id", report->order->id);
    if (ruling->inserts) {
        uvea_oracle_json_null(json, "matched_serial_ids");
    } else {
        uvea_oracle_json_serials(json, "matched_serial_ids", normal, UVEA_ORACLE_LIST_FULL, 0,
                                 false);
    }
    uvea_oracle_json_normal(json, normal, report->hidden);
    put_batch_matches(report);
    uvea_oracle_json_bool(json, "full_face_mirror_attack_detected", ruling->mirror_attack);
    uvea_oracle_json_mirror(json, &ruling->search[UVEA_ORACLE_MIRROR], report->hidden);
}

static void reauth(struct report *report)
{
    const struct uvea_oracle_order *order = report->order;
    const struct uvea_oracle_ruling *ruling = report->ruling;
    struct uvea_oracle_json *json = &report->json;
    uvea_oracle_json_text(json, "reauth_id", order->id);
    uvea_oracle_json_number(json, "node_id", report->node_id);
    uvea_oracle_json_number(json, "serial_id", order->serial_id);
    uvea_oracle_json_bool(json, "success", ruling->matched);
    if (report->failed) {
        uvea_oracle_json_texts(json, "matched_serial_ids", NULL, 0);
    } else {
        uvea_oracle_json_serials(json, "matched_serial_ids", &ruling->search[UVEA_ORACLE_NORMAL],
                                 UVEA_ORACLE_LIST_FULL, ruling->matched ? order->serial_id : 0,
                                 false);
    }
    uvea_oracle_json_bool(json, "or_rule_used", !report->failed && order->use_or_rule);
}

static void check_failed(struct report *report)
{
    static const char *const members[] = {
        "matched_serial_ids",        "matched_serial_ids_left",     "matched_serial_ids_right",
        "matched_batch_request_ids", "partial_matches_count_right", "partial_matches_count_left",
    };
    put_nulls(report, members, sizeof(members) / sizeof(members[0]));
}

static void check_lists(struct report *report)
{
    const struct uvea_oracle_search *normal = &report->ruling->search[UVEA_ORACLE_NORMAL];
    struct uvea_oracle_json *json = &report->json;
    uvea_oracle_json_serials(json, "matched_serial_ids", normal, UVEA_ORACLE_LIST_FULL, 0, false);
    if (report->hidden) {
        uvea_oracle_json_null(json, "matched_serial_ids_left");
        uvea_oracle_json_null(json, "matched_serial_ids_right");
    } else {
        uvea_oracle_json_serials(json, "matched_serial_ids_left", normal, UVEA_ORACLE_LIST_LEFT, 0,
                                 false);
        uvea_oracle_json_serials(json, "matched_serial_ids_right", normal, UVEA_ORACLE_LIST_RIGHT,
                                 0, false);
    }
    put_batch_matches(report);
    uvea_oracle_json_number(json, "partial_matches_count_right",
                            report->hidden ? 0 : normal->partial_count[UVEA_ORACLE_RIGHT]);
    uvea_oracle_json_number(json, "partial_matches_count_left",
                            report->hidden ? 0 : normal->partial_count[UVEA_ORACLE_LEFT]);
}

static void check(struct report *report)
{
    uvea_oracle_json_text(&report->json, "request_id", report->order->id);
    uvea_oracle_json_number(&report->json, "node_id", report->node_id);
    if (report->failed) {
        check_failed(report);
    } else {
        check_lists(report);
    }
}

static void acknowledgement(struct report *report)
{
    uvea_oracle_json_text(&report->json, "request_id", report->order->id);
    uvea_oracle_json_number(&report->json, "node_id", report->node_id);
    uvea_oracle_json_number(&report->json, "serial_id", report->order->serial_id);
}

static void deletion(struct report *report)
{
    uvea_oracle_json_number(&report->json, "node_id", report->node_id);
    uvea_oracle_json_number(&report->json, "serial_id", report->order->serial_id);
    uvea_oracle_json_bool(&report->json, "success", !report->failed);
}

static void malformed(struct report *report)
{
    uvea_oracle_json_text(&report->json, "message_id", report->order->message_id);
    uvea_oracle_json_number(&report->json, "node_id", report->node_id);
}

static void put_all(struct report *report)
{
    switch (report->order->kind) {
    case UVEA_ORACLE_UNIQUENESS:
        if (report->failed) {
            uniqueness_failed(report);
        } else {
            uniqueness(report);
        }
        break;
    case UVEA_ORACLE_REAUTH:
        reauth(report);
        break;
    case UVEA_ORACLE_DELETION:
        deletion(report);
        break;
    case UVEA_ORACLE_RESET_CHECK:
    case UVEA_ORACLE_RECOVERY_CHECK:
        check(report);
        break;
    case UVEA_ORACLE_RESET_UPDATE:
    case UVEA_ORACLE_RECOVERY_UPDATE:
        acknowledgement(report);
        break;
    case UVEA_ORACLE_MALFORMED:
        malformed(report);
        break;
    }
    put_error(report);
}

enum uvea_error uvea_oracle_result(const struct uvea_oracle_service *service,
                                   const struct uvea_oracle_order *orders, size_t count,
                                   const struct uvea_oracle_ruling *rulings, size_t at,
                                   unsigned node_id, struct uvea_buf *buf,
                                   struct uvea_error_context *context)
{
    if (at >= count) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the batch has no request %zu", at);
    }
    struct report report = {
        .orders = orders,
        .order = &orders[at],
        .ruling = &rulings[at],
        .node_id = node_id,
        .hidden = !service->config.return_partial_results,
        .failed = rulings[at].error_reason != NULL,
    };
    uvea_oracle_json_begin(&report.json);
    put_all(&report);
    return uvea_oracle_json_end(&report.json, buf, context);
}
