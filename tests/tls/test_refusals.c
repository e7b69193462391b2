// Who is refused, on which side, and what both sides can say about it. In TLS 1.3 a dialler's
// handshake is over before the listener has judged its certificate: it hears of a refusal with the
// first read.
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

// What one test expects.
static enum uvea_error dialler_error;
static enum uvea_error listener_error;
static const char *dialler_says;
static const char *listener_says;

static enum uvea_error first_read(struct side *side)
{
    uint8_t byte;
    size_t got;
    return uvea_tls_stream_read(side->stream, &byte, 1, &got, UVEA_NEVER);
}

static void dial_and_greet(struct side *side)
{
    enum uvea_error error =
        uvea_tls_stream_write(side->stream, (const uint8_t *)"hello", 5, UVEA_NEVER);
    if (error == UVEA_OK) {
        error = first_read(side);
    }
    PAIR_EXPECT(error == dialler_error);
    side_says(side, dialler_says);
    PAIR_EXPECT(first_read(side) == dialler_error); // and stays so
}

static void listen_and_greet(struct side *side)
{
    enum uvea_error error = uvea_tls_stream_handshake(side->stream, UVEA_NEVER);
    PAIR_EXPECT(error == listener_error);
    side_says(side, listener_says);
    PAIR_EXPECT(uvea_tls_stream_write(side->stream, (const uint8_t *)"x", 1, UVEA_NEVER) ==
                listener_error);
}

static void expect(enum uvea_error dialler, const char *dialler_text, enum uvea_error listener,
                   const char *listener_text)
{
    dialler_error = dialler;
    dialler_says = dialler_text;
    listener_error = listener;
    listener_says = listener_text;
}

// One side has another leaf, or its clock is wrong, which opens what would be refused at start.
static void refused(unsigned side, const struct pki_leaf *leaf, int clock_days)
{
    struct uvea_sim_config config = plain_config();
    struct pair pair;
    pair_open(&pair, &pki, &config);
    uint64_t wall_ns = (uint64_t)(PKI_START + clock_days * PKI_DAY) * UVEA_SECOND;
    uvea_sim_wall_set(pair.sim, side, wall_ns);
    pair_replace(&pair, side, pki_tls(&pki, "refused", leaf, pair.sides[side].rt));
    pair_run(&pair, dial_and_greet, listen_and_greet);
}

static void test_a_dialler_whose_certificate_has_expired(void **state)
{
    (void)state;
    static const struct pki_leaf leaf = {PKI_PARTY_0, "p0", -9, -2};
    expect(UVEA_ERR_PEER, "the other side refused: certificate has expired", UVEA_ERR_PEER,
           "certificate has expired");
    refused(DIALS, &leaf, -5);
}

static void test_a_listener_whose_certificate_has_expired(void **state)
{
    (void)state;
    static const struct pki_leaf leaf = {PKI_PARTY_1, "p1", -9, -2};
    expect(UVEA_ERR_PEER, "certificate has expired", UVEA_ERR_PEER,
           "the other side refused: certificate has expired");
    refused(LISTENS, &leaf, -5);
}

static void test_certificates_that_are_not_yet_valid(void **state)
{
    (void)state;
    static const struct pki_leaf dialler = {PKI_PARTY_0, "p0", 3, 9};
    static const struct pki_leaf listener = {PKI_PARTY_1, "p1", 3, 9};
    expect(UVEA_ERR_PEER, "the other side refused: bad certificate", UVEA_ERR_PEER,
           "certificate is not yet valid");
    refused(DIALS, &dialler, 5);
    expect(UVEA_ERR_PEER, "certificate is not yet valid", UVEA_ERR_PEER,
           "the other side refused: bad certificate");
    refused(LISTENS, &listener, 5);
}

static void test_a_root_that_nobody_knows(void **state)
{
    (void)state;
    static const struct pki_leaf dialler = {PKI_STRANGER, "p0", -10, 10};
    expect(UVEA_ERR_PEER, "the other side refused: certificate from another root", UVEA_ERR_PEER,
           "certificate from another root");
    refused(DIALS, &dialler, 0);
}

