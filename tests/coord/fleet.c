#include "tests/coord/fleet.h"

#include "core/base/check.h"

static const char *const addresses[UVEA_PARTY_COUNT] = {"p0:80", "p1:80", "p2:80"};

void fleet_init(struct fleet *fleet, uint64_t seed)
{
    *fleet = (struct fleet){
        .batches = 3,
        .timing = uvea_coord_timing_default(),
        .cut_phase = FLEET_PHASES,
        .lives_max = 1,
        .config = {"{}", "{}", "{}"},
    };
    uvea_sim_config_init(&fleet->sim_config);
    fleet->sim_config.seed = seed;
}

static void serve(void *arg, const struct uvea_http_request *request,
                  struct uvea_http_response *response)
{
    struct fleet_party *party = arg;
    if (!uvea_coord_handle(party->link.coord, request, response)) {
        response->status = 404;
    }
}

// ---- a life

// True when the life is cut here: as a crash, nothing is said to anybody.
static bool reached(struct fleet_party *party, enum fleet_phase phase)
{
    party->phase = phase;
    return party->index == party->fleet->cut_party && party->lives == 1 &&
           phase == party->fleet->cut_phase;
}

#define REACHED(party, phase, context)                                                             \
    do {                                                                                           \
        if (reached((party), (phase))) {                                                           \
            return uvea_error_set((context), UVEA_ERR_IO, "cut short");                            \
        }                                                                                          \
    } while (0)

static enum uvea_error own_state(const struct fleet_party *party, struct uvea_sync_state *state)
{
    struct uvea_buf json = {0};
    state->db_len = party->fleet->db_len[party->index];
    state->common_config = json_loads(party->fleet->config[party->index], 0, NULL);
    UVEA_CHECK(state->common_config != NULL);
    enum uvea_error error = uvea_sync_state_encode(state, &json);
    if (error == UVEA_OK) {
        error = uvea_coord_publish_sync(party->link.coord, &json);
    }
    uvea_buf_deinit(&json);
    return error;
}

static enum uvea_error compare(struct fleet_party *party, struct uvea_sync_state *states,
                               struct uvea_error_context *context)
{
    struct uvea_sync_plan plan = {0};
    UVEA_TRY(own_state(party, &states[party->index]));
    UVEA_TRY(uvea_rt_http_serve(party->rt, addresses[party->index], serve, party, &party->server));
    REACHED(party, FLEET_SERVING, context);
    UVEA_TRY(uvea_coord_meet(&party->link, context));
    REACHED(party, FLEET_MET, context);
    UVEA_TRY(uvea_coord_see_all(&party->link, context));
    REACHED(party, FLEET_SEEN, context);
    UVEA_TRY(uvea_coord_exchange(&party->link, states, context));
    REACHED(party, FLEET_EXCHANGED, context);
    UVEA_TRY(uvea_sync_check_config(states, context));
    const enum uvea_error error =
        uvea_sync_make_plan(states, party->link.party, 328, &plan, context);
    uvea_sync_plan_deinit(&plan);
    return error;
}

static enum uvea_error start_up(struct fleet_party *party, struct uvea_error_context *context)
{
    struct uvea_sync_state states[UVEA_PARTY_COUNT] = {0};
    const enum uvea_error error = compare(party, states, context);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_sync_state_deinit(&states[p]);
    }
    UVEA_TRY(error);
    UVEA_TRY(uvea_heartbeat_open(&party->link, &party->heartbeat));
    uvea_coord_set_ready(party->link.coord, true);
    REACHED(party, FLEET_READY, context);
    UVEA_TRY(uvea_coord_await_ready(&party->link, context));
    REACHED(party, FLEET_RUNNING, context);
    return UVEA_OK;
}

static void check_size(struct fleet_party *party, uint64_t batch, uint32_t size)
{
    uint32_t *agreed = &party->fleet->agreed[batch % 64];
    EXPECT(size > 0 && (*agreed == 0 || *agreed == size));
    *agreed = size;
}

static enum uvea_error agree_size(struct fleet_party *party, uint64_t batch, uint32_t *size,
                                  struct uvea_error_context *context)
{
    const struct fleet *fleet = party->fleet;
    *size = 0;
    for (unsigned asked = 0; *size == 0; asked++) {
        const uint32_t available = fleet->available == NULL
                                       ? party->index + 1
                                       : fleet->available(party->index, batch, asked);
        UVEA_TRY(uvea_coord_agree_size(&party->link, batch, available, size, context));
        if (*size == 0) {
            UVEA_TRY(uvea_rt_sleep_ns(party->rt, party->link.timing.idle_ns));
        }
    }
    return UVEA_OK;
}

