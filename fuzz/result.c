// Results as readers see them: what is read well can be given to another party and back.
#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/coord/sync.h"
#include "core/service/results.h"
#include "fuzz/fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

static void check_readdressed(const char *text, unsigned party,
                              const struct uvea_result_summary *summary, struct uvea_buf *out)
{
    struct uvea_result_summary again;
    UVEA_CHECK(uvea_sync_readdress(text, uvea_party_at(party), out, NULL) == UVEA_OK);
    UVEA_CHECK(out->data[out->len] == '\0' && strlen((char *)out->data) == out->len);
    UVEA_CHECK(uvea_results_read((char *)out->data, out->len, &again, NULL) == UVEA_OK);
    UVEA_CHECK(again.node_id == party && again.error == summary->error);
    UVEA_CHECK(strcmp(again.id, summary->id) == 0);
    uvea_mem_free(again.id);
}

// There and back is the same as staying.
static void one_result(const char *text, const struct uvea_result_summary *summary)
{
    struct uvea_buf there = {0};
    struct uvea_buf back = {0};
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_buf_clear(&there);
        uvea_buf_clear(&back);
        check_readdressed(text, p, summary, &there);
        check_readdressed((char *)there.data, summary->node_id, summary, &back);
        UVEA_CHECK(strcmp((char *)back.data, text) == 0);
        UVEA_CHECK((strcmp((char *)there.data, text) == 0) == (p == summary->node_id));
    }
    uvea_buf_deinit(&there);
    uvea_buf_deinit(&back);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_result_summary summary;
    struct uvea_buf text = {0};
    struct uvea_buf here = {0};

    json_object_seed(1); // hash order must not depend on the process
    const enum uvea_error error = uvea_results_read((const char *)data, len, &summary, &context);
    UVEA_CHECK(uvea_buf_append(&text, data, len) == UVEA_OK);
    UVEA_CHECK(uvea_buf_append(&text, "", 1) == UVEA_OK);
    if (error == UVEA_OK) {
        // Refused when node_id is spelled with an escape.
        if (uvea_sync_readdress((char *)text.data, uvea_party_at(summary.node_id), &here, NULL) ==
            UVEA_OK) {
            one_result((char *)here.data, &summary);
        }
        uvea_mem_free(summary.id);
    } else {
        UVEA_CHECK(error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT);
        UVEA_CHECK(context.text[0] != '\0' && summary.id == NULL);
    }
    uvea_buf_deinit(&text);
    uvea_buf_deinit(&here);
    return 0;
}
