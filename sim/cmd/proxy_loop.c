// One thread waits for everything: sockets, times at which bytes are due, signals.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/proxy.h"
#include "sim/runtime/random.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { THROTTLED_BYTES = 4096, DIALLER = 0, LISTENER = 1 };

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define NEVER UINT64_MAX

struct piece {
    struct piece *next;
    uint64_t due_ns;
    size_t len;
    size_t done;
    uint8_t bytes[UVEA_PROXY_PIECE_BYTES];
};

// One direction of a connection.
struct way {
    struct piece *first;
    struct piece *last;
    size_t queued;
    uint64_t bytes;   // taken from the source
    uint64_t due_ns;  // of the last piece: order is kept
    uint64_t free_ns; // throttled until then
    bool ended;       // the source sends no more
    bool told;        // the sink knows
    bool deaf;        // what the source still sends is thrown away
    struct uvea_sim_random random;
};

struct line;

struct pair {
    struct line *line;
    int fd[2];
    bool connecting;
    struct way way[2]; // from fd[i] to the other
};

struct line {
    struct uvea_proxy_link link;
    int fd;
    struct uvea_proxy_tally tally;
};

struct uvea_proxy {
    uint64_t seed;
    uint64_t start_ns;
    size_t line_count;
    struct line lines[UVEA_PROXY_LINKS_MAX];
    size_t pair_count;
    struct pair *pairs[UVEA_PROXY_CONNECTIONS_MAX];
    struct pollfd polls[1 + UVEA_PROXY_LINKS_MAX + 2 * UVEA_PROXY_CONNECTIONS_MAX];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

// Whether faults of this link happen now.
static bool is_foul(const struct uvea_proxy *proxy, const struct line *line, uint64_t now)
{
    const struct uvea_proxy_conditions *conditions = &line->link.conditions;
    const uint64_t at_ms = (now - proxy->start_ns) / MS;
    return at_ms >= conditions->from_ms &&
           (conditions->for_ms == 0 || at_ms < conditions->from_ms + conditions->for_ms);
}

// ---- connections

static void drop_pieces(struct way *way)
{
    while (way->first != NULL) {
        struct piece *piece = way->first;
        way->first = piece->next;
        uvea_mem_free(piece);
    }
}

static void free_pair(struct pair *pair, bool reset)
{
    for (unsigned i = 0; i < 2; i++) {
        drop_pieces(&pair->way[i]);
        if (reset) {
            uvea_proxy_socket_reset(pair->fd[i]);
        } else {
            close(pair->fd[i]);
        }
    }
    uvea_mem_free(pair);
}

static struct pair *make_pair(struct uvea_proxy *proxy, struct line *line)
{
    struct pair *pair = uvea_mem_alloc(1, sizeof(*pair));
    if (pair == NULL) {
        return NULL;
    }
    pair->line = line;
    pair->connecting = true;
    for (unsigned i = 0; i < 2; i++) {
        char name[UVEA_PROXY_TEXT_CHARS + 48];
        (void)snprintf(name, sizeof(name), "%s/%" PRIu64 "/%u", line->link.name,
                       line->tally.connections, i);
        uvea_sim_random_init(&pair->way[i].random, proxy->seed, name);
    }
    return pair;
}

static void take_connection(struct uvea_proxy *proxy, struct line *line)
{
    const int from = uvea_proxy_socket_accept(line->fd);
    if (from < 0) {
        return;
    }
    struct pair *pair =
        proxy->pair_count < UVEA_PROXY_CONNECTIONS_MAX ? make_pair(proxy, line) : NULL;
    const int to = pair != NULL ? uvea_proxy_socket_dial(line->link.dial) : -1;
    line->tally.connections++;
    if (to < 0) {
        line->tally.unreached++;
        uvea_proxy_socket_reset(from);
        uvea_mem_free(pair);
        return;
    }
    pair->fd[DIALLER] = from;
    pair->fd[LISTENER] = to;
    proxy->pairs[proxy->pair_count++] = pair;
}

// ---- from a source into the queue

static void corrupt(struct pair *pair, struct way *way, struct piece *piece)
{
    const uint64_t rate = pair->line->link.conditions.corrupt_per_million;
    for (size_t i = 0; i < piece->len; i++) {
        if (uvea_sim_random_below(&way->random, 1000000) < rate) {
            piece->bytes[i] ^= (uint8_t)(1u << uvea_sim_random_below(&way->random, 8));
            pair->line->tally.corrupted++;
        }
    }
}

static void enqueue(struct way *way, struct piece *piece,
                    const struct uvea_proxy_conditions *conditions, uint64_t now)
{
    const uint64_t jitter_ns =
        conditions->jitter_ms == 0
            ? 0
            : uvea_sim_random_below(&way->random, conditions->jitter_ms * MS + 1);
    const uint64_t due_ns = now + conditions->delay_ms * MS + jitter_ns;
    piece->due_ns = due_ns > way->due_ns ? due_ns : way->due_ns;
    way->due_ns = piece->due_ns;
    way->queued += piece->len;
    if (way->last != NULL && way->first != NULL) {
        way->last->next = piece;
    } else {
        way->first = piece;
    }
    way->last = piece;
}

// Cuts a piece down to what may still pass before the dialler is no more heard.
static void turn_deaf(struct pair *pair, struct way *way, struct piece *piece)
{
    const uint64_t limit = pair->line->link.conditions.half_close_after_bytes;
    const uint64_t before = way->bytes - piece->len;
    if (!way->deaf && way->bytes >= limit) {
        way->deaf = true;
        pair->line->tally.half_closed++;
        piece->len = limit > before ? (size_t)(limit - before) : 0;
    }
}

// False: the connection is to be reset.
static bool absorb(struct uvea_proxy *proxy, struct pair *pair, unsigned side, struct piece *piece,
                   uint64_t now)
{
    struct way *way = &pair->way[side];
    const struct uvea_proxy_conditions *conditions = &pair->line->link.conditions;
    const bool deaf = way->deaf;
    way->bytes += piece->len;
    pair->line->tally.bytes += piece->len;
    if (is_foul(proxy, pair->line, now)) {
        const uint64_t both = pair->way[0].bytes + pair->way[1].bytes;
        if (conditions->cut_after_bytes > 0 && both >= conditions->cut_after_bytes) {
            pair->line->tally.cut++;
            return false;
        }
        if (conditions->half_close_after_bytes > 0 && side == DIALLER) {
            turn_deaf(pair, way, piece);
        }
        corrupt(pair, way, piece);
    }
    if (deaf || piece->len == 0) {
        uvea_mem_free(piece);
    } else {
        enqueue(way, piece, conditions, now);
    }
    return true;
}

// False: the connection is to be reset.
static bool pull(struct uvea_proxy *proxy, struct pair *pair, unsigned side, uint64_t now)
{
    struct piece *piece = uvea_mem_alloc(1, sizeof(*piece));
    if (piece == NULL) {
        return false;
    }
    const ssize_t got = read(pair->fd[side], piece->bytes, sizeof(piece->bytes));
    if (got > 0) {
        piece->len = (size_t)got;
        const bool good = absorb(proxy, pair, side, piece, now);
        if (!good) {
            uvea_mem_free(piece);
        }
        return good;
    }
    const bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
    uvea_mem_free(piece);
    pair->way[side].ended = pair->way[side].ended || got == 0;
    return got == 0 || later;
}

// ---- from the queue into a sink

static uint64_t ready_ns(const struct way *way)
{
    if (way->first == NULL) {
        return NEVER;
    }
    return way->first->due_ns > way->free_ns ? way->first->due_ns : way->free_ns;
}

// False: the connection is to be reset.
static bool push(struct pair *pair, unsigned side, uint64_t now)
{
    struct way *way = &pair->way[side];
    struct piece *piece = way->first;
    const uint64_t rate = pair->line->link.conditions.bytes_per_s;
    size_t len = piece->len - piece->done;
    if (rate > 0 && len > THROTTLED_BYTES) {
        len = THROTTLED_BYTES;
    }
    const ssize_t put = send(pair->fd[1 - side], piece->bytes + piece->done, len, MSG_NOSIGNAL);
    if (put < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    piece->done += (size_t)put;
    way->queued -= (size_t)put;
    if (rate > 0) {
        way->free_ns = now + (uint64_t)put * SECOND / rate;
    }
    if (piece->done == piece->len) {
        way->first = piece->next;
        uvea_mem_free(piece);
    }
    return true;
}

// Tells the sinks whose sources have ended. True: nothing more can come either way.
static bool settle(struct pair *pair)
{
    for (unsigned side = 0; side < 2; side++) {
        struct way *way = &pair->way[side];
        if ((way->ended || way->deaf) && !way->told && way->first == NULL && !pair->connecting) {
            (void)shutdown(pair->fd[1 - side], SHUT_WR);
            way->told = true;
        }
    }
    return pair->way[0].told && pair->way[1].told && pair->way[0].ended && pair->way[1].ended;
}

// ---- waiting

static short events_of(const struct pair *pair, unsigned side, uint64_t now)
{
    const struct way *in = &pair->way[side];
    const struct way *out = &pair->way[1 - side];
    if (pair->connecting) {
        return side == LISTENER ? POLLOUT : 0;
    }
    const bool reads = !in->ended && in->queued < UVEA_PROXY_QUEUE_BYTES;
    return (short)((reads ? POLLIN : 0) | (ready_ns(out) <= now ? POLLOUT : 0));
}

static uint64_t earliest_ns(const struct uvea_proxy *proxy, uint64_t now)
{
    uint64_t earliest = NEVER;
    for (size_t i = 0; i < proxy->pair_count; i++) {
        for (unsigned side = 0; side < 2; side++) {
            const uint64_t at = ready_ns(&proxy->pairs[i]->way[side]);
            earliest = at > now && at < earliest ? at : earliest;
        }
    }
    return earliest;
}

static size_t fill_polls(struct uvea_proxy *proxy, int signals, uint64_t now)
{
    size_t count = 0;
    proxy->polls[count++] = (struct pollfd){.fd = signals, .events = POLLIN};
    for (size_t i = 0; i < proxy->line_count; i++) {
        proxy->polls[count++] = (struct pollfd){.fd = proxy->lines[i].fd, .events = POLLIN};
    }
    for (size_t i = 0; i < proxy->pair_count; i++) {
        for (unsigned side = 0; side < 2; side++) {
            const short events = events_of(proxy->pairs[i], side, now);
            // Not asked for anything, a socket would still report its end again and again.
            proxy->polls[count++] = (struct pollfd){
                .fd = events != 0 ? proxy->pairs[i]->fd[side] : -1, .events = events};
        }
    }
    return count;
}

static int wait_for(struct uvea_proxy *proxy, size_t count, uint64_t now)
{
    const uint64_t earliest = earliest_ns(proxy, now);
    const uint64_t wait_ns = earliest == NEVER ? 0 : earliest - now;
    const struct timespec wait = {.tv_sec = (time_t)(wait_ns / SECOND),
                                  .tv_nsec = (long)(wait_ns % SECOND)};
    return ppoll(proxy->polls, count, earliest == NEVER ? NULL : &wait, NULL);
}

// False: the connection is over; reset says how.
static bool serve(struct uvea_proxy *proxy, struct pair *pair, const struct pollfd polls[2],
                  bool *reset)
{
    const uint64_t now = now_ns();
    *reset = true;
    if (pair->connecting && polls[LISTENER].revents != 0) {
        pair->connecting = false;
        if (!uvea_proxy_socket_connected(pair->fd[LISTENER])) {
            pair->line->tally.unreached++;
            return false;
        }
        return true;
    }
    for (unsigned side = 0; side < 2; side++) {
        const short found = polls[side].revents;
        const bool in = (polls[side].events & POLLIN) != 0 && found != 0 && found != POLLOUT;
        const bool out = (polls[side].events & POLLOUT) != 0 && (found & (POLLOUT | POLLERR)) != 0;
        if ((in && !pull(proxy, pair, side, now)) || (out && !push(pair, 1 - side, now))) {
            return false;
        }
    }
    *reset = false;
    return !settle(pair);
}

// From the last to the first, so that one that is over can be replaced by the last.
static void serve_all(struct uvea_proxy *proxy, size_t polled)
{
    for (size_t i = polled; i-- > 0;) {
        bool reset;
        const struct pollfd *polls = &proxy->polls[1 + proxy->line_count + 2 * i];
        if (!serve(proxy, proxy->pairs[i], polls, &reset)) {
            free_pair(proxy->pairs[i], reset);
            proxy->pairs[i] = proxy->pairs[--proxy->pair_count];
        }
    }
}

static int carry(struct uvea_proxy *proxy, int signals)
{
    for (;;) {
        const uint64_t now = now_ns();
        const size_t polled = proxy->pair_count;
        if (wait_for(proxy, fill_polls(proxy, signals, now), now) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return 0;
        }
        if (proxy->polls[0].revents != 0) {
            struct signalfd_siginfo info;
            return read(signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
        }
        serve_all(proxy, polled);
        for (size_t i = 0; i < proxy->line_count; i++) {
            if (proxy->polls[1 + i].revents != 0) {
                take_connection(proxy, &proxy->lines[i]);
            }
        }
    }
}

int uvea_proxy_run(struct uvea_proxy *proxy, const sigset_t *caught)
{
    const int signals = signalfd(-1, caught, SFD_CLOEXEC);
    if (signals < 0) {
        return 0;
    }
    const int number = carry(proxy, signals);
    close(signals);
    return number;
}

// ---- the whole

enum uvea_error uvea_proxy_open(const struct uvea_proxy_file *file, struct uvea_proxy **proxy,
                                struct uvea_error_context *context)
{
    struct uvea_proxy *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->seed = file->seed;
    made->start_ns = now_ns();
    for (size_t i = 0; i < file->count; i++) {
        struct line *line = &made->lines[i];
        struct uvea_error_context inner = {{0}};
        line->link = file->links[i];
        const enum uvea_error error =
            uvea_proxy_socket_listen(line->link.listen, &line->fd, &inner);
        if (error != UVEA_OK) {
            uvea_proxy_close(made);
            return uvea_error_set(context, error, "link %s: %.300s", file->links[i].name,
                                  inner.text);
        }
        made->line_count++;
    }
    *proxy = made;
    return UVEA_OK;
}

void uvea_proxy_close(struct uvea_proxy *proxy)
{
    if (proxy == NULL) {
        return;
    }
    for (size_t i = 0; i < proxy->pair_count; i++) {
        free_pair(proxy->pairs[i], true);
    }
    for (size_t i = 0; i < proxy->line_count; i++) {
        close(proxy->lines[i].fd);
    }
    uvea_mem_free(proxy);
}

static bool same_link(const struct uvea_proxy_link *a, const struct uvea_proxy_link *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->listen, b->listen) == 0 &&
           strcmp(a->dial, b->dial) == 0;
}

enum uvea_error uvea_proxy_change(struct uvea_proxy *proxy, const struct uvea_proxy_file *file,
                                  struct uvea_error_context *context)
{
    bool same = file->count == proxy->line_count;
    for (size_t i = 0; same && i < file->count; i++) {
        same = same_link(&proxy->lines[i].link, &file->links[i]);
    }
    if (!same) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "links came, went or moved; only their conditions can be changed");
    }
    for (size_t i = 0; i < file->count; i++) {
        proxy->lines[i].link.conditions = file->links[i].conditions;
    }
    return UVEA_OK;
}

struct uvea_proxy_tally uvea_proxy_tally(const struct uvea_proxy *proxy, size_t link)
{
    UVEA_CHECK(link < proxy->line_count);
    return proxy->lines[link].tally;
}
