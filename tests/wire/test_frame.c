#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/wire/frame.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <string.h>

// One frame of each kind of value, sessions 0, 1, 2...
static const char *const values[] = {
    "01 000102030405060708090a0b0c0d0e0f",
    "02",
    "12",
    "03 0903",
    "04 78563412",
    "05 efcdab8967452301",
    "06 04000000 0100ffff",
    "06 00000000",
    "07 04000000 01000000",
    "08 08000000 0100000000000000",
    "09 01000000000000000200000000000000",
    "0a 06000000 030000030100",
    "0b 05000000000000000000000000000000",
    "0c 02000000 6f6b",
    "0d 78563412cdab",
    "0e 0c000000 010000000000ffffffffffff",
    "0f 09000000 4900",
    "0f 00000000",
};

static size_t value_bytes(size_t i, uint8_t out[64])
{
    return uvea_test_hex(values[i], out, 64);
}

static void build_stream(enum uvea_frame_plane plane, struct uvea_buf *stream)
{
    for (size_t i = 0; i < UVEA_COUNT_OF(values); i++) {
        uint8_t bytes[64];
        size_t len = value_bytes(i, bytes);
        size_t mark;
        if (plane == UVEA_FRAME_DATA) {
            assert_int_equal(uvea_frame_begin(stream, (uint32_t)(i * 0x01010101)), UVEA_OK);
        } else {
            assert_int_equal(uvea_control_frame_begin(stream, &mark), UVEA_OK);
        }
        assert_int_equal(uvea_buf_append(stream, bytes, len), UVEA_OK);
        if (plane == UVEA_FRAME_CONTROL) {
            assert_int_equal(uvea_control_frame_end(stream, mark), UVEA_OK);
        }
    }
}

static void assert_frame(enum uvea_frame_plane plane, const struct uvea_frame_reader *reader,
                         size_t i)
{
    uint8_t bytes[64];
    size_t len = value_bytes(i, bytes);
    assert_true(i < UVEA_COUNT_OF(values));
    if (plane == UVEA_FRAME_DATA) {
        assert_int_equal(reader->session_id, (uint32_t)(i * 0x01010101));
    }
    assert_int_equal(reader->value.len, len);
    assert_memory_equal(reader->value.data, bytes, len);
}

// Puts up to `most` bytes of the stream where the reader wants them; returns how many.
static size_t give(struct uvea_frame_reader *reader, const uint8_t *from, size_t most,
                   bool *complete)
{
    uint8_t *into;
    size_t want = uvea_frame_reader_want(reader, &into);
    assert_true(want > 0);
    size_t n = want < most ? want : most;
    memcpy(into, from, n);
    assert_int_equal(uvea_frame_reader_got(reader, n, complete, NULL), UVEA_OK);
    return n;
}

// Reads the stream in pieces of 1..piece_max bytes, drawn from the seed.
static void read_in_pieces(enum uvea_frame_plane plane, uint64_t seed, size_t piece_max)
{
    struct uvea_buf stream = {0};
    build_stream(plane, &stream);
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, seed);
    struct uvea_frame_reader reader;
    uvea_frame_reader_init(&reader, plane, 1024);
    size_t frames = 0;
    for (size_t at = 0; at < stream.len;) {
        size_t piece = 1 + uvea_chacha_next_u32(&rng) % piece_max;
        piece = piece < stream.len - at ? piece : stream.len - at;
        bool complete;
        at += give(&reader, stream.data + at, piece, &complete);
        if (complete) {
            uint8_t *into;
            assert_frame(plane, &reader, frames++);
            assert_false(uvea_frame_reader_idle(&reader));
            assert_int_equal(uvea_frame_reader_want(&reader, &into), 0);
            assert_null(into);
            uvea_frame_reader_next(&reader);
            assert_true(uvea_frame_reader_idle(&reader));
        } else {
            assert_false(uvea_frame_reader_idle(&reader));
        }
    }
    assert_int_equal(frames, UVEA_COUNT_OF(values));
    uvea_frame_reader_deinit(&reader);
    uvea_buf_deinit(&stream);
}

static void frames_in_any_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        for (size_t piece_max = 1; piece_max < 30; piece_max += 7) {
            read_in_pieces(UVEA_FRAME_DATA, seed, piece_max);
            read_in_pieces(UVEA_FRAME_CONTROL, seed, piece_max);
        }
    }
}

