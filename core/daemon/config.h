// The configuration of uvead: a YAML file, and over it variables of the environment named
// UVEA__SECTION__KEY. A value means the same and is judged the same wherever it stands; a list of
// three is written with commas in a variable. Relative file names are relative to the folder of the
// configuration file, wherever they stand; without one, to the working directory.
#ifndef UVEA_CORE_DAEMON_CONFIG_H
#define UVEA_CORE_DAEMON_CONFIG_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/daemon/complaint.h"
#include "core/daemon/key.h"

#include <stdint.h>

enum { UVEA_CONFIG_BYTES_MAX = 1 << 20 }; // of a file

struct uvea_config_value {
    uint64_t number;              // of a NUMBER, or the index of a CHOICE
    char *text[UVEA_PARTY_COUNT]; // owned: of a TEXT kind, one or three; NULL where left out
    char *what;                   // owned: whence it is and its key, for sentences
};

// All zero is none.
struct uvea_config {
    struct uvea_config_value values[UVEA_KEY_COUNT];
};

// file: NULL for the environment alone. environment: "NAME=VALUE" texts, NULL at the end; those
// that do not begin with UVEA__ are others'. Everything that is wrong is added to complaints, with
// file and line or variable; config is good when nothing was. Release it either way.
void uvea_config_read(const char *file, char *const *environment, struct uvea_config *config,
                      struct uvea_complaints *complaints);
// Wipes what is secret.
void uvea_config_deinit(struct uvea_config *config);

// What one key alone cannot say: numbers that must fit each other, keys that need or exclude each
// other. Adds to complaints. Part of uvea_config_read.
void uvea_config_check(const struct uvea_config *config, struct uvea_complaints *complaints);

uint64_t uvea_config_number(const struct uvea_config *config, enum uvea_key key);
// NULL when left out.
const char *uvea_config_text(const struct uvea_config *config, enum uvea_key key);
const char *uvea_config_of_party(const struct uvea_config *config, enum uvea_key key,
                                 unsigned party);

// Appends the configuration as YAML, every key with its value. Read again it means the same, but
// for a secret, which is left out.
UVEA_MUST_USE enum uvea_error uvea_config_print(const struct uvea_config *config,
                                                struct uvea_buf *out);

#endif
