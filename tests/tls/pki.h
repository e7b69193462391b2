// Certificates for the tests of TLS: a directory with a root for each of three parties, one for
// clients and one that nobody knows, and leaves made as a test wants them.
#ifndef UVEA_TESTS_TLS_PKI_H
#define UVEA_TESTS_TLS_PKI_H

#include "core/rt/rt.h"
#include "core/tls/tls.h"
#include "sim/live/certs.h"

enum pki_root {
    PKI_PARTY_0,
    PKI_PARTY_1,
    PKI_PARTY_2,
    PKI_CLIENTS,
    PKI_STRANGER,
    PKI_ROOTS,
};

// Seconds; the windows of leaves are given in days from here on.
#define PKI_DAY INT64_C(86400)
#define PKI_START INT64_C(1735689600) // where the simulator's wall clocks start

struct pki {
    char directory[64];
    struct uvea_certs_pem roots[PKI_ROOTS];
};

struct pki_leaf {
    enum pki_root root;
    const char *name; // host name or address; NULL: a client's leaf
    int from_day;     // relative to PKI_START
    int to_day;
};

void pki_open(struct pki *pki);
void pki_close(struct pki *pki);

// Writes STEM.pem and STEM.key.pem, in place of what was there.
void pki_write_leaf(struct pki *pki, const char *stem, const struct pki_leaf *leaf);

// Writes a root that nobody else has.
void pki_write_root(struct pki *pki, const char *file, int from_day, int to_day);

// A path in the directory; a few of them live at a time.
const char *pki_path(const struct pki *pki, const char *file);

// The configuration of whoever has the leaf STEM; party: -1 for a client.
struct uvea_tls_config pki_config(const struct pki *pki, const char *stem, int party,
                                  struct uvea_rt *clock);

// pki_write_leaf, then uvea_tls_open, which must succeed.
struct uvea_tls *pki_tls(struct pki *pki, const char *stem, const struct pki_leaf *leaf,
                         struct uvea_rt *clock);

#endif
