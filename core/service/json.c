#include "core/service/json.h"

bool uvea_service_put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

enum uvea_error uvea_service_append_json(const json_t *object, struct uvea_buf *buf)
{
    const size_t flags = JSON_COMPACT | JSON_PRESERVE_ORDER;
    const size_t bytes = json_dumpb(object, NULL, 0, flags);

    if (bytes == 0) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(uvea_buf_reserve(buf, bytes + 1));
    if (json_dumpb(object, (char *)buf->data + buf->len, bytes, flags) != bytes) {
        return UVEA_ERR_MEMORY;
    }
    buf->len += bytes;
    buf->data[buf->len] = '\0';
    return UVEA_OK;
}
