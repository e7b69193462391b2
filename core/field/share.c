#include "core/field/share.h"

#include "core/base/check.h"

static uint16_t point_of(struct uvea_party party)
{
    return (uint16_t)(party.index + 1);
}

// Value at zero of the line that is 1 at the point `one` and 0 at the point `zero`.
static uint16_t line_at_zero(uint16_t one, uint16_t zero)
{
    uint16_t slope = uvea_field_inverse(uvea_field_sub(zero, one));
    return uvea_field_mul(zero, slope);
}

uint16_t uvea_field_weight_two(struct uvea_party mine, struct uvea_party other)
{
    UVEA_CHECK(mine.index != other.index);
    return line_at_zero(point_of(mine), point_of(other));
}

uint16_t uvea_field_weight_three(struct uvea_party mine)
{
    struct uvea_party next = uvea_party_peer(mine, UVEA_PEER_NEXT);
    struct uvea_party prev = uvea_party_peer(mine, UVEA_PEER_PREV);
    return uvea_field_mul(uvea_field_weight_two(mine, next), uvea_field_weight_two(mine, prev));
}

uint16_t uvea_field_weight_component(struct uvea_party mine, struct uvea_party lacking)
{
    uint16_t zero = point_of(lacking);
    return uvea_field_mul(uvea_field_sub(zero, point_of(mine)), uvea_field_inverse(zero));
}
