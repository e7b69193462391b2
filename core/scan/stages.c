#include "core/scan/stages.h"

const char *uvea_stage_text(enum uvea_stage stage)
{
#define STAGE_TEXT(name, text) text,
    static const char *const texts[] = {UVEA_STAGES(STAGE_TEXT)};
#undef STAGE_TEXT
    return texts[stage];
}

uint64_t uvea_stages_now_ns(const struct uvea_stages *stages)
{
    return stages == NULL ? 0 : uvea_rt_now_ns(stages->rt);
}

uint64_t uvea_stages_add(struct uvea_stages *stages, enum uvea_stage stage, uint64_t since_ns)
{
    const uint64_t now_ns = uvea_stages_now_ns(stages);

    if (stages != NULL) {
        atomic_fetch_add_explicit(&stages->ns[stage], now_ns - since_ns, memory_order_relaxed);
    }
    return now_ns;
}
