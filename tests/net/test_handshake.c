#include "core/net/handshake.h"
#include "tests/net/trio.h"
#include "tests/support/hex.h"

#include <string.h>

static void identity_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        bool valid;
    } cases[] = {
        {"", 0, true},
        {"charlie", 7, true},
        {"\x7f", 1, true},
        {"\x80", 1, false},
        {"\xc1\xbf", 2, false}, // overlong
        {"\xc2\x80", 2, true},
        {"\xdf\xbf", 2, true},
        {"\xdf", 1, false},
        {"\xdf\x7f", 2, false},
        {"\xe0\x9f\xbf", 3, false}, // overlong
        {"\xe0\xa0\x80", 3, true},
        {"\xed\x9f\xbf", 3, true},
        {"\xed\xa0\x80", 3, false}, // surrogate
        {"\xef\xbf\xbf", 3, true},
        {"\xe1\x80", 2, false},
        {"\xf0\x8f\xbf\xbf", 4, false}, // overlong
        {"\xf0\x90\x80\x80", 4, true},
        {"\xf4\x8f\xbf\xbf", 4, true},
        {"\xf4\x90\x80\x80", 4, false}, // above U+10FFFF
        {"\xf5\x80\x80\x80", 4, false},
        {"\xff", 1, false},
        {"a\xe2\x82\xac z", 6, true},
        {"a\xe2\x82", 3, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (uvea_identity_valid(cases[i].bytes, cases[i].len) != cases[i].valid) {
            fail_msg("case %zu", i);
        }
    }
}

// ---- one stream from node 2 to node 1, one end scripted

enum { RECORD_MAX = 512 };
static const uint64_t patience_ns = UVEA_SECOND;

struct pair {
    struct trio *trio;
    // the scripted end
    const uint8_t *script;
    size_t script_bytes;
    size_t piece; // bytes per write, with a pause between
    bool end_after_script;
    uint8_t record[RECORD_MAX];
    size_t record_bytes;
    // the end under test
    enum uvea_error error;
    struct uvea_error_context context;
    struct uvea_hello hello;
};

// Writes the script, then records what comes until the other end closes.
static void play(struct pair *pair, struct uvea_rt *rt, struct uvea_stream *stream)
{
    for (size_t at = 0; at < pair->script_bytes; at += pair->piece) {
        size_t left = pair->script_bytes - at;
        size_t n = left < pair->piece ? left : pair->piece;
        if (uvea_rt_write(rt, stream, pair->script + at, n, UVEA_NEVER) != UVEA_OK) {
            break;
        }
        trio_sleep(rt, 2 * UVEA_MS);
    }
    if (pair->end_after_script) {
        return;
    }
    size_t got = 1;
    while (got > 0 && pair->record_bytes < RECORD_MAX &&
           uvea_rt_read(rt, stream, pair->record + pair->record_bytes,
                        RECORD_MAX - pair->record_bytes, &got, UVEA_NEVER) == UVEA_OK) {
        pair->record_bytes += got;
    }
}

static struct uvea_stream *accept_stream(struct trio_party *party)
{
    struct uvea_listener *listener = NULL;
    struct uvea_stream *stream = NULL;
    TRIO_EXPECT(party->trio, uvea_rt_listen(party->rt, "p1:5000", &listener) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_rt_accept(party->rt, listener, &stream, UVEA_NEVER) == UVEA_OK);
    uvea_rt_listener_close(party->rt, listener);
    return stream;
}

static struct uvea_stream *dial_stream(struct trio_party *party)
{
    struct uvea_stream *stream = NULL;
    trio_sleep(party->rt, UVEA_MS);
    TRIO_EXPECT(party->trio, uvea_rt_dial(party->rt, "p1:5000", &stream, UVEA_NEVER) == UVEA_OK);
    return stream;
}

static void scripted_listener(struct trio_party *party)
{
    struct uvea_stream *stream = accept_stream(party);
    play(party->trio->arg, party->rt, stream);
    uvea_rt_stream_close(party->rt, stream);
}

static void scripted_dialler(struct trio_party *party)
{
    struct uvea_stream *stream = dial_stream(party);
    play(party->trio->arg, party->rt, stream);
    uvea_rt_stream_close(party->rt, stream);
}

static void dialler_under_test(struct trio_party *party)
{
    struct pair *pair = party->trio->arg;
    struct uvea_stream *stream = dial_stream(party);
    pair->error = uvea_handshake_dial(party->rt, stream, "charlie", 3,
                                      uvea_rt_deadline_ns(party->rt, patience_ns), &pair->context);
    uvea_rt_stream_close(party->rt, stream);
}

static void listener_under_test(struct trio_party *party)
{
    struct pair *pair = party->trio->arg;
    struct uvea_stream *stream = accept_stream(party);
    uint64_t deadline_ns = uvea_rt_deadline_ns(party->rt, patience_ns);
    pair->error =
        uvea_handshake_listen(party->rt, stream, &pair->hello, deadline_ns, &pair->context);
    if (pair->error == UVEA_OK) {
        pair->error = uvea_handshake_accept(party->rt, stream, deadline_ns);
    }
    uvea_rt_stream_close(party->rt, stream);
}

static void run_pair(struct pair *pair, trio_fn *listener, trio_fn *dialler)
{
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[1] = listener;
    trio.fn[2] = dialler;
    trio.raw[1] = trio.raw[2] = true;
    trio.arg = pair;
    pair->trio = &trio;
    trio_run(&trio);
}

// ---- the dialler

