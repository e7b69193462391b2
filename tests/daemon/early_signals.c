// Loaded into uvead before its own libraries: the signals that a process may get at any time come
// while those prepare themselves, long before main.
#include <signal.h>
#include <unistd.h>

__attribute__((constructor)) static void send(void)
{
    (void)kill(getpid(), SIGHUP);
    (void)kill(getpid(), SIGTERM);
}
