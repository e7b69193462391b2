// A request's two eyes as the kernels want them, in both orientations.
// Names follow the database eye they are compared with: eye[MIRROR][LEFT] is the mirrored RIGHT eye
// of the query, because a mirrored face shows its right eye where the left one belongs.
// Sources: service.md 2.4, wire.md 7.
#ifndef UVEA_CORE_SCAN_QUERY_H
#define UVEA_CORE_SCAN_QUERY_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "core/kernel/ring_kernel.h"

#include <stdbool.h>

enum uvea_orientation {
    UVEA_ORIENTATION_NORMAL,
    UVEA_ORIENTATION_MIRROR,
};
enum { UVEA_ORIENTATION_COUNT = 2 };

// 172 KiB: allocate it, never on a stack. Secret. The mirror half is unset unless it was asked for.
struct uvea_scan_query {
    struct uvea_ring_query eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
};

UVEA_MUST_USE enum uvea_error uvea_scan_query_prepare(struct uvea_party party,
                                                      const struct uvea_iris_upload *upload,
                                                      bool mirror, struct uvea_scan_query *out);

#endif
