#include "tests/live/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PACKET_BYTES_MAX = 1500,
    PACKETS_MAX = 8192, // under way; one more is lost, as in any queue
    IPV4_DESTINATION = 16,
    IPV4_HEADER_BYTES = 20,
};

struct packet {
    uint64_t due_ns;
    size_t len;
    unsigned to;
    uint8_t bytes[PACKET_BYTES_MAX];
};

static struct {
    char prefix[32];
    struct wire_config config;
    pid_t carrier;
    struct wire_tally *tally; // shared with the carrier
    unsigned made;            // namespaces
} wire;

static bool run(const char *format, unsigned machine)
{
    char line[256];
    char name[48];
    (void)snprintf(name, sizeof(name), "%s%u", wire.prefix, machine);
    (void)snprintf(line, sizeof(line), format, name, machine + 1);
    return system(line) == 0; // NOLINT(cert-env33-c): ip is a program
}

// ---- the carrier

static struct packet packets[PACKETS_MAX]; // a ring: all wait equally long
static size_t first;
static size_t count;
static uint64_t state;

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// splitmix64
static uint64_t draw(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// The device of a machine, which this process may then use from anywhere.
static int open_device(unsigned machine)
{
    char path[80];
    (void)snprintf(path, sizeof(path), "/run/netns/%s%u", wire.prefix, machine);
    // What is opened belongs to the namespace it is opened in.
    const int space = open(path, O_RDONLY | O_CLOEXEC);
    const bool there = space >= 0 && setns(space, CLONE_NEWNET) == 0;
    const int device = there ? open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
    struct ifreq request = {.ifr_name = "wire", .ifr_flags = IFF_TUN | IFF_NO_PI};
    if (space >= 0) {
        close(space);
    }
    return device >= 0 && ioctl(device, TUNSETIFF, &request) == 0 ? device : -1;
}

static void take(const uint8_t *bytes, size_t len)
{
    const unsigned to = len >= IPV4_HEADER_BYTES && bytes[0] >> 4 == 4
                            ? bytes[IPV4_DESTINATION + 3] - 1u
                            : WIRE_MACHINES_MAX;
    if (to >= wire.config.machines) {
        return; // IPv6 looking for neighbours
    }
    if (count == PACKETS_MAX || draw() % 1000000 < wire.config.lost_per_million) {
        wire.tally->lost++;
        return;
    }
    struct packet *packet = &packets[(first + count++) % PACKETS_MAX];
    packet->due_ns = now_ns() + wire.config.delay_ms * UINT64_C(1000000);
    packet->to = to;
    packet->len = len;
    memcpy(packet->bytes, bytes, len);
}

static void deliver(const int devices[WIRE_MACHINES_MAX])
{
    while (count > 0 && packets[first].due_ns <= now_ns()) {
        const struct packet *packet = &packets[first];
        wire.tally->carried +=
            write(devices[packet->to], packet->bytes, packet->len) == (ssize_t)packet->len;
        first = (first + 1) % PACKETS_MAX;
        count--;
    }
}

static _Noreturn void carry(int told)
{
    int devices[WIRE_MACHINES_MAX] = {0};
    struct pollfd polls[WIRE_MACHINES_MAX];
    bool good = true;
    for (unsigned i = 0; i < wire.config.machines; i++) {
        devices[i] = open_device(i);
        polls[i] = (struct pollfd){.fd = devices[i], .events = POLLIN};
        good = good && devices[i] >= 0;
    }
    state = wire.config.seed;
    if (write(told, &good, sizeof(good)) != sizeof(good) || !good) {
        _exit(1);
    }
    close(told);
    for (;;) {
        const uint64_t now = now_ns();
        const uint64_t wait =
            count > 0 && packets[first].due_ns > now ? packets[first].due_ns - now : 0;
        const struct timespec until = {.tv_nsec = (long)wait};
        (void)ppoll(polls, wire.config.machines, count > 0 ? &until : NULL, NULL);
        for (unsigned i = 0; i < wire.config.machines; i++) {
            uint8_t bytes[PACKET_BYTES_MAX];
            for (ssize_t len; (len = read(devices[i], bytes, sizeof(bytes))) > 0;) {
                take(bytes, (size_t)len);
            }
        }
        deliver(devices);
    }
}

static bool start_carrier(void)
{
    int ends[2];
    bool good = false;
    wire.tally =
        mmap(NULL, sizeof(*wire.tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (wire.tally == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    wire.carrier = fork();
    if (wire.carrier == 0) {
        carry(ends[1]);
    }
    close(ends[1]);
    const bool told = read(ends[0], &good, sizeof(good)) == sizeof(good) && good;
    close(ends[0]);
    return told;
}

// ---- namespaces

static const char *make_machine(unsigned machine)
{
    if (!run("ip netns add %s 2>/dev/null", machine)) {
        return "network namespaces cannot be made here";
    }
    wire.made++;
    if (!run("ip netns exec %s true 2>/dev/null", machine)) {
        return "nothing can be run in a network namespace here";
    }
    if (!run("ip -n %1$s tuntap add dev wire mode tun 2>/dev/null && "
             "ip -n %1$s addr add 10.77.0.%2$u/24 dev wire && "
             "ip -n %1$s link set wire mtu 1400 up && ip -n %1$s link set lo up",
             machine)) {
        return "TUN devices cannot be made here";
    }
    return NULL;
}

const char *wire_up(const char *prefix, const struct wire_config *config)
{
    const char *why = NULL;
    (void)snprintf(wire.prefix, sizeof(wire.prefix), "%s", prefix);
    wire.config = *config;
    wire.made = 0;
    wire.carrier = 0;
    for (unsigned i = 0; i < config->machines && why == NULL; i++) {
        why = make_machine(i);
    }
    if (why == NULL && !start_carrier()) {
        why = "TUN devices cannot be opened here";
    }
    if (why != NULL) {
        (void)wire_down();
    }
    return why;
}

struct wire_tally wire_down(void)
{
    struct wire_tally tally = {0};
    if (wire.carrier > 0) {
        (void)kill(wire.carrier, SIGKILL);
        (void)waitpid(wire.carrier, NULL, 0);
        tally = *wire.tally;
    }
    for (unsigned i = 0; i < wire.made; i++) {
        (void)run("ip netns del %s", i);
    }
    wire.made = 0;
    wire.carrier = 0;
    return tally;
}
