// Requests as messages: golden texts, round trips, and a sentence for every way to be malformed.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/service/message.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "{\"Type\":\"Notification\",\"MessageId\":\"m-1\",\"SequenceNumber\":\"0\","                   \
    "\"TopicArn\":\"uvea\",\"Message\":\""
#define MIDDLE                                                                                     \
    "\",\"Timestamp\":\"1970-01-01T00:00:00.000Z\",\"UnsubscribeURL\":\"\","                       \
    "\"MessageAttributes\":{\"message_type\":{\"Type\":\"String\",\"Value\":\""
#define TAIL "\"}}}"
// An envelope around a payload whose quotes are escaped already.
#define ENVELOPE(kind, payload) HEAD payload MIDDLE kind TAIL

static struct uvea_message parse_bytes(const void *bytes, size_t count)
{
    struct uvea_message message;
    // A copy of exactly this size, so that a read past its end is seen.
    uint8_t *copy = malloc(count > 0 ? count : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    assert_int_equal(uvea_message_parse(copy, count, &message), UVEA_OK);
    free(copy);
    return message;
}

static struct uvea_message parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void assert_same(const struct uvea_message *a, const struct uvea_message *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->message_id, b->message_id);
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->s3_key, b->s3_key);
    assert_int_equal(a->serial_id, b->serial_id);
    assert_int_equal(a->or_rule_count, b->or_rule_count);
    if (a->or_rule_count > 0) {
        assert_memory_equal(a->or_rule_serial_ids, b->or_rule_serial_ids, 4 * a->or_rule_count);
    }
    assert_int_equal(a->skip_persistence, b->skip_persistence);
    assert_int_equal(a->has_mirror_flag, b->has_mirror_flag);
    assert_int_equal(a->mirror_flag, b->mirror_flag);
    assert_int_equal(a->use_or_rule, b->use_or_rule);
    assert_int_equal(a->disable_anonymized_stats, b->disable_anonymized_stats);
    assert_string_equal(a->trace_id, b->trace_id);
    assert_string_equal(a->span_id, b->span_id);
}

// ---- golden texts

static uint32_t or_rule[] = {7, 0, 4294967295};

static const struct golden {
    struct uvea_message message;
    const char *text;
} goldens[] = {
    {{.kind = UVEA_MESSAGE_UNIQUENESS, .id = "who", .s3_key = "key"},
     ENVELOPE("uniqueness", "{\\\"signup_id\\\":\\\"who\\\",\\\"s3_key\\\":\\\"key\\\"}")},
    {{.kind = UVEA_MESSAGE_UNIQUENESS,
      .id = "who",
      .s3_key = "key",
      .or_rule_serial_ids = or_rule,
      .or_rule_count = 3,
      .skip_persistence = true,
      .has_mirror_flag = true,
      .mirror_flag = true,
      .disable_anonymized_stats = true},
     ENVELOPE("uniqueness",
              "{\\\"signup_id\\\":\\\"who\\\",\\\"s3_key\\\":\\\"key\\\","
              "\\\"or_rule_serial_ids\\\":[7,0,4294967295],\\\"skip_persistence\\\":true,"
              "\\\"full_face_mirror_attacks_detection_enabled\\\":true,"
              "\\\"disable_anonymized_stats\\\":true}")},
    {{.kind = UVEA_MESSAGE_UNIQUENESS, .id = "who", .s3_key = "key", .has_mirror_flag = true},
     ENVELOPE("uniqueness", "{\\\"signup_id\\\":\\\"who\\\",\\\"s3_key\\\":\\\"key\\\","
                            "\\\"full_face_mirror_attacks_detection_enabled\\\":false}")},
    {{.kind = UVEA_MESSAGE_REAUTH, .id = "again", .s3_key = "key", .serial_id = 12},
     ENVELOPE("reauth", "{\\\"reauth_id\\\":\\\"again\\\",\\\"s3_key\\\":\\\"key\\\","
                        "\\\"serial_id\\\":12,\\\"use_or_rule\\\":false}")},
    {{.kind = UVEA_MESSAGE_REAUTH,
      .id = "again",
      .s3_key = "key",
      .serial_id = 12,
      .skip_persistence = true,
      .use_or_rule = true},
     ENVELOPE("reauth",
              "{\\\"reauth_id\\\":\\\"again\\\",\\\"s3_key\\\":\\\"key\\\",\\\"serial_id\\\":12,"
              "\\\"skip_persistence\\\":true,\\\"use_or_rule\\\":true}")},
    {{.kind = UVEA_MESSAGE_RESET_CHECK, .id = "r", .s3_key = "k"},
     ENVELOPE("reset_check", "{\\\"request_id\\\":\\\"r\\\",\\\"s3_key\\\":\\\"k\\\"}")},
    {{.kind = UVEA_MESSAGE_RECOVERY_CHECK, .id = "r", .s3_key = "k"},
     ENVELOPE("recovery_check", "{\\\"request_id\\\":\\\"r\\\",\\\"s3_key\\\":\\\"k\\\"}")},
    {{.kind = UVEA_MESSAGE_RESET_UPDATE, .id = "r", .s3_key = "k", .serial_id = 1},
     ENVELOPE("reset_update",
              "{\\\"request_id\\\":\\\"r\\\",\\\"s3_key\\\":\\\"k\\\",\\\"serial_id\\\":1}")},
    {{.kind = UVEA_MESSAGE_RECOVERY_UPDATE, .id = "r", .s3_key = "k", .serial_id = UINT32_MAX},
     ENVELOPE("recovery_update", "{\\\"request_id\\\":\\\"r\\\",\\\"s3_key\\\":\\\"k\\\","
                                 "\\\"serial_id\\\":4294967295}")},
    {{.kind = UVEA_MESSAGE_IDENTITY_DELETION},
     ENVELOPE("identity_deletion", "{\\\"serial_id\\\":0}")},
};

