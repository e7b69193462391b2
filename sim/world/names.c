#include "sim/world/world.h"

const char *uvea_verdict_text(enum uvea_verdict verdict)
{
    static const char *const texts[] = {
#define VERDICT_TEXT(name, status, text) text,
        UVEA_VERDICTS(VERDICT_TEXT)
#undef VERDICT_TEXT
    };
    return texts[verdict];
}

int uvea_verdict_exit_status(enum uvea_verdict verdict)
{
    static const int statuses[] = {
#define VERDICT_STATUS(name, status, text) status,
        UVEA_VERDICTS(VERDICT_STATUS)
#undef VERDICT_STATUS
    };
    return statuses[verdict];
}

const char *uvea_family_text(enum uvea_family family)
{
    static const char *const texts[] = {
#define FAMILY_TEXT(name, text) text,
        UVEA_FAMILIES(FAMILY_TEXT)
#undef FAMILY_TEXT
    };
    return texts[family];
}

const char *uvea_mark_text(enum uvea_mark mark)
{
    static const char *const texts[] = {
#define MARK_TEXT(name, text, meaning) text,
        UVEA_MARKS(MARK_TEXT)
#undef MARK_TEXT
    };
    return texts[mark];
}
