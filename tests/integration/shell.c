#include "tests/integration/shell.h"

#include "core/base/check.h"
#include "tests/support/cmocka.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[32];
static struct shell_result result;

void shell_enter(void)
{
    (void)snprintf(directory, sizeof(directory), "/tmp/uvea-command-XXXXXX");
    UVEA_CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
    UVEA_CHECK(setenv("UVEA", UVEA_BINARY, 1) == 0);
    UVEA_CHECK(setenv("DATA", UVEA_TEST_DATA "/irises", 1) == 0);
}

void shell_leave(void)
{
    char line[64];
    UVEA_CHECK(chdir("/") == 0);
    (void)snprintf(line, sizeof(line), "rm -rf '%s'", directory);
    UVEA_CHECK(system(line) == 0); // NOLINT(cert-env33-c): the point of this file
}

int shell_set_up(void **state)
{
    (void)state;
    shell_enter();
    return 0;
}

int shell_tear_down(void **state)
{
    (void)state;
    shell_leave();
    return 0;
}

static void slurp(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    UVEA_CHECK(file != NULL);
    size_t len = fread(text, 1, size, file);
    UVEA_CHECK(len < size);
    text[len] = '\0';
    fclose(file);
}

const struct shell_result *shell(const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    UVEA_CHECK(len > 0 && (size_t)len < sizeof(line));
    char wrapped[sizeof(line) + 32];
    (void)snprintf(wrapped, sizeof(wrapped), "{ %s\n} >.out 2>.err", line);
    int status = system(wrapped); // NOLINT(cert-env33-c): the point of this file
    slurp(".out", result.out, sizeof(result.out));
    slurp(".err", result.err, sizeof(result.err));
    result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return &result;
}

void shell_expect(const char *line, int status, const char *out, const char *err)
{
    const struct shell_result *r = shell("%s", line);
    assert_string_equal(r->err, err);
    assert_string_equal(r->out, out);
    assert_int_equal(r->status, status);
}
