#include "core/coord/json.h"
#include "core/coord/state_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Writes the body of the answer to a GET and returns its status. Called under the lock.
typedef unsigned answer_fn(const struct uvea_coord *coord, const char *query,
                           struct uvea_buf *body);

static unsigned say(unsigned status, struct uvea_buf *body, const char *text)
{
    return uvea_coord_append(body, text) == UVEA_OK ? status : 500;
}

static unsigned answer_health(const struct uvea_coord *coord, const char *query,
                              struct uvea_buf *body)
{
    struct uvea_coord_health health = {
        .image_name = coord->image_name,
        .boot = coord->boot,
        .shutting_down = coord->stopped != UVEA_OK,
        .ready = coord->ready,
        .verified_count = coord->verified_count,
    };
    _Static_assert(sizeof(health.verified) >= sizeof(coord->verified), "room in /health");

    (void)query;
    memcpy(health.verified, coord->verified, sizeof(coord->verified));
    return uvea_coord_health_encode(&health, body) == UVEA_OK ? 200 : 500;
}

static unsigned answer_ready(const struct uvea_coord *coord, const char *query,
                             struct uvea_buf *body)
{
    (void)query;
    return coord->ready ? say(200, body, "ready") : 503;
}

static unsigned answer_sync(const struct uvea_coord *coord, const char *query,
                            struct uvea_buf *body)
{
    (void)query;
    if (coord->sync.len == 0) {
        return 503;
    }
    return uvea_buf_append(body, coord->sync.data, coord->sync.len) == UVEA_OK ? 200 : 500;
}

// The value of batch_id=N among the members of a query, which must hold it once.
static bool read_batch_id(const char *query, uint64_t *batch_id)
{
    static const char name[] = "batch_id=";
    unsigned found = 0;

    while (query != NULL) {
        const size_t bytes = strcspn(query, "&");
        if (strncmp(query, name, sizeof(name) - 1) == 0) {
            char digits[24];
            const size_t digits_bytes = bytes - (sizeof(name) - 1);
            if (digits_bytes >= sizeof(digits)) {
                return false;
            }
            memcpy(digits, query + sizeof(name) - 1, digits_bytes);
            digits[digits_bytes] = '\0';
            if (uvea_coord_digits(digits, batch_id) != UVEA_OK) {
                return false;
            }
            found++;
        }
        query = query[bytes] == '&' ? query + bytes + 1 : NULL;
    }
    return found == 1;
}

static unsigned answer_size(const struct uvea_coord *coord, const char *query,
                            struct uvea_buf *body)
{
    uint64_t batch_id = 0;
    char text[96];

    if (!read_batch_id(query, &batch_id)) {
        return say(400, body, "batch_id=N is wanted, once");
    }
    if (batch_id >= 1 && batch_id == coord->current.batch_id) {
        return uvea_coord_size_encode(&coord->current, body) == UVEA_OK ? 200 : 500;
    }
    if (batch_id >= 1 && batch_id == coord->before.batch_id) {
        return uvea_coord_size_encode(&coord->before, body) == UVEA_OK ? 200 : 500;
    }
    (void)snprintf(text, sizeof(text),
                   "batch %" PRIu64 " is asked for, batch %" PRIu64 " is current", batch_id,
                   coord->current.batch_id);
    return say(409, body, text);
}

static unsigned answer_entries(const struct uvea_coord *coord, const char *query,
                               struct uvea_buf *body)
{
    (void)query;
    return uvea_coord_entries_encode(&coord->entries, body) == UVEA_OK ? 200 : 500;
}

static const struct route {
    const char *path;
    answer_fn *answer;
} routes[] = {
    {"/health", answer_health},
    {"/ready", answer_ready},
    {"/startup-sync", answer_sync},
    {"/batch-sync-state", answer_size},
    {"/batch-sync-entries", answer_entries},
};

bool uvea_coord_handle(const struct uvea_coord *coord, const struct uvea_http_request *request,
                       struct uvea_http_response *response)
{
    const size_t path_bytes = strcspn(request->target, "?");
    const char *query = request->target + path_bytes + (request->target[path_bytes] == '?');
    const struct route *route = NULL;

    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strlen(routes[i].path) == path_bytes &&
            memcmp(routes[i].path, request->target, path_bytes) == 0) {
            route = &routes[i];
        }
    }
    if (route == NULL) {
        return false;
    }
    if (strcmp(request->method, "GET") != 0) {
        response->status = say(405, &response->body, "GET is wanted");
        return true;
    }
    uvea_rt_lock_take(coord->rt, coord->lock);
    response->status = route->answer(coord, query, &response->body);
    uvea_rt_lock_release(coord->rt, coord->lock);
    if (response->status == 500) {
        uvea_buf_clear(&response->body);
    }
    return true;
}
