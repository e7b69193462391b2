// A folder of its own for each test, files in it, and a configuration that is good.
#ifndef UVEA_TESTS_DAEMON_RIG_H
#define UVEA_TESTS_DAEMON_RIG_H

#include "core/daemon/config.h"

#include <stddef.h>

struct rig {
    char folder[64];
    char file[96]; // folder/uvead.yaml
    struct uvea_config config;
    struct uvea_complaints complaints;
};

// As cmocka's set-up and tear-down; *state is the rig.
int rig_open(void **state);
int rig_close(void **state);

// Writes a file of the folder, with a mode; folders in its name are made.
void rig_write(const struct rig *rig, const char *name, const void *bytes, size_t count,
               unsigned mode);

// A configuration with TLS off that is good, and needs the file share.key.
extern const char rig_good[];

// Reads text as the configuration file (NULL: none) under an environment (NULL: empty); what was
// read before is gone.
void rig_read(struct rig *rig, const char *text, char *const *environment);

// The complaints as one text; "" for none.
const char *rig_said(struct rig *rig);

#endif
