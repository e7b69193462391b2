#include "core/posix/signals.h"

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

void uvea_signals_unblock(void)
{
    sigset_t set;

    fill(&set);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *take(void *arg)
{
    struct uvea_signals *signals = arg;
    int signal;

    while (sigwait(&signals->set, &signal) == 0 && signal != END) {
        uvea_signals_hold(signals);
        if (signal == SIGHUP) {
            signals->reload(signals->arg);
        } else {
            signals->stop(signals->arg, signal);
        }
        uvea_signals_release(signals);
    }
    return NULL;
}

enum uvea_error uvea_signals_open(struct uvea_signals *signals)
{
    fill(&signals->set);
    if (pthread_mutex_init(&signals->lock, NULL) != 0) {
        return UVEA_ERR_MEMORY;
    }
    if (pthread_create(&signals->thread, NULL, take, signals) != 0) {
        (void)pthread_mutex_destroy(&signals->lock);
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

void uvea_signals_hold(struct uvea_signals *signals)
{
    (void)pthread_mutex_lock(&signals->lock);
}

void uvea_signals_release(struct uvea_signals *signals)
{
    (void)pthread_mutex_unlock(&signals->lock);
}

void uvea_signals_close(struct uvea_signals *signals)
{
    (void)pthread_kill(signals->thread, END);
    (void)pthread_join(signals->thread, NULL);
    (void)pthread_mutex_destroy(&signals->lock);
}
