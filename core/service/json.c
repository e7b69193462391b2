#include "core/service/json.h"

#include "core/coord/json.h"

bool uvea_service_put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

enum uvea_error uvea_service_append_json(const json_t *object, struct uvea_buf *buf)
{
    const size_t before = buf->len;

    UVEA_TRY(uvea_coord_append_value(buf, object));
    if (uvea_buf_reserve(buf, 1) != UVEA_OK) {
        buf->len = before;
        return UVEA_ERR_MEMORY;
    }
    buf->data[buf->len] = '\0';
    return UVEA_OK;
}