static void test_a_listener_with_a_clients_certificate(void **state)
{
    (void)state;
    static const struct pki_leaf listener = {PKI_CLIENTS, NULL, -10, 10};
    expect(UVEA_ERR_PEER, "certificate from another root", UVEA_ERR_PEER,
           "the other side refused: certificate from another root");
    refused(LISTENS, &listener, 0);
}

static void test_names(void **state)
{
    (void)state;
    static const struct pki_leaf name = {PKI_PARTY_1, "p2", -10, 10};
    static const struct pki_leaf address = {PKI_PARTY_1, "10.0.0.1", -10, 10};
    expect(UVEA_ERR_PEER, "certificate for another name than p1", UVEA_ERR_PEER,
           "the other side refused: bad certificate");
    refused(LISTENS, &name, 0);
    refused(LISTENS, &address, 0);
}

// ---- not of this project

static void dial_without_certificate(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, NULL);
    PAIR_EXPECT(raw_handshake(&raw)); // as far as it can tell
    PAIR_EXPECT(raw_read(&raw, 0, 1) == 0);
    raw_close(&raw);
}

static void dial_with_tls_1_2(struct side *side)
{
    struct raw raw;
    raw_open(&raw, side, &pki, "dialler");
    PAIR_EXPECT(SSL_set_max_proto_version(raw.ssl, TLS1_2_VERSION) == 1);
    bool good = raw_handshake(&raw);
    PAIR_EXPECT(good == (listener_error == UVEA_OK));
    raw_close(&raw);
}

static const char *plaintext;

static void dial_in_the_clear(struct side *side)
{
    PAIR_EXPECT(uvea_rt_write(side->rt, side->bare, (const uint8_t *)plaintext, strlen(plaintext),
                              UVEA_NEVER) == UVEA_OK);
    uint8_t byte;
    size_t got;
    while (uvea_rt_read(side->rt, side->bare, &byte, 1, &got, UVEA_NEVER) == UVEA_OK && got > 0) {
    }
}

static void dial_silently(struct side *side)
{
    (void)side;
}

static void bare_dialler(side_fn *dialler, bool allow_tls_1_2)
{
    struct uvea_sim_config config = plain_config();
    struct pair pair;
    pair_open(&pair, &pki, &config);
    uvea_tls_close(pair.sides[DIALS].tls);
    pair.sides[DIALS].tls = NULL;
    struct uvea_tls_config listener = pki_config(&pki, "listener", 1, pair.sides[LISTENS].rt);
    listener.allow_tls_1_2 = allow_tls_1_2;
    struct uvea_tls *tls;
    assert_int_equal(uvea_tls_open(&listener, &tls, NULL), UVEA_OK);
    pair_replace(&pair, LISTENS, tls);
    pair_run(&pair, dialler, listen_and_greet);
}

static void test_no_certificate(void **state)
{
    (void)state;
    expect(UVEA_OK, "", UVEA_ERR_PEER, "no certificate");
    bare_dialler(dial_without_certificate, false);
}

static void test_an_old_version(void **state)
{
    (void)state;
    expect(UVEA_OK, "", UVEA_ERR_PEER, "protocol version");
    bare_dialler(dial_with_tls_1_2, false);
}

static void greet_an_old_one(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_handshake(side->stream, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(0)) == UVEA_OK);
}

static void test_an_old_version_that_is_allowed(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct pair pair;
    pair_open(&pair, &pki, &config);
    uvea_tls_close(pair.sides[DIALS].tls);
    pair.sides[DIALS].tls = NULL;
    struct uvea_tls_config listener = pki_config(&pki, "listener", 1, pair.sides[LISTENS].rt);
    listener.allow_tls_1_2 = true;
    struct uvea_tls *tls;
    assert_int_equal(uvea_tls_open(&listener, &tls, NULL), UVEA_OK);
    pair_replace(&pair, LISTENS, tls);
    expect(UVEA_OK, "", UVEA_OK, "");
    pair_run(&pair, dial_with_tls_1_2, greet_an_old_one);
}

static void test_no_tls_at_all(void **state)
{
    (void)state;
    expect(UVEA_OK, "", UVEA_ERR_PEER, "not TLS but HTTP in the clear");
    plaintext = "GET /health HTTP/1.1\r\nHost: p1\r\n\r\n";
    bare_dialler(dial_in_the_clear, false);
    expect(UVEA_OK, "", UVEA_ERR_PEER, "not TLS");
    plaintext = "\1\5alice\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    bare_dialler(dial_in_the_clear, false);
    expect(UVEA_OK, "", UVEA_ERR_RESET, "ended during the handshake");
    bare_dialler(dial_silently, false);
}

