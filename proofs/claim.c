#include "proofs/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static unsigned failures;
static double reported_at; // CPU seconds

static double spent(void)
{
    double now = (double)clock() / CLOCKS_PER_SEC;
    double since = now - reported_at;
    reported_at = now;
    return since;
}

void claim_proved(const char *claim, bool holds, uint64_t cases)
{
    failures += !holds;
    (void)printf("%-7s %s [%" PRIu64 " cases, %.1f s]\n", holds ? "proved" : "FAILED", claim, cases,
                 spent());
    (void)fflush(stdout);
}

void claim_refuted(const char *change, bool holds)
{
    failures += holds;
    (void)printf("%-7s %s [%.1f s]\n", holds ? "FAILED" : "refuted", change, spent());
    (void)fflush(stdout);
}

int claim_status(void)
{
    return failures > 0;
}
