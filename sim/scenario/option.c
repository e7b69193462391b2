#include "sim/scenario/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct uvea_option_info infos[UVEA_OPTION_COUNT] = {
#define NUMBER_INFO(section, name, value, low, high, meaning)                                      \
    {#section, #name, NULL, meaning, #value, low, high},
#define CHOICE_INFO(section, name, value, choices, meaning)                                        \
    {#section, #name, choices, meaning, value, 0, 0},
    UVEA_OPTIONS(NUMBER_INFO, CHOICE_INFO)
#undef NUMBER_INFO
#undef CHOICE_INFO
};

const struct uvea_option_info *uvea_option_info(enum uvea_option option)
{
    return &infos[option];
}

void uvea_option_key(enum uvea_option option, char key[64])
{
    const struct uvea_option_info *info = &infos[option];
    if (strcmp(info->section, "root") == 0) {
        (void)snprintf(key, 64, "%s", info->name);
    } else {
        (void)snprintf(key, 64, "%s.%s", info->section, info->name);
    }
}

enum uvea_option uvea_option_find(const char *key, size_t len)
{
    for (unsigned option = 0; option < UVEA_OPTION_COUNT; option++) {
        char name[64];
        uvea_option_key((enum uvea_option)option, name);
        if (strlen(name) == len && memcmp(name, key, len) == 0) {
            return (enum uvea_option)option;
        }
    }
    return UVEA_OPTION_COUNT;
}

enum uvea_error uvea_option_parse(enum uvea_option option, const char *text, uint64_t *value,
                                  struct uvea_error_context *context)
{
    const struct uvea_option_info *info = &infos[option];
    char key[64];
    uvea_option_key(option, key);
    if (info->choices != NULL) {
        return uvea_choice_parse(key, info->choices, text, value, context);
    }
    return uvea_number_parse(key, text, info->low, info->high, value, context);
}

void uvea_option_format(enum uvea_option option, uint64_t value, char text[64])
{
    const char *choice = infos[option].choices;
    if (choice == NULL) {
        (void)snprintf(text, 64, "%" PRIu64, value);
        return;
    }
    for (; value > 0; value--) {
        choice += strcspn(choice, " ");
        choice += *choice == ' ';
    }
    (void)snprintf(text, 64, "%.*s", (int)strcspn(choice, " "), choice);
}