// A golden message with "" where a client may leave NULL.
static struct uvea_message filled(const struct uvea_message *message)
{
    struct uvea_message full = *message;
    full.message_id = "m-1";
    full.id = full.id != NULL ? full.id : "";
    full.s3_key = full.s3_key != NULL ? full.s3_key : "";
    full.trace_id = full.trace_id != NULL ? full.trace_id : "";
    full.span_id = full.span_id != NULL ? full.span_id : "";
    return full;
}

static void texts_are_exact_and_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(goldens); i++) {
        struct uvea_message message = goldens[i].message;
        const struct uvea_message want = filled(&message);
        struct uvea_buf buf = {0};
        message.message_id = "m-1";
        assert_int_equal(uvea_buf_append(&buf, "kept", 4), UVEA_OK);
        assert_int_equal(uvea_message_encode(&message, &buf), UVEA_OK);
        assert_memory_equal(buf.data, "kept", 4);
        assert_string_equal((char *)buf.data + 4, goldens[i].text);
        assert_int_equal(buf.len, 4 + strlen(goldens[i].text));
        struct uvea_message found = parse(goldens[i].text);
        assert_same(&found, &want);
        assert_null(found.malformed);
        uvea_message_deinit(&found);
        assert_null(found.owner);
        uvea_buf_deinit(&buf);
    }
}

