// Attacks on the port of the mesh under TLS, while three real parties pass a token around on it;
// and a party that turns bad.
#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/net/handshake.h"
#include "core/net/mesh.h"
#include "tests/posix/target.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ALICE, BOB, CHARLIE };

static const char *const names[] = {"alice", "bob", "charlie"};

struct party {
    unsigned index;
    struct uvea_rt *rt;
    struct uvea_tls *tls;
    struct uvea_mesh *mesh;
    pthread_t thread;
    bool failed;
};

static struct pki pki;
static struct web_lines lines;
static struct target target;
static struct party parties[UVEA_PARTY_COUNT];
static char addresses[UVEA_PARTY_COUNT][WEB_ADDRESS_BYTES];

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};

    (void)nanosleep(&pause, NULL);
}

// ---- the real parties: a token goes round until alice takes it out

static atomic_bool token_ends;
static atomic_uint rounds;

static enum uvea_error send_token(struct uvea_link *link, uint8_t token)
{
    struct uvea_buf *frame;

    UVEA_TRY(uvea_link_begin(link, UVEA_PEER_NEXT, &frame));
    UVEA_TRY(uvea_value_append_bytes(frame, &token, 1));
    return uvea_link_end(link, UVEA_PEER_NEXT);
}

static enum uvea_error pass_token(struct party *party)
{
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    uint8_t token = 1;

    while (token != 0) {
        struct uvea_value value;
        if (party->index == ALICE) {
            token = !atomic_load(&token_ends);
            UVEA_TRY(send_token(link, token));
        }
        UVEA_TRY(uvea_link_recv(link, UVEA_PEER_PREV, &value, NULL));
        if (party->index == ALICE) {
            (void)atomic_fetch_add(&rounds, 1);
            pause_ms(1);
        } else {
            token = value.body[0];
            UVEA_TRY(send_token(link, token));
        }
    }
    return UVEA_OK;
}

static void *live(void *arg)
{
    struct party *party = arg;
    struct uvea_error_context context;

    party->failed = uvea_mesh_connect(party->mesh, &context) != UVEA_OK;
    party->failed = party->failed || pass_token(party) != UVEA_OK;
    return NULL;
}

// Goes round once more from here on.
static void check(void)
{
    const unsigned before = atomic_load(&rounds);

    for (unsigned i = 0; i < 60000 && atomic_load(&rounds) < before + 2; i++) {
        pause_ms(1);
    }
    assert_true(atomic_load(&rounds) >= before + 2);
}

// ---- set-up

static void note_refused(void *arg, enum uvea_error error, const struct uvea_error_context *why)
{
    (void)error;
    web_lines_add(arg, why);
}

static struct uvea_mesh_config mesh_config(unsigned index)
{
    struct uvea_mesh_config config = uvea_mesh_config_default(uvea_party_at(index));

    config.start_jitter_ns_max = 0;
    config.retry_delay_ns = 50 * UVEA_MS;
    config.handshake_ns_max = 2 * UVEA_SECOND;
    config.value_bytes_max = 1 << 20;
    config.listen_address = addresses[index];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        config.dial_address[i] = addresses[i];
    }
    if (index == ALICE) {
        config.refused = note_refused;
        config.refused_arg = &lines;
    }
    return config;
}

static void open_party(unsigned index)
{
    const struct pki_leaf leaf = {index, "127.0.0.1", target.today - 1, target.today + 9};
    struct uvea_posix_config config = uvea_posix_config_default();
    struct party *party = &parties[index];
    struct uvea_error_context context;

    party->index = index;
    party->tls = pki_tls(&pki, names[index], &leaf, NULL);
    config.tls = party->tls;
    config.drain_ns_max = 500 * UVEA_MS;
    assert_int_equal(uvea_posix_open(&config, &party->rt, &context), UVEA_OK);
}

static void open_mesh(unsigned index)
{
    const struct uvea_mesh_config config = mesh_config(index);
    struct uvea_error_context context;

    assert_int_equal(uvea_mesh_open(parties[index].rt, &config, &parties[index].mesh, &context),
                     UVEA_OK);
    assert_int_equal(pthread_create(&parties[index].thread, NULL, live, &parties[index]), 0);
}

static int set_up(void **state)
{
    (void)state;
    pki_open(&pki);
    web_lines_init(&lines);
    target = (struct target){
        .address = addresses[ALICE],
        .pki = &pki,
        .lines = &lines,
        .check = check,
        .tells_timeout = "the deadline passed",
        .today = (int)((time(NULL) - PKI_START) / PKI_DAY),
    };
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        web_free_address(addresses[i]);
        open_party(i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_posix_close(parties[i].rt);
        uvea_tls_close(parties[i].tls);
    }
    web_lines_deinit(&lines);
    pki_close(&pki);
    return 0;
}

