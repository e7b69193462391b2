// Whole parties on the simulator: three of them over a simulated network, a client at each.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/service/party.h"
#include "core/service/result.h"
#include "sim/runtime/sim.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <string.h>

enum {
    SCRIPT_MAX = 16,
    RECORDS_MAX = 32,
    INITIAL_RECORDS = 3,
    SESSIONS = 16,
    CONNECTIONS = 3,
};

struct trio_world;

struct member {
    struct trio_world *world;
    struct uvea_rt *rt;
    struct uvea_party_config config;
    struct uvea_resident resident;
    struct uvea_cold *cold;
    struct uvea_buf shares[SCRIPT_MAX];
    struct uvea_request requests[SCRIPT_MAX];
    struct uvea_channel *to_party;
    struct uvea_channel *from_party;
    struct uvea_response *responses[SCRIPT_MAX];
    size_t response_count;
    size_t takes; // responses the client wants before it leaves
    enum uvea_error error;
    struct uvea_error_context context;
    struct uvea_party_stats stats;
};

// The script: one request by its plaintext, and what comes of it.
struct step {
    struct uvea_template_pair pair;
    bool mirror;
    bool skip;
    uint32_t or_rule; // serial, 0 for none
    const char *signup_id;
    int corrupt_party; // whose upload is cut short; -1 for none
};

struct trio_world {
    struct uvea_template_pair records[RECORDS_MAX];
    size_t record_count;
    struct step steps[SCRIPT_MAX];
    size_t step_count;
    struct member member[UVEA_PARTY_COUNT];
    struct uvea_chacha rng;
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    struct uvea_sim_config sim_config;
    struct uvea_sim_outcome outcome;
};

// ---- tasks

static void party_main(void *arg)
{
    struct member *member = arg;

    member->error =
        uvea_party_run(member->rt, &member->config, &member->resident, member->cold,
                       member->to_party, member->from_party, &member->stats, &member->context);
}

// One request at a time; leaves when the script is through or the party is gone.
static void client_main(void *arg)
{
    struct member *member = arg;
    struct uvea_task *party;

    if (uvea_rt_channel_open(member->rt, 1, &member->to_party) != UVEA_OK ||
        uvea_rt_channel_open(member->rt, 1, &member->from_party) != UVEA_OK ||
        uvea_rt_spawn(member->rt, "party", party_main, member, &party) != UVEA_OK) {
        return;
    }
    for (size_t i = 0; i < member->world->step_count && i < member->takes; i++) {
        void *item;
        if (uvea_rt_channel_send(member->rt, member->to_party, &member->requests[i], UVEA_NEVER) !=
                UVEA_OK ||
            uvea_rt_channel_recv(member->rt, member->from_party, &item, UVEA_NEVER) != UVEA_OK) {
            break;
        }
        member->responses[member->response_count++] = item;
    }
    uvea_rt_channel_shut(member->rt, member->to_party);
    uvea_rt_join(member->rt, party);
    uvea_rt_channel_close(member->rt, member->to_party);
    uvea_rt_channel_close(member->rt, member->from_party);
}

// ---- set-up

static const char *const addresses[UVEA_PARTY_COUNT] = {"p0:4000", "p1:4000", "p2:4000"};

static void configure(struct member *member, unsigned party)
{
    struct uvea_party_config *config = &member->config;

    config->party = uvea_party_at(party);
    config->mesh = uvea_mesh_config_default(config->party);
    config->mesh.listen_address = addresses[party];
    memcpy(config->mesh.dial_address, addresses, sizeof(addresses));
    config->mesh.session_count = SESSIONS;
    config->mesh.connection_count = CONNECTIONS;
    config->prf = UVEA_PRF_AES128;
    config->search = (struct uvea_search_config){
        .full_scan_eye = UVEA_EYE_LEFT,
        .form = UVEA_PREDICATE_DENSE,
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = 2,
    };
    config->policy = (struct uvea_policy){
        .luc_enabled = true,
        .luc_serial_ids_from_request = true,
        .return_partial_results = true,
        .supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT,
    };
}

