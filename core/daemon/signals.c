#include "core/daemon/signals.h"

enum { END = SIGUSR2 }; // ends the thread

static void fill(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
    (void)sigaddset(set, END);
}

void uvea_signals_block(void)
{
    sigset_t set;

    fill(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *take(void *arg)
{
    const struct uvea_signals *signals = arg;
    int signal;

    while (sigwait(&signals->set, &signal) == 0 && signal != END) {
        if (signal == SIGHUP) {
            signals->reload(signals->arg);
        } else {
            signals->stop(signals->arg, signal);
        }
    }
    return NULL;
}

enum uvea_error uvea_signals_open(struct uvea_signals *signals)
{
    fill(&signals->set);
    return pthread_create(&signals->thread, NULL, take, signals) == 0 ? UVEA_OK : UVEA_ERR_MEMORY;
}

void uvea_signals_close(struct uvea_signals *signals)
{
    (void)pthread_kill(signals->thread, END);
    (void)pthread_join(signals->thread, NULL);
}
