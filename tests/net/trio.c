#include "tests/net/trio.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <stdio.h>
#include <string.h>

static const char *const addresses[UVEA_PARTY_COUNT] = {"p0:5000", "p1:5000", "p2:5000"};

void trio_init(struct trio *trio, trio_fn *fn)
{
    *trio = (struct trio){.fn = {fn, fn, fn}};
    uvea_sim_config_init(&trio->sim_config);
    trio->sim_config.seed = 1;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio->mesh[i] = uvea_mesh_config_default(uvea_party_at(i));
        trio->mesh[i].listen_address = addresses[i];
        memcpy(trio->mesh[i].dial_address, addresses, sizeof(addresses));
    }
}

void trio_note(struct trio *trio, bool holds, const char *file, int line, const char *what)
{
    if (!holds) {
        trio->failures++;
        print_error("%s:%d: does not hold: %s\n", file, line, what);
    }
}

bool trio_says(const struct uvea_error_context *context, const char *first, const char *second)
{
    bool says = strstr(context->text, first) != NULL && strstr(context->text, second) != NULL;
    if (!says) {
        print_error("it says: %s\n", context->text);
    }
    return says;
}

static void party_task(void *arg)
{
    struct trio_party *party = arg;
    struct trio *trio = party->trio;
    unsigned index = party->index;
    if (index == TRIO_CLIENT || trio->raw[index]) {
        trio->fn[index](party);
        return;
    }
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_mesh_open(party->rt, &trio->mesh[index], &party->mesh, &context);
    TRIO_EXPECT(trio, error == UVEA_OK);
    if (error == UVEA_OK) {
        trio->fn[index](party);
    } else {
        print_error("%s\n", context.text);
    }
    uvea_mesh_close(party->mesh);
}

static void check_outcome(const struct trio *trio)
{
    const struct uvea_sim_outcome *outcome = &trio->outcome;
    if (outcome->end != UVEA_SIM_FINISHED) {
        print_error("%s\n%s\n", uvea_sim_end_text(outcome->end), outcome->blocked);
    }
    assert_int_equal(outcome->end, UVEA_SIM_FINISHED);
    assert_int_equal(outcome->unjoined_tasks, 0);
    assert_int_equal(outcome->open_streams, 0);
    assert_int_equal(outcome->open_channels, 0);
    assert_int_equal(outcome->open_listeners, 0);
    assert_int_equal(trio->failures, 0);
}

void trio_run(struct trio *trio)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_sim_open(&trio->sim_config, &trio->sim, &context);
    if (error != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    for (unsigned i = 0; i <= TRIO_CLIENT; i++) {
        trio->parties[i] =
            (struct trio_party){.trio = trio, .index = i, .rt = uvea_sim_rt(trio->sim, i)};
        if (trio->fn[i] != NULL) {
            error = uvea_sim_start(trio->sim, i, "party", party_task, &trio->parties[i]);
            assert_int_equal(error, UVEA_OK);
        }
    }
    uvea_sim_run(trio->sim, &trio->outcome);
    uvea_sim_close(trio->sim);
    trio->sim = NULL;
    check_outcome(trio);
}

void trio_connect(struct trio_party *party)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    if (error != UVEA_OK) {
        print_error("party %u: %s\n", party->index, context.text);
    }
    TRIO_EXPECT(party->trio, error == UVEA_OK);
}

void trio_sleep(struct uvea_rt *rt, uint64_t ns)
{
    enum uvea_error error = uvea_rt_sleep_ns(rt, ns);
    (void)error; // the node is being stopped: what follows fails by itself
}

void trio_wait_all(struct trio_party *party)
{
    struct trio *trio = party->trio;
    unsigned round = trio->rounds;
    trio->waiting++;
    if (trio->waiting == UVEA_PARTY_COUNT) {
        trio->waiting = 0;
        trio->rounds++;
        return;
    }
    while (trio->rounds == round && uvea_rt_sleep_ns(party->rt, UVEA_MS) == UVEA_OK) {
    }
}

void trio_parallel(struct trio_party *party, uvea_task_fn *fn, void *args, size_t size,
                   unsigned count)
{
    struct uvea_task **tasks = uvea_mem_alloc(count, sizeof(struct uvea_task *));
    UVEA_CHECK(tasks != NULL);
    for (unsigned i = 0; i < count; i++) {
        enum uvea_error error =
            uvea_rt_spawn(party->rt, "test", fn, (uint8_t *)args + i * size, &tasks[i]);
        UVEA_CHECK(error == UVEA_OK);
    }
    for (unsigned i = 0; i < count; i++) {
        uvea_rt_join(party->rt, tasks[i]);
    }
    uvea_mem_free(tasks);
}

uint8_t trio_byte(unsigned from, unsigned to, uint32_t session, uint32_t step, size_t i)
{
    uint64_t mixed = (uint64_t)from * 3 + to + 1;
    mixed = mixed * UINT64_C(0x9E3779B97F4A7C15) + session;
    mixed = (mixed ^ (mixed >> 29)) * UINT64_C(0xBF58476D1CE4E5B9) + step;
    mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0x94D049BB133111EB) + i / 8;
    mixed = (mixed ^ (mixed >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint8_t)(mixed >> 8 * (i % 8));
}

void trio_send(struct trio_party *party, uint32_t position, enum uvea_peer peer, uint32_t step,
               size_t bytes)
{
    unsigned to = uvea_party_peer(uvea_party_at(party->index), peer).index;
    struct uvea_link *link = uvea_mesh_link(party->mesh, position);
    struct uvea_buf content = {0};
    uint8_t *at = uvea_buf_extend(&content, bytes);
    UVEA_CHECK(at != NULL);
    for (size_t i = 0; i < bytes; i++) {
        at[i] = trio_byte(party->index, to, position, step, i);
    }
    struct uvea_buf *frame;
    TRIO_EXPECT(party->trio, uvea_link_begin(link, peer, &frame) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(frame, content.data, bytes) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_end(link, peer) == UVEA_OK);
    uvea_buf_deinit(&content);
}

void trio_expect(struct trio_party *party, uint32_t position, enum uvea_peer peer, uint32_t step,
                 size_t bytes)
{
    unsigned from = uvea_party_peer(uvea_party_at(party->index), peer).index;
    struct uvea_error_context context = {{0}};
    struct uvea_value value;
    enum uvea_error error =
        uvea_link_recv(uvea_mesh_link(party->mesh, position), peer, &value, &context);
    if (error != UVEA_OK) {
        print_error("party %u: %s\n", party->index, context.text);
    }
    TRIO_EXPECT(party->trio, error == UVEA_OK);
    if (error != UVEA_OK) {
        return;
    }
    bool same = value.kind == UVEA_VALUE_BYTES && value.body_bytes == bytes;
    for (size_t i = 0; same && i < bytes; i++) {
        same = value.body[i] == trio_byte(from, party->index, position, step, i);
    }
    TRIO_EXPECT(party->trio, same);
}
