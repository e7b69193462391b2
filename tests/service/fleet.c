#include "tests/service/fleet.h"

#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/service/share_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 200, SCRIPT_PAUSE_MS = 100 };

static const char *const mesh_addresses[UVEA_PARTY_COUNT] = {"p0:4000", "p1:4000", "p2:4000"};
static const char *const http_addresses[UVEA_PARTY_COUNT] = {"p0:3000", "p1:3000", "p2:3000"};

// ---- parties

static uint64_t wall_ns(void *arg)
{
    struct fleet_member *member = arg;

    return uvea_rt_wall_ns(member->rt);
}

static enum uvea_error open_store(struct fleet_member *member, struct uvea_store **store,
                                  struct uvea_error_context *context)
{
    return uvea_store_open_sqlite(member->rt, "party.db", uvea_sim_disk_vfs(member->disk), store,
                                  context);
}

static enum uvea_error run_party(struct fleet_member *member)
{
    struct uvea_store *store = NULL;
    enum uvea_error error;

    UVEA_TRY_CLEANUP(open_store(member, &store, &member->context));
    UVEA_TRY_CLEANUP(
        uvea_node_open(member->rt, &member->config, store, &member->node, &member->context));
    UVEA_TRY_CLEANUP(uvea_node_run(member->node, &member->context));
cleanup:
    uvea_node_close(member->node);
    member->node = NULL;
    uvea_store_close(store);
    return error;
}

static void party_main(void *arg)
{
    struct fleet_member *member = arg;

    struct uvea_sim *sim = member->fleet->sim;
    const bool counts = member->starts == 0 && member->fails_allocation > 0;

    member->starts++;
    member->context.text[0] = '\0';
    if (counts) {
        uvea_sim_process_fail_allocation(sim, member->party, member->fails_allocation, false);
    }
    member->error = run_party(member);
    if (counts) {
        member->allocations = uvea_sim_process_allocations(sim, member->party);
    }
}

static void party_died(void *arg)
{
    struct fleet_member *member = arg;

    uvea_sim_disk_crash(member->disk);
}

static void start_party(struct fleet_member *member, uint64_t delay_ns)
{
    struct uvea_sim *sim = member->fleet->sim;

    if (member->crashes < member->death_count) {
        const struct fleet_death *death = &member->deaths[member->crashes];
        if (death->nth > 0) {
            uvea_sim_process_crash_at_point(sim, member->party, death->point, death->nth);
        }
    }
    assert_int_equal(uvea_sim_process_start(sim, member->party, delay_ns), UVEA_OK);
}

static void party_ended(void *arg, bool crashed)
{
    struct fleet_member *member = arg;
    const struct fleet *fleet = member->fleet;

    if (getenv("FLEET_TRACE") != NULL) {
        print_message("%9.3f s party %u ends its life %u %s: %s %s\n",
                      (double)uvea_sim_now_ns(fleet->sim) / 1e9, member->party, member->starts,
                      crashed ? "by a crash" : "by itself", uvea_error_name(member->error),
                      member->context.text);
    }
    if (crashed) {
        const struct uvea_sim_disk_faults good = {0};
        member->crashes++;
        uvea_sim_disk_faults_set(member->disk, &good);
        uvea_sim_disk_restart(member->disk);
    }
    if (fleet->over || fleet->no_restart) {
        return;
    }
    if (member->starts >= FLEET_RESTARTS_MAX) {
        print_message("party %u was started %u times, the last one ended with %s: %s\n",
                      member->party, member->starts, uvea_error_name(member->error),
                      member->context.text);
        return;
    }
    start_party(member, 500 * UVEA_MS);
}

void fleet_plan_death(struct fleet *fleet, unsigned party, enum uvea_point point, uint64_t nth)
{
    struct fleet_member *member = &fleet->member[party];

    assert_true(member->death_count < FLEET_DEATHS_MAX);
    member->deaths[member->death_count++] = (struct fleet_death){.point = point, .nth = nth};
}

void fleet_plan_death_in_commit(struct fleet *fleet, unsigned party, uint64_t request,
                                uint64_t write)
{
    fleet->member[party].dies_in_commit = request;
    fleet->member[party].dies_at_write = write;
}

static void disk_struck(void *arg)
{
    struct fleet_member *member = arg;

    uvea_sim_process_crash(member->fleet->sim, member->party);
}

static void saw_processed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct fleet_member *member = arg;

    assert_int_equal(party.index, member->party);
    member->processed += batch->count;
    if (batch->count > member->batch_entries_max) {
        member->batch_entries_max = batch->count;
    }
    if (member->fleet->stop_when_processed) {
        uvea_node_stop(member->node, "in the middle of a batch");
    }
    if (member->dies_in_commit > 0 && member->processed >= member->dies_in_commit) {
        const struct uvea_sim_disk_faults faults = {.crash_at_write = member->dies_at_write};
        member->dies_in_commit = 0;
        uvea_sim_disk_on_crash(member->disk, disk_struck, member);
        uvea_sim_disk_faults_set(member->disk, &faults);
    }
}