// Kinds, their texts, and what they have.
static void kinds_are_as_specified(void **state)
{
    static const struct {
        const char *text;
        enum uvea_message_kind kind;
        bool target, shares, searched;
    } kinds[] = {
        {"uniqueness", UVEA_MESSAGE_UNIQUENESS, false, true, true},
        {"reauth", UVEA_MESSAGE_REAUTH, true, true, true},
        {"identity_deletion", UVEA_MESSAGE_IDENTITY_DELETION, true, false, false},
        {"reset_check", UVEA_MESSAGE_RESET_CHECK, false, true, true},
        {"reset_update", UVEA_MESSAGE_RESET_UPDATE, true, true, false},
        {"recovery_check", UVEA_MESSAGE_RECOVERY_CHECK, false, true, true},
        {"recovery_update", UVEA_MESSAGE_RECOVERY_UPDATE, true, true, false},
        {"malformed", UVEA_MESSAGE_MALFORMED, false, false, false},
    };
    (void)state;
    assert_int_equal(UVEA_COUNT_OF(kinds), UVEA_MESSAGE_COUNT);
    for (size_t i = 0; i < UVEA_COUNT_OF(kinds); i++) {
        const enum uvea_message_kind kind = kinds[i].kind;
        const bool request = kind != UVEA_MESSAGE_MALFORMED;
        assert_string_equal(uvea_message_kind_text(kind), kinds[i].text);
        assert_int_equal(uvea_message_kind_find(kinds[i].text),
                         request ? kind : UVEA_MESSAGE_COUNT);
        assert_int_equal(uvea_message_kind_order(kind), i); // service.md 4, order of publication
        assert_int_equal(uvea_message_has_target(kind), kinds[i].target);
        assert_int_equal(uvea_message_has_shares(kind), kinds[i].shares);
        assert_int_equal(uvea_message_is_searched(kind), kinds[i].searched);
    }
    assert_int_equal(uvea_message_kind_find(""), UVEA_MESSAGE_COUNT);
    assert_int_equal(uvea_message_kind_find("Uniqueness"), UVEA_MESSAGE_COUNT);
    assert_int_equal(uvea_message_kind_find("circuit_breaker"), UVEA_MESSAGE_COUNT);
}

// ---- tolerance: unknown members, null optionals, other spellings of the same

static void unknown_members_and_nulls_do_not_matter(void **state)
{
    static const char *const texts[] = {
        // null for every optional member, unknown members at every level
        "{ \"new\": [1, {\"a\": null}], \"Type\": \"N\", \"MessageId\": \"m-1\","
        "\"SequenceNumber\": \"0000000000000000000000000000000000012345\" , \"TopicArn\": \"\","
        "\"Message\": \"{\\\"s3_key\\\":\\\"key\\\",\\\"later\\\":{},"
        "\\\"signup_id\\\":\\\"who\\\",\\\"or_rule_serial_ids\\\":null,"
        "\\\"skip_persistence\\\":null,\\\"full_face_mirror_attacks_detection_enabled\\\":null,"
        "\\\"disable_anonymized_stats\\\":null,\\\"serial_id\\\":\\\"x\\\"}\","
        "\"Timestamp\": \"\", \"UnsubscribeURL\": \"\", \"SignatureVersion\": 1,"
        "\"MessageAttributes\": {\"NodeID\": {\"Type\": \"String\", \"Value\": \"2\"},"
        "\"message_type\": {\"Type\": \"String\", \"Value\": \"uniqueness\", \"x\": 1},"
        "\"TraceID\": {\"Type\": \"Number\", \"Value\": \"17\"}}}",
        // an empty list, false flags, escapes
        ENVELOPE("uniqueness",
                 "{\\\"signup\\\\u005fid\\\":\\\"\\\\u0077ho\\\",\\\"s3_key\\\":\\\"key\\\","
                 "\\\"or_rule_serial_ids\\\":[],\\\"skip_persistence\\\":false,"
                 "\\\"disable_anonymized_stats\\\":false}"),
    };
    const struct uvea_message want = filled(&goldens[0].message);
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(texts); i++) {
        struct uvea_message found = parse(texts[i]);
        if (found.kind == UVEA_MESSAGE_MALFORMED) {
            print_message("%s\n", found.malformed);
        }
        assert_same(&found, &want);
        uvea_message_deinit(&found);
    }
}

static void traces_are_kept(void **state)
{
    const struct uvea_message message = {.kind = UVEA_MESSAGE_IDENTITY_DELETION,
                                         .message_id = "m-1",
                                         .serial_id = 3,
                                         .trace_id = "tr\"ace",
                                         .span_id = "sp\xc3\xa9"};
    const struct uvea_message want = filled(&message);
    struct uvea_buf buf = {0};
    (void)state;
    assert_int_equal(uvea_message_encode(&message, &buf), UVEA_OK);
    struct uvea_message found = parse_bytes(buf.data, buf.len);
    assert_same(&found, &want);
    uvea_message_deinit(&found);
    uvea_buf_deinit(&buf);
}