static void feed_stops_behind_each_frame(void **state)
{
    (void)state;
    struct uvea_buf stream = {0};
    build_stream(UVEA_FRAME_DATA, &stream);
    struct uvea_frame_reader reader;
    uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, 1024);
    size_t at = 0;
    size_t used;
    bool complete;
    for (size_t i = 0; i < UVEA_COUNT_OF(values); i++) {
        uint8_t bytes[64];
        assert_int_equal(uvea_frame_reader_feed(&reader, stream.data + at, stream.len - at, &used,
                                                &complete, NULL),
                         UVEA_OK);
        assert_true(complete);
        assert_int_equal(used, UVEA_FRAME_SESSION_BYTES + value_bytes(i, bytes));
        assert_frame(UVEA_FRAME_DATA, &reader, i);
        uvea_frame_reader_next(&reader);
        at += used;
    }
    assert_int_equal(at, stream.len);
    assert_int_equal(uvea_frame_reader_feed(&reader, NULL, 0, &used, &complete, NULL), UVEA_OK);
    assert_int_equal(used, 0);
    assert_false(complete);
    uvea_frame_reader_deinit(&reader);
    uvea_buf_deinit(&stream);
}

// The head is asked for in the order of wire.md 2, and nothing beyond the frame is ever wanted.
static void wants_the_head_in_steps(void **state)
{
    (void)state;
    static const uint8_t frame[] = {7, 0, 0, 0, 6, 4, 0, 0, 0, 1, 0, 0xff, 0xff};
    struct uvea_frame_reader reader;
    uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, 1024);
    uint8_t *into;
    bool complete;
    assert_int_equal(uvea_frame_reader_want(&reader, &into), 5);
    assert_int_equal(give(&reader, frame, 5, &complete), 5);
    assert_false(complete);
    assert_int_equal(uvea_frame_reader_want(&reader, &into), 4);
    assert_int_equal(give(&reader, frame + 5, 4, &complete), 4);
    assert_false(complete);
    assert_int_equal(uvea_frame_reader_want(&reader, &into), 4);
    assert_int_equal(uvea_frame_reader_got(&reader, 0, &complete, NULL), UVEA_OK);
    assert_int_equal(uvea_frame_reader_want(&reader, &into), 4);
    assert_int_equal(give(&reader, frame + 9, 4, &complete), 4);
    assert_true(complete);
    assert_int_equal(reader.session_id, 7);
    uvea_test_assert_hex(reader.value.data, reader.value.len, "06 04000000 0100ffff");
    uvea_frame_reader_deinit(&reader);

    uvea_frame_reader_init(&reader, UVEA_FRAME_CONTROL, 1024);
    assert_int_equal(uvea_frame_reader_want(&reader, &into), 4);
    uvea_frame_reader_deinit(&reader);
}

static void feed_all(struct uvea_frame_reader *reader, const char *hex)
{
    uint8_t bytes[64];
    size_t len = uvea_test_hex(hex, bytes, sizeof(bytes));
    size_t used;
    bool complete;
    assert_int_equal(uvea_frame_reader_feed(reader, bytes, len, &used, &complete, NULL), UVEA_OK);
    assert_true(complete);
    assert_int_equal(used, len);
}

static void a_taken_frame_is_not_copied(void **state)
{
    (void)state;
    struct uvea_frame_reader reader;
    struct uvea_buf first = {0};
    uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, 1024);
    feed_all(&reader, "07000000 0c 02000000 6f6b");
    const uint8_t *data = reader.value.data;
    uvea_frame_reader_take(&reader, &first);
    assert_ptr_equal(first.data, data);
    assert_true(uvea_frame_reader_idle(&reader));

    feed_all(&reader, "08000000 0c 03000000 616263");
    uvea_test_assert_hex(first.data, first.len, "0c 02000000 6f6b");
    const uint8_t *second_data = reader.value.data;
    uvea_frame_reader_take(&reader, &first); // hands its memory in
    assert_ptr_equal(first.data, second_data);
    uvea_test_assert_hex(first.data, first.len, "0c 03000000 616263");

    feed_all(&reader, "09000000 0c 01000000 64");
    assert_ptr_equal(reader.value.data, data);
    uvea_test_assert_hex(reader.value.data, reader.value.len, "0c 01000000 64");
    uvea_buf_deinit(&first);
    uvea_frame_reader_deinit(&reader);
}

struct refused {
    enum uvea_frame_plane plane;
    enum uvea_error error;
    size_t bytes_max;
    const char *hex;
    const char *sentence;
};

