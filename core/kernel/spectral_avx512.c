// The spectral kernel for AVX-512 with VNNI: 16 records in a tile, one vector for two channels of
// them, one instruction for 32 products.
#include "core/base/mem.h"
#include "core/kernel/bounds.h"
#include "core/kernel/spectral_kernel.h"

#include <immintrin.h>
#include <string.h>

#define LANES 16
#define QUERY_BLOCK 8
#define ROW_BLOCK 5

typedef __m512i vec;
typedef __m512i pairs;
typedef __m512i weights;

static inline size_t pair_at(size_t lane, size_t which)
{
    return 2 * lane + which;
}

static inline pairs pairs_load(const int16_t *from)
{
    return _mm512_load_si512(from);
}

static inline void pairs_store(int16_t *to, pairs values)
{
    _mm512_store_si512(to, values);
}

static inline pairs pairs_of(vec first, vec second)
{
    return _mm512_mask_blend_epi16(0xAAAAAAAA, first, _mm512_slli_epi32(second, 16));
}

static inline weights weights_load(const int16_t *from)
{
    int32_t both;
    memcpy(&both, from, sizeof(both));
    return _mm512_set1_epi32(both);
}

static inline weights weights_low(weights both)
{
    return _mm512_and_si512(both, _mm512_set1_epi16(255));
}

static inline weights weights_high(weights both)
{
    return _mm512_srai_epi16(both, 8);
}

static inline vec vec_zero(void)
{
    return _mm512_setzero_si512();
}

static inline vec vec_add(vec left, vec right)
{
    return _mm512_add_epi32(left, right);
}

static inline vec vec_sub(vec left, vec right)
{
    return _mm512_sub_epi32(left, right);
}

static inline vec vec_dot(vec sum, pairs left, weights right)
{
    return _mm512_dpwssd_epi32(sum, left, right);
}

static inline vec vec_add_256(vec low, vec high)
{
    return _mm512_add_epi32(low, _mm512_slli_epi32(high, 8));
}

// |x| <= UVEA_BOUND_REDUCE to at most UVEA_BOUND_REDUCED; see bounds.h.
static inline vec vec_reduce(vec x)
{
    __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_set1_ps(UVEA_KERNEL_RECIPROCAL));
    vec quotient = _mm512_cvt_roundps_epi32(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_sub_epi32(x, _mm512_mullo_epi32(quotient, _mm512_set1_epi32(UVEA_FIELD_PRIME)));
}

static inline vec vec_centre(vec x)
{
    const vec prime = _mm512_set1_epi32(UVEA_FIELD_PRIME);
    __mmask16 above = _mm512_cmpgt_epi32_mask(x, _mm512_set1_epi32(UVEA_FIELD_CENTRED_MAX));
    __mmask16 below = _mm512_cmplt_epi32_mask(x, _mm512_set1_epi32(-UVEA_FIELD_CENTRED_MAX));
    x = _mm512_mask_sub_epi32(x, above, x, prime);
    return _mm512_mask_add_epi32(x, below, x, prime);
}

static inline vec vec_canonical(vec x)
{
    return _mm512_mask_add_epi32(x, _mm512_movepi32_mask(x), x,
                                 _mm512_set1_epi32(UVEA_FIELD_PRIME));
}

static inline vec vec_load16(const int16_t *from)
{
    return _mm512_cvtepi16_epi32(_mm256_load_si256((const __m256i *)from));
}

static inline void vec_store16(int16_t *to, vec x)
{
    _mm256_store_si256((__m256i *)to, _mm512_cvtepi32_epi16(x));
}

#include "core/kernel/spectral_pairs.inc"
#include "core/kernel/spectral_tile.inc"

const struct uvea_spectral_kernel uvea_spectral_kernel_avx512 = {
    .name = "avx512",
    .supported = uvea_cpu_has_avx512_vnni,
    .tile_records = LANES,
    .tile_bytes = sizeof(struct tile),
    .query_bytes = sizeof(struct query),
    .tile_put = tile_put,
    .query_put = query_put,
    .scores = scores_of,
};