// Whatever an id holds comes back, up to the longest one.
static void ids_survive(void **state)
{
    char longest[UVEA_MESSAGE_ID_BYTES_MAX + 1];
    memset(longest, '\x01', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    const char *const ids[] = {"", "a\"b\\c/\n\t\x01", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x91\x81",
                               "{\"serial_id\":9}", longest};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(ids); i++) {
        const struct uvea_message message = {.kind = UVEA_MESSAGE_RESET_UPDATE,
                                             .message_id = i == 0 ? "m" : ids[i],
                                             .id = ids[i],
                                             .s3_key = ids[i],
                                             .serial_id = 4,
                                             .trace_id = ids[i],
                                             .span_id = ids[i]};
        struct uvea_buf buf = {0};
        assert_int_equal(uvea_message_encode(&message, &buf), UVEA_OK);
        struct uvea_message found = parse_bytes(buf.data, buf.len);
        assert_same(&found, &message);
        uvea_message_deinit(&found);
        uvea_buf_deinit(&buf);
    }
}

// ---- refusals

#define DELETION "{\\\"serial_id\\\":5}"
#define UNIQUE(more) "{\\\"signup_id\\\":\\\"w\\\",\\\"s3_key\\\":\\\"k\\\"" more "}"
#define REAUTH(more) "{\\\"reauth_id\\\":\\\"w\\\",\\\"s3_key\\\":\\\"k\\\"" more "}"
#define REQUEST(more) "{\\\"request_id\\\":\\\"w\\\",\\\"s3_key\\\":\\\"k\\\"" more "}"

