#include "tests/posix/fleet.h"

#include "tests/support/cmocka.h"

#include <stdio.h>

void fleet_open(struct fleet *fleet, struct pki *pki)
{
    *fleet = (struct fleet){0};
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct fleet_party *party = &fleet->parties[i];
        struct uvea_posix_config config = uvea_posix_config_default();
        config.tls = rig_tls(pki, i, NULL);
        *party = (struct fleet_party){
            .fleet = fleet, .index = i, .tls = config.tls, .rt = rig_open(&config)};
        (void)snprintf(fleet->addresses[i], sizeof(fleet->addresses[i]), "127.0.0.1:%u",
                       rig_free_port(party->rt));
        struct uvea_mesh_config *mesh = &fleet->mesh[i];
        *mesh = uvea_mesh_config_default(uvea_party_at(i));
        mesh->listen_address = fleet->addresses[i];
        mesh->start_jitter_ns_max = 0;
        mesh->retry_delay_ns = 50 * UVEA_MS;
        for (unsigned j = 0; j < UVEA_PARTY_COUNT; j++) {
            mesh->dial_address[j] = fleet->addresses[j];
        }
    }
}

void fleet_meshes(struct fleet *fleet)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_error_context context = {{0}};
        struct fleet_party *party = &fleet->parties[i];
        if (uvea_mesh_open(party->rt, &fleet->mesh[i], &party->mesh, &context) != UVEA_OK) {
            fail_msg("%s", context.text);
        }
    }
}

struct errand {
    fleet_fn *fn;
    struct fleet_party *party;
};

static void run_errand(void *arg)
{
    struct errand *errand = arg;
    errand->fn(errand->party);
}

void fleet_run(struct fleet *fleet, fleet_fn *fn)
{
    struct errand errands[UVEA_PARTY_COUNT];
    struct uvea_task *tasks[UVEA_PARTY_COUNT];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        errands[i] = (struct errand){fn, &fleet->parties[i]};
        tasks[i] = rig_spawn(fleet->parties[i].rt, run_errand, &errands[i]);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_rt_join(fleet->parties[i].rt, tasks[i]);
    }
    rig_check();
}

void fleet_close(struct fleet *fleet)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct fleet_party *party = &fleet->parties[i];
        uvea_mesh_close(party->mesh);
        uvea_posix_close(party->rt);
        uvea_tls_close(party->tls);
    }
    rig_check();
}

void fleet_connect(struct fleet_party *party)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    if (error != UVEA_OK) {
        (void)fprintf(stderr, "party %u: %s\n", party->index, context.text);
    }
    RIG_EXPECT(error == UVEA_OK);
}
