#include "core/mpc/share.h"

#include "core/base/mem.h"

// Both halves of a share are one allocation apiece, of count elements of size bytes.
static enum uvea_error halves_alloc(void **a, void **b, size_t count, size_t size)
{
    *a = uvea_mem_alloc(count, size);
    *b = uvea_mem_alloc(count, size);
    if (*a == NULL || *b == NULL) {
        uvea_mem_free(*a);
        uvea_mem_free(*b);
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

static void half_free(void *half, size_t bytes)
{
    if (half != NULL) {
        uvea_mem_wipe(half, bytes);
        uvea_mem_free(half);
    }
}

enum uvea_error uvea_share16_init(struct uvea_share16 *share, size_t count)
{
    void *a;
    void *b;
    *share = (struct uvea_share16){0};
    UVEA_TRY(halves_alloc(&a, &b, count, sizeof(*share->a)));
    *share = (struct uvea_share16){a, b, count};
    return UVEA_OK;
}

enum uvea_error uvea_share32_init(struct uvea_share32 *share, size_t count)
{
    void *a;
    void *b;
    *share = (struct uvea_share32){0};
    UVEA_TRY(halves_alloc(&a, &b, count, sizeof(*share->a)));
    *share = (struct uvea_share32){a, b, count};
    return UVEA_OK;
}

enum uvea_error uvea_share64_init(struct uvea_share64 *share, size_t count)
{
    void *a;
    void *b;
    *share = (struct uvea_share64){0};
    UVEA_TRY(halves_alloc(&a, &b, count, sizeof(*share->a)));
    *share = (struct uvea_share64){a, b, count};
    return UVEA_OK;
}

enum uvea_error uvea_planes_init(struct uvea_planes *planes, size_t plane_count, size_t words)
{
    void *a;
    void *b;
    size_t total;
    *planes = (struct uvea_planes){0};
    if (__builtin_mul_overflow(plane_count, words, &total)) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(halves_alloc(&a, &b, total, sizeof(*planes->a)));
    *planes = (struct uvea_planes){a, b, plane_count, words};
    return UVEA_OK;
}

void uvea_share16_deinit(struct uvea_share16 *share)
{
    half_free(share->a, share->count * sizeof(*share->a));
    half_free(share->b, share->count * sizeof(*share->b));
    *share = (struct uvea_share16){0};
}

void uvea_share32_deinit(struct uvea_share32 *share)
{
    half_free(share->a, share->count * sizeof(*share->a));
    half_free(share->b, share->count * sizeof(*share->b));
    *share = (struct uvea_share32){0};
}

void uvea_share64_deinit(struct uvea_share64 *share)
{
    half_free(share->a, share->count * sizeof(*share->a));
    half_free(share->b, share->count * sizeof(*share->b));
    *share = (struct uvea_share64){0};
}

void uvea_planes_deinit(struct uvea_planes *planes)
{
    size_t bytes = planes->plane_count * planes->words * sizeof(*planes->a);
    half_free(planes->a, bytes);
    half_free(planes->b, bytes);
    *planes = (struct uvea_planes){0};
}
