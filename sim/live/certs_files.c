// Certificates in a directory.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/file.h"
#include "sim/live/certs.h"
#include "sim/live/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PEM_BYTES_MAX = 1 << 16, CLIENT_CHARS_MAX = 32, STEM_CHARS = CLIENT_CHARS_MAX + 1 };

enum uvea_error uvea_certs_paths(const char *directory, const char *stem,
                                 char certificate[PATH_MAX], char key[PATH_MAX],
                                 struct uvea_error_context *context)
{
    if ((size_t)snprintf(certificate, PATH_MAX, "%s/%s.pem", directory, stem) >= PATH_MAX ||
        (size_t)snprintf(key, PATH_MAX, "%s/%s.key.pem", directory, stem) >= PATH_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the directory's name is too long");
    }
    return UVEA_OK;
}

static enum uvea_error check_absent(const char *file, struct uvea_error_context *context)
{
    return access(file, F_OK) != 0
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_USAGE,
                                "%s: is there already, and is not overwritten unless told", file);
}

static enum uvea_error check_both_absent(const char *directory, const char *stem,
                                         struct uvea_error_context *context)
{
    char certificate[PATH_MAX];
    char key[PATH_MAX];
    UVEA_TRY(uvea_certs_paths(directory, stem, certificate, key, context));
    UVEA_TRY(check_absent(certificate, context));
    return check_absent(key, context);
}

static enum uvea_error write_both(const char *directory, const char *stem,
                                  const struct uvea_certs_pem *pem, bool overwrite,
                                  struct uvea_error_context *context)
{
    char certificate[PATH_MAX];
    char key[PATH_MAX];
    UVEA_TRY(uvea_certs_paths(directory, stem, certificate, key, context));
    UVEA_TRY(uvea_live_write(key, pem->key.data, pem->key.len, true, overwrite, context));
    return uvea_live_write(certificate, pem->certificate.data, pem->certificate.len, false,
                           overwrite, context);
}

static enum uvea_error read_both(const char *directory, const char *stem,
                                 struct uvea_certs_pem *pem, struct uvea_error_context *context)
{
    char certificate[PATH_MAX];
    char key[PATH_MAX];
    UVEA_TRY(uvea_certs_paths(directory, stem, certificate, key, context));
    UVEA_TRY(uvea_file_read(certificate, PEM_BYTES_MAX, &pem->certificate, context));
    // In one piece, so that no copy of it stays behind.
    UVEA_TRY(uvea_buf_reserve(&pem->key, PEM_BYTES_MAX + 2 * (size_t)UVEA_FILE_READ_BYTES));
    return uvea_file_read(key, PEM_BYTES_MAX, &pem->key, context);
}

// ---- roots

enum { ROOT_COUNT = UVEA_PARTY_COUNT + 1 };

static const char *const roots[ROOT_COUNT] = {"p0-root", "p1-root", "p2-root", "client-root"};
static const char *const root_subjects[ROOT_COUNT] = {"root of party 0", "root of party 1",
                                                      "root of party 2", "root of clients"};

static enum uvea_error make_root(const char *directory, size_t which,
                                 const struct uvea_certs_window *window, bool overwrite,
                                 struct uvea_error_context *context)
{
    struct uvea_certs_pem pem = {0};
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_ROOT,
        .common_name = root_subjects[which],
        .window = *window,
    };
    UVEA_TRY(uvea_certs_make(&plan, NULL, &pem, context));
    enum uvea_error error = write_both(directory, roots[which], &pem, overwrite, context);
    uvea_certs_pem_deinit(&pem);
    return error;
}

enum uvea_error uvea_certs_init(const char *directory, const struct uvea_certs_window *window,
                                bool overwrite, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_live_make_directory(directory, false, context));
    for (size_t i = 0; i < ROOT_COUNT && !overwrite; i++) {
        UVEA_TRY(check_both_absent(directory, roots[i], context));
    }
    for (size_t i = 0; i < ROOT_COUNT; i++) {
        UVEA_TRY(make_root(directory, i, window, overwrite, context));
    }
    return UVEA_OK;
}

// ---- leaves

static enum uvea_error issue(const char *directory, const char *root, const char *stem,
                             const struct uvea_certs_plan *plan, bool overwrite,
                             struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_certs_pem issuer = {0};
    struct uvea_certs_pem pem = {0};
    struct uvea_error_context inner = {{0}};
    if (!overwrite) {
        UVEA_TRY(check_both_absent(directory, stem, context));
    }
    UVEA_TRY_CLEANUP(read_both(directory, root, &issuer, context));
    error = uvea_certs_make(plan, &issuer, &pem, &inner);
    if (error != UVEA_OK) {
        error =
            uvea_error_set(context, error, "%.300s/%s.pem: %.120s", directory, stem, inner.text);
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(write_both(directory, stem, &pem, overwrite, context));
cleanup:
    uvea_certs_pem_deinit(&issuer);
    uvea_certs_pem_deinit(&pem);
    return error;
}

enum uvea_error uvea_certs_issue_party(const char *directory, struct uvea_party party,
                                       const char *const *names, size_t name_count,
                                       const struct uvea_certs_window *window, bool overwrite,
                                       struct uvea_error_context *context)
{
    char stem[STEM_CHARS];
    char subject[STEM_CHARS];
    (void)snprintf(stem, sizeof(stem), "p%u", party.index);
    (void)snprintf(subject, sizeof(subject), "party %u", party.index);
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_PARTY,
        .common_name = subject,
        .names = names,
        .name_count = name_count,
        .window = *window,
    };
    return issue(directory, roots[party.index], stem, &plan, overwrite, context);
}

static bool good_client(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    static const char suffix[] = "-root";
    size_t len = strlen(name);
    bool party = len == 2 && name[0] == 'p' && name[1] >= '0' && name[1] <= '2';
    bool root = len >= strlen(suffix) && strcmp(name + len - strlen(suffix), suffix) == 0;
    return len >= 1 && len <= CLIENT_CHARS_MAX && strspn(name, allowed) == len && !party && !root;
}

enum uvea_error uvea_certs_issue_client(const char *directory, const char *name,
                                        const struct uvea_certs_window *window, bool overwrite,
                                        struct uvea_error_context *context)
{
    if (!good_client(name)) {
        return uvea_error_set(
            context, UVEA_ERR_USAGE,
            "client '%.40s': a name has letters, digits, - and _, at most %d, and "
            "is none of p0, p1, p2 or ...-root",
            name, CLIENT_CHARS_MAX);
    }
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_CLIENT,
        .common_name = name,
        .window = *window,
    };
    return issue(directory, "client-root", name, &plan, overwrite, context);
}
