// Every spectral kernel this machine can run gives the scores of the definition.
#include "core/base/mem.h"
#include "tests/kernel/spectral_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct spectral_check *check;
static struct uvea_cpu cpu;

static int prepare(void **unused)
{
    (void)unused;
    cpu = uvea_cpu_detect();
    check = uvea_mem_alloc(1, sizeof(*check));
    if (check != NULL) {
        spectral_check_init(check);
    }
    return check == NULL;
}

static int release(void **unused)
{
    (void)unused;
    uvea_mem_free(check);
    return 0;
}

static void test_kernel(void **state)
{
    const struct uvea_spectral_kernel *kernel = *state;
    if (!kernel->supported(&cpu)) {
        skip();
    }
    for (size_t i = 0; i < spectral_check_count_count; i++) {
        for (size_t queries = 1; queries <= UVEA_SPECTRAL_QUERIES_MAX; queries++) {
            assert_true(spectral_check_run(check, kernel, spectral_check_counts[i], queries));
        }
    }
}

static void test_registry(void **unused)
{
    (void)unused;
    const struct uvea_cpu none = {0};
    assert_ptr_equal(uvea_spectral_kernels[0], &uvea_spectral_kernel_portable);
    assert_ptr_equal(uvea_spectral_kernel_best(&none), &uvea_spectral_kernel_portable);
    const struct uvea_spectral_kernel *last = NULL;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        const struct uvea_spectral_kernel *kernel = uvea_spectral_kernels[i];
        bool supported = kernel->supported(&cpu);
        last = supported ? kernel : last;
        assert_ptr_equal(uvea_spectral_kernel_named(kernel->name, &cpu), supported ? kernel : NULL);
        assert_int_equal(kernel->supported(&none), kernel == &uvea_spectral_kernel_portable);
        assert_true(kernel->tile_records <= 64);
        assert_int_equal(kernel->tile_records & (kernel->tile_records - 1), 0);
        assert_int_equal(kernel->tile_bytes % 64, 0);
        assert_int_equal(kernel->query_bytes % 64, 0);
    }
    assert_ptr_equal(uvea_spectral_kernel_best(&cpu), last);
    assert_null(uvea_spectral_kernel_named("none such", &cpu));
    assert_null(uvea_spectral_kernel_named("avx2", &none));
}

enum { KERNELS_MAX = 8 };

int main(void)
{
    struct CMUnitTest tests[KERNELS_MAX + 1] = {cmocka_unit_test(test_registry)};
    size_t count = 1;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL && i < KERNELS_MAX; i++) {
        tests[count++] = (struct CMUnitTest){
            .name = uvea_spectral_kernels[i]->name,
            .test_func = test_kernel,
            .initial_state = (void *)uvea_spectral_kernels[i],
        };
    }
    return _cmocka_run_group_tests("kernel_spectral", tests, count, prepare, release);
}
