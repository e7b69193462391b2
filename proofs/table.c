// The prime, the root, and the tables generated at build time, against their definitions.
#include "core/field/transform.h"
#include "proofs/claim.h"
#include "uvea_field_tables.h"

enum { P = UVEA_FIELD_PRIME, N = UVEA_TRANSFORM_POINTS, ROTATIONS = 15, TABLE_PAIRS = 99 };

static bool is_prime(uint32_t n)
{
    for (uint32_t divisor = 2; divisor < n; divisor++) {
        if (n % divisor == 0) {
            return false;
        }
    }
    return n > 1;
}

// The first prime = 1 mod 200 that is above `values`.
static bool is_first_prime_above(uint32_t prime, uint32_t values)
{
    for (uint32_t n = values + 1; n < prime; n++) {
        if (n % N == 1 && is_prime(n)) {
            return false;
        }
    }
    return prime > values && prime % N == 1 && is_prime(prime);
}

static bool has_order_200(uint32_t root)
{
    uint64_t power = 1;
    for (unsigned exponent = 1; exponent <= N; exponent++) {
        power = power * root % P;
        if ((power == 1) != (exponent == N)) {
            return false;
        }
    }
    return true;
}

static bool powers_are_right(uint32_t root)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < N; i++) {
        if (powers[i] != power) {
            return false;
        }
        power = power * root % P;
    }
    return true;
}

static bool is_centred(int32_t value)
{
    return value >= -UVEA_FIELD_CENTRED_MAX && value <= UVEA_FIELD_CENTRED_MAX;
}

// Twice an entry is w^-rk + w^rk, or w^-rk - w^rk.
static bool pair_tables_are_right(unsigned step)
{
    for (unsigned r = 1; r <= ROTATIONS; r++) {
        for (unsigned k = 1; k <= TABLE_PAIRS; k++) {
            int32_t up = powers[step * r * k % N];
            int32_t down = powers[(N - step * r * k % N) % N];
            int32_t cosine = uvea_transform_cosine[r - 1][k - 1];
            int32_t sine = uvea_transform_sine[r - 1][k - 1];
            if (!is_centred(cosine) || !is_centred(sine) || (2 * cosine - up - down) % P != 0 ||
                (2 * sine - down + up) % P != 0) {
                return false;
            }
        }
    }
    return true;
}

int main(void)
{
    claim_proved("52201 is the smallest prime = 1 mod 200 above the 51,201 values of a score",
                 is_first_prime_above(P, 51201), P);
    claim_refuted("... next prime of the kind, 53201", is_first_prime_above(53201, 51201));
    claim_proved("43061 has order exactly 200", has_order_200(UVEA_FIELD_ROOT), N);
    claim_refuted("... 43062", has_order_200(43062));
    claim_refuted("... 43061^2", has_order_200((uint64_t)43061 * 43061 % P));
    claim_proved("the generated powers are those of 43061", powers_are_right(UVEA_FIELD_ROOT), N);
    claim_refuted("... of 43061^-1", powers_are_right(powers[N - 1]));
    claim_proved("the generated pair tables are (w^-rk +- w^rk) / 2, centred",
                 pair_tables_are_right(1), ROTATIONS * TABLE_PAIRS * 2);
    claim_refuted("... for the root's cube", pair_tables_are_right(3));
    return claim_status();
}
