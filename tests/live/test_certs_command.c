// `uvea certs` and `uvea keys` as a user meets them.
#include "core/base/check.h"
#include "core/daemon/file.h"
#include "sim/live/certs.h"
#include "sim/live/share_key.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void expect_part(const char *line, int status, const char *part)
{
    const struct shell_result *r = shell("%s", line);
    if (strstr(r->out, part) == NULL) {
        fail_msg("%s: '%s' is not in: %s%s", line, part, r->out, r->err);
    }
    assert_int_equal(r->status, status);
}

static void a_set_is_made(void **state)
{
    (void)state;
    shell_expect("\"$UVEA\" certs init c", 0, "", "");
    shell_expect("\"$UVEA\" certs issue c --party 1 --name localhost,127.0.0.1 --name ::1", 0, "",
                 "");
    shell_expect("\"$UVEA\" certs issue c --client submit --days 3", 0, "", "");
    shell_expect(
        "cd c; ls", 0,
        "client-root.key.pem\nclient-root.pem\np0-root.key.pem\np0-root.pem\np1-root.key.pem\n"
        "p1-root.pem\np1.key.pem\np1.pem\np2-root.key.pem\np2-root.pem\nsubmit.key.pem\n"
        "submit.pem\n",
        "");
    shell_expect("stat -c %a c/*.key.pem | sort -u; stat -c %a c/p1.pem", 0, "600\n644\n", "");
    expect_part("\"$UVEA\" certs show c/p1.pem", 0,
                "names        DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1\n"
                "issuer       O = uvea development, CN = root of party 1\n"
                "use          listens, dials\n");
    expect_part("\"$UVEA\" certs show c/submit.pem", 0, "\nkey          ED25519, 256 bits\nnow");
    expect_part("cat c/p?-root.pem | \"$UVEA\" certs show /dev/stdin | grep -c 'now  *good'", 0,
                "3\n");
}

static void nothing_is_overwritten_unless_told(void **state)
{
    (void)state;
    shell_expect("rm -rf c; \"$UVEA\" certs init c; sha256sum c/* >before", 0, "", "");
    shell_expect(
        "\"$UVEA\" certs init c", 2, "",
        "uvea certs init: c/p0-root.pem: is there already, and is not overwritten unless told\n");
    shell_expect(
        "rm c/p0-root.pem c/p0-root.key.pem; grep -v p0 before >rest; \"$UVEA\" certs init c "
        "2>/dev/null; sha256sum --quiet -c rest; ls c | grep -c p0",
        1, "0\n", "");
    shell_expect("\"$UVEA\" certs init c --overwrite; sha256sum c/* | sort - before | uniq -d", 0,
                 "", "");
    shell_expect("\"$UVEA\" keys new k >/dev/null; \"$UVEA\" keys new k", 2, "",
                 "uvea keys new: k: is there already, and is not overwritten unless told\n");
    shell_expect("ls c k* | grep -c '\\.pem\\.'", 1, "0\n", ""); // nothing half-made is left
}

// A short RSA key, SHA-1, no extensions.
static void write_weak(const char *path)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)1024);
    X509 *certificate = X509_new();
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(X509_set_version(certificate, X509_VERSION_3), 1);
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(certificate), time(NULL) - 60));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(certificate), time(NULL) + 86400));
    assert_true(X509_sign(certificate, key, EVP_sha1()) > 0);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void trouble_is_named(void **state)
{
    (void)state;
    struct uvea_error_context context;
    const int64_t now = time(NULL);
    const struct uvea_certs_window past = {now - 20 * 86400, now - 86400 - 60};
    const struct uvea_certs_window future = {now + 86400 + 60, now + 20 * 86400};
    const char *name = "localhost";
    shell_expect("rm -rf c; \"$UVEA\" certs init c", 0, "", "");
    assert_int_equal(
        uvea_certs_issue_party("c", uvea_party_at(0), &name, 1, &past, false, &context), UVEA_OK);
    assert_int_equal(
        uvea_certs_issue_party("c", uvea_party_at(1), &name, 1, &future, false, &context), UVEA_OK);
    expect_part("\"$UVEA\" certs show c/p0.pem", 10, "now          expired 1 days and ");
    expect_part("\"$UVEA\" certs show c/p1.pem", 10,
                "now          not valid yet, for another 1 days");
    write_weak("w.pem");
    expect_part("\"$UVEA\" certs show w.pem", 10,
                "now          its key is weak or unknown; its signature is weak or unknown; it "
                "listens but names no host; it is signed by itself and no root\n");
}

