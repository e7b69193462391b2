// How a proof reports: one line per claim. A claim is checked for all cases there are; to see that
// the check can fail, the same check is run with one constant changed and must then find a
// counterexample.
#ifndef UVEA_PROOFS_CLAIM_H
#define UVEA_PROOFS_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

// "proved" when it holds, "FAILED" otherwise. cases: how many were looked at.
void claim_proved(const char *claim, bool holds, uint64_t cases);

// "refuted" when the changed claim does not hold, "FAILED" otherwise.
void claim_refuted(const char *change, bool holds);

// Exit status of the program: 0 when nothing failed.
int claim_status(void);

#endif
