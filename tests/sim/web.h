// A server on node 1 and a client on node 0: what the tests of HTTP need.
#ifndef UVEA_TESTS_SIM_WEB_H
#define UVEA_TESTS_SIM_WEB_H

#include "core/base/mem.h"
#include "sim/runtime/http.h"
#include "tests/sim/harness.h"

#include <stdlib.h>

struct web {
    struct uvea_sim *sim;
    struct uvea_rt *server_rt;
    struct uvea_rt *rt; // the client's
    void (*act)(struct web *web);
    uvea_http_handler_fn *handler;
    struct uvea_channel *finished; // told by the client
    unsigned asked;
    unsigned in_work;
    uint64_t handler_ns; // how long it takes
    const char *want_method;
};

// Answers with "<n>:" and the request's body, n counting the requests.
static inline void web_echo(void *arg, const struct uvea_http_request *request,
                            struct uvea_http_response *response)
{
    struct web *web = arg;
    char count[16];
    web->asked++;
    web->in_work++;
    if (web->handler_ns > 0) {
        (void)!uvea_rt_sleep_ns(web->server_rt, web->handler_ns);
    }
    int length = snprintf(count, sizeof(count), "%u:", web->asked);
    EXPECT(web->want_method == NULL || strcmp(request->method, web->want_method) == 0);
    EXPECT(uvea_buf_append(&response->body, count, (size_t)length) == UVEA_OK);
    EXPECT(uvea_buf_append(&response->body, request->body, request->body_bytes) == UVEA_OK);
    response->status = 200;
    web->in_work--;
}

static void web_serve(void *arg)
{
    struct web *web = arg;
    struct uvea_http_server *server;
    enum uvea_error error = uvea_rt_http_serve(
        web->server_rt, "p1:80", web->handler != NULL ? web->handler : web_echo, web, &server);
    EXPECT(error == UVEA_OK);
    if (error != UVEA_OK) {
        return;
    }
    void *item;
    (void)!uvea_rt_channel_recv(web->server_rt, web->finished, &item, UVEA_NEVER);
    uvea_rt_http_close(web->server_rt, server);
    EXPECT(web->in_work == 0);
}

static void web_call(void *arg)
{
    struct web *web = arg;
    EXPECT(uvea_rt_sleep_ns(web->rt, UVEA_MS) == UVEA_OK); // the server listens first
    web->act(web);
    // Tests may reach across nodes where programs may not.
    uvea_rt_channel_shut(web->server_rt, web->finished);
}

static inline void web_start(struct web *web, const struct uvea_sim_config *config)
{
    web->sim = open_sim(config);
    web->rt = uvea_sim_rt(web->sim, 0);
    web->server_rt = uvea_sim_rt(web->sim, 1);
    assert_int_equal(uvea_rt_channel_open(web->server_rt, 1, &web->finished), UVEA_OK);
    start(web->sim, 1, "server", web_serve, web);
    start(web->sim, 0, "client", web_call, web);
}

static inline struct uvea_sim_outcome web_end(struct web *web)
{
    struct uvea_sim_outcome outcome = run_to(web->sim, UVEA_SIM_FINISHED);
    assert_int_equal(outcome.open_channels, 1);
    uvea_rt_channel_close(web->server_rt, web->finished);
    assert_int_equal(outcome.unjoined_tasks, 0);
    assert_int_equal(outcome.open_streams, 0);
    assert_int_equal(outcome.open_listeners, 0);
    uvea_sim_close(web->sim);
    assert_no_failure();
    return outcome;
}

static inline struct uvea_sim_outcome web_run(struct web *web)
{
    struct uvea_sim_config config = plain_config();
    web_start(web, &config);
    return web_end(web);
}

// One call with this body; gives its error and, in status, the status or 0.
static inline enum uvea_error web_post(struct web *web, const char *target, const char *body,
                                       uint64_t deadline_ns, struct uvea_http_response *response)
{
    struct uvea_http_request request = {
        .method = "POST",
        .target = target,
        .body = (const uint8_t *)body,
        .body_bytes = strlen(body),
    };
    *response = (struct uvea_http_response){0};
    return uvea_rt_http_call(web->rt, "p1:80", &request, response, deadline_ns);
}

static inline bool web_body_is(const struct uvea_http_response *response, const char *text)
{
    return response->body.len == strlen(text) &&
           (response->body.len == 0 || memcmp(response->body.data, text, strlen(text)) == 0);
}

// Posts "x" and expects this answer.
static inline void web_expect(struct web *web, const char *target, unsigned status,
                              const char *body)
{
    struct uvea_http_response response;
    enum uvea_error error =
        web_post(web, target, "x", uvea_rt_deadline_ns(web->rt, 60 * UVEA_SECOND), &response);
    EXPECT(error == UVEA_OK);
    EXPECT(response.status == status);
    EXPECT(web_body_is(&response, body));
    uvea_http_response_deinit(&response);
}

// Posts "x" and expects this error.
static inline void web_expect_error(struct web *web, const char *target, uint64_t within_ns,
                                    enum uvea_error expected)
{
    struct uvea_http_response response;
    enum uvea_error error =
        web_post(web, target, "x", uvea_rt_deadline_ns(web->rt, within_ns), &response);
    EXPECT(error == expected);
    EXPECT(response.status == 0 && response.body.data == NULL);
    uvea_http_response_deinit(&response);
}

#endif
