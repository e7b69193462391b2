// One party from connecting to its last answer, as straight-line code over the runtime.
#ifndef UVEA_CORE_SERVICE_PARTY_H
#define UVEA_CORE_SERVICE_PARTY_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/mpc/prf.h"
#include "core/net/mesh.h"
#include "core/rt/rt.h"
#include "core/scan/policy.h"
#include "core/scan/resident.h"
#include "core/scan/search.h"
#include "core/service/request.h"

// Equal on all three parties but for `party` and the addresses in `mesh`.
struct uvea_party_config {
    struct uvea_party party;
    struct uvea_mesh_config mesh; // its session count is a positive multiple of 8
    enum uvea_prf_kind prf;
    struct uvea_search_config search;
    struct uvea_policy policy;
};

// (blocks) Connects, brings the sessions up (shared seed on position 0, then every session's seed
// exchange, all at once), compares the state with the peers, then takes struct uvea_request * from
// requests and sends one struct uvea_response * into responses for each, in order.
//
// Before a request changes the database the parties check that their random streams are in step on
// every session (DRIFT) and that they opened the same bits and decided alike (STATE, naming the odd
// party when two agree); before its response goes out, that their databases still agree (STATE).
// So a party that finds itself out of step hands out nothing more.
//
// resident, cold: what the database holds at the start, the scanned eye and the other; borrowed,
// and left as they are at the end. Returns OK once requests was shut and all that was queued is
// answered; otherwise the failure, named in context. Both ways the mesh is closed (peers that still
// wait see the connection end) and responses is shut. stats is filled in either case.
UVEA_MUST_USE enum uvea_error
uvea_party_run(struct uvea_rt *rt, const struct uvea_party_config *config,
               struct uvea_resident *resident, struct uvea_cold *cold,
               struct uvea_channel *requests, struct uvea_channel *responses,
               struct uvea_party_stats *stats, struct uvea_error_context *context);

#endif
