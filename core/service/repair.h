// Rolls a party forward at start-up to where the furthest one had come: carries a plan of
// core/coord/sync.h out. Inside the module. Source: service.md 6.3, step 5.
#ifndef UVEA_CORE_SERVICE_REPAIR_H
#define UVEA_CORE_SERVICE_REPAIR_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/coord/sync.h"
#include "core/service/share_object.h"
#include "core/store/store.h"

// Borrows everything.
struct uvea_repair {
    struct uvea_store *store;
    struct uvea_party party;
    const struct uvea_share_keys *keys; // secret
};

// One transaction of the store: all rows of the plan, and the records that they changed, made from
// the share objects that the rows name. An empty plan does nothing. STATE or what the object was
// refused for, naming the modification; nothing is changed then.
UVEA_MUST_USE enum uvea_error uvea_repair_run(const struct uvea_repair *repair,
                                              const struct uvea_sync_plan *plan,
                                              struct uvea_error_context *context);

#endif
