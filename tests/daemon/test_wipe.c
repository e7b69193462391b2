// What jansson gives back is overwritten first.
#include "core/daemon/wipe.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *watched; // a copy of a text inside jansson's memory, seen when it is freed
static bool seen_wiped;

// The C library's free, as core/base/mem.c calls it, is asked here first.
void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (watched != NULL && memory != NULL && memory <= (void *)watched &&
        (char *)memory + malloc_usable_size(memory) > watched) {
        seen_wiped = strncmp(watched, "share", 5) != 0;
        watched = NULL;
    }
    __real_free(memory);
}

static void test_texts_are_wiped(void **state)
{
    json_t *text;

    (void)state;
    uvea_wipe_json();
    text = json_string("share share share share");
    assert_non_null(text);
    watched = (char *)(uintptr_t)json_string_value(text);
    json_decref(text);
    assert_null(watched);
    assert_true(seen_wiped);
}

static void test_it_still_works(void **state)
{
    json_t *object = json_object();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "name%d", i);
        assert_int_equal(json_object_set_new(object, name, json_integer(i)), 0);
    }
    char *text = json_dumps(object, JSON_COMPACT);
    json_t *again = json_loads(text, 0, NULL);
    assert_true(json_equal(object, again));
    json_malloc_t take;
    json_free_t give_back;
    json_get_alloc_funcs(&take, &give_back);
    give_back(text);
    give_back(NULL);
    json_decref(object);
    json_decref(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_wiped),
        cmocka_unit_test(test_it_still_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