static void forget_records(struct trio_world *world)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_resident_deinit(&world->member[i].resident);
        uvea_cold_close(world->member[i].cold);
    }
}

// New databases of new records.
static void enrol(struct trio_world *world, enum uvea_eye scanned)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct member *member = &world->member[i];
        member->config.search.full_scan_eye = scanned;
        assert_int_equal(uvea_resident_init(&member->resident, RECORDS_MAX), UVEA_OK);
        member->cold = fixture_cold(NULL);
    }
    for (size_t r = 0; r < INITIAL_RECORDS; r++) {
        fixture_pair(&world->rng, &world->records[r]);
        fixture_split(&world->rng, &world->records[r], world->upload);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            fixture_insert(&world->member[i].resident, world->member[i].cold, scanned,
                           &world->upload[i]);
        }
    }
    world->record_count = INITIAL_RECORDS;
}

static int set_up(void **state)
{
    struct trio_world *world = uvea_mem_alloc(1, sizeof(*world));

    assert_non_null(world);
    uvea_chacha_init_seeded(&world->rng, 77);
    uvea_sim_config_init(&world->sim_config);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        world->member[i].world = world;
        world->member[i].takes = SCRIPT_MAX;
        world->member[i].error = UVEA_ERR_STATE;
        configure(&world->member[i], i);
    }
    enrol(world, UVEA_EYE_LEFT);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct trio_world *world = *state;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct member *member = &world->member[i];
        for (size_t s = 0; s < SCRIPT_MAX; s++) {
            uvea_buf_deinit(&member->shares[s]);
            uvea_response_free(member->responses[s]);
        }
    }
    forget_records(world);
    uvea_mem_free(world);
    return 0;
}

static struct step *add_step(struct trio_world *world, const struct uvea_template_pair *pair)
{
    struct step *step = &world->steps[world->step_count++];

    *step = (struct step){.pair = *pair, .signup_id = "someone", .corrupt_party = -1};
    return step;
}

static void share_steps(struct trio_world *world)
{
    for (size_t s = 0; s < world->step_count; s++) {
        const struct step *step = &world->steps[s];
        fixture_split(&world->rng, &step->pair, world->upload);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            struct member *member = &world->member[i];
            struct uvea_buf *shares = &member->shares[s];
            assert_int_equal(uvea_iris_encode_upload(uvea_party_at(i), &world->upload[i], shares),
                             UVEA_OK);
            member->requests[s].kind = UVEA_REQUEST_UNIQUENESS;
            member->requests[s].uniqueness = (struct uvea_uniqueness_request){
                .signup_id = step->signup_id,
                .shares = shares->data,
                .shares_bytes = shares->len - (step->corrupt_party == (int)i ? 40 : 0),
                .or_rule_serial_ids = &step->or_rule,
                .or_rule_count = step->or_rule != 0 ? 1 : 0,
                .skip_persistence = step->skip,
                .mirror_detection = step->mirror,
            };
        }
    }
}

static void run(struct trio_world *world, const struct uvea_sim_fault *fault)
{
    struct uvea_error_context context = {{0}};
    struct uvea_sim *sim;

    share_steps(world);
    if (uvea_sim_open(&world->sim_config, &sim, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    if (fault != NULL) {
        assert_int_equal(uvea_sim_inject(sim, fault), UVEA_OK);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        world->member[i].rt = uvea_sim_rt(sim, i);
        assert_int_equal(uvea_sim_start(sim, i, "client", client_main, &world->member[i]), UVEA_OK);
    }
    uvea_sim_run(sim, &world->outcome);
    if (world->outcome.end != UVEA_SIM_FINISHED) {
        print_message("%s\n", world->outcome.blocked);
    }
    assert_int_equal(world->outcome.end, UVEA_SIM_FINISHED);
    assert_int_equal(world->outcome.unjoined_tasks, 0);
    assert_int_equal(world->outcome.open_streams, 0);
    assert_int_equal(world->outcome.open_listeners, 0);
    assert_int_equal(world->outcome.open_channels, 0);
    uvea_sim_close(sim);
}

// ---- judging

static void assert_all_served(const struct trio_world *world)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct member *member = &world->member[i];
        if (member->error != UVEA_OK) {
            fail_msg("party %d: %s: %s", i, uvea_error_name(member->error), member->context.text);
        }
        assert_int_equal(member->response_count, world->step_count);
    }
}

