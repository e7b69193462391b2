#include "sim/runtime/fiber.h"
#include "tests/support/cmocka.h"

#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct uvea_sim_fiber_pool *open_pool(size_t stack_bytes)
{
    struct uvea_sim_fiber_pool *pool;
    assert_int_equal(uvea_sim_fiber_pool_open(stack_bytes, &pool), UVEA_OK);
    return pool;
}

static struct uvea_sim_fiber *open_fiber(struct uvea_sim_fiber_pool *pool, uvea_sim_fiber_fn *fn,
                                         void *arg)
{
    struct uvea_sim_fiber *fiber;
    assert_int_equal(uvea_sim_fiber_open(pool, fn, arg, &fiber), UVEA_OK);
    return fiber;
}

struct writer {
    struct uvea_sim_fiber_pool *pool;
    char *log;
    char letter;
    int turns;
};

static void write_letters(void *arg)
{
    struct writer *writer = arg;
    for (int i = 0; i < writer->turns; i++) {
        *strchr(writer->log, '\0') = writer->letter;
        uvea_sim_fiber_yield(writer->pool);
    }
}

static void test_fibers_take_turns(void **state)
{
    (void)state;
    char log[16] = "";
    struct uvea_sim_fiber_pool *pool = open_pool(0);
    struct writer a = {pool, log, 'a', 2};
    struct writer b = {pool, log, 'b', 1};
    struct uvea_sim_fiber *first = open_fiber(pool, write_letters, &a);
    struct uvea_sim_fiber *second = open_fiber(pool, write_letters, &b);
    assert_string_equal(log, "");
    assert_false(uvea_sim_fiber_running(pool));
    assert_false(uvea_sim_fiber_resume(first));
    assert_false(uvea_sim_fiber_resume(second));
    assert_false(uvea_sim_fiber_resume(first));
    assert_string_equal(log, "aba");
    assert_true(uvea_sim_fiber_resume(second));
    assert_true(uvea_sim_fiber_resume(first));
    assert_string_equal(log, "aba");
    uvea_sim_fiber_pool_close(pool);
}

static void test_stacks_are_reused(void **state)
{
    (void)state;
    char log[256] = "";
    struct uvea_sim_fiber_pool *pool = open_pool(0);
    struct writer writer = {pool, log, 'x', 0};
    struct uvea_sim_fiber *first = NULL;
    for (int i = 0; i < 100; i++) {
        struct uvea_sim_fiber *fiber = open_fiber(pool, write_letters, &writer);
        first = i == 0 ? fiber : first;
        assert_ptr_equal(fiber, first);
        assert_true(uvea_sim_fiber_resume(fiber));
    }
    uvea_sim_fiber_pool_close(pool);
}

static void test_unfinished_fibers_can_be_dropped(void **state)
{
    (void)state;
    char log[16] = "";
    struct uvea_sim_fiber_pool *pool = open_pool(0);
    struct writer writer = {pool, log, 'x', 9};
    (void)open_fiber(pool, write_letters, &writer);
    assert_false(uvea_sim_fiber_resume(open_fiber(pool, write_letters, &writer)));
    uvea_sim_fiber_pool_close(pool);
    assert_string_equal(log, "x");
}

struct thread_state {
    struct uvea_sim_fiber_pool *pool;
    int errno_value;
    int rounding;
    bool kept;
};

// Whether a half is rounded as the mode says: by the SSE unit, while fegetround asks the x87 unit.
static bool half_is_rounded(int rounding)
{
    volatile float half = 0.5f;
    return lrintf(half) == (rounding == FE_UPWARD);
}

static void keep_thread_state(void *arg)
{
    struct thread_state *own = arg;
    own->kept = errno == 0;
    errno = own->errno_value;
    (void)fesetround(own->rounding);
    for (int i = 0; i < 3; i++) {
        ERR_raise(ERR_LIB_USER, 1);
        uvea_sim_fiber_yield(own->pool);
        own->kept = own->kept && errno == own->errno_value && fegetround() == own->rounding &&
                    half_is_rounded(own->rounding) && ERR_peek_error() == 0;
    }
}

