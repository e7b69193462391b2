#include "core/daemon/descriptors.h"

#include "core/posix/drain.h"

#include <inttypes.h>
#include <sys/resource.h>

enum {
    // HTTP connections that are cut and those kept for calls, listeners, the store, the log.
    RESERVE = 256,
};

uint64_t uvea_descriptors_need(const struct uvea_settings *settings)
{
    const struct uvea_mesh_config *mesh = &settings->node.mesh;
    const uint64_t connections =
        mesh->connection_count < mesh->session_count ? mesh->connection_count : mesh->session_count;
    const uint64_t streams = UVEA_PEER_COUNT * connections + UVEA_MESH_PENDING_MAX;

    return (uint64_t)settings->posix.http_connections_max * UVEA_POSIX_HTTP_DESCRIPTORS +
           streams * UVEA_POSIX_STREAM_DESCRIPTORS + UVEA_POSIX_DRAIN_MAX + RESERVE;
}

uint64_t uvea_descriptors_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                    : UINT64_MAX;
}

enum uvea_error uvea_descriptors_check(uint64_t need, uint64_t limit,
                                       struct uvea_error_context *context)
{
    return need <= limit
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_LIMIT,
                                "%" PRIu64 " descriptors may be in use at once, and the hard limit "
                                "on open files is %" PRIu64,
                                need, limit);
}
