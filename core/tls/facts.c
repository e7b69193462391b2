#include "core/tls/material.h"
#include "core/tls/tls.h"

#include <openssl/x509.h>
#include <stdio.h>

enum { DAY_S = 24 * 60 * 60 };

// OpenSSL says how far apart two times are, and what the parts of one are, but not their number.
static void tell_time(const ASN1_TIME *time, struct uvea_tls_facts *facts)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    struct tm utc = {0};
    int days = 0;
    int seconds = 0;

    if (ASN1_TIME_to_tm(time, &utc) == 1 && epoch != NULL &&
        ASN1_TIME_diff(&days, &seconds, epoch, time) == 1) {
        facts->not_after_s = (int64_t)days * DAY_S + seconds;
        (void)strftime(facts->not_after, sizeof(facts->not_after), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    ASN1_TIME_free(epoch);
}

static void tell_fingerprint(const X509 *certificate, struct uvea_tls_facts *facts)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;

    if (X509_digest(certificate, EVP_sha256(), hash, &bytes) != 1) {
        return;
    }
    for (unsigned i = 0; i < bytes; i++) {
        (void)snprintf(facts->fingerprint + 2 * (size_t)i, 3, "%02x", hash[i]);
    }
}

void uvea_tls_facts(struct uvea_tls *tls, struct uvea_tls_facts *facts)
{
    struct uvea_tls_material *material = uvea_tls_material_take(tls);
    const X509 *leaf = sk_X509_value(material->chain, 0);

    *facts = (struct uvea_tls_facts){.not_after_s = 0};
    tell_time(X509_get0_notAfter(leaf), facts);
    tell_fingerprint(leaf, facts);
    uvea_tls_material_release(material);
}
