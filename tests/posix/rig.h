// A posix runtime for a test, with or without TLS, and expectations that any task may state: cmocka
// cannot leave another thread, so what does not hold is counted, and rig_close fails the test.
#ifndef UVEA_TESTS_POSIX_RIG_H
#define UVEA_TESTS_POSIX_RIG_H

#include "core/posix/posix.h"
#include "tests/tls/pki.h"

#include <stdbool.h>

void rig_note(bool holds, const char *file, int line, const char *what);
#define RIG_EXPECT(condition) rig_note((condition), __FILE__, __LINE__, #condition)

// Fails the test when anything did not hold since the last call.
void rig_check(void);

// config: NULL for the default one. Closed by rig_close, which checks.
struct uvea_rt *rig_open(const struct uvea_posix_config *config);
void rig_close(struct uvea_rt *rt);

// A leaf of party `party` for 127.0.0.1, valid for years by any clock.
struct uvea_tls *rig_tls(struct pki *pki, unsigned party, struct uvea_rt *clock);

// Runs fn(arg) as a task; rig_join waits for it.
struct uvea_task *rig_spawn(struct uvea_rt *rt, uvea_task_fn *fn, void *arg);

// now + so many milliseconds.
uint64_t rig_in_ms(struct uvea_rt *rt, uint64_t ms);

// A port of 127.0.0.1 that was free a moment ago.
unsigned rig_free_port(struct uvea_rt *rt);

#endif
