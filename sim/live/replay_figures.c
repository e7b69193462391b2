// What came of a replay, in numbers.
#include "core/base/mem.h"
#include "sim/live/replay_impl.h"

#include <stdlib.h>

struct uvea_replay_progress uvea_replay_progress(const struct uvea_replay *replay)
{
    const uint64_t *read = replay->client.read;
    uint64_t answered = read[0] < read[1] ? read[0] : read[1];
    answered = answered < read[2] ? answered : read[2];
    const bool enrolling = answered < replay->enrolments;
    return (struct uvea_replay_progress){
        .enrolled = enrolling ? answered : replay->enrolments,
        .enrolments = replay->enrolments,
        .answered = enrolling ? 0 : answered - replay->enrolments,
        .requests = replay->requests,
    };
}

// A uvea_ledger_answer_fn.
static enum uvea_error add_row(void *arg, const struct uvea_ledger_answer *answer)
{
    struct uvea_replay *replay = arg;
    struct uvea_rows *enrolled = &replay->enrolled;
    return uvea_rows_add(enrolled->count < replay->enrolments ? enrolled : &replay->result->rows,
                         answer);
}

static void collect_numbers(struct uvea_replay *replay)
{
    struct uvea_replay_result *result = replay->result;
    const struct uvea_client *client = &replay->client;
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(replay->ledger);
    result->requests = replay->requests;
    result->enrolments = replay->enrolments;
    result->enrolled = uvea_replay_progress(replay).enrolled;
    result->sent = client->sent > replay->enrolments ? client->sent - replay->enrolments : 0;
    result->enrolling_ns =
        (client->paced_from_ns != 0 ? client->paced_from_ns : uvea_rt_now_ns(replay->config->rt)) -
        replay->began_ns;
    result->disagreements = verdict.disagreements;
    result->mismatches = verdict.mismatches;
    result->records = verdict.records;
    result->batches = verdict.batches;
    result->errors = verdict.errors;
    result->bytes_sent = client->bytes_sent;
    result->bytes_received = client->bytes_received;
}

static uint64_t last_answer(const struct uvea_client_times *times)
{
    uint64_t last_ns = 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (times->answered_ns[party] == 0) {
            return 0;
        }
        last_ns = times->answered_ns[party] > last_ns ? times->answered_ns[party] : last_ns;
    }
    return last_ns;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

// Messages are numbered from 1 in the order of sending, because the cluster was empty and requests
// are sent one after the other.
static enum uvea_error collect_times(struct uvea_replay *replay)
{
    struct uvea_replay_result *result = replay->result;
    const size_t count = replay->client.sent;
    uint64_t end_ns = replay->client.paced_from_ns;
    result->latencies_ns = uvea_mem_alloc(count, sizeof(*result->latencies_ns));
    if (result->latencies_ns == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = replay->enrolments; i < count; i++) {
        const struct uvea_client_times *times = &replay->times[i];
        const uint64_t last_ns = last_answer(times);
        if (last_ns == 0) {
            continue;
        }
        const uint64_t latency_ns = last_ns > times->accepted_ns ? last_ns - times->accepted_ns : 0;
        result->latencies_ns[result->latency_count++] = latency_ns;
        if (i - replay->enrolments < result->rows.count) {
            result->rows.at[i - replay->enrolments].latency_ns = latency_ns;
        }
        result->responses += UVEA_PARTY_COUNT;
        end_ns = last_ns > end_ns ? last_ns : end_ns;
    }
    qsort(result->latencies_ns, result->latency_count, sizeof(*result->latencies_ns), by_size);
    result->elapsed_ns = end_ns - replay->client.paced_from_ns;
    return UVEA_OK;
}

enum uvea_error uvea_replay_collect(struct uvea_replay *replay)
{
    UVEA_TRY(uvea_ledger_answers(replay->ledger, add_row, replay));
    collect_numbers(replay);
    UVEA_TRY(collect_times(replay));
    return uvea_ledger_hash(replay->ledger, replay->enrolments, replay->result->answers_hash);
}

uint64_t uvea_replay_latency_ns(const struct uvea_replay_result *result, unsigned q)
{
    if (result->latency_count == 0) {
        return 0;
    }
    size_t at = (result->latency_count * q + 999) / 1000;
    at = at == 0 ? 1 : at;
    return result->latencies_ns[at - 1];
}