static const struct refused refusals[] = {
    {UVEA_FRAME_DATA, UVEA_ERR_FORMAT, 64, "07000000 13", "unknown value descriptor 0x13"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, 2, "07000000 03", "3 bytes exceeds the bound of 2"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, 64, "07000000 0c 3c000000",
     "65 bytes exceeds the bound of 64"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, 64, "07000000 0f d9010000",
     "65 bytes exceeds the bound of 64"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, UVEA_VALUE_BYTES_MAX_DEFAULT, "07000000 0c fcffff03",
     "67108865 bytes exceeds the bound of 67108864"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, UVEA_VALUE_BYTES_MAX_DEFAULT, "07000000 06 00000080",
     "2147483653 bytes"},
    {UVEA_FRAME_DATA, UVEA_ERR_LIMIT, UVEA_VALUE_BYTES_MAX_DEFAULT, "07000000 0a ffffffff",
     "4294967300 bytes"},
    {UVEA_FRAME_CONTROL, UVEA_ERR_FORMAT, UVEA_CONTROL_BYTES_MAX, "00000000", "length 0"},
    {UVEA_FRAME_CONTROL, UVEA_ERR_LIMIT, UVEA_CONTROL_BYTES_MAX, "01001000",
     "1048577 bytes exceeds the bound of 1048576"},
    {UVEA_FRAME_CONTROL, UVEA_ERR_LIMIT, UVEA_CONTROL_BYTES_MAX, "00000080", "2147483648 bytes"},
    {UVEA_FRAME_CONTROL, UVEA_ERR_LIMIT, UVEA_CONTROL_BYTES_MAX, "ffffffff", "4294967295 bytes"},
};

static void bad_heads_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(refusals); i++) {
        const struct refused *refused = &refusals[i];
        uint8_t bytes[64];
        size_t len = uvea_test_hex(refused->hex, bytes, sizeof(bytes));
        struct uvea_frame_reader reader;
        struct uvea_error_context context = {{0}};
        size_t used;
        bool complete = true;
        uint8_t *into;
        uvea_frame_reader_init(&reader, refused->plane, refused->bytes_max);
        assert_int_equal(uvea_frame_reader_feed(&reader, bytes, len, &used, &complete, &context),
                         refused->error);
        assert_non_null(strstr(context.text, refused->sentence));
        assert_false(complete);
        assert_int_equal(used, len);
        assert_null(reader.value.data);
        assert_int_equal(uvea_frame_reader_want(&reader, &into), 0);
        assert_null(into);
        assert_false(uvea_frame_reader_idle(&reader));
        uvea_frame_reader_deinit(&reader);
    }
}

static void the_longest_frame_allowed_passes(void **state)
{
    (void)state;
    static const size_t bounds[] = {64, UVEA_FRAME_EAGER_BYTES, UVEA_CONTROL_BYTES_MAX,
                                    3 * UVEA_FRAME_EAGER_BYTES + 7};
    for (size_t i = 0; i < UVEA_COUNT_OF(bounds); i++) {
        struct uvea_frame_reader reader;
        uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, bounds[i]);
        uint8_t head[9] = {1, 0, 0, 0, UVEA_VALUE_BYTES};
        uvea_store_le32(head + 5, (uint32_t)(bounds[i] - UVEA_VALUE_HEADER_BYTES));
        bool complete;
        size_t used;
        assert_int_equal(uvea_frame_reader_feed(&reader, head, 9, &used, &complete, NULL), UVEA_OK);
        assert_false(complete);
        uvea_frame_reader_deinit(&reader);
    }
}

// However much is claimed, memory follows what has arrived.
static void a_claim_alone_costs_one_mebibyte(void **state)
{
    (void)state;
    static const uint32_t claims[] = {UINT32_C(1) << 31, UINT32_MAX, UVEA_FRAME_EAGER_BYTES * 3};
    for (size_t i = 0; i < UVEA_COUNT_OF(claims); i++) {
        struct uvea_frame_reader reader;
        uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, SIZE_MAX);
        uint8_t bytes[12] = {1, 0, 0, 0, UVEA_VALUE_BYTES};
        uvea_store_le32(bytes + 5, claims[i]);
        size_t used;
        bool complete;
        assert_int_equal(
            uvea_frame_reader_feed(&reader, bytes, sizeof(bytes), &used, &complete, NULL), UVEA_OK);
        assert_false(complete);
        assert_int_equal(reader.value.len, UVEA_VALUE_HEADER_BYTES + 3);
        assert_true(reader.value.capacity <= UVEA_FRAME_EAGER_BYTES);
        uvea_frame_reader_deinit(&reader);
    }
}