static void listen_in_the_clear(struct side *side)
{
    uint8_t bytes[16];
    size_t got;
    PAIR_EXPECT(uvea_rt_read(side->rt, side->bare, bytes, sizeof(bytes), &got, UVEA_NEVER) ==
                UVEA_OK);
    PAIR_EXPECT(uvea_rt_write(side->rt, side->bare, (const uint8_t *)"220 ready\r\n", 11,
                              UVEA_NEVER) == UVEA_OK);
}

static void test_a_listener_without_tls(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct pair pair;
    pair_open(&pair, &pki, &config);
    uvea_tls_close(pair.sides[LISTENS].tls);
    pair.sides[LISTENS].tls = NULL;
    expect(UVEA_ERR_PEER, "not TLS", UVEA_OK, "");
    pair_run(&pair, dial_and_greet, listen_in_the_clear);
}

// ---- parties

static void dial_and_prove(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(1)) == UVEA_ERR_PEER);
    uint8_t byte;
    size_t got;
    PAIR_EXPECT(uvea_tls_stream_read(side->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(1)) == UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(0)) == UVEA_ERR_PEER);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(2)) == UVEA_ERR_PEER);
    side_says(side, "certificate from another root, judged by the root of party 2");
}

static void listen_and_prove(struct side *side)
{
    PAIR_EXPECT(uvea_tls_stream_write(side->stream, (const uint8_t *)"x", 1, UVEA_NEVER) ==
                UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(0)) == dialler_error);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(1)) == UVEA_ERR_PEER);
}

static void test_each_is_the_party_of_its_own_root(void **state)
{
    (void)state;
    static const struct pki_leaf dialler[] = {{PKI_PARTY_0, "p0", -10, 10},
                                              {PKI_PARTY_2, "p0", -10, 10}, // another's root
                                              {PKI_CLIENTS, NULL, -10, 10}};
    for (unsigned i = 0; i < UVEA_COUNT_OF(dialler); i++) {
        struct uvea_sim_config config = plain_config();
        struct pair pair;
        pair_open(&pair, &pki, &config);
        pair_replace(&pair, DIALS, pki_tls(&pki, "d", &dialler[i], pair.sides[DIALS].rt));
        expect(i == 0 ? UVEA_OK : UVEA_ERR_PEER, "", UVEA_OK, "");
        pair_run(&pair, dial_and_prove, listen_and_prove);
    }
}

// A certificate runs out while the connection is up.
static void prove_until_it_runs_out(struct side *side)
{
    uint8_t byte;
    size_t got;
    PAIR_EXPECT(uvea_tls_stream_read(side->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(1)) == UVEA_OK);
    uvea_sim_wall_set(side->pair->sim, 0, (uint64_t)(PKI_START + 11 * PKI_DAY) * UVEA_SECOND);
    PAIR_EXPECT(uvea_tls_stream_prove(side->stream, uvea_party_at(1)) == UVEA_ERR_PEER);
    side_says(side, "certificate has expired, judged by the root of party 1");
}

static void test_it_is_judged_anew_each_time(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct pair pair;
    pair_open(&pair, &pki, &config);
    expect(UVEA_OK, "", UVEA_OK, "");
    pair_run(&pair, prove_until_it_runs_out, listen_and_prove);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_dialler_whose_certificate_has_expired),
        cmocka_unit_test(test_a_listener_whose_certificate_has_expired),
        cmocka_unit_test(test_certificates_that_are_not_yet_valid),
        cmocka_unit_test(test_a_root_that_nobody_knows),
        cmocka_unit_test(test_a_listener_with_a_clients_certificate),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_certificate),
        cmocka_unit_test(test_an_old_version),
        cmocka_unit_test(test_an_old_version_that_is_allowed),
        cmocka_unit_test(test_no_tls_at_all),
        cmocka_unit_test(test_a_listener_without_tls),
        cmocka_unit_test(test_each_is_the_party_of_its_own_root),
        cmocka_unit_test(test_it_is_judged_anew_each_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
