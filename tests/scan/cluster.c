#include "tests/scan/cluster.h"

#include "core/base/mem.h"
#include "tests/support/cmocka.h"

// ---- runtime

struct uvea_task {
    pthread_t thread;
    uvea_task_fn *fn;
    void *arg;
};

static void *task_main(void *arg)
{
    struct uvea_task *task = arg;

    task->fn(task->arg);
    return NULL;
}

static enum uvea_error rt_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                                struct uvea_task **task)
{
    struct uvea_task *started = uvea_mem_alloc(1, sizeof(*started));

    (void)name;
    if (started == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *started = (struct uvea_task){.fn = fn, .arg = arg};
    if (pthread_create(&started->thread, NULL, task_main, started) != 0) {
        uvea_mem_free(started);
        return UVEA_ERR_LIMIT;
    }
    ((struct cluster_rt *)rt)->spawned++;
    *task = started;
    return UVEA_OK;
}

static void rt_join(struct uvea_rt *rt, struct uvea_task *task)
{
    (void)rt;
    pthread_join(task->thread, NULL);
    uvea_mem_free(task);
}

struct uvea_lock {
    pthread_mutex_t mutex;
};

static enum uvea_error rt_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    struct uvea_lock *opened = uvea_mem_alloc(1, sizeof(*opened));

    (void)rt;
    if (opened == NULL) {
        return UVEA_ERR_MEMORY;
    }
    pthread_mutex_init(&opened->mutex, NULL);
    *lock = opened;
    return UVEA_OK;
}

static void rt_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    pthread_mutex_lock(&lock->mutex);
}

static void rt_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    pthread_mutex_unlock(&lock->mutex);
}

static void rt_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    pthread_mutex_destroy(&lock->mutex);
    uvea_mem_free(lock);
}

static void rt_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units)
{
    if (what == UVEA_CHARGE_RING_SCORE) {
        ((struct cluster_rt *)rt)->scores += units;
    } else if (what == UVEA_CHARGE_SPECTRAL_SCORE) {
        ((struct cluster_rt *)rt)->spectral_scores += units;
    }
}

static uint64_t rt_now_ns(struct uvea_rt *rt)
{
    return ((struct cluster_rt *)rt)->now_ns++;
}

static enum uvea_error rt_point(struct uvea_rt *rt, enum uvea_point point)
{
    (void)rt;
    (void)point;
    return UVEA_OK;
}

void cluster_rt_init(struct cluster_rt *rt)
{
    static const struct uvea_rt_ops ops = {
        .now_ns = rt_now_ns,
        .charge = rt_charge,
        .point = rt_point,
        .spawn = rt_spawn,
        .join = rt_join,
        .lock_open = rt_lock_open,
        .lock_take = rt_lock_take,
        .lock_release = rt_lock_release,
        .lock_close = rt_lock_close,
    };

    rt->rt.ops = &ops;
    rt->scores = 0;
    rt->spectral_scores = 0;
    rt->spawned = 0;
    rt->now_ns = 0;
    rt->stages = (struct uvea_stages){.rt = &rt->rt};
}

// ---- sessions

void cluster_open(struct cluster *cluster, size_t session_count, uint32_t first_id,
                  enum uvea_prf_kind kind)
{
    cluster->session_count = session_count;
    cluster->sessions = uvea_mem_alloc(session_count, sizeof(*cluster->sessions));
    assert_non_null(cluster->sessions);
    for (size_t k = 0; k < session_count; k++) {
        trio_open(&cluster->sessions[k], kind, first_id + (uint32_t)k);
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        cluster_rt_init(&cluster->rt[i]);
        cluster->at[i] = uvea_mem_alloc(session_count, sizeof(*cluster->at[i]));
        assert_non_null(cluster->at[i]);
        for (size_t k = 0; k < session_count; k++) {
            cluster->at[i][k] = &cluster->sessions[k].party[i].session;
        }
    }
}

void cluster_close(struct cluster *cluster)
{
    for (size_t k = 0; k < cluster->session_count; k++) {
        trio_close(&cluster->sessions[k]);
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_mem_free(cluster->at[i]);
    }
    uvea_mem_free(cluster->sessions);
}

// ---- running

struct member {
    struct cluster *cluster;
    unsigned party;
    cluster_fn *fn;
    void *arg;
    struct cluster_outcome *outcome;
};

static void member_main(void *arg)
{
    struct member *member = arg;

    member->outcome->error =
        member->fn(member->cluster, member->party, member->arg, &member->outcome->context);
}

void cluster_try(struct cluster *cluster, cluster_fn *fn, void *arg,
                 struct cluster_outcome outcomes[UVEA_PARTY_COUNT])
{
    struct member members[UVEA_PARTY_COUNT];
    struct uvea_task *tasks[UVEA_PARTY_COUNT];

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        outcomes[i] = (struct cluster_outcome){.error = UVEA_OK};
        members[i] = (struct member){cluster, i, fn, arg, &outcomes[i]};
        assert_int_equal(
            uvea_rt_spawn(&cluster->rt[i].rt, "party", member_main, &members[i], &tasks[i]),
            UVEA_OK);
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_rt_join(&cluster->rt[i].rt, tasks[i]);
    }
}

void cluster_run(struct cluster *cluster, cluster_fn *fn, void *arg)
{
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_try(cluster, fn, arg, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (outcomes[i].error != UVEA_OK) {
            fail_msg("party %d: %s: %s", i, uvea_error_name(outcomes[i].error),
                     outcomes[i].context.text);
        }
    }
    for (size_t k = 0; k < cluster->session_count; k++) {
        trio_assert_in_step(&cluster->sessions[k]);
    }
}

static enum uvea_error search_one(struct cluster *cluster, unsigned party, void *arg,
                                  struct uvea_error_context *context)
{
    const struct cluster_search *searches = arg;
    const struct uvea_search search = {
        .rt = &cluster->rt[party].rt,
        .config = searches->config,
        .resident = &searches->databases[party],
        .cold = searches->colds[party],
        .spectral = searches->spectra == NULL ? NULL : &searches->spectra[party],
        .sessions = cluster->at[party],
        .session_count = cluster->session_count,
        .stages = &cluster->rt[party].stages,
    };

    return uvea_search_run(&search, &searches->jobs[party], &searches->results[party], context);
}

void cluster_search(struct cluster *cluster, const struct cluster_search *search)
{
    struct cluster_search searches = *search;

    cluster_run(cluster, search_one, &searches);
}

void cluster_try_search(struct cluster *cluster, const struct cluster_search *search,
                        struct cluster_outcome outcomes[UVEA_PARTY_COUNT])
{
    struct cluster_search searches = *search;

    cluster_try(cluster, search_one, &searches, outcomes);
}