static void saw_committed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct fleet_member *member = arg;

    (void)party;
    member->committed += batch->count;
}

static void saw_published(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct fleet_member *member = arg;

    (void)party;
    member->published += batch->count;
}

static void configure(struct fleet *fleet, unsigned party)
{
    struct fleet_member *member = &fleet->member[party];
    struct uvea_node_config *config = &member->config;
    uint8_t seed[UVEA_SHARE_KEY_BYTES];

    member->fleet = fleet;
    member->party = party;
    (void)snprintf(member->disk_name, sizeof(member->disk_name), "fleet-p%u", party);
    member->rt = uvea_sim_rt(fleet->sim, party);
    assert_int_equal(uvea_sim_disk_open(member->disk_name, fleet->sim_config.seed, wall_ns, member,
                                        &member->disk),
                     UVEA_OK);
    *config = uvea_node_config_default(uvea_party_at(party));
    config->mesh.listen_address = mesh_addresses[party];
    memcpy(config->mesh.dial_address, mesh_addresses, sizeof(mesh_addresses));
    config->mesh.session_count = 16;
    config->mesh.connection_count = 2;
    config->mesh.start_jitter_ns_max = 50 * UVEA_MS;
    config->mesh.retry_delay_ns = 200 * UVEA_MS;
    config->http_address = http_addresses[party];
    memcpy(config->peer_http_addresses, http_addresses, sizeof(http_addresses));
    config->search.kernel = &uvea_ring_kernel_portable;
    config->search.spectral_kernel = &uvea_spectral_kernel_portable;
    config->search.chunk_records_max = 4;
    config->policy.luc_lookback_records = 0;
    config->records_max = FLEET_RECORDS_MAX;
    config->observer = (struct uvea_node_observer){
        .arg = member,
        .processed = saw_processed,
        .committed = saw_committed,
        .published = saw_published,
    };
    uvea_chacha_fill(&fleet->rng, seed, sizeof(seed));
    assert_int_equal(uvea_share_key_pair_from_seed(seed, &config->keys.current), UVEA_OK);
    memcpy(fleet->public_keys[party], config->keys.current.public_key, UVEA_SHARE_KEY_BYTES);
}

void fleet_open(struct fleet *fleet, uint64_t seed)
{
    struct uvea_error_context context = {{0}};

    *fleet = (struct fleet){0};
    uvea_chacha_init_seeded(&fleet->rng, seed);
    uvea_sim_config_init(&fleet->sim_config);
    fleet->sim_config.seed = seed;
    if (uvea_sim_open(&fleet->sim_config, &fleet->sim, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    fleet->rt = uvea_sim_rt(fleet->sim, FLEET_CLIENT);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_sim_process process = {
            .main = party_main,
            .arg = &fleet->member[i],
            .died = party_died,
            .ended = party_ended,
        };
        configure(fleet, i);
        uvea_sim_process_set(fleet->sim, i, &process);
    }
}

void fleet_seed(struct fleet *fleet, const struct uvea_template_pair *pairs, size_t count)
{
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));

    assert_non_null(uploads);
    for (size_t i = 0; i < count; i++) {
        fixture_split(&fleet->rng, &pairs[i], uploads);
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            struct uvea_store *store;
            if (fleet->seed_only != 0 && (fleet->seed_only >> p & 1) == 0) {
                continue;
            }
            const struct uvea_store_record record = {
                .serial = (uint32_t)(i + 1),
                .eye = {(const uint16_t *)&uploads[p].eye[0], (const uint16_t *)&uploads[p].eye[1]},
            };
            assert_int_equal(open_store(&fleet->member[p], &store, NULL), UVEA_OK);
            assert_int_equal(uvea_store_seed(store, &record, 1, NULL), UVEA_OK);
            uvea_store_close(store);
        }
    }
    uvea_mem_free(uploads);
}

// ---- the script

static void client_main(void *arg)
{
    struct fleet *fleet = arg;

    fleet->script(fleet);
    fleet->over = true;
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (fleet->member[i].node != NULL) {
            uvea_node_stop(fleet->member[i].node, "the script is through");
        }
    }
}