// Party p refuses entry p of every second batch.
static enum uvea_error run_batch(struct fleet_party *party, uint64_t batch,
                                 struct uvea_error_context *context)
{
    uint8_t sha[UVEA_COORD_SHA_BYTES] = {(uint8_t)batch, 1};
    bool valid[UVEA_COORD_ENTRIES_MAX];
    uint32_t size;
    UVEA_TRY(agree_size(party, batch, &size, context));
    check_size(party, batch, size);
    REACHED(party, FLEET_SIZE_AGREED, context);
    for (uint32_t i = 0; i < size; i++) {
        valid[i] = batch % 2 == 1 || i != party->index;
    }
    UVEA_TRY(uvea_coord_agree_entries(&party->link, batch, valid, size, sha, context));
    for (uint32_t i = 0; i < size; i++) {
        EXPECT(valid[i] == (batch % 2 == 1 || i >= UVEA_PARTY_COUNT));
    }
    REACHED(party, FLEET_ENTRIES_AGREED, context);
    if (party->fleet->work_ns != NULL) {
        UVEA_TRY(uvea_rt_sleep_ns(party->rt, party->fleet->work_ns(party->index, batch)));
    }
    return UVEA_OK;
}

static bool all_finished(const struct fleet *fleet)
{
    return fleet->parties[0].finished && fleet->parties[1].finished && fleet->parties[2].finished;
}

// Until nobody is left who needs this party, or until it has to go again.
static enum uvea_error linger(struct fleet_party *party, struct uvea_error_context *context)
{
    party->finished = true;
    enum uvea_error error = UVEA_OK;
    while (error == UVEA_OK && !all_finished(party->fleet)) {
        error = uvea_coord_stopped(party->link.coord, context);
        party->finished = error == UVEA_OK;
        error = error == UVEA_OK ? uvea_rt_sleep_ns(party->rt, 10 * UVEA_MS) : error;
    }
    return error;
}

static enum uvea_error live(struct fleet_party *party, struct uvea_error_context *context)
{
    REACHED(party, FLEET_OPENED, context);
    UVEA_TRY(start_up(party, context));
    for (party->batches = 0; party->batches < party->fleet->batches; party->batches++) {
        UVEA_TRY(run_batch(party, party->batches + 1, context));
    }
    return linger(party, context);
}

static enum uvea_error one_life(struct fleet_party *party, struct uvea_error_context *context)
{
    struct fleet *fleet = party->fleet;
    party->link = (struct uvea_coord_link){
        .rt = party->rt, .party = uvea_party_at(party->index), .timing = fleet->timing};
    memcpy(party->link.addresses, addresses, sizeof(addresses));
    UVEA_TRY(uvea_coord_open(party->rt, party->link.party, "test", &party->link.coord));
    const enum uvea_error error = live(party, context);
    if (error != UVEA_OK && error != UVEA_ERR_IO) {
        // As a node does: the peers are told, and given time to ask.
        uvea_coord_stop(party->link.coord, error, "%s", context->text);
        (void)!uvea_rt_sleep_ns(party->rt, UVEA_SECOND);
    }
    uvea_heartbeat_close(party->heartbeat);
    uvea_rt_http_close(party->rt, party->server);
    uvea_coord_close(party->link.coord);
    party->heartbeat = NULL;
    party->server = NULL;
    return error;
}

static void party_task(void *arg)
{
    struct fleet_party *party = arg;
    struct fleet *fleet = party->fleet;
    bool again = uvea_rt_sleep_ns(party->rt, fleet->delay_ns[party->index]) == UVEA_OK;
    while (again) {
        struct uvea_error_context context = {{0}};
        party->lives++;
        const enum uvea_error error = one_life(party, &context);
        const unsigned life = party->lives - 1;
        party->ended[life].error = error;
        party->ended[life].context = context;
        party->ended[life].phase = party->phase;
        again = error != UVEA_OK && party->lives < fleet->lives_max;
        if (error != UVEA_OK) {
            EXPECT(context.text[0] != '\0');
            party->finished = false;
            memset(fleet->agreed, 0, sizeof(fleet->agreed)); // sizes are those of a fleet's life
        }
        fleet->gave_up += error != UVEA_OK && !again;
        again = again && uvea_rt_sleep_ns(party->rt, 3 * UVEA_SECOND) == UVEA_OK;
    }
}

void fleet_run(struct fleet *fleet)
{
    fleet->sim = open_sim(&fleet->sim_config);
    if (fleet->prepare != NULL) {
        fleet->prepare(fleet, fleet->sim);
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fleet->parties[p] =
            (struct fleet_party){.fleet = fleet, .index = p, .rt = uvea_sim_rt(fleet->sim, p)};
        start(fleet->sim, p, "party", party_task, &fleet->parties[p]);
    }
    struct uvea_sim_outcome outcome = run_clean(fleet->sim);
    fleet->sim = NULL;
    fleet->end_ns = outcome.time_ns;
}

void fleet_expect_end(const struct fleet *fleet, unsigned party, unsigned life,
                      enum uvea_error error, const char *text)
{
    const struct fleet_party *of = &fleet->parties[party];
    assert_in_range(life, 0, of->lives - 1);
    if (of->ended[life].error != error || strstr(of->ended[life].context.text, text) == NULL) {
        fail_msg("life %u of party %u ended with %s: '%s', not '%s'", life, party,
                 uvea_error_name(of->ended[life].error), of->ended[life].context.text, text);
    }
}