static const struct refusal {
    const char *text;
    const char *message_id;
    const char *sentence;
} refusals[] = {
    // no envelope
    {"", "", "the envelope: JSON: there is no text, an object is wanted"},
    {"hello", "", "the envelope: JSON: syntax error (line 1, column 5)"},
    {"[]", "", "the envelope: JSON: the text is not an object"},
    {"null", "", "the envelope: JSON: syntax error (line 1, column 4)"},
    {"{\"MessageId\":\"m-1\"", "", "the envelope: JSON: the text ends early (line 1, column 18)"},
    {"{\"MessageId\":\"m-1\",\"MessageId\":\"m-1\"}", "",
     "the envelope: JSON: an object has a member twice (line 1, column 30)"},
    {"{\"MessageId\":\"m\xff\"}", "",
     "the envelope: JSON: a string holds an invalid character (line 1, column 15)"},
    {"{\"MessageId\":\"m\\u0000\"}", "",
     "the envelope: JSON: a string holds an invalid character (line 1, column 22)"},
    {"{\"MessageId\":\"m\\ud800\"}", "", "the envelope: JSON: syntax error (line 1, column 22)"},
    {"{\"MessageId\":\"m-1\"}{}", "",
     "the envelope: JSON: text follows the value (line 1, column 20)"},
    {"{\"a\":[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}", "",
     "the envelope: JSON: nested more than 16 deep"},
    {"{\"a\":99999999999999999999}", "", "the envelope: JSON: syntax error (line 1, column 25)"},
    {"{}", "", "the envelope: member MessageId is missing"},
    {"{\"MessageId\":null}", "", "the envelope: member MessageId is not a string"},
    {"{\"MessageId\":7}", "", "the envelope: member MessageId is not a string"},
    {"{\"MessageId\":\"\"}", "", "the envelope: member MessageId is empty"},
    {"{\"MessageId\":\"m-1\"}", "m-1", "the envelope: member Type is missing"},
    {"{\"MessageId\":\"m-1\",\"Type\":1}", "m-1", "the envelope: member Type is not a string"},
    // no kind, other kinds
    {ENVELOPE("", DELETION), "m-1", "message_type is no kind of request"},
    {ENVELOPE("circuit_breaker", DELETION), "m-1", "message_type is no kind of request"},
    {ENVELOPE("anonymized_statistics", DELETION), "m-1", "message_type is no kind of request"},
    {ENVELOPE("malformed", DELETION), "m-1", "message_type is no kind of request"},
    {ENVELOPE("batch_message", DELETION), "m-1", "message_type is no kind of request"},
    // payloads that are none
    {ENVELOPE("identity_deletion", ""), "m-1",
     "the payload: JSON: there is no text, an object is wanted"},
    {ENVELOPE("identity_deletion", "eyJzZXJpYWxfaWQiOjV9"), "m-1",
     "the payload: JSON: syntax error (line 1, column 19)"},
    {ENVELOPE("identity_deletion", "[5]"), "m-1", "the payload: JSON: the text is not an object"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":5"), "m-1",
     "the payload: JSON: the text ends early (line 1, column 14)"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":5,\\\"serial\\\\u005fid\\\":5}"), "m-1",
     "the payload: JSON: an object has a member twice (line 1, column 31)"},
    {ENVELOPE("identity_deletion", "{\\\"x\\\":{\\\"y\\\":1,\\\"y\\\":2},\\\"serial_id\\\":5}"),
     "m-1", "the payload: JSON: an object has a member twice (line 1, column 15)"},
    // serials
    {ENVELOPE("identity_deletion", "{}"), "m-1", "the payload: member serial_id is missing"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":null}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":\\\"5\\\"}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":5.0}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":-1}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":4294967296}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("identity_deletion", "{\\\"serial_id\\\":true}"), "m-1",
     "the payload: member serial_id is no serial"},
    {ENVELOPE("reauth", REAUTH(",\\\"use_or_rule\\\":true")), "m-1",
     "the payload: member serial_id is missing"},
    {ENVELOPE("reset_update", REQUEST("")), "m-1", "the payload: member serial_id is missing"},
    {ENVELOPE("recovery_update", REQUEST(",\\\"serial_id\\\":-0.5")), "m-1",
     "the payload: member serial_id is no serial"},
    // ids and keys
    {ENVELOPE("uniqueness", "{\\\"s3_key\\\":\\\"k\\\"}"), "m-1",
     "the payload: member signup_id is missing"},
    {ENVELOPE("uniqueness", "{\\\"signup_id\\\":null,\\\"s3_key\\\":\\\"k\\\"}"), "m-1",
     "the payload: member signup_id is not a string"},
    {ENVELOPE("uniqueness", "{\\\"signup_id\\\":\\\"w\\\"}"), "m-1",
     "the payload: member s3_key is missing"},
    {ENVELOPE("uniqueness", "{\\\"signup_id\\\":\\\"w\\\",\\\"s3_key\\\":3}"), "m-1",
     "the payload: member s3_key is not a string"},
    {ENVELOPE("reauth", UNIQUE("")), "m-1", "the payload: member reauth_id is missing"},
    {ENVELOPE("reset_check", UNIQUE("")), "m-1", "the payload: member request_id is missing"},
    {ENVELOPE("reset_update", UNIQUE("")), "m-1", "the payload: member request_id is missing"},
    {ENVELOPE("recovery_check", REAUTH("")), "m-1", "the payload: member request_id is missing"},
    {ENVELOPE("recovery_update", REAUTH("")), "m-1", "the payload: member request_id is missing"},
    // flags and lists
    {ENVELOPE("uniqueness", UNIQUE(",\\\"skip_persistence\\\":1")), "m-1",
     "the payload: member skip_persistence is not a boolean"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"disable_anonymized_stats\\\":\\\"true\\\"")), "m-1",
     "the payload: member disable_anonymized_stats is not a boolean"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"full_face_mirror_attacks_detection_enabled\\\":\\\"\\\"")),
     "m-1", "the payload: member full_face_mirror_attacks_detection_enabled is not a boolean"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"or_rule_serial_ids\\\":4")), "m-1",
     "the payload: member or_rule_serial_ids is not an array"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"or_rule_serial_ids\\\":[1,null]")), "m-1",
     "the payload: member or_rule_serial_ids holds something that is no serial"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"or_rule_serial_ids\\\":[1,[2]]")), "m-1",
     "the payload: member or_rule_serial_ids holds something that is no serial"},
    {ENVELOPE("uniqueness", UNIQUE(",\\\"or_rule_serial_ids\\\":[4294967296]")), "m-1",
     "the payload: member or_rule_serial_ids holds something that is no serial"},
    {ENVELOPE("reauth", REAUTH(",\\\"serial_id\\\":1")), "m-1",
     "the payload: member use_or_rule is missing"},
    {ENVELOPE("reauth", REAUTH(",\\\"serial_id\\\":1,\\\"use_or_rule\\\":null")), "m-1",
     "the payload: member use_or_rule is missing"},
    {ENVELOPE("reauth", REAUTH(",\\\"serial_id\\\":1,\\\"use_or_rule\\\":\\\"no\\\"")), "m-1",
     "the payload: member use_or_rule is not a boolean"},
    {ENVELOPE("reauth", REAUTH(",\\\"serial_id\\\":1,\\\"use_or_rule\\\":true,"
                               "\\\"skip_persistence\\\":{}")),
     "m-1", "the payload: member skip_persistence is not a boolean"},
};

