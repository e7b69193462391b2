#include "sim/world/client_http.h"

#include "core/service/topic.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_RESULTS = 64 };

static json_t *load(const struct uvea_http_response *response)
{
    return json_loadb((const char *)response->body.data, response->body.len, JSON_REJECT_DUPLICATES,
                      NULL);
}

// A sequence number as text; 0 when it is not one.
static uint64_t parse_sequence(const json_t *value)
{
    uint64_t number = 0;
    return json_is_string(value) &&
                   uvea_sequence_parse(json_string_value(value), json_string_length(value), &number)
               ? number
               : 0;
}

uint64_t uvea_client_sequence_of(const struct uvea_http_response *response, const char *key)
{
    json_t *answer = load(response);
    const char *echo = json_string_value(json_object_get(answer, "message_id"));
    const uint64_t sequence = echo != NULL && strcmp(echo, key) == 0
                                  ? parse_sequence(json_object_get(answer, "sequence_number"))
                                  : 0;
    json_decref(answer);
    return sequence;
}

enum uvea_error uvea_client_call(struct uvea_client *client, unsigned party,
                                 const struct uvea_http_request *request,
                                 struct uvea_http_response *response, uint64_t deadline_ns)
{
    const enum uvea_error error =
        uvea_rt_http_call(client->rt, client->addresses[party], request, response, deadline_ns);
    client->bytes_sent += request->body_bytes;
    if (error == UVEA_OK) {
        client->bytes_received += response->body.len;
    }
    return error;
}

static void note_time(struct uvea_client *client, unsigned party, uint64_t sequence)
{
    if (client->times != NULL && sequence <= client->scenario->request_count) {
        client->times[sequence - 1].answered_ns[party] = uvea_rt_now_ns(client->rt);
    }
}

static void take_result(struct uvea_client *client, unsigned party, const json_t *result)
{
    const json_int_t number = json_integer_value(json_object_get(result, "number"));
    const uint64_t sequence = parse_sequence(json_object_get(result, "sequence_number"));
    const char *type = json_string_value(json_object_get(result, "message_type"));
    const json_t *body = json_object_get(result, "body");
    if (number <= 0 || sequence == 0 || type == NULL || !json_is_string(body)) {
        return;
    }
    const struct uvea_ledger_read read = {
        .number = (uint64_t)number,
        .sequence = sequence,
        .batch = parse_sequence(json_object_get(result, "batch")),
        .type = type,
        .body = json_string_value(body),
        .bytes = json_string_length(body),
    };
    uvea_ledger_result(client->ledger, uvea_party_at(party), &read);
    if ((uint64_t)number == client->read[party] + 1) {
        client->read[party]++;
        note_time(client, party, sequence);
    }
}

void uvea_client_read_results(struct uvea_client *client, unsigned party)
{
    char target[96];
    (void)snprintf(target, sizeof(target), "/v1/results?after=%" PRIu64 "&max=%d",
                   client->read[party], PAGE_RESULTS);
    const struct uvea_http_request request = {.method = "GET", .target = target};
    struct uvea_http_response response = {.status = 0};
    const uint64_t deadline_ns = uvea_rt_deadline_ns(client->rt, 10 * UVEA_SECOND);
    if (uvea_client_call(client, party, &request, &response, deadline_ns) != UVEA_OK) {
        return;
    }
    if (response.status == 200) {
        json_t *answer = load(&response);
        const json_t *results = json_object_get(answer, "results");
        for (size_t i = 0; i < json_array_size(results); i++) {
            take_result(client, party, json_array_get(results, i));
        }
        json_decref(answer);
    }
    uvea_http_response_deinit(&response);
}
