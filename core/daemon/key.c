#include "core/daemon/key.h"

#include "core/base/nearest.h"
#include "core/base/parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_CHARS_MAX = 63,
    HOST_CHARS_MAX = 253,
    PORT_CHARS_MAX = 5,
};

static const struct uvea_key_info infos[UVEA_KEY_COUNT] = {
#define NUMBER_INFO(section, name, value, low, high, meaning)                                      \
    {#section, #name, #value, NULL, meaning, low, high, UVEA_KEY_NUMBER},
#define CHOICE_INFO(section, name, value, choices, meaning)                                        \
    {#section, #name, value, choices, meaning, 0, 0, UVEA_KEY_CHOICE},
#define TEXT_INFO(section, name, kind, value, meaning)                                             \
    {#section, #name, value, NULL, meaning, 0, 0, UVEA_KEY_##kind},
    UVEA_KEYS(NUMBER_INFO, CHOICE_INFO, TEXT_INFO)
#undef NUMBER_INFO
#undef CHOICE_INFO
#undef TEXT_INFO
};

const struct uvea_key_info *uvea_key_info(enum uvea_key key)
{
    return &infos[key];
}

bool uvea_key_is_list(enum uvea_key key)
{
    return infos[key].kind == UVEA_KEY_ADDRESSES || infos[key].kind == UVEA_KEY_FILES;
}

// ---- names

static bool is_root(const struct uvea_key_info *info)
{
    return strcmp(info->section, "root") == 0;
}

void uvea_key_name(enum uvea_key key, char name[UVEA_KEY_CHARS_MAX])
{
    const struct uvea_key_info *info = &infos[key];

    if (is_root(info)) {
        (void)snprintf(name, UVEA_KEY_CHARS_MAX, "%s", info->name);
    } else {
        (void)snprintf(name, UVEA_KEY_CHARS_MAX, "%s.%s", info->section, info->name);
    }
}

void uvea_key_variable(enum uvea_key key, char name[UVEA_KEY_CHARS_MAX])
{
    const struct uvea_key_info *info = &infos[key];

    if (is_root(info)) {
        (void)snprintf(name, UVEA_KEY_CHARS_MAX, "UVEA__%s", info->name);
    } else {
        (void)snprintf(name, UVEA_KEY_CHARS_MAX, "UVEA__%s__%s", info->section, info->name);
    }
    for (char *c = name; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
}

static enum uvea_key find(const char *wanted, void (*spell)(enum uvea_key, char *))
{
    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        char name[UVEA_KEY_CHARS_MAX];

        spell((enum uvea_key)key, name);
        if (strcmp(name, wanted) == 0) {
            return (enum uvea_key)key;
        }
    }
    return UVEA_KEY_COUNT;
}

enum uvea_key uvea_key_find(const char *name)
{
    return find(name, uvea_key_name);
}

enum uvea_key uvea_key_find_variable(const char *name)
{
    return find(name, uvea_key_variable);
}

bool uvea_key_is_section(const char *name)
{
    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        if (!is_root(&infos[key]) && strcmp(infos[key].section, name) == 0) {
            return true;
        }
    }
    return false;
}

// ---- the nearest name

enum uvea_key uvea_key_nearest(const char *name, bool *section)
{
    const bool alone = strchr(name, '.') == NULL;
    struct uvea_nearest nearest = {.name = name};
    enum uvea_key found = UVEA_KEY_COUNT;

    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        char candidate[UVEA_KEY_CHARS_MAX];

        uvea_key_name((enum uvea_key)key, candidate);
        if (uvea_nearest_try(&nearest, candidate)) {
            *section = false;
            found = (enum uvea_key)key;
        }
        if (alone && !is_root(&infos[key]) && uvea_nearest_try(&nearest, infos[key].section)) {
            *section = true;
            found = (enum uvea_key)key;
        }
    }
    return found;
}

// ---- values

static bool is_printable(const char *text, size_t chars_max)
{
    const size_t chars = strnlen(text, chars_max + 1);

    for (size_t i = 0; i < chars; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return chars > 0 && chars <= chars_max;
}

static bool is_port(const char *text)
{
    uint64_t port;

    return strlen(text) <= PORT_CHARS_MAX && text[0] != '0' &&
           uvea_number_parse("", text, 1, UINT16_MAX, &port, NULL) == UVEA_OK;
}

static bool is_host(const char *host, size_t chars)
{
    static const char in_names[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    static const char in_ipv6[] = "0123456789abcdefABCDEF:.";

    if (chars == 0 || chars > HOST_CHARS_MAX) {
        return false;
    }
    if (host[0] == '[') {
        return chars > 3 && host[chars - 1] == ']' && strspn(host + 1, in_ipv6) == chars - 2;
    }
    return strspn(host, in_names) == chars;
}

static bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':');

    return colon != NULL && is_host(text, (size_t)(colon - text)) && is_port(colon + 1);
}

// Takes "7" or "7-9" off the front of *text.
static bool take_range(const char **text, unsigned *first, unsigned *last)
{
    unsigned ends[2] = {0, 0};
    unsigned count = 0;

    do {
        size_t digits = strspn(*text, "0123456789");

        if (digits == 0 || digits > 4) {
            return false;
        }
        for (; digits > 0; digits--) {
            ends[count] = ends[count] * 10 + (unsigned)(*(*text)++ - '0');
        }
        count++;
    } while (count < 2 && **text == '-' && (*text)++ != NULL);
    *first = ends[0];
    *last = ends[count - 1];
    return *first <= *last && *last < UVEA_KEY_CPUS_MAX;
}

// Returns 0 when the text is not good. cpus may be NULL.
static size_t read_cpus(const char *text, unsigned *cpus)
{
    bool named[UVEA_KEY_CPUS_MAX] = {false};
    size_t count = 0;

    for (;;) {
        unsigned first;
        unsigned last;

        if (!take_range(&text, &first, &last)) {
            return 0;
        }
        for (unsigned cpu = first; cpu <= last; cpu++) {
            if (named[cpu]) {
                return 0;
            }
            named[cpu] = true;
            if (cpus != NULL) {
                cpus[count] = cpu;
            }
            count++;
        }
        if (*text == '\0') {
            return count;
        }
        if (*text++ != ',') {
            return 0;
        }
    }
}

size_t uvea_key_cpus(const char *text, unsigned cpus[UVEA_KEY_CPUS_MAX])
{
    return read_cpus(text, cpus);
}

static enum uvea_error judge(bool good, const char *what, const char *text, const char *wanted,
                             struct uvea_error_context *context)
{
    if (good) {
        return UVEA_OK;
    }
    return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: '%.128s' is not %s", what, text, wanted);
}

static enum uvea_error parse_text(enum uvea_key_kind kind, const char *what, const char *text,
                                  struct uvea_error_context *context)
{
    switch (kind) {
    case UVEA_KEY_NAME:
        return judge(is_printable(text, NAME_CHARS_MAX), what, text,
                     "a name of 1 to 63 printable characters without space", context);
    case UVEA_KEY_ADDRESS:
    case UVEA_KEY_ADDRESSES:
        return judge(is_address(text), what, text, "host:port with a port from 1 to 65535",
                     context);
    case UVEA_KEY_CPUS:
        return judge(read_cpus(text, NULL) > 0, what, text,
                     "a list of processors from 0 to 1023, each once, such as 0-3,6", context);
    default:
        return judge(text[0] != '\0', what, text, "the name of a file", context);
    }
}

enum uvea_error uvea_key_parse(enum uvea_key key, const char *what, const char *text,
                               uint64_t *number, struct uvea_error_context *context)
{
    const struct uvea_key_info *info = &infos[key];

    *number = 0;
    if (text[0] == '\0' && info->value != NULL && info->value[0] == '\0') {
        return UVEA_OK;
    }
    if (info->kind == UVEA_KEY_NUMBER) {
        return uvea_number_parse(what, text, info->low, info->high, number, context);
    }
    if (info->kind == UVEA_KEY_CHOICE) {
        return uvea_choice_parse(what, info->choices, text, number, context);
    }
    if (strlen(text) > UVEA_KEY_VALUE_CHARS_MAX) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: longer than %d characters", what,
                              UVEA_KEY_VALUE_CHARS_MAX);
    }
    if (info->kind == UVEA_KEY_SECRET) {
        return UVEA_OK;
    }
    return parse_text(info->kind, what, text, context);
}

void uvea_key_format(enum uvea_key key, uint64_t number, char text[UVEA_KEY_CHARS_MAX])
{
    const char *choice = infos[key].choices;

    if (choice == NULL) {
        (void)snprintf(text, UVEA_KEY_CHARS_MAX, "%" PRIu64, number);
        return;
    }
    for (; number > 0; number--) {
        choice += strcspn(choice, " ");
        choice += *choice == ' ';
    }
    (void)snprintf(text, UVEA_KEY_CHARS_MAX, "%.*s", (int)strcspn(choice, " "), choice);
}
