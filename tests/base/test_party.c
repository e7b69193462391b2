#include "core/base/party.h"
#include "tests/support/cmocka.h"

static void neighbours_go_round_the_ring(void **state)
{
    (void)state;
    static const unsigned next[] = {1, 2, 0};
    static const unsigned prev[] = {2, 0, 1};
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_party party = uvea_party_at(i);
        assert_int_equal(party.index, i);
        assert_int_equal(uvea_party_at(i + UVEA_PARTY_COUNT).index, i);
        assert_int_equal(uvea_party_peer(party, UVEA_PEER_NEXT).index, next[i]);
        assert_int_equal(uvea_party_peer(party, UVEA_PEER_PREV).index, prev[i]);
        assert_int_equal(uvea_party_side(party, uvea_party_at(next[i])), UVEA_PEER_NEXT);
        assert_int_equal(uvea_party_side(party, uvea_party_at(prev[i])), UVEA_PEER_PREV);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_go_round_the_ring)};
    return cmocka_run_group_tests_name("base_party", tests, NULL, NULL);
}