void fleet_run(struct fleet *fleet, fleet_script_fn *script, void *arg)
{
    fleet->script = script;
    fleet->arg = arg;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        start_party(&fleet->member[i], i * 10 * UVEA_MS);
    }
    assert_int_equal(uvea_sim_start(fleet->sim, FLEET_CLIENT, "script", client_main, fleet),
                     UVEA_OK);
    uvea_sim_run(fleet->sim, &fleet->outcome);
    if (fleet->outcome.end != UVEA_SIM_FINISHED) {
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            print_message("party %d: %u starts, %s: %s\n", i, fleet->member[i].starts,
                          uvea_error_name(fleet->member[i].error), fleet->member[i].context.text);
        }
        fail_msg("%s:\n%s", uvea_sim_end_text(fleet->outcome.end), fleet->outcome.blocked);
    }
    assert_int_equal(fleet->outcome.unjoined_tasks, 0);
    assert_int_equal(fleet->outcome.open_streams, 0);
    assert_int_equal(fleet->outcome.open_listeners, 0);
    assert_int_equal(fleet->outcome.open_channels, 0);
    assert_int_equal(fleet->outcome.open_locks, 0);
}

void fleet_close(struct fleet *fleet)
{
    uvea_sim_close(fleet->sim);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct fleet_member *member = &fleet->member[i];
        for (int r = 0; r <= FLEET_REQUESTS_MAX; r++) {
            json_decref(member->results[r]);
        }
        uvea_sim_disk_close(member->disk);
    }
}

void fleet_assert_orderly(const struct fleet *fleet)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (fleet->member[i].error != UVEA_OK) {
            fail_msg("party %d: %s: %s", i, uvea_error_name(fleet->member[i].error),
                     fleet->member[i].context.text);
        }
    }
}

struct registry {
    const uint16_t *versions;
    size_t records;
    size_t seen;
};

static enum uvea_error see_record(void *arg, const struct uvea_store_record *record)
{
    struct registry *registry = arg;

    assert_true(registry->seen < registry->records);
    assert_int_equal(record->serial, registry->seen + 1);
    assert_int_equal(record->version, registry->versions[registry->seen]);
    registry->seen++;
    return UVEA_OK;
}

void fleet_assert_records(struct fleet *fleet, const uint16_t *versions, size_t records)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct registry registry = {.versions = versions, .records = records};
        struct uvea_store *store;

        assert_int_equal(open_store(&fleet->member[i], &store, NULL), UVEA_OK);
        assert_int_equal(
            uvea_store_read_records(store, 1, FLEET_RECORDS_MAX, 0, see_record, &registry, NULL),
            UVEA_OK);
        assert_int_equal(registry.seen, records);
        uvea_store_close(store);
    }
}

// ---- HTTP

static bool is_final(unsigned status)
{
    return status == STATUS_OK || (status >= 400 && status < 500 && status != 429);
}

unsigned fleet_call(struct fleet *fleet, unsigned party, const char *method, const char *target,
                    const struct uvea_buf *body, struct uvea_buf *answer)
{
    const struct uvea_http_request request = {
        .method = method,
        .target = target,
        .body = body == NULL ? NULL : body->data,
        .body_bytes = body == NULL ? 0 : body->len,
    };

    for (;;) {
        struct uvea_http_response response = {0};
        const enum uvea_error error =
            uvea_rt_http_call(fleet->rt, http_addresses[party], &request, &response,
                              uvea_rt_deadline_ns(fleet->rt, 5 * UVEA_SECOND));
        const unsigned status = error == UVEA_OK ? response.status : 0;
        if (is_final(status)) {
            if (answer != NULL) {
                uvea_buf_clear(answer);
                assert_int_equal(uvea_buf_append(answer, response.body.data, response.body.len),
                                 UVEA_OK);
            }
            uvea_http_response_deinit(&response);
            return status;
        }
        uvea_http_response_deinit(&response);
        assert_int_equal(uvea_rt_sleep_ns(fleet->rt, SCRIPT_PAUSE_MS * UVEA_MS), UVEA_OK);
    }
}

static char share_names[FLEET_REQUESTS_MAX][32];

const char *fleet_share(struct fleet *fleet, const struct uvea_template_pair *pair,
                        unsigned spoiled, unsigned missing)
{
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_buf object = {0};
    char *key = share_names[fleet->next_name];
    char target[64];

    assert_non_null(uploads);
    assert_true(fleet->next_name < FLEET_REQUESTS_MAX);
    (void)snprintf(key, sizeof(share_names[0]), "share %u", fleet->next_name++);
    (void)snprintf(target, sizeof(target), "/v1/shares/share%%20%s", key + 6);
    fixture_split(&fleet->rng, pair, uploads);
    uvea_chacha_fill(&fleet->rng, entropy[0], sizeof(entropy));
    assert_int_equal(uvea_share_object_encode(
                         uploads, (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])fleet->public_keys,
                         (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])entropy, &object),
                     UVEA_OK);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_buf sent = object;
        sent.len -= (spoiled >> p & 1) != 0 ? 20 : 0;
        if ((missing >> p & 1) == 0) {
            assert_int_equal(fleet_call(fleet, p, "PUT", target, &sent, NULL), STATUS_OK);
        }
    }
    uvea_buf_deinit(&object);
    uvea_mem_free(uploads);
    return key;
}

