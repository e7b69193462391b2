// What one comparison costs on the wire: messages, bytes, AND gates and the chain of messages,
// measured where frames leave a party, against the formulas. Sources: ntt.md 4, wire.md 1, 6.9.
//
// A frame is 4 bytes of session id and one value. A vector is 5 bytes and its elements; one element
// alone goes as 1 byte and itself, one bit alone as 1 byte. 64 comparisons share a word, so that n
// comparisons make W = ceil(n / 64) words.
#include "core/base/check.h"
#include "sim/gate/judge.h"

enum { SESSION_IDS = 3, LENGTH_MAX = 31 * 4096 };

// One comparison, odd lengths around a word, one record, and a whole chunk of records.
static const size_t lengths[] = {1, 2, 3, 31, 63, 64, 65, 192, 1000, 4093, LENGTH_MAX};

static uint64_t words(uint64_t n)
{
    return (n + 63) / 64;
}

static uint64_t vector(uint64_t count, uint64_t width)
{
    return 4 + 5 + count * width;
}

static uint64_t elements(uint64_t count, uint64_t width)
{
    return count == 1 ? 4 + 1 + width : vector(count, width);
}

static uint64_t bits(uint64_t n)
{
    return n == 1 ? 4 + 1 : 4 + 5 + (n + 7) / 8;
}

// `layers` messages of `gates` AND gates each, over n comparisons.
static uint64_t ands(uint64_t layers, uint64_t gates, uint64_t n)
{
    return layers * elements(gates * words(n), 8);
}

// What party `index` sends on session `id`, for n comparisons.
typedef uint64_t bytes_fn(uint64_t n, unsigned index, uint32_t id);

// The owner of a third: the first has n / 3, the second half of what is left, the third the rest.
static uint64_t third(uint64_t n, unsigned role)
{
    uint64_t first = n / 3;
    uint64_t second = (n - first) / 2;
    return role == 0 ? first : role == 1 ? second : n - first - second;
}

// Refresh of one residue each, the owner's third of the split, 31 ANDs in 17 layers (one gate in
// layers 0, 15 and 16, two in the 14 between), opening: 16 + 16/3 + 31 + 1 = 53.33 bits.
static uint64_t full_bytes(uint64_t n, unsigned index, uint32_t id)
{
    return vector(n, 2) + vector(third(n, (index + id) % 3), 2) + ands(3, 1, n) + ands(14, 2, n) +
           bits(n);
}

// The holder's 16 bits of z, or a residue from each of the other two; 7 layers of two gates, 9 of
// one; opening: 16 + 23 + 1 = 40 bits.
static uint64_t range_bytes(uint64_t n, unsigned index, uint32_t id)
{
    uint64_t first = index == id % 3 ? vector(16 * words(n), 8) : vector(n, 2);
    return first + ands(7, 2, n) + ands(9, 1, n) + bits(n);
}

// Refresh of (C, M), 66 ANDs in 17 layers (33 at once, two in each of 15, three), opening:
// 32 + 66 + 1 = 99 bits.
static uint64_t dense_bytes(uint64_t n, unsigned index, uint32_t id)
{
    (void)index;
    (void)id;
    return vector(2 * n, 2) + ands(1, 33, n) + ands(15, 2, n) + ands(1, 3, n) + bits(n);
}

// As in the valid-range form, 15 ANDs, and the opening in whole words: 16 + 15 + 1 = 32 bits.
static uint64_t two_term_bytes(uint64_t n, unsigned index, uint32_t id)
{
    uint64_t first = index == id % 3 ? vector(16 * words(n), 8) : elements(n, 2);
    return first + ands(15, 1, n) + elements(words(n), 8);
}

struct formula {
    uint64_t gates;
    uint64_t layers;
    uint64_t messages;      // of each party
    uint64_t chain;         // messages that wait for one another
    uint64_t bits_of_three; // of one comparison, all parties together, without framing
    bytes_fn *bytes;
};

// The chain: refresh and split each wait once; the valid-range form's residues and z go together.
static const struct formula formulas[UVEA_GATE_FORM_COUNT] = {
    [UVEA_GATE_FIELD_FULL] = {31, 17, 17 + 3, 17 + 3, 160, full_bytes},
    [UVEA_GATE_FIELD_RANGE] = {23, 16, 16 + 2, 16 + 2, 120, range_bytes},
    [UVEA_GATE_RING_DENSE] = {66, 17, 17 + 2, 17 + 2, 297, dense_bytes},
    [UVEA_GATE_RING_TWO_TERM] = {15, 15, 15 + 2, 15 + 2, 96, two_term_bytes},
};

