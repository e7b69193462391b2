// What a client reads out of the parties' answers. Private to the client.
#ifndef UVEA_SIM_WORLD_CLIENT_HTTP_H
#define UVEA_SIM_WORLD_CLIENT_HTTP_H

#include "core/rt/rt.h"
#include "sim/world/client.h"

#include <stdint.h>

// (blocks) uvea_rt_http_call to a party, counted.
UVEA_MUST_USE enum uvea_error uvea_client_call(struct uvea_client *client, unsigned party,
                                               const struct uvea_http_request *request,
                                               struct uvea_http_response *response,
                                               uint64_t deadline_ns);

// (blocks) Asks a party for its results behind those read already, and gives what comes to the
// ledger. Whatever goes wrong is left for the next time.
void uvea_client_read_results(struct uvea_client *client, unsigned party);

// The sequence number in the answer to a request with this MessageId; 0 when there is none for it.
uint64_t uvea_client_sequence_of(const struct uvea_http_response *response, const char *key);

#endif
