#include "sim/live/keeper.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOOK_NS UVEA_SECOND          // between two questions to a party
#define ANSWER_NS (2 * UVEA_SECOND)  // longest wait for its answer
#define ABSENCE_NS (3 * UVEA_SECOND) // before a party that is gone is started
enum { STARTS_MAX = 10 };            // in a row

// ---- sentences

UVEA_PRINTF(2, 3)
static void add(struct uvea_error_context *text, const char *format, ...)
{
    const size_t used = strlen(text->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text->text + used, sizeof(text->text) - used, format, args);
    va_end(args);
}

void uvea_keeper_describe(const struct uvea_keeper *keeper, struct uvea_error_context *text)
{
    text->text[0] = '\0';
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_keeper_party *at = &keeper->parties[party];
        if (!at->ready) {
            add(text, "%sparty %u: %s", text->text[0] == '\0' ? "" : ", ", party, at->how);
        }
    }
}

bool uvea_keeper_all_ready(const struct uvea_keeper *keeper)
{
    return keeper->parties[0].ready && keeper->parties[1].ready && keeper->parties[2].ready;
}

static enum uvea_error give_up(const struct uvea_keeper *keeper, struct uvea_error_context *reason)
{
    struct uvea_error_context list = {.text = ""};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_keeper_party *at = &keeper->parties[party];
        if (at->starts == 0) {
            continue;
        }
        add(&list, "%sparty %u %u times", list.text[0] == '\0' ? "" : ", ", party, at->starts);
        if (at->said.text[0] != '\0') {
            add(&list, " (%.240s)", at->said.text);
        } else if (keeper->control->logs[party] != NULL) {
            add(&list, " (see %.100s)", keeper->control->logs[party]);
        }
    }
    return uvea_error_set(reason, UVEA_ERR_TIMEOUT,
                          "the parties cannot be kept running; started in a row, with no answer in "
                          "between: %.400s",
                          list.text);
}

// ---- one party

// Whether it is there, ready or not; or it may be, and has not answered.
static bool ask(struct uvea_keeper *keeper, unsigned party)
{
    struct uvea_keeper_party *at = &keeper->parties[party];
    const struct uvea_http_request request = {.method = "GET", .target = "/ready"};
    struct uvea_http_response response = {.status = 0};
    const enum uvea_error error =
        uvea_rt_http_call(keeper->rt, keeper->addresses[party], &request, &response,
                          uvea_rt_deadline_ns(keeper->rt, ANSWER_NS));
    at->ready = error == UVEA_OK && response.status == 200;
    keeper->heard = keeper->heard || error == UVEA_OK;
    uvea_outcome_text(error, response.status, at->how);
    uvea_http_response_deinit(&response);
    return error != UVEA_ERR_NOT_FOUND;
}

void uvea_keeper_start(struct uvea_keeper *keeper, unsigned party)
{
    struct uvea_keeper_party *at = &keeper->parties[party];
    struct uvea_error_context said = {.text = ""};
    const enum uvea_error error =
        keeper->control->act(keeper->control->arg, party, UVEA_REPLAY_START, &said);
    at->ready = false;
    at->starts++;
    at->said.text[0] = '\0';
    if (error != UVEA_OK) {
        add(&at->said, "%.400s", said.text[0] != '\0' ? said.text : uvea_error_text(error));
    }
    at->absent_ns = uvea_rt_now_ns(keeper->rt);
}

// One at whose address nobody listens.
static enum uvea_error miss(struct uvea_keeper *keeper, unsigned party,
                            struct uvea_error_context *reason)
{
    struct uvea_keeper_party *at = &keeper->parties[party];
    const uint64_t now_ns = uvea_rt_now_ns(keeper->rt);
    if (at->absent_ns == 0) {
        at->absent_ns = now_ns;
    }
    if (now_ns - at->absent_ns < ABSENCE_NS || !keeper->heard ||
        !uvea_replay_can(keeper->control, party, UVEA_REPLAY_START)) {
        return UVEA_OK;
    }
    if (at->starts >= STARTS_MAX) {
        return give_up(keeper, reason);
    }
    uvea_keeper_start(keeper, party);
    return UVEA_OK;
}

// ---- all of them

bool uvea_keeper_interrupted(const struct uvea_keeper *keeper)
{
    return keeper->interrupted != NULL && keeper->interrupted();
}

enum uvea_error uvea_keeper_attend(struct uvea_keeper *keeper, uint64_t progress,
                                   struct uvea_error_context *reason)
{
    const uint64_t now_ns = uvea_rt_now_ns(keeper->rt);
    if (uvea_keeper_interrupted(keeper)) {
        return uvea_error_set(reason, UVEA_ERR_CLOSED, "interrupted");
    }
    if (keeper->looked_ns != 0 && now_ns - keeper->looked_ns < LOOK_NS) {
        return UVEA_OK;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (progress != keeper->progress) {
            keeper->parties[party].starts = 0;
        }
        if (ask(keeper, party)) {
            keeper->parties[party].absent_ns = 0;
        } else {
            UVEA_TRY(miss(keeper, party, reason));
        }
    }
    keeper->progress = progress;
    keeper->looked_ns = uvea_rt_now_ns(keeper->rt);
    return UVEA_OK;
}