static void test_thread_state_is_kept_per_fiber(void **state)
{
    (void)state;
    struct uvea_sim_fiber_pool *pool = open_pool(0);
    struct thread_state a = {pool, 11, FE_UPWARD, false};
    struct thread_state b = {pool, 22, FE_TOWARDZERO, false};
    struct uvea_sim_fiber *first = open_fiber(pool, keep_thread_state, &a);
    struct uvea_sim_fiber *second = open_fiber(pool, keep_thread_state, &b);
    errno = 33;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(uvea_sim_fiber_resume(first), i == 3);
        assert_int_equal(uvea_sim_fiber_resume(second), i == 3);
        assert_int_equal(errno, 33);
        assert_int_equal(ERR_peek_error(), 0);
        if (i < 3) {
            assert_int_equal(fegetround(), FE_TONEAREST);
        }
    }
    (void)fesetround(FE_TONEAREST);
    assert_true(a.kept && b.kept);
    uvea_sim_fiber_pool_close(pool);
}

// One kibibyte per level: the compiler must believe that somebody else looks at the array.
static __attribute__((noinline)) int use_stack(int kilobytes)
{
    char room[1024];
    __asm__ volatile("" : : "r"(room) : "memory");
    room[0] = 1;
    int below = kilobytes > 1 ? use_stack(kilobytes - 1) : 0;
    __asm__ volatile("" : : "r"(room) : "memory");
    return below + room[0];
}

static void dig(void *arg)
{
    int *kilobytes = arg;
    *kilobytes = use_stack(*kilobytes);
}

static void test_depth_is_recorded(void **state)
{
    (void)state;
    int shallow = 4;
    int deep = 100;
    struct uvea_sim_fiber_pool *pool = open_pool(0);
    assert_int_equal(uvea_sim_fiber_pool_depth_bytes(pool), 0);
    assert_true(uvea_sim_fiber_resume(open_fiber(pool, dig, &shallow)));
    size_t before = uvea_sim_fiber_pool_depth_bytes(pool);
    assert_in_range(before, 4 * 1024, 64 * 1024);
    assert_true(uvea_sim_fiber_resume(open_fiber(pool, dig, &deep)));
    assert_int_equal(deep, 100);
    assert_in_range(uvea_sim_fiber_pool_depth_bytes(pool), 100 * 1024, 8 * 128 * 1024);
    uvea_sim_fiber_pool_close(pool);
}

// Goes down until `bytes` of stack are in use, and writes there.
static __attribute__((noinline)) int use_stack_to(const char *top, size_t bytes)
{
    char room[256];
    __asm__ volatile("" : : "r"(room) : "memory");
    room[0] = 1;
    size_t used = (size_t)(top - (const char *)__builtin_frame_address(0));
    int below = used < bytes ? use_stack_to(top, bytes) : 0;
    __asm__ volatile("" : : "r"(room) : "memory");
    return below + room[0];
}

static void overflow_by_little(void *arg)
{
    size_t *bytes = arg;
    *bytes = (size_t)use_stack_to(__builtin_frame_address(0), *bytes);
}

// In a child process: the guard page is hit, although a neighbour's stack lies below it.
static void test_overflow_hits_the_guard_page(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct uvea_sim_fiber *fibers[8];
        (void)freopen("/dev/null", "w", stderr);
        (void)signal(SIGSEGV, SIG_DFL);
        struct uvea_sim_fiber_pool *pool = open_pool(65536);
        size_t bytes = uvea_sim_fiber_pool_stack_bytes(pool) + 512;
        for (size_t i = 0; i < 8; i++) {
            fibers[i] = open_fiber(pool, overflow_by_little, &bytes);
        }
        (void)!uvea_sim_fiber_resume(fibers[4]);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fibers_take_turns),
        cmocka_unit_test(test_stacks_are_reused),
        cmocka_unit_test(test_unfinished_fibers_can_be_dropped),
        cmocka_unit_test(test_thread_state_is_kept_per_fiber),
        cmocka_unit_test(test_depth_is_recorded),
        cmocka_unit_test(test_overflow_hits_the_guard_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