// A response as an object without node_id, which must be the party's own.
static json_t *load_response(const struct uvea_response *response, int party)
{
    json_t *object =
        json_loadb((char *)response->json.data, response->json.len, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(object);
    assert_int_equal(json_integer_value(json_object_get(object, "node_id")), party);
    assert_int_equal(json_object_del(object, "node_id"), 0);
    return object;
}

// Checks the members named in `want` (a JSON object) in all three answers, and that these are equal
// but for node_id.
static void assert_answer(const struct trio_world *world, size_t step, const char *want)
{
    json_t *expected = json_loads(want, 0, NULL);
    json_t *first = load_response(world->member[0].responses[step], 0);
    const char *name;
    json_t *value;

    assert_non_null(expected);
    for (int i = 1; i < UVEA_PARTY_COUNT; i++) {
        json_t *other = load_response(world->member[i].responses[step], i);
        assert_true(json_equal(first, other));
        json_decref(other);
    }
    json_object_foreach(expected, name, value)
    {
        if (!json_equal(value, json_object_get(first, name))) {
            fail_msg("step %zu: %s is not as in %s: %s", step, name, want,
                     (char *)world->member[0].responses[step]->json.data);
        }
    }
    json_decref(first);
    json_decref(expected);
}

// The opened candidates and the retained shares of a step against the plaintext.
static void assert_search(const struct trio_world *world, size_t step, size_t record_count)
{
    const struct step *what = &world->steps[step];
    const uint32_t known = what->or_rule - 1;
    struct uvea_search_result got[UVEA_PARTY_COUNT];
    struct fixture_result want;

    fixture_search(world->records, record_count, &what->pair,
                   world->member[0].config.search.full_scan_eye, what->mirror, &known,
                   what->or_rule != 0 ? 1 : 0, UVEA_SEARCH_NO_TARGET, &want);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        got[i] = world->member[i].responses[step]->search;
    }
    fixture_assert_equal(&want, got);
    fixture_result_deinit(&want);
}

static void assert_records(const struct trio_world *world, size_t count)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(world->member[i].resident.count, count);
        assert_int_equal(uvea_resident_checksum(&world->member[i].resident),
                         uvea_resident_checksum(&world->member[0].resident));
    }
}

// ---- service

enum { STEPS = 9 };

static const char *const answers[STEPS] = {
    "{\"serial_id\":4,\"is_match\":false,\"matched_serial_ids\":null,\"error\":null}",
    "{\"serial_id\":null,\"is_match\":true,\"matched_serial_ids\":[4],"
    "\"matched_serial_ids_left\":[4],\"matched_serial_ids_right\":[4],"
    "\"partial_match_rotation_indices_left\":[[0]]}",
    "{\"serial_id\":null,\"is_match\":true,\"matched_serial_ids\":[],"
    "\"matched_serial_ids_left\":null,\"full_face_mirror_attack_detected\":true,"
    "\"full_face_mirror_matched_serial_ids\":[2],"
    "\"full_face_mirror_partial_matches_count_left\":1}",
    "{\"serial_id\":null,\"is_match\":false,\"matched_serial_ids\":[],"
    "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null}",
    "{\"serial_id\":null,\"is_match\":false,\"signup_id\":\"cut\",\"matched_serial_ids\":null,"
    "\"partial_matches_count_left\":null,\"error\":true,"
    "\"error_reason\":\"failed_to_process_iris_shares\"}",
    "{\"serial_id\":null,\"is_match\":true,\"matched_serial_ids\":[1],"
    "\"matched_serial_ids_right\":null,\"partial_matches_count_left\":1}",
    "{\"signup_id\":\"\",\"is_match\":false,\"error\":true,\"error_reason\":\"malformed_request\"}",
    "{\"serial_id\":5,\"is_match\":false,\"matched_serial_ids\":null}",
    "{\"serial_id\":null,\"is_match\":true,\"matched_serial_ids\":[5]}",
};
static const size_t records_before[STEPS] = {3, 4, 4, 4, 0, 4, 0, 4, 5};

