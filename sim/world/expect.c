#include "sim/world/expect.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct unmet {
    char *reason;
    size_t bytes;
    bool any;
};

// The first difference is kept.
UVEA_PRINTF(2, 3)
static void differs(struct unmet *unmet, const char *format, ...)
{
    if (!unmet->any) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(unmet->reason, unmet->bytes, format, args);
        va_end(args);
    }
    unmet->any = true;
}

static void check_bool(struct unmet *unmet, const char *name, bool has, bool want, bool got)
{
    if (has && want != got) {
        differs(unmet, "expected %s %s, the oracle says otherwise", name, want ? "true" : "false");
    }
}

static bool list_has(const struct uvea_serial_list *list, uint32_t serial)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->serials[i] == serial) {
            return true;
        }
    }
    return false;
}

// Every enrolled serial is in the list exactly when the oracle says so.
static void check_list(struct unmet *unmet, const char *name, const struct uvea_serial_list *want,
                       const struct uvea_oracle_search *search, bool anonymous)
{
    size_t found = 0;
    for (uint32_t index = 0; index < search->record_count; index++) {
        const struct uvea_oracle_record *record = &search->records[index];
        bool is = anonymous ? record->prefiltered : record->matched;
        if (is != list_has(want, index + 1)) {
            differs(unmet, "expected list %s %s serial %u, the oracle says otherwise", name,
                    is ? "lacks" : "has", index + 1);
            return;
        }
        found += is;
    }
    if (found != want->count) {
        differs(unmet, "expected list %s names a serial that is not enrolled, or one twice", name);
    }
}

bool uvea_expect_met(const struct uvea_expectation *expect, const struct uvea_oracle_ruling *ruling,
                     char *reason, size_t bytes)
{
    struct unmet unmet = {.reason = reason, .bytes = bytes};
    const struct uvea_oracle_search *normal = &ruling->search[UVEA_ORACLE_NORMAL];
    const char *error = ruling->error_reason == NULL ? "none" : ruling->error_reason;
    const uint32_t given = ruling->inserts ? ruling->serial : 0;
    if (expect->error != NULL && strcmp(expect->error, error) != 0) {
        differs(&unmet, "expected error '%s', the oracle says '%s'", expect->error, error);
    }
    check_bool(&unmet, "success", expect->has_success, expect->success, ruling->matched);
    check_bool(&unmet, "match", expect->has_match, expect->match, ruling->matched);
    check_bool(&unmet, "mirror_attack", expect->has_mirror_attack, expect->mirror_attack,
               ruling->mirror_attack);
    if (expect->has_serial && expect->serial != given) {
        differs(&unmet, "expected serial %llu, the oracle gives %u",
                (unsigned long long)expect->serial, given);
    }
    if (expect->has_matched) {
        check_list(&unmet, "matched", &expect->matched, normal, false);
    }
    if (expect->has_anonymous) {
        check_list(&unmet, "anonymous", &expect->anonymous, normal, true);
    }
    return !unmet.any;
}
