// A replay as one HTML page that needs nothing else: figures, the distribution of latencies as a
// drawing, every request with the outcomes of the oracle and of each party, the configuration.
#ifndef UVEA_SIM_LIVE_REPORT_H
#define UVEA_SIM_LIVE_REPORT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "sim/live/replay.h"

struct uvea_report_head {
    const char *scenario; // names of files, as given
    const char *cluster;
    uint64_t seed;
    const char *build;
};

// Appends the page. Whatever stands in answers and names is shown as text. MEMORY.
UVEA_MUST_USE enum uvea_error uvea_report_html(const struct uvea_report_head *head,
                                               const struct uvea_replay_result *result,
                                               struct uvea_buf *html);

#endif
