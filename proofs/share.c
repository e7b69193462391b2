// Weights of Shamir sharing over F_p. All maps are linear, so that the unit vectors decide for all
// values; the smallest are tried on all elements as well.
#include "core/field/share.h"

#include "proofs/claim.h"

#include <stddef.h>

enum { P = 52201, PARTIES = UVEA_PARTY_COUNT };

// All weights, with room to change one.
struct weights {
    uint64_t three[PARTIES];
    uint64_t two[PARTIES][PARTIES];       // [mine][other]
    uint64_t component[PARTIES][PARTIES]; // [mine][lacking]
};

static struct weights the_weights(void)
{
    struct weights weights;
    for (unsigned a = 0; a < PARTIES; a++) {
        weights.three[a] = uvea_field_weight_three(uvea_party_at(a));
        for (unsigned b = 0; b < PARTIES; b++) {
            weights.component[a][b] =
                uvea_field_weight_component(uvea_party_at(a), uvea_party_at(b));
            weights.two[a][b] =
                a == b ? 0 : uvea_field_weight_two(uvea_party_at(a), uvea_party_at(b));
        }
    }
    return weights;
}

// Two shares of 1 and of z: any two parties find 1 and 0.
static bool lines_are_known(const struct weights *of)
{
    for (unsigned a = 0; a < PARTIES; a++) {
        for (unsigned step = 1; step < PARTIES; step++) {
            unsigned b = (a + step) % PARTIES;
            uint64_t constant = of->two[a][b] + of->two[b][a];
            uint64_t slope = of->two[a][b] * (a + 1) + of->two[b][a] * (b + 1);
            if (constant % P != 1 || slope % P != 0) {
                return false;
            }
        }
    }
    return true;
}

// Three values of 1, z and z^2: the parties' sum is 1, 0 and 0.
static bool parabolas_are_known(const struct weights *of)
{
    for (unsigned power = 0; power < 3; power++) {
        uint64_t sum = 0;
        for (uint64_t party = 0; party < PARTIES; party++) {
            uint64_t z = party + 1;
            sum += of->three[party] * (power == 0 ? 1 : power == 1 ? z : z * z);
        }
        if (sum % P != (power == 0)) {
            return false;
        }
    }
    return true;
}

// Each component lies on a line that vanishes at the point of the party lacking it and is the
// component itself at zero, by any two parties.
static bool component_is_a_line(const struct weights *of, unsigned lacking, uint64_t value)
{
    uint64_t at[PARTIES];
    for (unsigned party = 0; party < PARTIES; party++) {
        at[party] = value * of->component[party][lacking] % P;
    }
    bool good = at[lacking] == 0 && (at[0] + 2 * (P - at[1]) + at[2]) % P == 0;
    for (unsigned a = 0; a < PARTIES; a++) {
        unsigned b = (a + 1) % PARTIES;
        good = good && (at[a] * of->two[a][b] + at[b] * of->two[b][a]) % P == value;
    }
    return good;
}

static bool components_are_lines(const struct weights *of)
{
    for (unsigned lacking = 0; lacking < PARTIES; lacking++) {
        for (uint64_t value = 0; value < P; value++) {
            if (!component_is_a_line(of, lacking, value)) {
                return false;
            }
        }
    }
    return true;
}

// Whether the claim survives a change of any weight there is in the list.
static bool survives_a_change(bool (*claim)(const struct weights *), size_t offset, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weights changed = the_weights();
        uint64_t *list = (uint64_t *)(void *)((unsigned char *)&changed + offset);
        bool diagonal = count == PARTIES * PARTIES && i % (PARTIES + 1) == 0;
        list[i] = (list[i] + 1) % P;
        if (!(diagonal && claim == lines_are_known) && claim(&changed)) {
            return true;
        }
    }
    return false;
}

int main(void)
{
    const struct weights weights = the_weights();
    claim_proved("weights of two: any two parties know the value at zero of any line",
                 lines_are_known(&weights), 6);
    claim_refuted("... with any of the six weights one larger",
                  survives_a_change(lines_are_known, offsetof(struct weights, two), 9));
    claim_proved("weights of three are 3, -3, 1: they give the value at zero of any parabola",
                 parabolas_are_known(&weights) && weights.three[0] == 3 &&
                     weights.three[1] == P - 3 && weights.three[2] == 1,
                 9);
    claim_refuted("... with any of the three one larger",
                  survives_a_change(parabolas_are_known, offsetof(struct weights, three), 3));
    claim_proved("replicated to Shamir: every component of every value lies on a line with that "
                 "value at zero",
                 components_are_lines(&weights), (uint64_t)PARTIES * P);
    claim_refuted("... with any of the nine weights one larger",
                  survives_a_change(components_are_lines, offsetof(struct weights, component), 9));
    return claim_status();
}
