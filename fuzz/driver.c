// The main program of every fuzz target. With arguments: replays the files of the directories (or
// the files) named. Without, when built by AFL++: serves afl-fuzz in persistent mode.
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> // AFL++'s macros read()

enum { INPUT_BYTES_MAX = 16 << 20 };

// Plain malloc: uvea_mem_alloc rounds up, which would hide a read past the end of the input.
static uint8_t *input_alloc(size_t len)
{
    uint8_t *input = malloc(len > 0 ? len : 1);
    if (input == NULL) {
        (void)fprintf(stderr, "fuzz: out of memory\n");
        exit(1);
    }
    return input;
}

static void run_copy(const uint8_t *data, size_t len)
{
    uint8_t *input = input_alloc(len);
    memcpy(input, data, len);
    (void)uvea_fuzz_one(input, len);
    free(input);
}

// False, with a message, when the file cannot be read.
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
        return 0;
    }
    uint8_t *data = input_alloc(INPUT_BYTES_MAX);
    size_t len = fread(data, 1, INPUT_BYTES_MAX, file);
    int good = !ferror(file) && feof(file);
    (void)fclose(file);
    if (good) {
        (void)printf("%s\n", path);
        (void)fflush(stdout); // known even if the input ends the process
        run_copy(data, len);
    } else {
        (void)fprintf(stderr, "fuzz: %s: not read to its end\n", path);
    }
    free(data);
    return good;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Adds the files replayed to *count, in the order of their names.
static int replay_directory(const char *path, size_t *count)
{
    struct dirent **entries;
    int entry_count = scandir(path, &entries, is_visible, alphasort);
    if (entry_count < 0) {
        (void)fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
        return 0;
    }
    int good = 1;
    for (int i = 0; i < entry_count; i++) {
        char file[4096];
        int written = snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        good = good && written < (int)sizeof(file) && replay_file(file);
        *count += 1;
        free(entries[i]);
    }
    free(entries);
    return good;
}

static int replay(int path_count, char **paths)
{
    size_t count = 0;
    for (int i = 0; i < path_count; i++) {
        struct stat status;
        int is_directory = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (is_directory ? !replay_directory(paths[i], &count) : !replay_file(paths[i])) {
            return 1;
        }
        count += is_directory ? 0 : 1;
    }
    (void)printf("%zu inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}

#ifdef __AFL_COMPILER
__AFL_FUZZ_INIT();

static int serve(void)
{
    __AFL_INIT();
    const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(10000)) {
        run_copy(data, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    }
    return 0;
}
#else
static int serve(void)
{
    (void)fprintf(stderr, "usage: name the files or directories to replay\n");
    return 2;
}
#endif

int main(int argc, char **argv)
{
    return argc > 1 ? replay(argc - 1, argv + 1) : serve();
}