static void a_long_value_arrives_whole_in_growing_memory(void **state)
{
    (void)state;
    const size_t body = 5 * UVEA_FRAME_EAGER_BYTES + 12345;
    struct uvea_frame_reader reader;
    uvea_frame_reader_init(&reader, UVEA_FRAME_DATA, UVEA_VALUE_BYTES_MAX_DEFAULT);
    uint8_t head[9] = {1, 0, 0, 0, UVEA_VALUE_BYTES};
    uvea_store_le32(head + 5, (uint32_t)body);
    size_t used;
    bool complete;
    assert_int_equal(uvea_frame_reader_feed(&reader, head, sizeof(head), &used, &complete, NULL),
                     UVEA_OK);
    size_t at = 0;
    while (!complete) {
        uint8_t *into;
        size_t want = uvea_frame_reader_want(&reader, &into);
        assert_true(want > 0 && want <= body - at);
        for (size_t k = 0; k < want; k++) {
            into[k] = (uint8_t)((at + k) * 7 >> 3);
        }
        at += want;
        assert_int_equal(uvea_frame_reader_got(&reader, want, &complete, NULL), UVEA_OK);
        assert_true(reader.value.capacity <= 2 * reader.value.len);
    }
    assert_int_equal(at, body);
    assert_int_equal(reader.value.len, body + UVEA_VALUE_HEADER_BYTES);
    assert_memory_equal(reader.value.data, head + 4, UVEA_VALUE_HEADER_BYTES);
    for (size_t k = 0; k < body; k++) {
        if (reader.value.data[UVEA_VALUE_HEADER_BYTES + k] != (uint8_t)(k * 7 >> 3)) {
            fail_msg("byte %zu differs", k);
        }
    }
    uvea_frame_reader_next(&reader); // one long frame must not hold its memory for ever
    assert_int_equal(reader.value.capacity, 0);
    uvea_frame_reader_deinit(&reader);
}

static void outgoing_frames(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    uint16_t u16 = 777;
    assert_int_equal(uvea_frame_begin(&buf, 7), UVEA_OK);
    assert_int_equal(uvea_value_append_u16(&buf, &u16, 1), UVEA_OK);
    uvea_test_assert_hex(buf.data, buf.len, "07 00 00 00 03 09 03");
    uvea_buf_clear(&buf);

    static const uint8_t zero_key[UVEA_PRF_KEY_BYTES];
    assert_int_equal(uvea_frame_begin(&buf, 0), UVEA_OK);
    assert_int_equal(uvea_value_append_prf_key(&buf, zero_key), UVEA_OK);
    uvea_test_assert_hex(buf.data, buf.len, "00000000 01 00000000000000000000000000000000");
    uvea_buf_clear(&buf);

    size_t mark;
    assert_int_equal(uvea_control_frame_begin(&buf, &mark), UVEA_OK);
    assert_int_equal(uvea_value_append_bytes(&buf, (const uint8_t *)"ok", 2), UVEA_OK);
    assert_int_equal(uvea_control_frame_end(&buf, mark), UVEA_OK);
    uvea_test_assert_hex(buf.data, buf.len, "07000000 0c 02000000 6f6b");
    uvea_buf_deinit(&buf);
}

static void a_control_frame_over_its_bound_is_taken_back(void **state)
{
    (void)state;
    for (size_t excess = 0; excess < 2; excess++) {
        struct uvea_buf buf = {0};
        size_t mark;
        size_t body = UVEA_CONTROL_BYTES_MAX - UVEA_VALUE_HEADER_BYTES + excess;
        assert_int_equal(uvea_buf_append(&buf, "before", 6), UVEA_OK);
        assert_int_equal(uvea_control_frame_begin(&buf, &mark), UVEA_OK);
        struct uvea_buf bytes = {0};
        assert_non_null(uvea_buf_extend(&bytes, body));
        assert_int_equal(uvea_value_append_bytes(&buf, bytes.data, body), UVEA_OK);
        assert_int_equal(uvea_control_frame_end(&buf, mark), excess ? UVEA_ERR_LIMIT : UVEA_OK);
        assert_int_equal(buf.len, 6 + (excess ? 0 : 4 + UVEA_CONTROL_BYTES_MAX));
        uvea_buf_deinit(&bytes);
        uvea_buf_deinit(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_in_any_pieces),
        cmocka_unit_test(feed_stops_behind_each_frame),
        cmocka_unit_test(wants_the_head_in_steps),
        cmocka_unit_test(a_taken_frame_is_not_copied),
        cmocka_unit_test(bad_heads_are_refused_before_memory_is_taken),
        cmocka_unit_test(the_longest_frame_allowed_passes),
        cmocka_unit_test(a_claim_alone_costs_one_mebibyte),
        cmocka_unit_test(a_long_value_arrives_whole_in_growing_memory),
        cmocka_unit_test(outgoing_frames),
        cmocka_unit_test(a_control_frame_over_its_bound_is_taken_back),
    };
    return cmocka_run_group_tests_name("wire_frame", tests, NULL, NULL);
}
