// The spectral kernel for AVX2: 8 records in a tile, one vector for two channels of them.
#include "core/base/mem.h"
#include "core/kernel/bounds.h"
#include "core/kernel/spectral_kernel.h"

#include <immintrin.h>
#include <string.h>

#define LANES 8
#define QUERY_BLOCK 4
#define ROW_BLOCK 3

typedef __m256i vec;
typedef __m256i pairs;
typedef __m256i weights;

static inline size_t pair_at(size_t lane, size_t which)
{
    return 2 * lane + which;
}

static inline pairs pairs_load(const int16_t *from)
{
    return _mm256_load_si256((const __m256i *)from);
}

static inline void pairs_store(int16_t *to, pairs values)
{
    _mm256_store_si256((__m256i *)to, values);
}

static inline pairs pairs_of(vec first, vec second)
{
    return _mm256_blend_epi16(first, _mm256_slli_epi32(second, 16), 0xAA);
}

static inline weights weights_load(const int16_t *from)
{
    int32_t both;
    memcpy(&both, from, sizeof(both));
    return _mm256_set1_epi32(both);
}

static inline weights weights_low(weights both)
{
    return _mm256_and_si256(both, _mm256_set1_epi16(255));
}

static inline weights weights_high(weights both)
{
    return _mm256_srai_epi16(both, 8);
}

static inline vec vec_zero(void)
{
    return _mm256_setzero_si256();
}

static inline vec vec_add(vec left, vec right)
{
    return _mm256_add_epi32(left, right);
}

static inline vec vec_sub(vec left, vec right)
{
    return _mm256_sub_epi32(left, right);
}

static inline vec vec_dot(vec sum, pairs left, weights right)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(left, right));
}

static inline vec vec_add_256(vec low, vec high)
{
    return _mm256_add_epi32(low, _mm256_slli_epi32(high, 8));
}

// |x| <= UVEA_BOUND_REDUCE to at most UVEA_BOUND_REDUCED; see bounds.h.
static inline vec vec_reduce(vec x)
{
    __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(x), _mm256_set1_ps(UVEA_KERNEL_RECIPROCAL));
    __m256 whole = _mm256_round_ps(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    vec product =
        _mm256_mullo_epi32(_mm256_cvttps_epi32(whole), _mm256_set1_epi32(UVEA_FIELD_PRIME));
    return _mm256_sub_epi32(x, product);
}

static inline vec vec_centre(vec x)
{
    const vec prime = _mm256_set1_epi32(UVEA_FIELD_PRIME);
    vec above = _mm256_cmpgt_epi32(x, _mm256_set1_epi32(UVEA_FIELD_CENTRED_MAX));
    vec below = _mm256_cmpgt_epi32(_mm256_set1_epi32(-UVEA_FIELD_CENTRED_MAX), x);
    x = _mm256_sub_epi32(x, _mm256_and_si256(above, prime));
    return _mm256_add_epi32(x, _mm256_and_si256(below, prime));
}

static inline vec vec_canonical(vec x)
{
    vec negative = _mm256_srai_epi32(x, 31);
    return _mm256_add_epi32(x, _mm256_and_si256(negative, _mm256_set1_epi32(UVEA_FIELD_PRIME)));
}

static inline vec vec_load16(const int16_t *from)
{
    return _mm256_cvtepi16_epi32(_mm_load_si128((const __m128i *)from));
}

// The low halves, as they are: canonical values have no sign to saturate by.
static inline void vec_store16(int16_t *to, vec x)
{
    vec halves = _mm256_blend_epi16(x, _mm256_setzero_si256(), 0xAA);
    vec packed = _mm256_packus_epi32(halves, halves);
    packed = _mm256_permute4x64_epi64(packed, 0x08);
    _mm_store_si128((__m128i *)to, _mm256_castsi256_si128(packed));
}

#include "core/kernel/spectral_pairs.inc"
#include "core/kernel/spectral_tile.inc"

const struct uvea_spectral_kernel uvea_spectral_kernel_avx2 = {
    .name = "avx2",
    .supported = uvea_cpu_has_avx2,
    .tile_records = LANES,
    .tile_bytes = sizeof(struct tile),
    .query_bytes = sizeof(struct query),
    .tile_put = tile_put,
    .query_put = query_put,
    .scores = scores_of,
};