static void write_script(struct trio_world *world)
{
    struct uvea_template_pair fresh;
    struct uvea_template_pair mirrored;
    struct step *step;

    fixture_pair(&world->rng, &world->records[3]);
    fixture_pair(&world->rng, &world->records[4]);
    fixture_pair(&world->rng, &fresh);
    fixture_mirror_pair(&world->records[1], &mirrored);
    add_step(world, &world->records[3]);
    add_step(world, &world->records[3]);
    add_step(world, &mirrored)->mirror = true;
    add_step(world, &mirrored)->skip = true;
    step = add_step(world, &fresh);
    step->corrupt_party = 1;
    step->signup_id = "cut";
    fresh.eye[UVEA_EYE_LEFT] = world->records[0].eye[UVEA_EYE_LEFT];
    add_step(world, &fresh)->or_rule = 1;
    add_step(world, &fresh)->signup_id = "\xff";
    add_step(world, &world->records[4]);
    add_step(world, &world->records[4])->skip = true;
    assert_int_equal(world->step_count, STEPS);
}

static void assert_script_answered(const struct trio_world *world)
{
    uint64_t comparisons = 0;

    assert_all_served(world);
    for (size_t s = 0; s < STEPS; s++) {
        const bool refused = records_before[s] == 0;
        assert_answer(world, s, answers[s]);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            const struct uvea_response *response = world->member[i].responses[s];
            const bool cut_here = s == 4 && i == 1;
            assert_ptr_equal(response->request, &world->member[i].requests[s]);
            assert_int_equal(response->error_reason != NULL, refused);
            assert_int_equal(response->refusal.text[0] != '\0', cut_here);
            assert_int_equal(response->stats.requests, s + 1);
        }
        if (!refused) {
            assert_search(world, s, records_before[s]);
            comparisons += world->member[0].responses[s]->search.comparisons;
        }
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_party_stats *stats = &world->member[i].stats;
        assert_int_equal(stats->requests, STEPS);
        assert_int_equal(stats->errors, 2);
        assert_int_equal(stats->comparisons, comparisons);
        assert_true(stats->and_words > 0 && stats->messages > 0);
        assert_true(stats->bytes_sent >= stats->value_bytes + 4 * stats->messages);
    }
    assert_records(world, 5);
}

static void serves_a_script_and_survives_bad_uploads(void **state)
{
    struct trio_world *world = *state;

    write_script(world);
    run(world, NULL);
    assert_script_answered(world);
}

static void serves_with_every_option_the_other_way(void **state)
{
    struct trio_world *world = *state;

    forget_records(world);
    enrol(world, UVEA_EYE_RIGHT);
    write_script(world);
    // The left eye of record 1 alone is then found through the OR rule only.
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_party_config *config = &world->member[i].config;
        config->prf = UVEA_PRF_CHACHA8;
        config->mesh.session_count = 8;
        config->search.form = UVEA_PREDICATE_TWO_TERM;
        config->search.chunk_records_max = UVEA_SEARCH_CHUNK_RECORDS;
    }
    run(world, NULL);
    assert_script_answered(world);
}

static void ends_in_good_order_without_requests(void **state)
{
    struct trio_world *world = *state;

    run(world, NULL);
    assert_all_served(world);
    assert_records(world, INITIAL_RECORDS);
}

// ---- failures

// Every party ends with a named failure; what was answered is answered alike.
static void assert_all_stopped(const struct trio_world *world, size_t responses_max)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct member *member = &world->member[i];
        assert_int_not_equal(member->error, UVEA_OK);
        assert_true(member->context.text[0] != '\0');
        assert_true(member->response_count <= responses_max);
    }
}

static void unequal_databases_stop_before_the_first_request(void **state)
{
    struct trio_world *world = *state;

    write_script(world);
    fixture_insert(&world->member[2].resident, world->member[2].cold, UVEA_EYE_LEFT,
                   &world->upload[2]);
    run(world, NULL);
    assert_all_stopped(world, 0);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(world->member[i].error, UVEA_ERR_STATE);
        assert_int_equal(world->member[i].stats.requests, 0);
    }
}