static int open_meshes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        open_mesh(i);
    }
    check();
    target_init(&target); // attempts before the mesh was there may have been refused
    return 0;
}

static int close_meshes(void **state)
{
    (void)state;
    bool failed = false;
    atomic_store(&token_ends, true);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        (void)pthread_join(parties[i].thread, NULL);
        failed = failed || parties[i].failed;
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_mesh_close(parties[i].mesh);
    }
    return failed ? -1 : 0;
}

// ---- strangers, and those we know who say that they are others

// What a dialler says in the mesh's handshake, all at once. length: of the identity, as claimed.
static size_t hello(uint8_t *out, uint32_t connection_id, uint32_t length, const char *identity)
{
    uvea_store_be32(out, connection_id);
    uvea_store_be32(out + 4, length);
    memcpy(out + 8, identity, strlen(identity));
    return 8 + strlen(identity);
}

static void meet_hello(const struct pki_leaf *leaf, const char *identity, uint32_t length,
                       const char *says)
{
    struct attacker attacker;
    uint8_t bytes[64];
    char text[64];

    pki_write_leaf(&pki, "attacker", leaf);
    attacker_open(&attacker, target.address, &pki, "attacker");
    attacker_send(&attacker, bytes, hello(bytes, 0, length, identity));
    attacker_read_all(&attacker, text, sizeof(text));
    assert_null(strstr(text, "2ok"));
    attacker_close(&attacker);
    target_expect_line(&target, says);
}

static void meet_those_we_know(void)
{
    const int days = target.today + 9;
    const struct pki_leaf bob = {PKI_PARTY_1, "127.0.0.1", 0, days};
    const struct pki_leaf charlie = {PKI_PARTY_2, "127.0.0.1", 0, days};
    const struct pki_leaf client = {PKI_CLIENTS, NULL, 0, days};

    meet_hello(&bob, "bob", 3, ""); // is connected already
    meet_hello(&charlie, "bob", 3, "its certificate is not that of party 1");
    meet_hello(&client, "bob", 3, "its certificate is not that of party 1");
    meet_hello(&bob, "alice", 5, "\"alice\" does not dial party 0");
    meet_hello(&bob, "mallory", 7, "unknown identity \"mallory\"");
    meet_hello(&bob, "\xff\xfe\xfd", 3, "");
    meet_hello(&bob, "bob", 0xffffffff, "4294967295");
    meet_hello(&bob, "", 100, ""); // and then nothing
}

static void meet_a_replayed_handshake(void)
{
    static struct wiretap tap;
    const struct pki_leaf bob = {PKI_PARTY_1, "127.0.0.1", 0, target.today + 9};
    struct attacker attacker;
    uint8_t bytes[64];
    char text[64];

    pki_write_leaf(&pki, "attacker", &bob);
    wiretap_open(&tap, target.address, WIRETAP_NO_FLIP);
    attacker_open(&attacker, tap.address, &pki, "attacker");
    attacker_send(&attacker, bytes, hello(bytes, 0, 3, "bob"));
    attacker_read_all(&attacker, text, sizeof(text));
    attacker_close(&attacker);
    wiretap_close(&tap);
    target_expect_line(&target, "");
    target_meets_bytes(&target, tap.said, tap.said_bytes, "a record that is not authentic");
}

static void nothing(void)
{
}

static void test_strangers(void **state)
{
    (void)state;
    target_meets_wrong_certificates(&target);
    target_meets_what_is_not_tls(&target);
    target_meets_slow_hello(&target);
    meet_those_we_know();
    meet_a_replayed_handshake();
    target_meets_silent_ones(&target, 500, nothing);
}

// ---- a party that turns bad: it has the right certificate and the right name

static atomic_bool connected;

struct rogue {
    struct party *party;
    const uint8_t *attack; // after the sessions have been validated
    size_t attack_bytes;
    enum uvea_error end;
    pthread_t thread;
};

enum { VALIDATION_FRAME_BYTES = 21 };

static enum uvea_error turn_bad(struct rogue *rogue, struct uvea_stream *stream)
{
    struct uvea_rt *rt = rogue->party->rt;
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, 30 * UVEA_SECOND);
    uint8_t frame[VALIDATION_FRAME_BYTES];
    size_t got = 1;

    UVEA_TRY(uvea_handshake_dial(rt, stream, names[rogue->party->index], 0, deadline_ns, NULL));
    UVEA_TRY(uvea_rt_read_exact(rt, stream, frame, sizeof(frame), deadline_ns));
    UVEA_TRY(uvea_rt_write(rt, stream, frame, sizeof(frame), deadline_ns));
    while (!atomic_load(&connected)) { // else it would be the attempt to connect that fails
        pause_ms(1);
    }
    if (rogue->attack_bytes > 0) {
        UVEA_TRY(uvea_rt_write(rt, stream, rogue->attack, rogue->attack_bytes, deadline_ns));
    }
    enum uvea_error error = UVEA_OK;
    while (error == UVEA_OK && got > 0) {
        error = uvea_rt_read(rt, stream, frame, sizeof(frame), &got, deadline_ns);
    }
    return error;
}

