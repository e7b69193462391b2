// What a TLS stream carries: the contract of core/rt/rt.h, over links of every kind.
#include "core/base/mem.h"
#include "sim/runtime/process.h"
#include "tests/sim/harness.h"
#include "tests/tls/raw.h"

static struct pki pki;

static int set_up(void **state)
{
    (void)state;
    pki_open(&pki);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pki_close(&pki);
    return 0;
}

static void run(const struct uvea_sim_config *config, side_fn *dialler, side_fn *listener)
{
    struct pair pair;
    pair_open(&pair, &pki, config);
    pair_run(&pair, dialler, listener);
}

// One end is written with OpenSSL alone.
static void run_raw(const struct uvea_sim_config *config, unsigned raw, side_fn *dialler,
                    side_fn *listener)
{
    struct pair pair;
    pair_open(&pair, &pki, config);
    uvea_tls_close(pair.sides[raw].tls);
    pair.sides[raw].tls = NULL;
    pair_run(&pair, dialler, listener);
}

// ---- both directions, any link

static size_t exchange_bytes;

static void write_task(void *arg)
{
    struct side *side = arg;
    // Small and large in turn: 3, 70000, 3, 70000 ... so that a small one could overtake.
    bool small = true;
    for (size_t done = 0; done < exchange_bytes; small = !small) {
        size_t part = small ? 3 : 70000;
        part = part < exchange_bytes - done ? part : exchange_bytes - done;
        side_write(side, done, part, UVEA_OK);
        done += part;
    }
}

static void exchange(struct side *side)
{
    struct uvea_task *writer;
    UVEA_CHECK(uvea_rt_spawn(side->rt, "writer", write_task, side, &writer) == UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, exchange_bytes, &end) == exchange_bytes);
    uvea_rt_join(side->rt, writer);
    side_says(side, "");
}

static void test_full_duplex_over_any_link(void **state)
{
    (void)state;
    static const struct uvea_sim_link_config links[] = {
        {.latency_ns = UVEA_MS, .window_bytes = 65536},
        {.latency_ns = 1000, .jitter_ns = 900, .window_bytes = 4096, .piece_bytes_max = 16384},
        {.latency_ns = 1000, .window_bytes = 700, .piece_bytes_max = 61},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(links); i++) {
        struct uvea_sim_config config = plain_config();
        config.network.link = links[i];
        config.seed = 10 + i;
        exchange_bytes = 1000 * 1000 + 7;
        run(&config, exchange, exchange);
    }
}

static void test_one_byte_at_a_time(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link =
        (struct uvea_sim_link_config){.latency_ns = 10, .window_bytes = 1, .piece_bytes_max = 1};
    exchange_bytes = 300;
    run(&config, exchange, exchange);
}

static void write_large(struct side *side)
{
    size_t at = 0;
    for (unsigned i = 0; i < 3; i++) {
        side_write(side, at, 3, UVEA_OK);
        side_write(side, at + 3, 8 << 20, UVEA_OK);
        at += 3 + (8 << 20);
    }
}

static void write_large_task(void *arg)
{
    write_large(arg);
}

static void exchange_large(struct side *side)
{
    struct uvea_task *writer;
    UVEA_CHECK(uvea_rt_spawn(side->rt, "writer", write_large_task, side, &writer) == UVEA_OK);
    enum uvea_error end;
    size_t total = (size_t)3 * (3 + (8 << 20));
    PAIR_EXPECT(side_read(side, 0, total, &end) == total);
    uvea_rt_join(side->rt, writer);
}

static void test_3_bytes_and_8_mebibytes_in_turn(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link = (struct uvea_sim_link_config){.latency_ns = 1000, .window_bytes = 16384};
    run(&config, exchange_large, exchange_large);
}

// ---- ends

static void write_4_kib_and_close(struct side *side)
{
    side_write(side, 0, 4096, UVEA_OK);
}

