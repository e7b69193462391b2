#include "sim/cmd/records.h"

#include "core/base/mem.h"

#include <inttypes.h>
#include <string.h>

static enum uvea_error records_grow(struct uvea_records *records, size_t *capacity)
{
    if (records->count < *capacity) {
        return UVEA_OK;
    }
    size_t larger = *capacity == 0 ? 16 : 2 * *capacity;
    struct uvea_template *at = uvea_mem_alloc(larger, sizeof(*at));
    if (at == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (records->count > 0) {
        memcpy(at, records->at, records->count * sizeof(*at));
    }
    uvea_mem_free(records->at);
    records->at = at;
    *capacity = larger;
    return UVEA_OK;
}

static enum uvea_error decode_lines(const struct uvea_buf *buf, struct uvea_records *records,
                                    struct uvea_error_context *context)
{
    size_t capacity = 0;
    const char *line = (const char *)buf->data;
    const char *end = line + buf->len;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) {
            stop = end;
        }
        if (records_grow(records, &capacity) != UVEA_OK) {
            return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", records->path);
        }
        struct uvea_error_context inner = {{0}};
        enum uvea_error error = uvea_iris_decode_json(line, (size_t)(stop - line),
                                                      &records->at[records->count], &inner);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "%s line %zu: %.400s", records->path,
                                  records->count + 1, inner.text);
        }
        records->count++;
        line = stop + 1;
    }
    return UVEA_OK;
}

enum uvea_error uvea_records_read(const char *path, struct uvea_records *out,
                                  struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_buf buf = {0};
    struct uvea_records records = {.path = path};
    UVEA_TRY_CLEANUP(uvea_input_read(path, &buf, context));
    UVEA_TRY_CLEANUP(decode_lines(&buf, &records, context));
    if (records.count == 0) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT, "%s: holds no record", path);
        goto cleanup;
    }
    *out = records;
    records = (struct uvea_records){0};
cleanup:
    uvea_records_deinit(&records);
    uvea_buf_deinit(&buf);
    return error;
}

void uvea_records_deinit(struct uvea_records *records)
{
    uvea_mem_free(records->at);
    *records = (struct uvea_records){0};
}

enum uvea_error uvea_records_get(const struct uvea_records *records, uint64_t line,
                                 const struct uvea_template **out,
                                 struct uvea_error_context *context)
{
    if (line < 1 || line > records->count) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s has no line %" PRIu64 "; it has %zu",
                              records->path, line, records->count);
    }
    *out = &records->at[line - 1];
    return UVEA_OK;
}

enum uvea_error uvea_records_write(struct uvea_output *out, const struct uvea_template *record,
                                   struct uvea_error_context *context)
{
    struct uvea_buf buf = {0};
    enum uvea_error error = uvea_iris_encode_json(record, &buf);
    if (error == UVEA_OK) {
        error = uvea_output_write(out, buf.data, buf.len, context);
    }
    uvea_buf_deinit(&buf);
    return error;
}

void uvea_records_to_oracle(const struct uvea_template *in, struct uvea_oracle_template *out)
{
    _Static_assert(sizeof(in->code) == sizeof(out->code) && sizeof(in->mask) == sizeof(out->mask),
                   "both hold 12,800 bits in plain order");
    memcpy(out->code, in->code, sizeof(out->code));
    memcpy(out->mask, in->mask, sizeof(out->mask));
}
