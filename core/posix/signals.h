// Signals, taken by one thread that does nothing else.
#ifndef UVEA_CORE_POSIX_SIGNALS_H
#define UVEA_CORE_POSIX_SIGNALS_H

#include "core/base/error.h"

#include <pthread.h>
#include <signal.h>

struct uvea_signals {
    sigset_t set;
    pthread_t thread;
    pthread_mutex_t lock;
    void *arg;
    // Called one at a time, and never while others hold the signals.
    void (*stop)(void *arg, int signal); // SIGTERM or SIGINT, each time
    void (*reload)(void *arg);           // SIGHUP
};

// Before any other thread is started, so that none of them is interrupted. What comes from then on
// waits for uvea_signals_open.
void uvea_signals_block(void);
// Gives signals their usual effect again, those too that have come meanwhile.
void uvea_signals_unblock(void);

// arg, stop and reload are set. signals stays where it is until closed.
UVEA_MUST_USE enum uvea_error uvea_signals_open(struct uvea_signals *signals);
// For what callbacks share with other threads: between the two none of them runs. Short pieces of
// code, outside callbacks.
void uvea_signals_hold(struct uvea_signals *signals);
void uvea_signals_release(struct uvea_signals *signals);

// No callback runs any more when it returns.
void uvea_signals_close(struct uvea_signals *signals);

#endif
