#include "tests/posix/attacker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- OpenSSL's side

void attacker_open(struct attacker *attacker, const char *address, const struct pki *pki,
                   const char *stem)
{
    char file[64];

    *attacker = (struct attacker){.fd = web_dial(address)};
    attacker->context = SSL_CTX_new(TLS_client_method());
    assert_non_null(attacker->context);
    if (stem != NULL) {
        (void)snprintf(file, sizeof(file), "%s.pem", stem);
        assert_int_equal(SSL_CTX_use_certificate_chain_file(attacker->context, pki_path(pki, file)),
                         1);
        (void)snprintf(file, sizeof(file), "%s.key.pem", stem);
        assert_int_equal(
            SSL_CTX_use_PrivateKey_file(attacker->context, pki_path(pki, file), SSL_FILETYPE_PEM),
            1);
    }
    attacker->ssl = SSL_new(attacker->context);
    assert_non_null(attacker->ssl);
    assert_int_equal(SSL_set_fd(attacker->ssl, attacker->fd), 1);
}

void attacker_close(struct attacker *attacker)
{
    SSL_free(attacker->ssl);
    SSL_CTX_free(attacker->context);
    (void)close(attacker->fd);
}

void attacker_send(struct attacker *attacker, const uint8_t *bytes, size_t len)
{
    if (SSL_connect(attacker->ssl) == 1) {
        (void)SSL_write(attacker->ssl, bytes, (int)len);
    }
}

void attacker_say(struct attacker *attacker, const char *text, size_t filler)
{
    char piece[1024];

    memset(piece, 'x', sizeof(piece));
    if (SSL_connect(attacker->ssl) != 1 ||
        (text[0] != '\0' && SSL_write(attacker->ssl, text, (int)strlen(text)) <= 0)) {
        return;
    }
    while (filler > 0) {
        const size_t len = filler < sizeof(piece) ? filler : sizeof(piece);
        if (SSL_write(attacker->ssl, piece, (int)len) <= 0) {
            return;
        }
        filler -= len;
    }
}

void attacker_read_all(struct attacker *attacker, char *out, size_t capacity)
{
    size_t len = 0;
    int got = SSL_read(attacker->ssl, out, (int)(capacity - 1));

    while (got > 0) {
        len += (size_t)got;
        got =
            len + 1 < capacity ? SSL_read(attacker->ssl, out + len, (int)(capacity - 1 - len)) : 0;
    }
    out[len] = '\0';
}

size_t attacker_hello(uint8_t *out, size_t capacity)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem());
    BIO *from = BIO_new(BIO_s_mem());

    assert_true(ssl != NULL && in != NULL && from != NULL);
    SSL_set_bio(ssl, in, from);
    assert_int_equal(SSL_connect(ssl), -1);
    const int got = BIO_read(from, out, (int)capacity);
    assert_true(got > 0);
    SSL_free(ssl);
    SSL_CTX_free(context);
    return (size_t)got;
}

// ---- between a client and a server

static void *carry_back(void *arg)
{
    struct wiretap *tap = arg;
    char piece[4096];
    ssize_t got = recv(tap->server_fd, piece, sizeof(piece), 0);

    while (got > 0) {
        web_send(tap->client_fd, piece, (size_t)got);
        got = recv(tap->server_fd, piece, sizeof(piece), 0);
    }
    (void)shutdown(tap->client_fd, SHUT_RDWR);
    return NULL;
}

static void carry_there(struct wiretap *tap)
{
    ssize_t got = 1;

    while (got > 0 && tap->said_bytes < WIRETAP_BYTES) {
        uint8_t *at = tap->said + tap->said_bytes;
        got = recv(tap->client_fd, at, WIRETAP_BYTES - tap->said_bytes, 0);
        const size_t fresh = got > 0 ? (size_t)got : 0;
        if (tap->flip_at >= 0 && (size_t)tap->flip_at >= tap->said_bytes &&
            (size_t)tap->flip_at < tap->said_bytes + fresh) {
            tap->said[tap->flip_at] ^= 1;
        }
        web_send(tap->server_fd, at, fresh);
        tap->said_bytes += fresh;
    }
    (void)shutdown(tap->server_fd, SHUT_RDWR);
}

static void *carry(void *arg)
{
    struct wiretap *tap = arg;
    pthread_t back;

    tap->client_fd = accept(tap->listen_fd, NULL, NULL);
    assert_true(tap->client_fd >= 0);
    tap->server_fd = web_dial(tap->to);
    assert_int_equal(pthread_create(&back, NULL, carry_back, tap), 0);
    carry_there(tap);
    (void)pthread_join(back, NULL);
    return NULL;
}

void wiretap_open(struct wiretap *tap, const char *to, int flip_at)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);

    *tap = (struct wiretap){.to = to, .flip_at = flip_at};
    tap->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(tap->listen_fd >= 0);
    assert_int_equal(bind(tap->listen_fd, (struct sockaddr *)&at, bytes), 0);
    assert_int_equal(listen(tap->listen_fd, 1), 0);
    assert_int_equal(getsockname(tap->listen_fd, (struct sockaddr *)&at, &bytes), 0);
    (void)snprintf(tap->address, sizeof(tap->address), "127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&tap->thread, NULL, carry, tap), 0);
}

void wiretap_close(struct wiretap *tap)
{
    assert_int_equal(pthread_join(tap->thread, NULL), 0);
    (void)close(tap->client_fd);
    (void)close(tap->server_fd);
    (void)close(tap->listen_fd);
}