static void unequal_generators_stop_before_the_first_answer(void **state)
{
    struct trio_world *world = *state;

    write_script(world);
    world->member[1].config.prf = UVEA_PRF_CHACHA8;
    run(world, NULL);
    assert_all_stopped(world, 0);
    assert_records(world, INITIAL_RECORDS);
}

static void broken_connections_stop_all_three(void **state)
{
    const uint64_t at_byte[] = {0, 100, 3000, 9000, 20000, 30000};

    (void)state;
    for (size_t f = 0; f < UVEA_COUNT_OF(at_byte); f++) {
        const struct uvea_sim_fault fault = {
            .kind = UVEA_SIM_FAULT_RESET,
            .from = 2,
            .to = 0,
            .connection = UVEA_SIM_ANY_CONNECTION,
            .at_byte = at_byte[f],
        };
        void *fresh = NULL;
        assert_int_equal(set_up(&fresh), 0);
        struct trio_world *broken = fresh;
        write_script(broken);
        run(broken, &fault);
        if (f == 0) { // hits a handshake, which is tried again
            assert_script_answered(broken);
        } else {
            assert_all_stopped(broken, STEPS - 1);
        }
        size_t answered = STEPS;
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            const size_t count = broken->member[i].response_count;
            answered = count < answered ? count : answered;
        }
        for (size_t s = 0; s < answered; s++) {
            assert_answer(broken, s, answers[s]);
        }
        tear_down(&fresh);
    }
}

// One client leaves early; its party waits for the others to be through, in vain, and they for it.
static void a_party_that_is_sent_less_than_the_others_stops(void **state)
{
    struct trio_world *world = *state;

    write_script(world);
    world->member[0].takes = 2;
    run(world, NULL);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_not_equal(world->member[i].error, UVEA_OK);
        assert_int_equal(world->member[i].response_count, 2);
    }
}

static void impossible_configurations_are_named(void **state)
{
    struct trio_world *world = *state;

    world->member[0].config.mesh.session_count = 12;
    world->member[1].config.mesh.session_count = 0;
    world->member[2].config.party = uvea_party_at(1);
    run(world, NULL);
    assert_all_stopped(world, 0);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(world->member[i].error, UVEA_ERR_USAGE);
    }
    assert_string_equal(world->member[0].context.text, "12 sessions: want a multiple of 8");
    assert_string_equal(world->member[2].context.text, "party 1 was given the mesh of party 2");
}

#ifdef UVEA_ALARM
// ---- planted faults of the layers below: noticed before anything is answered or inserted

static void assert_plant_stops_all(struct trio_world *world, enum uvea_plant plant)
{
    write_script(world);
    uvea_plant_set(plant);
    run(world, NULL);
    uvea_plant_set(UVEA_PLANT_NONE);
    assert_all_stopped(world, 0);
    assert_records(world, INITIAL_RECORDS);
}

static void a_flipped_opened_bit_stops_all_three(void **state)
{
    assert_plant_stops_all(*state, UVEA_PLANT_FLIP_OPENED_BIT);
}

static void a_spare_random_word_stops_all_three(void **state)
{
    assert_plant_stops_all(*state, UVEA_PLANT_SKIP_PRF_WORD);
}
#endif

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(serves_a_script_and_survives_bad_uploads),
        WORLD_TEST(serves_with_every_option_the_other_way),
        WORLD_TEST(ends_in_good_order_without_requests),
        WORLD_TEST(unequal_databases_stop_before_the_first_request),
        WORLD_TEST(unequal_generators_stop_before_the_first_answer),
        WORLD_TEST(broken_connections_stop_all_three),
        WORLD_TEST(a_party_that_is_sent_less_than_the_others_stops),
        WORLD_TEST(impossible_configurations_are_named),
#ifdef UVEA_ALARM
        WORLD_TEST(a_flipped_opened_bit_stops_all_three),
        WORLD_TEST(a_spare_random_word_stops_all_three),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
