#include "sim/runtime/fiber.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define WITH_VALGRIND 1
#endif

// The switch itself. swapcontext is portable but makes a system call each time and costs about a
// microsecond; on x86-64 the callee-saved registers are swapped by hand in some 10 ns.
#if defined(__x86_64__) && !defined(UVEA_SIM_FIBER_UCONTEXT)
#define BY_HAND 1
struct context {
    void *stack_pointer;
};
#else
#include <ucontext.h>
struct context {
    ucontext_t ucontext;
};
#endif

struct uvea_sim_fiber {
    struct context context;
    struct uvea_sim_fiber_pool *pool;
    struct uvea_sim_fiber *next_free;
    struct uvea_sim_fiber *next_all;
    uint8_t *mapping; // guard page, then the stack
    uvea_sim_fiber_fn *fn;
    void *arg;
    bool finished;
    int saved_errno;
    void *asan_fake_stack;
    void *tsan_fiber;
    unsigned valgrind_stack;
};

struct uvea_sim_fiber_pool {
    struct context home;
    struct uvea_sim_fiber *running;
    struct uvea_sim_fiber *free;
    struct uvea_sim_fiber *all;
    size_t stack_bytes;
    size_t guard_bytes;
    // What the sanitizers need to know of the stack that resumes.
    const void *home_bottom;
    size_t home_bytes;
    void *home_fake_stack;
    void *home_tsan_fiber;
};

static uint8_t *stack_of(const struct uvea_sim_fiber *fiber)
{
    return fiber->mapping + fiber->pool->guard_bytes;
}

// ---- switching

#ifdef BY_HAND
void uvea_sim_fiber_switch(void **save, void *load);
void uvea_sim_fiber_start(void);

// Saves the registers that a callee must keep, the SSE and the x87 control word on the old stack,
// then takes the same from the new one. A new stack returns into uvea_sim_fiber_start, which hands
// the fiber (in r12) to the function in r13; a zero return address ends every back trace.
__asm__(".text\n"
        ".globl uvea_sim_fiber_switch\n"
        ".type uvea_sim_fiber_switch, @function\n"
        "uvea_sim_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size uvea_sim_fiber_switch, .-uvea_sim_fiber_switch\n"
        ".globl uvea_sim_fiber_start\n"
        ".type uvea_sim_fiber_start, @function\n"
        "uvea_sim_fiber_start:\n"
        "    movq %r12, %rdi\n"
        "    pushq $0\n"
        "    jmpq *%r13\n"
        ".size uvea_sim_fiber_start, .-uvea_sim_fiber_start\n");

static void context_make(struct uvea_sim_fiber *fiber, void (*entry)(struct uvea_sim_fiber *))
{
    // Order of the pops in uvea_sim_fiber_switch, from the control words up.
    enum { WORDS, R15, R14, R13, R12, RBX, RBP, RETURN, SLOTS };
    _Static_assert(SLOTS % 2 == 0, "the stack is 16-byte aligned when the entry is jumped to");
    uintptr_t *top = (uintptr_t *)(void *)(stack_of(fiber) + fiber->pool->stack_bytes);
    uintptr_t *frame = top - SLOTS;
    uint32_t sse_control;
    uint16_t x87_control;
    __asm__("stmxcsr %0" : "=m"(sse_control));
    __asm__("fnstcw %0" : "=m"(x87_control));
    frame[WORDS] = sse_control | (uintptr_t)x87_control << 32;
    frame[R15] = frame[R14] = frame[RBX] = frame[RBP] = 0;
    frame[R13] = (uintptr_t)entry;
    frame[R12] = (uintptr_t)fiber;
    frame[RETURN] = (uintptr_t)uvea_sim_fiber_start;
    fiber->context.stack_pointer = frame;
}

static void context_switch(struct context *save, struct context *load)
{
    uvea_sim_fiber_switch(&save->stack_pointer, load->stack_pointer);
}
#else
// makecontext passes ints only: the pointer travels in two halves.
static void context_entry(unsigned high, unsigned low, unsigned entry_high, unsigned entry_low)
{
    uintptr_t fiber = (uintptr_t)high << 32 | low;
    uintptr_t entry = (uintptr_t)entry_high << 32 | entry_low;
    ((void (*)(struct uvea_sim_fiber *))entry)((struct uvea_sim_fiber *)fiber);
}