static void read_to_the_end(struct side *side)
{
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 1 << 20, &end) == 4096);
    PAIR_EXPECT(end == UVEA_OK);
    PAIR_EXPECT(side_read(side, 0, 1 << 20, &end) == 0); // it stays the end
    PAIR_EXPECT(end == UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_write(side->stream, (const uint8_t *)"x", 1, UVEA_NEVER) ==
                UVEA_ERR_CLOSED);
}

static void test_who_only_writes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct uvea_sim_config config = plain_config();
        config.seed = i;
        config.network.link = (struct uvea_sim_link_config){
            .latency_ns = 1000, .jitter_ns = 400, .window_bytes = 100 + i, .piece_bytes_max = 50};
        run(&config, write_4_kib_and_close, read_to_the_end);
        run(&config, read_to_the_end, write_4_kib_and_close);
    }
}

static void raw_end_and_read_on(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(raw_handshake(&raw));
    PAIR_EXPECT(raw_write(&raw, 0, 5));
    PAIR_EXPECT(SSL_shutdown(raw.ssl) == 0); // its own direction only
    raw_flush(&raw);
    PAIR_EXPECT(raw_read(&raw, 0, 200000) == 200000);
    raw_close(&raw);
}

static void write_then_read_the_end(struct side *side)
{
    side_write(side, 0, 200000, UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 100, &end) == 5);
    PAIR_EXPECT(end == UVEA_OK);
}

static void test_half_closed(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link.window_bytes = 3000;
    run_raw(&config, DIALS, raw_end_and_read_on, write_then_read_the_end);
}

// ---- truncation

static size_t cut_bytes; // sent of the last record; 0: none of it

static void raw_cut(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(raw_handshake(&raw));
    PAIR_EXPECT(raw_write(&raw, 0, 1000));
    PAIR_EXPECT(SSL_write(raw.ssl, "behind", 6) == 6);
    uint8_t record[64];
    size_t len = raw_take(&raw, record, sizeof(record));
    PAIR_EXPECT(len > cut_bytes);
    if (cut_bytes > 0) {
        PAIR_EXPECT(uvea_rt_write(side->rt, side->bare, record, cut_bytes, UVEA_NEVER) == UVEA_OK);
    }
    raw_close(&raw);
}

static void read_what_was_cut(struct side *side)
{
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 2000, &end) == 1000);
    PAIR_EXPECT(end == UVEA_ERR_RESET);
    side_says(side, "ended without saying so");
    PAIR_EXPECT(side_read(side, 0, 1, &end) == 0 && end == UVEA_ERR_RESET);
}

static void test_an_end_that_nobody_announced(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    for (cut_bytes = 0; cut_bytes < 28; cut_bytes += 3) {
        run_raw(&config, DIALS, raw_cut, read_what_was_cut);
    }
}

static void raw_flip(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(raw_handshake(&raw));
    PAIR_EXPECT(raw_write(&raw, 0, 1000));
    PAIR_EXPECT(SSL_write(raw.ssl, "behind", 6) == 6);
    uint8_t record[64];
    size_t len = raw_take(&raw, record, sizeof(record));
    record[len - 1] ^= 1;
    PAIR_EXPECT(uvea_rt_write(side->rt, side->bare, record, len, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(raw_read(&raw, 0, 1) == 0);
    raw_close(&raw);
}

static void read_what_was_flipped(struct side *side)
{
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 2000, &end) == 1000);
    PAIR_EXPECT(end == UVEA_ERR_RESET);
    side_says(side, "a record that is not authentic");
}

static void test_a_byte_that_changed_on_the_way(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run_raw(&config, DIALS, raw_flip, read_what_was_flipped);
}

// ---- key updates

static void raw_update_keys(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(raw_handshake(&raw));
    for (unsigned i = 0; i < 5; i++) {
        PAIR_EXPECT(raw_write(&raw, i * (size_t)1000, 1000));
        PAIR_EXPECT(SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
    }
    // What the other side writes comes under its own new keys.
    PAIR_EXPECT(raw_read(&raw, 0, 100000) == 100000);
    PAIR_EXPECT(SSL_shutdown(raw.ssl) == 0);
    raw_close(&raw);
}

static void exchange_while_keys_change(struct side *side)
{
    struct uvea_task *writer;
    exchange_bytes = 100000;
    UVEA_CHECK(uvea_rt_spawn(side->rt, "writer", write_task, side, &writer) == UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 5000, &end) == 5000);
    uvea_rt_join(side->rt, writer);
    PAIR_EXPECT(side_read(side, 0, 1, &end) == 0);
}

