// What a party answers over HTTP: clients' paths under /v1/ (node.h), and those of its peers
// (core/coord/state.h). Inside the module.
#ifndef UVEA_CORE_SERVICE_ENDPOINTS_H
#define UVEA_CORE_SERVICE_ENDPOINTS_H

#include "core/base/party.h"
#include "core/coord/state.h"
#include "core/rt/rt.h"
#include "core/store/store.h"

#include <stdatomic.h>

enum { UVEA_TOPIC_PARTY = 0 }; // which party gives the topic its order

// Borrows everything; handlers change nothing but the store.
struct uvea_endpoints {
    struct uvea_rt *rt;
    struct uvea_party party;
    struct uvea_store *store;
    const struct uvea_coord *coord; // NULL: the peers' paths are unknown
    // Whether requests are given numbers: not before this party's state is known to fit its peers',
    // else one whose disk lost the topic would give numbers a second time.
    atomic_bool sequencing;
    uvea_http_handler_fn *more_paths; // for paths that are unknown here; NULL: they are refused
    void *more_paths_arg;
};

// A uvea_http_handler_fn, arg is the struct uvea_endpoints. Everything refused is answered with one
// sentence as text: 400, 404, 405, 409, 413; 503 when the store or the party fails, or the party
// is not there yet; 500 when memory is short.
void uvea_endpoints_handle(void *arg, const struct uvea_http_request *request,
                           struct uvea_http_response *response);

#endif