static void assert_malformed(struct uvea_message *message, const char *message_id,
                             const char *sentence)
{
    assert_int_equal(message->kind, UVEA_MESSAGE_MALFORMED);
    assert_non_null(message->malformed);
    assert_string_equal(message->malformed, sentence);
    assert_string_equal(message->message_id, message_id);
    // Nothing half read is left over.
    assert_string_equal(message->id, "");
    assert_string_equal(message->s3_key, "");
    assert_string_equal(message->trace_id, "");
    assert_string_equal(message->span_id, "");
    assert_int_equal(message->serial_id, 0);
    assert_int_equal(message->or_rule_count, 0);
    assert_null(message->or_rule_serial_ids);
    assert_false(message->skip_persistence || message->has_mirror_flag || message->mirror_flag ||
                 message->use_or_rule || message->disable_anonymized_stats);
    uvea_message_deinit(message);
}

static void every_fault_has_its_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(refusals); i++) {
        struct uvea_message message = parse(refusals[i].text);
        assert_malformed(&message, refusals[i].message_id, refusals[i].sentence);
    }
}

// Copies text with the first `from` replaced by `to`.
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *copy;
    assert_non_null(at);
    assert_true(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    return copy;
}

// One change each to a good envelope.
static void every_envelope_member_counts(void **state)
{
    static const struct {
        const char *from, *to, *sentence;
    } changes[] = {
        {"\"Type\":\"Notification\",", "", "the envelope: member Type is missing"},
        {"\"TopicArn\":\"uvea\",", "", "the envelope: member TopicArn is missing"},
        {"\"Timestamp\":\"1970-01-01T00:00:00.000Z\",", "",
         "the envelope: member Timestamp is missing"},
        {"\"Timestamp\":\"1970-01-01T00:00:00.000Z\"", "\"Timestamp\":0",
         "the envelope: member Timestamp is not a string"},
        {"\"UnsubscribeURL\":\"\",", "", "the envelope: member UnsubscribeURL is missing"},
        {"\"SequenceNumber\":\"0\",", "", "the envelope: member SequenceNumber is missing"},
        {"\"SequenceNumber\":\"0\"", "\"SequenceNumber\":0",
         "the envelope: member SequenceNumber is not a string"},
        {"\"SequenceNumber\":\"0\"", "\"SequenceNumber\":\"\"",
         "the envelope: member SequenceNumber is not 1 to 40 digits"},
        {"\"SequenceNumber\":\"0\"", "\"SequenceNumber\":\"12a\"",
         "the envelope: member SequenceNumber is not 1 to 40 digits"},
        {"\"SequenceNumber\":\"0\"", "\"SequenceNumber\":\"-1\"",
         "the envelope: member SequenceNumber is not 1 to 40 digits"},
        {"\"SequenceNumber\":\"0\"",
         "\"SequenceNumber\":\"00000000000000000000000000000000000000001\"",
         "the envelope: member SequenceNumber is not 1 to 40 digits"},
        {"\"Message\":\"{\\\"serial_id\\\":5}\",", "", "the envelope: member Message is missing"},
        {"\"Message\":\"{\\\"serial_id\\\":5}\"", "\"Message\":{\"serial_id\":5}",
         "the envelope: member Message is not a string"},
        {"\"MessageAttributes\"", "\"Other\"", "the envelope: member MessageAttributes is missing"},
        {"{\"message_type\":{\"Type\":\"String\",\"Value\":\"identity_deletion\"}}", "[]",
         "the envelope: member MessageAttributes is not an object"},
        {"\"message_type\"", "\"type\"", "attribute message_type is missing"},
        {"\"Type\":\"String\"", "\"Type\":\"Binary\"", "attribute message_type is missing"},
        {"\"Type\":\"String\",", "",
         "the envelope: member MessageAttributes holds something that is no attribute"},
        {"\"Value\":\"identity_deletion\"", "\"Value\":7",
         "the envelope: member MessageAttributes holds something that is no attribute"},
        {"{\"message_type\":", "{\"NodeID\":3,\"message_type\":",
         "the envelope: member MessageAttributes holds something that is no attribute"},
    };
    static const char good[] = ENVELOPE("identity_deletion", DELETION);
    struct uvea_message message = parse(good);
    (void)state;
    assert_int_equal(message.kind, UVEA_MESSAGE_IDENTITY_DELETION);
    assert_int_equal(message.serial_id, 5);
    uvea_message_deinit(&message);
    for (size_t i = 0; i < UVEA_COUNT_OF(changes); i++) {
        char *text = replaced(good, changes[i].from, changes[i].to);
        message = parse(text);
        assert_malformed(&message, "m-1", changes[i].sentence);
        free(text);
    }
}

