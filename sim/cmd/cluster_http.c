// Asks the parties of a cluster how they are.
#include "core/posix/posix.h"
#include "sim/cmd/cluster.h"
#include "sim/live/cluster.h"

#include <stdio.h>

static void ask(struct uvea_rt *rt, const struct uvea_cluster_party *party, uint64_t seconds_max,
                bool *ready, struct uvea_error_context *reason)
{
    const struct uvea_http_request request = {.method = "GET", .target = "/ready"};
    struct uvea_http_response response = {0};
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, seconds_max * UVEA_SECOND);
    const enum uvea_error error =
        uvea_rt_http_call(rt, party->http, &request, &response, deadline_ns);
    *ready = error == UVEA_OK && response.status == 200;
    if (error != UVEA_OK) {
        (void)snprintf(reason->text, sizeof(reason->text), "%s",
                       error == UVEA_ERR_NOT_FOUND ? "nobody listens" : uvea_error_text(error));
    } else if (!*ready) {
        (void)snprintf(reason->text, sizeof(reason->text), "status %u", response.status);
    }
    uvea_http_response_deinit(&response);
}

enum uvea_error uvea_cluster_ask_ready(const char *cluster_file, uint64_t seconds_max,
                                       bool ready[UVEA_PARTY_COUNT],
                                       struct uvea_error_context reason[UVEA_PARTY_COUNT],
                                       struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_cluster cluster;
    struct uvea_tls *tls = NULL;
    struct uvea_rt *rt = NULL;
    struct uvea_posix_config config = uvea_posix_config_default();
    UVEA_TRY(uvea_cluster_load(cluster_file, &cluster, context));
    const struct uvea_tls_config tls_config = uvea_cluster_tls(&cluster);
    UVEA_TRY_CLEANUP(uvea_tls_open(&tls_config, &tls, context));
    config.tls = tls;
    UVEA_TRY_CLEANUP(uvea_posix_open(&config, &rt, context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        ask(rt, &cluster.parties[i], seconds_max, &ready[i], &reason[i]);
    }
cleanup:
    uvea_posix_close(rt);
    uvea_tls_close(tls);
    uvea_cluster_deinit(&cluster);
    return error;
}
