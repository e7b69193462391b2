// Texts with shares pass through jansson, which gives its memory back as it was.
#ifndef UVEA_CORE_DAEMON_WIPE_H
#define UVEA_CORE_DAEMON_WIPE_H

// From now on whatever jansson frees is overwritten first. Once, before jansson is used.
void uvea_wipe_json(void);

#endif