// ---- bounds

static char *filled_text(const char *before, char fill, size_t count, const char *after)
{
    char *text = malloc(strlen(before) + count + strlen(after) + 1);
    assert_non_null(text);
    memcpy(text, before, strlen(before));
    memset(text + strlen(before), fill, count);
    memcpy(text + strlen(before) + count, after, strlen(after) + 1);
    return text;
}

static void ids_are_bounded(void **state)
{
    static const struct {
        const char *before, *after, *message_id, *sentence;
    } cases[] = {
        {"{\"MessageId\":\"", "\"}", "", "the envelope: member MessageId is too long"},
        {HEAD "{\\\"signup_id\\\":\\\"", "\\\",\\\"s3_key\\\":\\\"k\\\"}" MIDDLE "uniqueness" TAIL,
         "m-1", "the payload: member signup_id is too long"},
        {HEAD "{\\\"signup_id\\\":\\\"w\\\",\\\"s3_key\\\":\\\"", "\\\"}" MIDDLE "uniqueness" TAIL,
         "m-1", "the payload: member s3_key is too long"},
        {HEAD DELETION MIDDLE "identity_deletion\"},\"TraceID\":{\"Type\":\"String\",\"Value\":\"",
         TAIL, "m-1", "attribute TraceID is too long"},
        {HEAD DELETION MIDDLE "identity_deletion\"},\"SpanID\":{\"Type\":\"String\",\"Value\":\"",
         TAIL, "m-1", "attribute SpanID is too long"},
    };
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        char *text = filled_text(cases[i].before, 'x', UVEA_MESSAGE_ID_BYTES_MAX, cases[i].after);
        struct uvea_message message = parse(text);
        assert_true(message.kind != UVEA_MESSAGE_MALFORMED || i == 0);
        uvea_message_deinit(&message);
        free(text);
        text = filled_text(cases[i].before, 'x', UVEA_MESSAGE_ID_BYTES_MAX + 1, cases[i].after);
        message = parse(text);
        assert_malformed(&message, cases[i].message_id, cases[i].sentence);
        free(text);
    }
}

