// Uniform field elements: which 32-bit words core/mpc/field_draw.c keeps, and that every residue
// stands for equally many of them.
#include "core/field/field.h"
#include "core/mpc/field_draw.h"
#include "proofs/claim.h"

#include <string.h>

enum { P = 52201 };
#define WORDS (UINT64_C(1) << 32)

static uint32_t counts[P];

// Whether `kept` keeps `each` words of every residue.
static bool even(bool (*kept)(uint32_t word), uint32_t each)
{
    memset(counts, 0, sizeof(counts));
    for (uint64_t word = 0; word < WORDS; word++) {
        uint32_t *count = &counts[uvea_field_reduce_u32((uint32_t)word)];
        *count += kept((uint32_t)word);
        if (*count > each) {
            return false;
        }
    }
    for (uint32_t residue = 0; residue < P; residue++) {
        if (counts[residue] != each) {
            return false;
        }
    }
    return true;
}

static bool one_more_word(uint32_t word)
{
    return uvea_prg_field_accepts(word - (word > 0));
}

static bool every_word(uint32_t word)
{
    (void)word;
    return true;
}

int main(void)
{
    const uint32_t each = WORDS / P;
    claim_proved("rejection sampling: every residue stands for 82,277 of the 2^32 words",
                 each == 82277 && even(uvea_prg_field_accepts, each), WORDS);
    claim_refuted("... with one word more accepted", even(one_more_word, each));
    claim_refuted("... without rejection", even(every_word, each));
    return claim_status();
}
