// A configuration file as YAML: sections of keys, nothing deeper. Structure is judged here, values
// are not. Anchors, aliases, tags, further documents, repeated and unknown keys are refused. Inside
// the module.
#ifndef UVEA_CORE_DAEMON_YAML_H
#define UVEA_CORE_DAEMON_YAML_H

#include "core/daemon/complaint.h"
#include "core/daemon/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Told of each key in the order of the file: one text, or as many as its list has. Good during the
// call.
typedef void uvea_yaml_fn(void *arg, enum uvea_key key, unsigned line, const char *const *texts,
                          size_t count);

// name: of the file, for sentences. What is wrong is added to complaints. False: there are no
// sections and keys, or they could not be read to their end, so that nothing is known to be
// missing.
bool uvea_yaml_read(const char *name, const uint8_t *text, size_t bytes, uvea_yaml_fn *fn,
                    void *arg, struct uvea_complaints *complaints);

#endif