uint64_t fleet_post_text(struct fleet *fleet, const char *text)
{
    struct uvea_buf body = {.data = (uint8_t *)text, .len = strlen(text)};
    struct uvea_buf answer = {0};
    json_t *object;
    uint64_t sequence;

    assert_int_equal(fleet_call(fleet, 0, "POST", "/v1/requests", &body, &answer), STATUS_OK);
    object = json_loadb((char *)answer.data, answer.len, 0, NULL);
    assert_int_equal(json_string_length(json_object_get(object, "sequence_number")), 40);
    sequence = strtoull(json_string_value(json_object_get(object, "sequence_number")), NULL, 10);
    assert_in_range(sequence, 1, FLEET_REQUESTS_MAX);
    json_decref(object);
    uvea_buf_deinit(&answer);
    return sequence;
}

uint64_t fleet_post(struct fleet *fleet, struct uvea_message *message)
{
    struct uvea_buf json = {0};
    char name[32];
    uint64_t sequence;

    if (message->message_id == NULL) {
        (void)snprintf(name, sizeof(name), "message %u", fleet->next_name++);
        message->message_id = name;
    }
    assert_int_equal(uvea_message_encode(message, &json), UVEA_OK);
    sequence = fleet_post_text(fleet, (const char *)json.data);
    uvea_buf_deinit(&json);
    message->message_id = NULL;
    return sequence;
}

// ---- results

static void take_result(struct fleet_member *member, const json_t *entry)
{
    const char *body = json_string_value(json_object_get(entry, "body"));
    const uint64_t sequence =
        strtoull(json_string_value(json_object_get(entry, "sequence_number")), NULL, 10);
    json_t *result = json_loads(body, JSON_REJECT_DUPLICATES, NULL);

    assert_int_equal(json_integer_value(json_object_get(entry, "number")),
                     member->result_count + 1);
    assert_in_range(sequence, 1, FLEET_REQUESTS_MAX);
    assert_null(member->results[sequence]); // once and no more
    assert_non_null(result);
    assert_int_equal(json_integer_value(json_object_get(result, "node_id")), member->party);
    assert_int_equal(json_object_del(result, "node_id"), 0);
    member->results[sequence] = result;
    member->result_count++;
}

static void read_results(struct fleet *fleet, struct fleet_member *member)
{
    struct uvea_buf answer = {0};
    char target[64];
    json_t *object;
    size_t i;
    const json_t *entry;

    (void)snprintf(target, sizeof(target), "/v1/results?after=%" PRIu64, member->result_count);
    assert_int_equal(fleet_call(fleet, member->party, "GET", target, NULL, &answer), STATUS_OK);
    object = json_loadb((char *)answer.data, answer.len, 0, NULL);
    assert_true(json_is_array(json_object_get(object, "results")));
    json_array_foreach(json_object_get(object, "results"), i, entry)
    {
        take_result(member, entry);
    }
    json_decref(object);
    uvea_buf_deinit(&answer);
}

void fleet_await(struct fleet *fleet, uint64_t sequence)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct fleet_member *member = &fleet->member[i];
        for (;;) {
            read_results(fleet, member);
            if (member->results[sequence] != NULL) {
                break;
            }
            assert_int_equal(uvea_rt_sleep_ns(fleet->rt, SCRIPT_PAUSE_MS * UVEA_MS), UVEA_OK);
        }
    }
}

void fleet_expect(struct fleet *fleet, uint64_t sequence, const char *want)
{
    json_t *expected = json_loads(want, 0, NULL);
    const char *name;
    json_t *value;

    assert_non_null(expected);
    fleet_await(fleet, sequence);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        json_t *result = fleet->member[i].results[sequence];
        assert_true(json_equal(result, fleet->member[0].results[sequence]));
        json_object_foreach(expected, name, value)
        {
            if (!json_equal(value, json_object_get(result, name))) {
                char *text = json_dumps(result, JSON_COMPACT);
                print_message("%s\n", text);
                fail_msg("message %" PRIu64 ": %s is not as in %s", sequence, name, want);
            }
        }
    }
    json_decref(expected);
}

void fleet_hold_topic(struct fleet *fleet, bool held)
{
    const struct uvea_sim_http_faults faults = {
        .path_prefix = "/v1/topic",
        .status_5xx = held ? 1000000 : 0,
    };

    uvea_sim_http_faults_set(fleet->sim, 0, &faults);
}