static void context_make(struct uvea_sim_fiber *fiber, void (*entry)(struct uvea_sim_fiber *))
{
    uint64_t fiber_word = (uintptr_t)fiber;
    uint64_t entry_word = (uintptr_t)entry;
    ucontext_t *context = &fiber->context.ucontext;
    UVEA_CHECK(getcontext(context) == 0);
    context->uc_stack.ss_sp = stack_of(fiber);
    context->uc_stack.ss_size = fiber->pool->stack_bytes;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))context_entry, 4, (unsigned)(fiber_word >> 32),
                (unsigned)fiber_word, (unsigned)(entry_word >> 32), (unsigned)entry_word);
}

static void context_switch(struct context *save, struct context *load)
{
    UVEA_CHECK(swapcontext(&save->ucontext, &load->ucontext) == 0);
}
#endif

// Announces and makes the switch into the fiber; returns when it is back.
static void switch_in(struct uvea_sim_fiber *fiber)
{
    struct uvea_sim_fiber_pool *pool = fiber->pool;
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(&pool->home_fake_stack, stack_of(fiber), pool->stack_bytes);
#endif
#ifdef WITH_TSAN
    pool->home_tsan_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->tsan_fiber, 0);
#endif
    context_switch(&pool->home, &fiber->context);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(pool->home_fake_stack, NULL, NULL);
#endif
}

// The same in the other direction. A dying fiber passes no place for its fake stack, which frees
// it.
static void switch_out(struct uvea_sim_fiber *fiber)
{
    struct uvea_sim_fiber_pool *pool = fiber->pool;
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(fiber->finished ? NULL : &fiber->asan_fake_stack,
                                   pool->home_bottom, pool->home_bytes);
#endif
#ifdef WITH_TSAN
    __tsan_switch_to_fiber(pool->home_tsan_fiber, 0);
#endif
    context_switch(&fiber->context, &pool->home);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(fiber->asan_fake_stack, &pool->home_bottom, &pool->home_bytes);
#endif
}

static void fiber_entry(struct uvea_sim_fiber *fiber)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &fiber->pool->home_bottom, &fiber->pool->home_bytes);
#endif
    fiber->fn(fiber->arg);
    fiber->finished = true;
    switch_out(fiber);
    UVEA_CHECK(!"a finished fiber was resumed");
}

// ---- stacks

static void stack_announce(struct uvea_sim_fiber *fiber)
{
#ifdef WITH_VALGRIND
    uint8_t *stack = stack_of(fiber);
    fiber->valgrind_stack =
        (unsigned)VALGRIND_STACK_REGISTER(stack, stack + fiber->pool->stack_bytes);
#else
    (void)fiber;
#endif
}

static void stack_unmap(struct uvea_sim_fiber *fiber)
{
#ifdef WITH_VALGRIND
    VALGRIND_STACK_DEREGISTER(fiber->valgrind_stack);
#endif
#ifdef WITH_ASAN
    __asan_unpoison_memory_region(stack_of(fiber), fiber->pool->stack_bytes);
#endif
    (void)munmap(fiber->mapping, fiber->pool->guard_bytes + fiber->pool->stack_bytes);
}

static enum uvea_error fiber_make(struct uvea_sim_fiber_pool *pool, struct uvea_sim_fiber **made)
{
    struct uvea_sim_fiber *fiber = uvea_mem_alloc(1, sizeof(*fiber));
    if (fiber == NULL) {
        return UVEA_ERR_MEMORY;
    }
    size_t bytes = pool->guard_bytes + pool->stack_bytes;
    void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) {
        uvea_mem_free(fiber);
        return UVEA_ERR_MEMORY;
    }
    if (mprotect(mapping, pool->guard_bytes, PROT_NONE) != 0) {
        (void)munmap(mapping, bytes);
        uvea_mem_free(fiber);
        return UVEA_ERR_MEMORY;
    }
    fiber->mapping = mapping;
    fiber->pool = pool;
    fiber->next_all = pool->all;
    pool->all = fiber;
    stack_announce(fiber);
    *made = fiber;
    return UVEA_OK;
}