static void *be_rogue(void *arg)
{
    struct rogue *rogue = arg;
    struct uvea_rt *rt = rogue->party->rt;

    for (unsigned i = 0; i < 600; i++) { // until alice waits for it
        struct uvea_stream *stream;
        if (uvea_rt_dial(rt, addresses[ALICE], &stream, UVEA_NEVER) == UVEA_OK) {
            rogue->end = turn_bad(rogue, stream);
            uvea_rt_stream_close(rt, stream);
            if (rogue->end == UVEA_OK || rogue->end == UVEA_ERR_RESET) {
                return NULL;
            }
        }
        pause_ms(50);
    }
    return NULL;
}

static void with_rogues(const uint8_t *attack, size_t attack_bytes,
                        void (*act)(struct uvea_mesh *mesh))
{
    const struct uvea_mesh_config config = mesh_config(ALICE);
    struct rogue rogues[] = {
        {.party = &parties[BOB], .attack = attack, .attack_bytes = attack_bytes},
        {.party = &parties[CHARLIE]}};
    struct uvea_error_context context;
    struct uvea_mesh *mesh;

    atomic_store(&connected, false);
    assert_int_equal(uvea_mesh_open(parties[ALICE].rt, &config, &mesh, &context), UVEA_OK);
    for (unsigned i = 0; i < UVEA_COUNT_OF(rogues); i++) {
        assert_int_equal(pthread_create(&rogues[i].thread, NULL, be_rogue, &rogues[i]), 0);
    }
    const enum uvea_error error = uvea_mesh_connect(mesh, &context);
    atomic_store(&connected, true);
    assert_int_equal(error, UVEA_OK);
    act(mesh);
    uvea_mesh_disconnect(mesh);
    for (unsigned i = 0; i < UVEA_COUNT_OF(rogues); i++) {
        assert_int_equal(pthread_join(rogues[i].thread, NULL), 0);
    }
    uvea_mesh_close(mesh);
}

// One frame of bytes for a session, with the length that it claims.
static size_t frame(uint8_t *out, uint32_t session_id, const char *text)
{
    struct uvea_buf value = {0};

    uvea_store_le32(out, session_id);
    assert_int_equal(uvea_value_append_bytes(&value, (const uint8_t *)text, strlen(text)), UVEA_OK);
    memcpy(out + 4, value.data, value.len);
    const size_t bytes = 4 + value.len;
    uvea_buf_deinit(&value);
    return bytes;
}

static void see_the_claim(struct uvea_mesh *mesh)
{
    struct uvea_error_context context;
    struct uvea_value value;

    assert_int_equal(uvea_link_recv(uvea_mesh_link(mesh, 0), UVEA_PEER_NEXT, &value, &context),
                     UVEA_ERR_LIMIT);
    assert_int_equal(uvea_mesh_failure(mesh, &context), UVEA_ERR_LIMIT);
    assert_non_null(strstr(context.text, "party 1, connection 0"));
}

static void see_the_other_session(struct uvea_mesh *mesh)
{
    struct uvea_value value;

    assert_int_equal(uvea_link_recv(uvea_mesh_link(mesh, 0), UVEA_PEER_NEXT, &value, NULL),
                     UVEA_OK);
    assert_memory_equal(value.body, "mine", 4);
    assert_int_equal(uvea_mesh_counters(mesh).frames_dropped, 1);
    assert_int_equal(uvea_mesh_failure(mesh, NULL), UVEA_OK);
}

static void check_nobody(void)
{
}

static void test_a_party_that_turns_bad(void **state)
{
    (void)state;
    uint8_t claim[64];
    uint8_t stranger[64];
    target.check = check_nobody;
    target_init(&target);
    size_t bytes = frame(claim, 0, "x");
    uvea_store_le32(claim + 5, UINT32_C(1) << 31); // and none of it comes
    with_rogues(claim, bytes, see_the_claim);
    uvea_store_le32(claim + 5, (1 << 20) + 1);
    with_rogues(claim, bytes, see_the_claim);
    bytes = frame(stranger, 99, "not mine");
    bytes += frame(stranger + bytes, 0, "mine");
    with_rogues(stranger, bytes, see_the_other_session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_strangers, open_meshes, close_meshes),
        cmocka_unit_test(test_a_party_that_turns_bad),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
