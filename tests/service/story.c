#include "tests/service/story.h"

#include "core/base/mem.h"

struct story *story_open(uint64_t seed)
{
    struct story *story = uvea_mem_alloc(1, sizeof(*story));
    struct uvea_chacha rng;

    assert_non_null(story);
    fleet_open(&story->fleet, seed);
    uvea_chacha_init_seeded(&rng, 12);
    for (int i = 0; i < STORY_PEOPLE; i++) {
        fixture_pair(&rng, &story->people[i]);
    }
    return story;
}

void story_close(struct story *story)
{
    fleet_close(&story->fleet);
    uvea_mem_free(story);
}

static uint64_t post(struct fleet *fleet, enum uvea_message_kind kind, uint32_t serial,
                     const struct uvea_template_pair *pair)
{
    struct uvea_message message = {
        .kind = kind,
        .id = "request",
        .serial_id = serial,
        .s3_key = pair == NULL ? NULL : fleet_share(fleet, pair, 0, 0),
    };

    return fleet_post(fleet, &message);
}

static void tell(struct fleet *fleet)
{
    const struct story *story = fleet->arg;
    const struct uvea_template_pair *people = story->people;

    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[0]),
                 "{\"is_match\":false,\"serial_id\":1}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":false,\"serial_id\":2}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":true,\"matched_serial_ids\":[2]}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_RESET_UPDATE, 1, &people[2]),
                 "{\"serial_id\":1,\"error\":null}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_REAUTH, 1, &people[2]),
                 "{\"success\":true,\"serial_id\":1}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 2, NULL), "{\"success\":true}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":false,\"serial_id\":3}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[2]),
                 "{\"matched_serial_ids\":[1]}");
}

void story_tell(struct story *story)
{
    static const uint16_t versions[] = {2, 1, 0};
    struct fleet *fleet = &story->fleet;

    fleet_run(fleet, tell, story);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 3);
}
