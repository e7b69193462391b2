#include "tests/posix/rig.h"

#include "core/base/check.h"
#include "tests/support/cmocka.h"

#include <stdatomic.h>
#include <stdio.h>

static atomic_uint failures;

void rig_note(bool holds, const char *file, int line, const char *what)
{
    if (!holds) {
        (void)atomic_fetch_add(&failures, 1);
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    }
}

void rig_check(void)
{
    assert_int_equal(atomic_exchange(&failures, 0), 0);
}

struct uvea_rt *rig_open(const struct uvea_posix_config *config)
{
    struct uvea_posix_config plain = uvea_posix_config_default();
    struct uvea_error_context context = {{0}};
    struct uvea_rt *rt = NULL;
    if (uvea_posix_open(config != NULL ? config : &plain, &rt, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    return rt;
}

void rig_close(struct uvea_rt *rt)
{
    uvea_posix_close(rt);
    rig_check();
}

struct uvea_tls *rig_tls(struct pki *pki, unsigned party, struct uvea_rt *clock)
{
    char stem[16];
    (void)snprintf(stem, sizeof(stem), "party%u", party);
    struct pki_leaf leaf = {(enum pki_root)party, "127.0.0.1", -10, 18000};
    return pki_tls(pki, stem, &leaf, clock);
}

struct uvea_task *rig_spawn(struct uvea_rt *rt, uvea_task_fn *fn, void *arg)
{
    struct uvea_task *task = NULL;
    UVEA_CHECK(uvea_rt_spawn(rt, "test", fn, arg, &task) == UVEA_OK);
    return task;
}

uint64_t rig_in_ms(struct uvea_rt *rt, uint64_t ms)
{
    return uvea_rt_deadline_ns(rt, ms * UVEA_MS);
}

unsigned rig_free_port(struct uvea_rt *rt)
{
    struct uvea_listener *listener;
    UVEA_CHECK(uvea_rt_listen(rt, "127.0.0.1:0", &listener) == UVEA_OK);
    unsigned port = uvea_posix_port(listener);
    uvea_rt_listener_close(rt, listener);
    return port;
}