static void envelopes_are_bounded(void **state)
{
    static const char good[] = ENVELOPE("identity_deletion", DELETION);
    char *text = filled_text("", ' ', UVEA_MESSAGE_BYTES_MAX - strlen(good), good);
    struct uvea_message message = parse(text);
    (void)state;
    assert_int_equal(message.kind, UVEA_MESSAGE_IDENTITY_DELETION);
    uvea_message_deinit(&message);
    free(text);
    text = filled_text("", ' ', UVEA_MESSAGE_BYTES_MAX - strlen(good) + 1, good);
    message = parse(text);
    assert_malformed(&message, "", "the envelope has more than 262144 bytes");
    free(text);
}

static void lists_are_bounded(void **state)
{
    static uint32_t serials[UVEA_MESSAGE_OR_RULE_MAX + 1];
    struct uvea_message message = {.kind = UVEA_MESSAGE_UNIQUENESS,
                                   .message_id = "m-1",
                                   .or_rule_serial_ids = serials,
                                   .or_rule_count = UVEA_MESSAGE_OR_RULE_MAX};
    struct uvea_buf buf = {0};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(serials); i++) {
        serials[i] = UINT32_MAX - (uint32_t)i;
    }
    const struct uvea_message want = filled(&message);
    assert_int_equal(uvea_message_encode(&message, &buf), UVEA_OK);
    struct uvea_message found = parse_bytes(buf.data, buf.len);
    assert_same(&found, &want);
    uvea_message_deinit(&found);
    char *text = replaced((char *)buf.data, "[4294967295", "[1,4294967295");
    found = parse(text);
    assert_malformed(&found, "m-1", "the payload: member or_rule_serial_ids is too long");
    free(text);
    uvea_buf_deinit(&buf);
}

static void what_cannot_be_read_back_is_not_written(void **state)
{
    const char long_id[UVEA_MESSAGE_ID_BYTES_MAX + 2] = {[0 ... UVEA_MESSAGE_ID_BYTES_MAX] = 'x'};
    const struct uvea_message bad[] = {
        {.kind = UVEA_MESSAGE_MALFORMED, .message_id = "m"},
        {.kind = UVEA_MESSAGE_COUNT, .message_id = "m"},
        {.kind = UVEA_MESSAGE_IDENTITY_DELETION},
        {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .message_id = ""},
        {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .message_id = "\xff"},
        {.kind = UVEA_MESSAGE_RESET_CHECK, .message_id = "m", .id = "a\xc3"},
        {.kind = UVEA_MESSAGE_RESET_CHECK, .message_id = "m", .s3_key = "\xed\xa0\x80"},
        {.kind = UVEA_MESSAGE_RESET_CHECK, .message_id = "m", .trace_id = "\xc0\xaf"},
        {.kind = UVEA_MESSAGE_RESET_CHECK, .message_id = "m", .span_id = long_id},
        {.kind = UVEA_MESSAGE_UNIQUENESS,
         .message_id = "m",
         .or_rule_count = UVEA_MESSAGE_OR_RULE_MAX + 1},
    };
    struct uvea_buf buf = {0};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(bad); i++) {
        assert_int_equal(uvea_message_encode(&bad[i], &buf), UVEA_ERR_USAGE);
        assert_int_equal(buf.len, 0);
    }
    uvea_buf_deinit(&buf);
}

// Every prefix of a good message is malformed, and says so.
static void cut_messages_are_malformed(void **state)
{
    const char *good = goldens[1].text;
    (void)state;
    for (size_t count = 0; count < strlen(good); count++) {
        struct uvea_message message = parse_bytes(good, count);
        assert_int_equal(message.kind, UVEA_MESSAGE_MALFORMED);
        assert_true(message.malformed[0] != '\0');
        uvea_message_deinit(&message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_exact_and_read_back),
        cmocka_unit_test(kinds_are_as_specified),
        cmocka_unit_test(unknown_members_and_nulls_do_not_matter),
        cmocka_unit_test(traces_are_kept),
        cmocka_unit_test(ids_survive),
        cmocka_unit_test(every_fault_has_its_sentence),
        cmocka_unit_test(every_envelope_member_counts),
        cmocka_unit_test(ids_are_bounded),
        cmocka_unit_test(envelopes_are_bounded),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(what_cannot_be_read_back_is_not_written),
        cmocka_unit_test(cut_messages_are_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