static void expect(struct uvea_gate_run *run, enum uvea_gate_form form, size_t n, unsigned party,
                   const char *what, uint64_t got, uint64_t want)
{
    if (got != want) {
        uvea_gate_wrong(run, "%s, %zu comparisons, party %u: %llu %s instead of %llu",
                        uvea_gate_form_text(form), n, party, (unsigned long long)got, what,
                        (unsigned long long)want);
    }
    uvea_gate_count_cases(run, 1);
}

// The elements alone: the frame less the session id, descriptor and length of its messages.
static void check_bits_per_comparison(struct uvea_gate_run *run, enum uvea_gate_form form, size_t n,
                                      const struct uvea_gate_meter meters[UVEA_PARTY_COUNT])
{
    uint64_t payload = 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        payload += meters[party].frame_bytes - 9 * meters[party].messages;
    }
    if (8 * payload != n * formulas[form].bits_of_three) {
        uvea_gate_wrong(run, "%s: %llu bits per comparison and three parties instead of %llu",
                        uvea_gate_form_text(form), (unsigned long long)(8 * payload / n),
                        (unsigned long long)formulas[form].bits_of_three);
    }
    uvea_gate_count_cases(run, 1);
}

static enum uvea_error check_length(struct uvea_gate_run *run, struct uvea_gate_scores *scores,
                                    size_t n, uint32_t id)
{
    const enum uvea_gate_form form = scores->form;
    const struct formula *formula = &formulas[form];
    struct uvea_gate_meter meters[UVEA_PARTY_COUNT];
    uint64_t chain = 0;
    UVEA_TRY(uvea_gate_judge(run, scores, n, n, id, meters));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_gate_meter *meter = &meters[party];
        expect(run, form, n, party, "messages", meter->messages, formula->messages);
        expect(run, form, n, party, "bytes", meter->frame_bytes, formula->bytes(n, party, id));
        expect(run, form, n, party, "words of AND gates", meter->and_words,
               formula->gates * words(n));
        expect(run, form, n, party, "layers of AND gates", meter->layers, formula->layers);
        chain = meter->chain > chain ? meter->chain : chain;
    }
    expect(run, form, n, 0, "messages in a chain", chain, formula->chain);
    if (n % 64 == 0 && n > 64) { // no message of one element alone
        check_bits_per_comparison(run, form, n, meters);
    }
    return UVEA_OK;
}

static int32_t draw_score(void *arg, size_t i)
{
    struct uvea_gate_run *run = arg;
    (void)i;
    uint64_t span = UVEA_GATE_SCORE_MAX - UVEA_GATE_SCORE_MIN + 1;
    return UVEA_GATE_SCORE_MIN + (int32_t)uvea_sim_random_below(&run->random, span);
}

static enum uvea_error check_form(struct uvea_gate_run *run, enum uvea_gate_form form)
{
    struct uvea_gate_scores scores;
    enum uvea_error error = UVEA_OK;
    UVEA_TRY(uvea_gate_scores_init(run, &scores, form, LENGTH_MAX, draw_score, run));
    for (size_t i = 0; i < UVEA_COUNT_OF(lengths); i++) {
        for (uint32_t id = 0; id < SESSION_IDS; id++) {
            UVEA_TRY_CLEANUP(check_length(run, &scores, lengths[i], id));
        }
    }
cleanup:
    uvea_gate_scores_deinit(&scores);
    return error;
}

enum uvea_error uvea_gate_traffic(struct uvea_gate_run *run)
{
    for (unsigned form = 0; form < UVEA_GATE_FORM_COUNT; form++) {
        UVEA_TRY(check_form(run, (enum uvea_gate_form)form));
        uvea_gate_progress(run, form + 1, UVEA_GATE_FORM_COUNT);
    }
    uvea_gate_covered(
        run,
        "%zu lengths on sessions 0, 1 and 2; bits per comparison and party beside the framing "
        "of 9 bytes a message: field full 53.33 (31 AND gates in 17 layers), field "
        "valid-range 40 (23 in 16), ring dense 99 (66 in 17), ring two-term 32 (15 in 15)",
        UVEA_COUNT_OF(lengths));
    return UVEA_OK;
}
