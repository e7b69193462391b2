#include "sim/cmd/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t received;

static void receive(int signal_number)
{
    received = signal_number;
}

// A signal that is ignored already (nohup, a job in the background) stays ignored. Calls that wait
// are to return, so nothing is restarted.
static void listen_to(int signal_number)
{
    struct sigaction old;
    struct sigaction action = {.sa_handler = receive};
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
        (void)sigaction(signal_number, &action, NULL);
    }
}

void uvea_interrupt_listen(void)
{
    listen_to(SIGINT);
    listen_to(SIGTERM);
}

int uvea_interrupt_signal(void)
{
    return received;
}