static void test_key_updates_in_the_middle(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct uvea_sim_config config = plain_config();
        config.seed = i;
        config.network.link = (struct uvea_sim_link_config){.latency_ns = 1000,
                                                            .jitter_ns = 2000,
                                                            .window_bytes = 500 + 5000 * i,
                                                            .piece_bytes_max = 300};
        run_raw(&config, DIALS, raw_update_keys, exchange_while_keys_change);
    }
}

// A peer that makes the other side answer for ever and never reads an answer.
static void raw_flood(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(raw_handshake(&raw));
    for (unsigned i = 0; i < 20000; i++) {
        if (SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED) != 1 ||
            SSL_do_handshake(raw.ssl) != 1) {
            break;
        }
        raw_flush(&raw);
    }
    PAIR_EXPECT(uvea_rt_sleep_ns(side->rt, 20 * UVEA_SECOND) == UVEA_OK);
    raw_close(&raw);
}

static void blocked_task(void *arg)
{
    struct side *side = arg;
    uint8_t bytes[4000] = {0};
    enum uvea_error error;
    do {
        error = uvea_tls_stream_write(side->stream, bytes, sizeof(bytes), UVEA_NEVER);
    } while (error == UVEA_OK);
}

static void be_flooded(struct side *side)
{
    struct uvea_task *writer;
    UVEA_CHECK(uvea_rt_spawn(side->rt, "writer", blocked_task, side, &writer) == UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 1, &end) == 0);
    PAIR_EXPECT(end == UVEA_ERR_RESET);
    uvea_tls_stream_shut(side->stream);
    uvea_rt_join(side->rt, writer);
}

static void test_a_flood_of_key_updates_is_bounded(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run_raw(&config, DIALS, raw_flood, be_flooded);
}

// ---- deadlines and shutting

static void wait_in_vain(struct side *side)
{
    uint64_t deadline_ns = uvea_rt_deadline_ns(side->rt, 50 * UVEA_MS);
    uint8_t byte;
    size_t got;
    PAIR_EXPECT(uvea_tls_stream_read(side->stream, &byte, 1, &got, deadline_ns) ==
                UVEA_ERR_TIMEOUT);
    PAIR_EXPECT(uvea_rt_now_ns(side->rt) == deadline_ns);
}

static void stay_silent(struct side *side)
{
    PAIR_EXPECT(uvea_rt_sleep_ns(side->rt, UVEA_SECOND) == UVEA_OK);
}

static void test_a_handshake_with_a_silent_peer(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run_raw(&config, DIALS, stay_silent, wait_in_vain);
    run_raw(&config, LISTENS, wait_in_vain, stay_silent);
}

static void read_too_early_then_in_time(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_handshake(side->stream, UVEA_NEVER) == UVEA_OK);
    wait_in_vain(side);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 100, &end) == 5); // the stream is none the worse
    PAIR_EXPECT(end == UVEA_OK);
}

