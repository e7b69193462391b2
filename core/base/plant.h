// Planted faults: deliberate mistakes that the alarm tests switch on to see that the oracle and the
// invariants notice them. They exist only in the *_alarm twins of the libraries (UVEA_ALARM); in
// every other build uvea_plant_active() is the constant false and the code behind it is gone.
#ifndef UVEA_CORE_BASE_PLANT_H
#define UVEA_CORE_BASE_PLANT_H

#include <stdbool.h>

// name on the command line, what it does
#define UVEA_PLANTS(X)                                                                             \
    X(NONE, "none", "no fault")                                                                    \
    X(FLIP_OPENED_BIT, "flip-opened-bit", "one party inverts the first bit it opens in a message") \
    X(SKIP_PRF_WORD, "skip-prf-word", "one party draws one word too many from a pairwise stream")  \
    X(SWAP_EYES, "swap-eyes", "the query's left and right eye are exchanged")                      \
    X(ROTATE_WRONG_WAY, "rotate-wrong-way", "rotation k is scored as rotation -k")                 \
    X(DROP_TAIL_LANE, "drop-tail-lane", "the last lane of an opened vector reads as no match")     \
    X(THRESHOLD_OFF_BY_ONE, "threshold-off-by-one", "strict threshold loses its equality case")    \
    X(MIRROR_MASK_AS_CODE, "mirror-mask-as-code", "mirroring negates imaginary mask bits too")     \
    X(STALE_BUFFER, "stale-buffer", "scores of the previous chunk are used for the first record")  \
    X(CRASH, "crash", "one party aborts when it takes a request")                                  \
    X(UNSTEADY, "unsteady", "a run depends on what the process did before")                        \
    X(ACK_BEFORE_COMMIT, "ack-before-commit", "a claimed message counts as persisted at once")     \
    X(SERIAL_REUSED, "serial-reused", "an insertion takes the serial of a deleted record")         \
    X(FLAG_BEFORE_DATA, "flag-before-data", "modifications are completed before records change")   \
    X(HASH_ORDER_BATCH, "hash-order-batch", "one party orders a batch by a hash of its messages")  \
    X(SKIPPED_ANSWER, "skipped-answer", "a request that was refused gets no answer")               \
    X(STALE_GENERATION, "stale-generation", "spectra are reused whatever they were made of")       \
    X(FATAL_409, "fatal-409", "a peer that is behind ends the party")                              \
    X(VERSION_TWICE, "version-twice", "rolling forward raises a version twice")                    \
    X(ONE_PARTY_PARSE, "one-party-parse", "one party reads what the others find malformed")

enum uvea_plant {
#define UVEA_PLANT_ENUM(name, text, what) UVEA_PLANT_##name,
    UVEA_PLANTS(UVEA_PLANT_ENUM)
#undef UVEA_PLANT_ENUM
};

#ifdef UVEA_ALARM
// Process-wide on purpose: set once before a run, by the alarm build of the command only.
void uvea_plant_set(enum uvea_plant plant);
bool uvea_plant_active(enum uvea_plant plant);
#else
static inline bool uvea_plant_active(enum uvea_plant plant)
{
    (void)plant;
    return false;
}
#endif

#endif