// Bytes from the lowest resident page of the stack to its top.
static size_t stack_depth_bytes(const struct uvea_sim_fiber *fiber)
{
    enum { PAGES = 256 };
    unsigned char resident[PAGES];
    size_t page_bytes = fiber->pool->guard_bytes;
    size_t pages = fiber->pool->stack_bytes / page_bytes;
    for (size_t first = 0; first < pages; first += PAGES) {
        size_t count = pages - first < PAGES ? pages - first : PAGES;
        if (mincore(stack_of(fiber) + first * page_bytes, count * page_bytes, resident) != 0) {
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            if (resident[i] & 1) {
                return (pages - first - i) * page_bytes;
            }
        }
    }
    return 0;
}

// ---- the pool

enum uvea_error uvea_sim_fiber_pool_open(size_t stack_bytes, struct uvea_sim_fiber_pool **pool)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (stack_bytes == 0) {
        stack_bytes = UVEA_SIM_FIBER_STACK_BYTES;
    }
    if (stack_bytes > SIZE_MAX / 8) {
        return UVEA_ERR_LIMIT;
    }
#ifdef WITH_ASAN
    stack_bytes *= 4;
#endif
    struct uvea_sim_fiber_pool *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->stack_bytes = (stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
    made->guard_bytes = page_bytes;
    *pool = made;
    return UVEA_OK;
}

static void tsan_forget(struct uvea_sim_fiber *fiber)
{
#ifdef WITH_TSAN
    if (fiber->tsan_fiber != NULL) {
        __tsan_destroy_fiber(fiber->tsan_fiber);
    }
#endif
    fiber->tsan_fiber = NULL;
}

void uvea_sim_fiber_pool_close(struct uvea_sim_fiber_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    UVEA_CHECK(pool->running == NULL);
    while (pool->all != NULL) {
        struct uvea_sim_fiber *fiber = pool->all;
        pool->all = fiber->next_all;
        tsan_forget(fiber);
        stack_unmap(fiber);
        uvea_mem_free(fiber);
    }
    uvea_mem_free(pool);
}

size_t uvea_sim_fiber_pool_stack_bytes(const struct uvea_sim_fiber_pool *pool)
{
    return pool->stack_bytes;
}

size_t uvea_sim_fiber_pool_depth_bytes(const struct uvea_sim_fiber_pool *pool)
{
    size_t deepest = 0;
    for (const struct uvea_sim_fiber *fiber = pool->all; fiber != NULL; fiber = fiber->next_all) {
        size_t depth = stack_depth_bytes(fiber);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

enum uvea_error uvea_sim_fiber_open(struct uvea_sim_fiber_pool *pool, uvea_sim_fiber_fn *fn,
                                    void *arg, struct uvea_sim_fiber **fiber)
{
    struct uvea_sim_fiber *made = pool->free;
    if (made == NULL) {
        UVEA_TRY(fiber_make(pool, &made));
    } else {
        pool->free = made->next_free;
    }
    made->fn = fn;
    made->arg = arg;
    made->finished = false;
    made->saved_errno = 0;
#ifdef WITH_ASAN
    __asan_unpoison_memory_region(stack_of(made), pool->stack_bytes);
#endif
#ifdef WITH_TSAN
    made->tsan_fiber = __tsan_create_fiber(0);
#endif
    context_make(made, fiber_entry);
    *fiber = made;
    return UVEA_OK;
}

bool uvea_sim_fiber_resume(struct uvea_sim_fiber *fiber)
{
    struct uvea_sim_fiber_pool *pool = fiber->pool;
    UVEA_CHECK(pool->running == NULL && !fiber->finished);
    int home_errno = errno;
    errno = fiber->saved_errno;
    pool->running = fiber;
    switch_in(fiber);
    pool->running = NULL;
    fiber->saved_errno = errno;
    errno = home_errno;
    if (ERR_peek_error() != 0) {
        ERR_clear_error();
    }
    if (!fiber->finished) {
        return false;
    }
    uvea_sim_fiber_cancel(fiber);
    return true;
}

void uvea_sim_fiber_cancel(struct uvea_sim_fiber *fiber)
{
    tsan_forget(fiber);
    fiber->next_free = fiber->pool->free;
    fiber->pool->free = fiber;
}

void uvea_sim_fiber_yield(struct uvea_sim_fiber_pool *pool)
{
    UVEA_CHECK(pool->running != NULL);
    switch_out(pool->running);
}

bool uvea_sim_fiber_running(const struct uvea_sim_fiber_pool *pool)
{
    return pool->running != NULL;
}
