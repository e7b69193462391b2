#include "core/tls/pem.h"

#include "core/base/mem.h"
#include "core/tls/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

struct contents {
    struct uvea_buf text; // secret when it is that of a key
    mode_t mode;          // 0 when there is no file
};

static void contents_deinit(struct contents *contents)
{
    uvea_mem_wipe(contents->text.data, contents->text.len);
    uvea_buf_deinit(&contents->text);
}

static enum uvea_error check_size(const char *file, const struct stat *status,
                                  struct uvea_error_context *context)
{
    if (!S_ISREG(status->st_mode)) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: not a file", file);
    }
    if (status->st_size == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: empty", file);
    }
    if (status->st_size > UVEA_TLS_FILE_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: longer than %d bytes", file,
                              UVEA_TLS_FILE_BYTES_MAX);
    }
    return UVEA_OK;
}

static enum uvea_error read_all(const char *file, int fd, struct contents *contents,
                                struct uvea_error_context *context)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %m", file);
    }
    UVEA_TRY(check_size(file, &status, context));
    size_t size = (size_t)status.st_size;
    contents->mode = status.st_mode;
    UVEA_TRY(uvea_buf_reserve(&contents->text, size));
    while (contents->text.len < size) {
        ssize_t got = read(fd, contents->text.data + contents->text.len, size - contents->text.len);
        if (got == 0) {
            return uvea_error_set(context, UVEA_ERR_IO, "%s: got shorter while read", file);
        }
        if (got < 0 && errno != EINTR) {
            return uvea_error_set(context, UVEA_ERR_IO, "%s: %m", file);
        }
        contents->text.len += got > 0 ? (size_t)got : 0;
    }
    return UVEA_OK;
}

// On failure contents is to be released all the same.
static enum uvea_error read_file(const struct uvea_tls_config *config, const char *file,
                                 struct contents *contents, struct uvea_error_context *context)
{
    if (config->files != NULL) {
        enum uvea_error error = config->files->read(config->files->arg, file, &contents->text);
        return error == UVEA_OK ? UVEA_OK
                                : uvea_error_set(context, error, "%s: cannot be read", file);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %m", file);
    }
    enum uvea_error error = read_all(file, fd, contents, context);
    (void)close(fd);
    return error;
}

static X509 *read_certificate(const struct uvea_tls_config *config, BIO *text)
{
    X509 *certificate = X509_new_ex(config->library, NULL);
    if (certificate != NULL && PEM_read_bio_X509(text, &certificate, NULL, NULL) == NULL) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

// Appends the certificates up to the end of the text.
static enum uvea_error parse_certificates(const struct uvea_tls_config *config, const char *file,
                                          BIO *text, STACK_OF(X509) * found,
                                          struct uvea_error_context *context)
{
    X509 *certificate;
    while ((certificate = read_certificate(config, text)) != NULL) {
        if (sk_X509_num(found) == UVEA_TLS_CHAIN_MAX || sk_X509_push(found, certificate) == 0) {
            X509_free(certificate);
            return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: more than %d certificates", file,
                                  UVEA_TLS_CHAIN_MAX);
        }
    }
    bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!at_end) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: certificate %d is damaged", file,
                              sk_X509_num(found) + 1);
    }
    return sk_X509_num(found) > 0
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_FORMAT, "%s: no certificate in PEM form", file);
}

enum uvea_error uvea_tls_read_certificates(const struct uvea_tls_config *config, const char *file,
                                           STACK_OF(X509) * *certificates,
                                           struct uvea_error_context *context)
{
    struct contents contents = {0};
    enum uvea_error error = read_file(config, file, &contents, context);
    if (error != UVEA_OK) {
        contents_deinit(&contents);
        return error;
    }
    ERR_clear_error();
    BIO *text = BIO_new_mem_buf(contents.text.data, (int)contents.text.len);
    STACK_OF(X509) *found = sk_X509_new_null();
    error = UVEA_ERR_MEMORY;
    if (text != NULL && found != NULL) {
        error = parse_certificates(config, file, text, found, context);
    }
    BIO_free(text);
    contents_deinit(&contents);
    if (error != UVEA_OK) {
        sk_X509_pop_free(found, X509_free);
        return error;
    }
    *certificates = found;
    return UVEA_OK;
}

// Nobody is asked for a pass phrase: a party starts unattended. asked: whether one was wanted.
static int no_pass_phrase(char *out, int capacity, int writing, void *asked)
{
    (void)out;
    (void)capacity;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

static enum uvea_error parse_key(const struct uvea_tls_config *config, const char *file,
                                 const struct contents *contents, EVP_PKEY **key,
                                 struct uvea_error_context *context)
{
    if ((contents->mode & (S_IRWXG | S_IRWXO)) != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s: mode %04o lets others than its owner at the private key; "
                              "use 0600",
                              file, (unsigned)contents->mode & 07777U);
    }
    ERR_clear_error();
    BIO *text = BIO_new_mem_buf(contents->text.data, (int)contents->text.len);
    if (text == NULL) {
        return UVEA_ERR_MEMORY;
    }
    bool asked = false;
    EVP_PKEY *found =
        PEM_read_bio_PrivateKey_ex(text, NULL, no_pass_phrase, &asked, config->library, NULL);
    BIO_free(text);
    ERR_clear_error();
    if (found == NULL) {
        return asked ? uvea_error_set(context, UVEA_ERR_USAGE,
                                      "%s: the key is locked with a pass phrase", file)
                     : uvea_error_set(context, UVEA_ERR_FORMAT, "%s: no private key in PEM form",
                                      file);
    }
    *key = found;
    return UVEA_OK;
}

enum uvea_error uvea_tls_read_key(const struct uvea_tls_config *config, const char *file,
                                  EVP_PKEY **key, struct uvea_error_context *context)
{
    struct contents contents = {0};
    enum uvea_error error = read_file(config, file, &contents, context);
    if (error == UVEA_OK) {
        error = parse_key(config, file, &contents, key, context);
    }
    contents_deinit(&contents);
    return error;
}