static void write_late(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_handshake(side->stream, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(uvea_rt_sleep_ns(side->rt, UVEA_SECOND) == UVEA_OK);
    side_write(side, 0, 5, UVEA_OK);
}

static void test_a_read_that_is_too_early(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run(&config, read_too_early_then_in_time, write_late);
}

static void write_in_vain(struct side *side)
{
    uint8_t *bytes = uvea_mem_alloc(1, 1 << 20);
    UVEA_CHECK(bytes != NULL);
    uint64_t deadline_ns = uvea_rt_deadline_ns(side->rt, 50 * UVEA_MS);
    PAIR_EXPECT(uvea_tls_stream_write(side->stream, bytes, 1 << 20, deadline_ns) ==
                UVEA_ERR_TIMEOUT);
    PAIR_EXPECT(uvea_rt_now_ns(side->rt) == deadline_ns);
    PAIR_EXPECT(uvea_tls_stream_write(side->stream, bytes, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_mem_free(bytes);
}

static void shake_hands_and_sleep(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_handshake(side->stream, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(uvea_rt_sleep_ns(side->rt, UVEA_SECOND) == UVEA_OK);
    enum uvea_error end;
    uint8_t bytes[4096];
    size_t got;
    do { // whole records still come, then it is clear that something is missing
        end = uvea_tls_stream_read(side->stream, bytes, sizeof(bytes), &got, UVEA_NEVER);
    } while (end == UVEA_OK && got > 0);
    PAIR_EXPECT(end == UVEA_ERR_RESET);
}

static void test_a_write_that_nobody_reads(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run(&config, write_in_vain, shake_hands_and_sleep);
}

static void shut_later(void *arg)
{
    struct side *side = arg;
    PAIR_EXPECT(uvea_rt_sleep_ns(side->rt, 100 * UVEA_MS) == UVEA_OK);
    uvea_tls_stream_shut(side->stream);
    uvea_tls_stream_shut(side->stream);
}

static void be_shut_while_reading_and_writing(struct side *side)
{
    struct uvea_task *tasks[2];
    UVEA_CHECK(uvea_rt_spawn(side->rt, "writer", blocked_task, side, &tasks[0]) == UVEA_OK);
    UVEA_CHECK(uvea_rt_spawn(side->rt, "shutter", shut_later, side, &tasks[1]) == UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 1, &end) == 0);
    PAIR_EXPECT(end == UVEA_ERR_CLOSED);
    uvea_rt_join(side->rt, tasks[0]);
    uvea_rt_join(side->rt, tasks[1]);
}

static void test_shut_wakes_reader_and_writer(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run(&config, be_shut_while_reading_and_writing, shake_hands_and_sleep);
}

static void test_shut_in_the_handshake(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run_raw(&config, LISTENS, be_shut_while_reading_and_writing, stay_silent);
    run_raw(&config, DIALS, stay_silent, be_shut_while_reading_and_writing);
}

// ---- reloading

static void reload_and_go_on(struct side *side)
{
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 5, &end) == 5);
    static const struct pki_leaf renewed = {PKI_PARTY_1, "p1", -5, 20};
    pki_write_leaf(&pki, "listener", &renewed);
    struct uvea_error_context context = {{0}};
    PAIR_EXPECT(uvea_tls_reload(side->tls, &context) == UVEA_OK);
    side_write(side, 0, 5, UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(0)) == UVEA_OK);
    PAIR_EXPECT(side_read(side, 5, 5, &end) == 5);
}

static void write_and_read(struct side *side)
{
    side_write(side, 0, 5, UVEA_OK);
    enum uvea_error end;
    PAIR_EXPECT(side_read(side, 0, 5, &end) == 5);
    side_write(side, 5, 5, UVEA_OK);
    PAIR_EXPECT(side_read(side, 0, 1, &end) == 0 && end == UVEA_OK);
}

static void test_reload_while_a_stream_is_up(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    run(&config, write_and_read, reload_and_go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_duplex_over_any_link),
        cmocka_unit_test(test_one_byte_at_a_time),
        cmocka_unit_test(test_3_bytes_and_8_mebibytes_in_turn),
        cmocka_unit_test(test_who_only_writes),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_an_end_that_nobody_announced),
        cmocka_unit_test(test_a_byte_that_changed_on_the_way),
        cmocka_unit_test(test_key_updates_in_the_middle),
        cmocka_unit_test(test_a_flood_of_key_updates_is_bounded),
        cmocka_unit_test(test_a_handshake_with_a_silent_peer),
        cmocka_unit_test(test_a_read_that_is_too_early),
        cmocka_unit_test(test_a_write_that_nobody_reads),
        cmocka_unit_test(test_shut_wakes_reader_and_writer),
        cmocka_unit_test(test_shut_in_the_handshake),
        cmocka_unit_test(test_reload_while_a_stream_is_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