static void dial_case(struct pair *pair, const char *script, size_t piece)
{
    static uint8_t bytes[64];
    *pair = (struct pair){.script = bytes,
                          .script_bytes = uvea_test_hex(script, bytes, sizeof(bytes)),
                          .piece = piece};
    run_pair(pair, scripted_listener, dialler_under_test);
}

static void dialler_sends_golden_bytes(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 4, 7};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct pair pair;
        dial_case(&pair, "00000003 326f6b", pieces[i]);
        assert_int_equal(pair.error, UVEA_OK);
        uvea_test_assert_hex(pair.record, pair.record_bytes, "00000003 00000007 636861726c6965");
    }
}

static void dialler_refuses_other_answers(void **state)
{
    (void)state;
    struct pair pair;
    dial_case(&pair, "00000004", 4);
    assert_int_equal(pair.error, UVEA_ERR_PEER);
    assert_true(trio_says(&pair.context, "connection id 3", "came back as 4"));
    uvea_test_assert_hex(pair.record, pair.record_bytes, "00000003"); // no identity leaves

    dial_case(&pair, "03000000", 4);
    assert_int_equal(pair.error, UVEA_ERR_PEER);

    dial_case(&pair, "00000003 326f6c", 7);
    assert_int_equal(pair.error, UVEA_ERR_PEER);
    assert_true(trio_says(&pair.context, "326f6c", "2ok"));

    dial_case(&pair, "00000003 326f", 6);
    assert_int_equal(pair.error, UVEA_ERR_TIMEOUT);
    assert_true(trio_says(&pair.context, "waiting to be let in", "deadline"));
}

static void dialler_sees_the_end(void **state)
{
    (void)state;
    static const uint8_t echo[] = {0, 0, 0, 3, '2', 'o'};
    for (size_t n = 0; n <= sizeof(echo); n++) {
        struct pair pair = {
            .script = echo, .script_bytes = n, .piece = 1, .end_after_script = true};
        run_pair(&pair, scripted_listener, dialler_under_test);
        assert_int_equal(pair.error, UVEA_ERR_CLOSED);
    }
}

// ---- the listener

static void listen_case(struct pair *pair, const char *script, size_t piece)
{
    static uint8_t bytes[256];
    *pair = (struct pair){.script = bytes,
                          .script_bytes = uvea_test_hex(script, bytes, sizeof(bytes)),
                          .piece = piece};
    run_pair(pair, listener_under_test, scripted_dialler);
}

static void listener_answers_golden_bytes(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 5, 15};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct pair pair;
        listen_case(&pair, "00000003 00000007 636861726c6965", pieces[i]);
        assert_int_equal(pair.error, UVEA_OK);
        assert_int_equal(pair.hello.connection_id, 3);
        assert_int_equal(pair.hello.identity_bytes, 7);
        assert_string_equal(pair.hello.identity, "charlie");
        uvea_test_assert_hex(pair.record, pair.record_bytes, "00000003 326f6b");
    }
}

static void listener_bounds_the_identity(void **state)
{
    (void)state;
    uint8_t script[8 + 200] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 128};
    memset(script + 8, 'x', 200);
    struct pair pair = {.script = script, .script_bytes = 8 + 128, .piece = 200};
    run_pair(&pair, listener_under_test, scripted_dialler);
    assert_int_equal(pair.error, UVEA_OK);
    assert_int_equal(pair.hello.connection_id, UINT32_MAX);
    assert_int_equal(pair.hello.identity_bytes, 128);

    script[7] = 129;
    pair = (struct pair){.script = script, .script_bytes = 8 + 129, .piece = 200};
    run_pair(&pair, listener_under_test, scripted_dialler);
    assert_int_equal(pair.error, UVEA_ERR_LIMIT);
    assert_true(trio_says(&pair.context, "129 bytes", "128"));
    assert_int_equal(pair.hello.identity_bytes, 0);

    struct pair huge;
    listen_case(&huge, "00000000 ffffffff", 8);
    assert_int_equal(huge.error, UVEA_ERR_LIMIT);
}

static void listener_refuses_bad_identity(void **state)
{
    (void)state;
    struct pair pair;
    listen_case(&pair, "00000000 00000002 c328", 10);
    assert_int_equal(pair.error, UVEA_ERR_FORMAT);
    assert_true(trio_says(&pair.context, "identity", "UTF-8"));
    uvea_test_assert_hex(pair.record, pair.record_bytes, "00000000");

    listen_case(&pair, "00000000 00000000", 8);
    assert_int_equal(pair.error, UVEA_OK); // nobody's name, which is for the caller to find
    assert_int_equal(pair.hello.identity_bytes, 0);
}

static void listener_has_a_deadline(void **state)
{
    (void)state;
    static const char *const scripts[] = {"", "000000", "00000000", "00000000 000000",
                                          "00000000 00000003 6162"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct pair pair;
        listen_case(&pair, scripts[i], 64);
        assert_int_equal(pair.error, UVEA_ERR_TIMEOUT);
        assert_true(trio_says(&pair.context, "handshake: waiting for", "deadline"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_utf8),
        cmocka_unit_test(dialler_sends_golden_bytes),
        cmocka_unit_test(dialler_refuses_other_answers),
        cmocka_unit_test(dialler_sees_the_end),
        cmocka_unit_test(listener_answers_golden_bytes),
        cmocka_unit_test(listener_bounds_the_identity),
        cmocka_unit_test(listener_refuses_bad_identity),
        cmocka_unit_test(listener_has_a_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
