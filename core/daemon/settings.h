// From the configuration to what the modules below take.
#ifndef UVEA_CORE_DAEMON_SETTINGS_H
#define UVEA_CORE_DAEMON_SETTINGS_H

#include "core/daemon/complaint.h"
#include "core/daemon/config.h"
#include "core/posix/posix.h"
#include "core/service/node.h"
#include "core/tls/tls.h"

#include <stdbool.h>

// Texts are borrowed from the configuration, cpus from the settings themselves, which therefore
// stay where they are made.
struct uvea_settings {
    struct uvea_node_config node; // holds keys
    struct uvea_tls_config tls;
    bool with_tls;
    struct uvea_posix_config posix; // its tls and callbacks are left to the caller
    unsigned cpus[UVEA_KEY_CPUS_MAX];
};

// config is good. Reads the files of keys and certificates and looks at the processor; what is
// wrong is added to complaints, with the key of the configuration and where that stands.
void uvea_settings_make(const struct uvea_config *config, struct uvea_settings *settings,
                        struct uvea_complaints *complaints);
// Wipes the keys.
void uvea_settings_deinit(struct uvea_settings *settings);

#endif