static void certs_used_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *err;
    } cases[] = {
        {"certs", "which subcommand? known are init, issue, show (see: uvea help certs)"},
        {"certs init", " init: DIR is missing"},
        {"certs init d --days 0", " init: --days: 0 is not in 1..36500"},
        {"certs init f", " init: f: is no directory"},
        {"certs init none/d", " init: none/d: No such file or directory"},
        {"certs issue c", " issue: one of --party and --client is needed"},
        {"certs issue c --party 0 --client x", " issue: one of --party and --client is needed"},
        {"certs issue c --party 3 --name x", " issue: --party: 3 is not 0, 1 or 2"},
        {"certs issue c --party 0", " issue: --name is missing"},
        {"certs issue c --client x --name y", " issue: --name: a client's certificate has none"},
        {"certs issue c --party 0 --name a,,b",
         " issue: c/p0.pem: '' is no DNS name and no IP address (no port, no brackets)"},
        {"certs issue none --client x", " issue: none/client-root.pem: No such file or directory"},
        {"certs issue c --client p1",
         " issue: client 'p1': a name has letters, digits, - and _, at most 32, and is none of p0, "
         "p1, p2 or ...-root"},
        {"certs show none.pem", " show: none.pem: No such file or directory"},
        {"certs show f", " show: f: holds no certificate in PEM"},
        {"certs show c/p0-root.key.pem", " show: c/p0-root.key.pem: holds no certificate in PEM"},
        {"keys", "which subcommand? known are new, show (see: uvea help keys)"},
        {"keys show none", " show: none: No such file or directory"},
        {"keys show loose",
         " show: loose: its mode is 644, so that others than its owner may use the key"},
        {"keys new none/k", " new: none/k: No such file or directory"},
    };
    shell_expect("rm -rf c; \"$UVEA\" certs init c; echo x >f; chmod 644 f; cp f loose", 0, "", "");
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        const struct shell_result *r = shell("\"$UVEA\" %s", cases[i].line);
        if (strstr(r->err, cases[i].err) == NULL || r->out[0] != '\0' ||
            (r->status != 2 && r->status != 1)) {
            fail_msg("%s: status %d, %s", cases[i].line, r->status, r->err);
        }
    }
}

static void keys_are_private_and_show_their_public_half(void **state)
{
    (void)state;
    struct uvea_share_key_pair pair;
    struct uvea_error_context context;
    char line[UVEA_SHARE_KEY_CHARS + 2];
    shell_expect("mkdir d; \"$UVEA\" keys new d >printed; stat -c '%a %s' d/share.key", 0,
                 "600 45\n", "");
    shell_expect("\"$UVEA\" keys show d/share.key | cmp - printed; tr -d '\\n' <printed | wc -c", 0,
                 "44\n", "");
    assert_int_equal(uvea_file_read_share_key("d/share.key", &pair, &context), UVEA_OK);
    uvea_share_key_text(pair.public_key, line);
    line[UVEA_SHARE_KEY_CHARS] = '\n';
    line[UVEA_SHARE_KEY_CHARS + 1] = '\0';
    shell_expect("cat printed", 0, line, "");
    // Text that is too short, too long, or no base64 is refused without being repeated.
    shell_expect("head -c 40 d/share.key >k; chmod 600 k; \"$UVEA\" keys show k 2>&1 | grep -c "
                 "\"$(head -c 30 k)\"; \"$UVEA\" keys show k 2>/dev/null",
                 2, "0\n", "");
    shell_expect("cat d/share.key d/share.key >k; \"$UVEA\" keys show k 2>/dev/null", 2, "", "");
    shell_expect("tr 'A-Za-z' '!' <d/share.key >k; \"$UVEA\" keys show k 2>/dev/null", 2, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_made),
        cmocka_unit_test(nothing_is_overwritten_unless_told),
        cmocka_unit_test(trouble_is_named),
        cmocka_unit_test(certs_used_wrongly),
        cmocka_unit_test(keys_are_private_and_show_their_public_half),
    };
    return cmocka_run_group_tests(tests, shell_set_up, shell_tear_down);
}
