#include "tests/tls/pki.h"

#include "tests/support/cmocka.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const root_files[PKI_ROOTS] = {"root0.pem", "root1.pem", "root2.pem",
                                                  "clients.pem", "stranger.pem"};

const char *pki_path(const struct pki *pki, const char *file)
{
    static char paths[32][sizeof(pki->directory) + 256];
    static unsigned next;
    char *path = paths[next++ % 32];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", pki->directory, file);
    return path;
}

static void write_file(const char *path, const struct uvea_buf *contents, mode_t mode)
{
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents->data, contents->len), contents->len);
    assert_int_equal(close(fd), 0);
}

static void make(const struct uvea_certs_plan *plan, const struct uvea_certs_pem *issuer,
                 struct uvea_certs_pem *out)
{
    struct uvea_error_context context = {{0}};
    if (uvea_certs_make(plan, issuer, out, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
}

void pki_open(struct pki *pki)
{
    *pki = (struct pki){.directory = "/tmp/uvea-tls-XXXXXX"};
    assert_non_null(mkdtemp(pki->directory));
    for (unsigned i = 0; i < PKI_ROOTS; i++) {
        struct uvea_certs_plan plan = {.role = UVEA_CERTS_ROOT,
                                       // The stranger's calls itself like the first party's.
                                       .common_name =
                                           i == PKI_STRANGER ? root_files[0] : root_files[i],
                                       .window = {0, PKI_START + 20000 * PKI_DAY}};
        make(&plan, NULL, &pki->roots[i]);
        write_file(pki_path(pki, root_files[i]), &pki->roots[i].certificate, 0644);
    }
}

void pki_close(struct pki *pki)
{
    DIR *directory = opendir(pki->directory);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        (void)unlink(pki_path(pki, entry->d_name)); // not . and ..
    }
    (void)closedir(directory);
    assert_int_equal(rmdir(pki->directory), 0);
    for (unsigned i = 0; i < PKI_ROOTS; i++) {
        uvea_certs_pem_deinit(&pki->roots[i]);
    }
}

void pki_write_leaf(struct pki *pki, const char *stem, const struct pki_leaf *leaf)
{
    struct uvea_certs_plan plan = {
        .role = leaf->name != NULL ? UVEA_CERTS_PARTY : UVEA_CERTS_CLIENT,
        .common_name = stem,
        .names = &leaf->name,
        .name_count = leaf->name != NULL,
        .window = {PKI_START + leaf->from_day * PKI_DAY, PKI_START + leaf->to_day * PKI_DAY}};
    struct uvea_certs_pem pem = {0};
    make(&plan, &pki->roots[leaf->root], &pem);
    char file[64];
    (void)snprintf(file, sizeof(file), "%s.pem", stem);
    write_file(pki_path(pki, file), &pem.certificate, 0644);
    (void)snprintf(file, sizeof(file), "%s.key.pem", stem);
    write_file(pki_path(pki, file), &pem.key, 0600);
    uvea_certs_pem_deinit(&pem);
}

void pki_write_root(struct pki *pki, const char *file, int from_day, int to_day)
{
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_ROOT,
        .common_name = file,
        .window = {PKI_START + from_day * PKI_DAY, PKI_START + to_day * PKI_DAY}};
    struct uvea_certs_pem pem = {0};
    make(&plan, NULL, &pem);
    write_file(pki_path(pki, file), &pem.certificate, 0644);
    uvea_certs_pem_deinit(&pem);
}

struct uvea_tls_config pki_config(const struct pki *pki, const char *stem, int party,
                                  struct uvea_rt *clock)
{
    char key[64];
    char certificate[64];
    (void)snprintf(key, sizeof(key), "%s.key.pem", stem);
    (void)snprintf(certificate, sizeof(certificate), "%s.pem", stem);
    struct uvea_tls_config config = {.key_file = pki_path(pki, key),
                                     .certificate_file = pki_path(pki, certificate),
                                     .client_root_file = pki_path(pki, root_files[PKI_CLIENTS]),
                                     .own_party = party,
                                     .clock = clock};
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        config.party_root_files[i] = pki_path(pki, root_files[i]);
    }
    return config;
}

struct uvea_tls *pki_tls(struct pki *pki, const char *stem, const struct pki_leaf *leaf,
                         struct uvea_rt *clock)
{
    pki_write_leaf(pki, stem, leaf);
    int party = leaf->root < PKI_CLIENTS ? (int)leaf->root : -1;
    struct uvea_tls_config config = pki_config(pki, stem, party, clock);
    struct uvea_tls *tls = NULL;
    struct uvea_error_context context = {{0}};
    if (uvea_tls_open(&config, &tls, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    return tls;
}
