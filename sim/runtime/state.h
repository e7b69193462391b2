// What the simulator's files share. Private to sim/runtime.
#ifndef UVEA_SIM_RUNTIME_STATE_H
#define UVEA_SIM_RUNTIME_STATE_H

#include "sim/runtime/fiber.h"
#include "sim/runtime/http_state.h"
#include "sim/runtime/process.h"
#include "sim/runtime/random.h"
#include "sim/runtime/sim.h"

// ---- events

// Embedded in what it is about; fires once per scheduling. Its owner has reserved a place in the
// queue for it, so that scheduling cannot fail.
struct uvea_sim_event {
    void (*fire)(struct uvea_sim *sim, struct uvea_sim_event *event);
    size_t place; // index in the heap plus one; 0 when not scheduled
};

// Compared by (time, sequence); kept beside the pointer so that the heap is walked without misses.
struct uvea_sim_queue_entry {
    uint64_t time_ns;
    uint64_t sequence;
    struct uvea_sim_event *event;
};

struct uvea_sim_queue {
    struct uvea_sim_queue_entry *heap;
    size_t count;
    size_t reserved;
    size_t capacity;
    uint64_t sequence;
};

UVEA_MUST_USE enum uvea_error uvea_sim_queue_reserve(struct uvea_sim_queue *queue, size_t events);
void uvea_sim_queue_release(struct uvea_sim_queue *queue, size_t events);
void uvea_sim_queue_deinit(struct uvea_sim_queue *queue);

// Schedules, or moves what is already scheduled, behind all events of the same time.
void uvea_sim_queue_schedule(struct uvea_sim_queue *queue, struct uvea_sim_event *event,
                             uint64_t time_ns);
void uvea_sim_queue_cancel(struct uvea_sim_queue *queue, struct uvea_sim_event *event);

// UVEA_NEVER when there is nothing to come.
uint64_t uvea_sim_queue_next_ns(const struct uvea_sim_queue *queue);

// Takes the first event; the queue is not empty.
struct uvea_sim_event *uvea_sim_queue_pop(struct uvea_sim_queue *queue);

// ---- tasks

enum uvea_sim_wait_kind {
    UVEA_SIM_WAIT_NONE,  // not waiting, or about to run
    UVEA_SIM_WAIT_START, // a program that will be started
    UVEA_SIM_WAIT_SLEEP,
    UVEA_SIM_WAIT_CHARGE,
    UVEA_SIM_WAIT_JOIN,    // object: struct uvea_task
    UVEA_SIM_WAIT_SEND,    // object: struct uvea_channel
    UVEA_SIM_WAIT_RECEIVE, // object: struct uvea_channel
    UVEA_SIM_WAIT_ACCEPT,  // object: struct uvea_listener
    UVEA_SIM_WAIT_DIAL,    // object: struct uvea_sim_connection
    UVEA_SIM_WAIT_READ,    // object: struct uvea_stream
    UVEA_SIM_WAIT_WRITE,   // object: struct uvea_stream
    UVEA_SIM_WAIT_LOCK,    // object: struct uvea_lock
    UVEA_SIM_WAIT_SERVER,  // object: struct uvea_http_server, which is being closed
};

// Waiting tasks in order of arrival.
struct uvea_sim_wait_list {
    struct uvea_task *first;
    struct uvea_task *last;
};

struct uvea_task {
    struct uvea_sim_event timer; // first: the event is the task
    struct uvea_sim_node *node;
    struct uvea_sim_fiber *fiber;
    const char *name;
    uvea_task_fn *fn;
    void *arg;
    bool detached;   // nobody joins it
    bool is_program; // the first task of an incarnation
    bool begun;
    bool finished;
    bool ready; // in a queue of ready tasks
    enum uvea_error woken_with;
    enum uvea_sim_wait_kind wait_kind;
    const void *wait_object;
    uint64_t wait_until_ns; // simulated time
    struct uvea_sim_wait_list *wait_list;
    struct uvea_task *wait_next;
    struct uvea_task *wait_prev;
    struct uvea_task *ready_next;
    struct uvea_sim_wait_list joiner;
    struct uvea_task *next;
    struct uvea_task *prev;
};

// What becomes of a node's program.
struct uvea_sim_life {
    struct uvea_sim_process process; // main is NULL when it has none
    bool starting;                   // a start is planned
    bool running;
    unsigned incarnation;
    uint64_t steps;        // of this incarnation
    const char *kill_why;  // it is to be killed before the next step; a string literal or NULL
    uint64_t kill_at_step; // 0 for never, as below
    enum uvea_point kill_point;
    uint64_t kill_at_pass;
    bool paused;
    uint64_t paused_until_ns;
    struct uvea_sim_event resume;   // ends the pause
    struct uvea_sim_wait_list held; // its ready tasks meanwhile
    uint32_t slow_percent;
    uint64_t allocations;      // since a failure was armed
    uint64_t allocation_fails; // 0 for never
    bool allocation_onward;
};

struct uvea_sim_node {
    struct uvea_rt rt; // first: the node is the handle
    struct uvea_sim *sim;
    unsigned index;
    const char *name;
    uint64_t clock_base_ns;
    uint64_t clock_rate; // local nanoseconds per 10^6 of simulated time
    bool stopped;
    bool dying; // its tasks are being made to return
    unsigned live_tasks;
    int64_t wall_shift_ns;                   // what steps of the wall clock add up to
    uint64_t point_counts[UVEA_POINT_COUNT]; // of this incarnation
    unsigned last_point;                     // UVEA_POINT_COUNT before the first
    struct uvea_sim_random entropy;
    struct uvea_sim_life life;
    struct uvea_sim_http http;
};

// ---- network

struct uvea_sim_connection;

// Something that travels over a link and arrives at due_ns, or when the link moves again.
struct uvea_sim_carrier {
    struct uvea_sim_event event; // first: the event is the carrier
    uint64_t due_ns;
    struct uvea_sim_link *link; // NULL before it first travels
    struct uvea_sim_carrier *next;
    struct uvea_sim_carrier *prev;
};

struct uvea_sim_link {
    unsigned from;
    unsigned to;
    struct uvea_sim_link_config config;
    struct uvea_sim_random random;
    struct uvea_sim_random read_random;
    uint64_t busy_until_ns; // when the last byte written so far has left
    uint64_t held_until_ns; // it stands still until then
    struct uvea_sim_traffic traffic;
    struct uvea_sim_carrier *carriers;
};

// Bytes written at one instant that arrive together.
struct uvea_sim_piece {
    uint64_t end;        // stream position behind its last byte
    uint64_t written_ns; // simulated time
    uint64_t arrival_ns;
    uint64_t jitter_ns;
    size_t room; // bytes it may still grow by
};

enum uvea_sim_tail {
    UVEA_SIM_TAIL_OPEN,
    UVEA_SIM_TAIL_END,   // an orderly end follows the bytes
    UVEA_SIM_TAIL_RESET, // the connection breaks behind the bytes
};

// One direction of a connection. read_at <= arrived_at <= written_at are stream positions; the byte
// at position p is ring[p mod ring_bytes].
struct uvea_sim_pipe {
    struct uvea_sim_carrier carrier; // first: the carrier is the pipe
    struct uvea_sim_connection *connection;
    unsigned from_end;
    struct uvea_sim_link *link;
    uint8_t *ring;
    size_t ring_bytes; // a power of two, or 0
    uint64_t read_at;
    uint64_t arrived_at;
    uint64_t written_at;
    struct uvea_sim_piece *pieces; // ring of piece_capacity, a power of two, or 0
    size_t piece_capacity;
    size_t piece_first;
    size_t piece_count;
    enum uvea_sim_tail tail;
    uint64_t tail_arrival_ns;
    bool ended; // the tail END has arrived
    struct uvea_sim_wait_list reader;
    struct uvea_sim_wait_list writer;
};

struct uvea_stream {
    struct uvea_sim_connection *connection;
    unsigned end; // 0: the dialer's, 1: the acceptor's
    struct uvea_sim_node *node;
    bool shut;
    bool closed;
    bool unusable; // a write failed half-way
    bool kept;     // the runtime keeps it for later calls
};

enum uvea_sim_connection_state {
    UVEA_SIM_CONNECTION_CALLING,   // the dial travels to the listener
    UVEA_SIM_CONNECTION_ANSWERING, // the answer travels back
    UVEA_SIM_CONNECTION_REFUSING,  // a refusal travels back
    UVEA_SIM_CONNECTION_UP,
};

struct uvea_sim_connection {
    struct uvea_sim_carrier handshake; // first: the carrier is the connection
    struct uvea_sim *sim;
    uint64_t number;  // over the whole run, from 0
    uint32_t ordinal; // among those of its two nodes, from 0
    enum uvea_sim_connection_state state;
    enum uvea_error refusal;
    bool broken;
    char address[UVEA_SIM_ADDRESS_BYTES];
    struct uvea_stream ends[2];
    struct uvea_sim_pipe pipes[2]; // pipes[i] starts at ends[i]
    struct uvea_sim_wait_list dialer;
    struct uvea_sim_connection *backlog_next;
    struct uvea_sim_connection *next;
    struct uvea_sim_connection *prev;
};

struct uvea_listener {
    struct uvea_sim_node *node;
    char address[UVEA_SIM_ADDRESS_BYTES];
    bool shut;
    struct uvea_sim_connection *backlog_first;
    struct uvea_sim_connection *backlog_last;
    unsigned backlog_count;
    struct uvea_sim_wait_list acceptors;
    struct uvea_listener *next;
    struct uvea_listener *prev;
};

struct uvea_sim_timer {
    struct uvea_sim_event event; // first: the event is the timer
    uvea_sim_timer_fn *fn;
    void *arg;
    struct uvea_sim_timer *next_free;
};

struct uvea_sim_armed_fault {
    struct uvea_sim_event event; // first: the event is the fault
    struct uvea_sim_fault fault;
    bool done;
};

struct uvea_channel {
    struct uvea_sim_node *node;
    void **items; // ring
    size_t capacity;
    size_t first;
    size_t count;
    bool shut;
    struct uvea_sim_wait_list senders;
    struct uvea_sim_wait_list receivers;
    struct uvea_channel *next;
    struct uvea_channel *prev;
};

struct uvea_lock {
    struct uvea_sim_node *node;
    bool held;
    const struct uvea_task *holder;
    struct uvea_sim_wait_list takers;
    struct uvea_lock *next;
    struct uvea_lock *prev;
};

struct uvea_sim {
    struct uvea_sim_config config;
    struct uvea_sim_trace *trace;
    struct uvea_sim_fiber_pool *fibers;
    struct uvea_sim_queue queue;
    uint64_t now_ns;
    uint64_t steps;
    uint64_t progress_ns;
    uint64_t clock_reads; // of the running task since it was resumed
    bool done;
    bool spinning; // a task reads the clock without ever waiting
    bool closing;  // the run is over, tasks are made to return
    bool silent;   // the simulator allocates for itself
    uvea_sim_watch_fn *watch;
    void *watch_arg;
    unsigned kill_count; // nodes with kill_why
    struct uvea_task *running;
    struct uvea_sim_wait_list ready;     // linked by ready_next, as the next
    struct uvea_sim_wait_list unwinding; // instead, of nodes that are dying
    struct uvea_task *tasks;             // newest first, as the other lists of this structure
    unsigned live_tasks;
    unsigned dropped_tasks;        // that did not return when they were made to
    unsigned left_behind;          // objects of incarnations that ended by themselves
    bool hooked;                   // the allocator asks this simulator
    struct uvea_sim_timer *timers; // UVEA_SIM_TIMERS_MAX, made at first use
    struct uvea_sim_timer *free_timer;
    unsigned timer_count; // waiting to fire
    struct uvea_sim_node nodes[UVEA_SIM_NODES_MAX];

    struct uvea_sim_link links[UVEA_SIM_NODES_MAX][UVEA_SIM_NODES_MAX]; // [from][to]
    uint32_t ordinals[UVEA_SIM_NODES_MAX][UVEA_SIM_NODES_MAX];          // [smaller][larger]
    uint64_t connection_count;
    struct uvea_sim_connection *connections;
    struct uvea_listener *listeners;
    struct uvea_channel *channels;
    struct uvea_lock *locks;
    struct uvea_http_server *http_servers;
    uint64_t http_fault_counts[UVEA_SIM_HTTP_FAULT_COUNT];
    uint64_t http_conflicts; // answers 409
    uint64_t point_counts[UVEA_POINT_COUNT];
    struct uvea_sim_armed_fault faults[UVEA_SIM_FAULTS_MAX];
    unsigned fault_count;
    unsigned byte_fault_count; // not yet done
};

static inline struct uvea_sim_node *uvea_sim_node_of(struct uvea_rt *rt)
{
    return (struct uvea_sim_node *)rt;
}

// First and last of an intrusive doubly linked list with members next and prev.
#define UVEA_SIM_LIST_ADD(head, item)                                                              \
    do {                                                                                           \
        (item)->prev = NULL;                                                                       \
        (item)->next = (head);                                                                     \
        if ((head) != NULL) {                                                                      \
            (head)->prev = (item);                                                                 \
        }                                                                                          \
        (head) = (item);                                                                           \
    } while (0)

#define UVEA_SIM_LIST_REMOVE(head, item)                                                           \
    do {                                                                                           \
        if ((item)->next != NULL) {                                                                \
            (item)->next->prev = (item)->prev;                                                     \
        }                                                                                          \
        if ((item)->prev != NULL) {                                                                \
            (item)->prev->next = (item)->next;                                                     \
        } else {                                                                                   \
            (head) = (item)->next;                                                                 \
        }                                                                                          \
    } while (0)

// Records an event now, unless the node's tasks are being made to return.
void uvea_sim_record(struct uvea_sim_node *node, enum uvea_sim_event_kind kind, unsigned peer,
                     uint64_t amount, const char *label);
void uvea_sim_record_words(struct uvea_sim_node *node, enum uvea_sim_event_kind kind, unsigned peer,
                           uint64_t amount, const char *label, const char *text);

// ---- task.c

// Local time of the node, and the first simulated time at which its clock shows local_ns.
uint64_t uvea_sim_clock_ns(const struct uvea_sim_node *node);
uint64_t uvea_sim_clock_to_sim_ns(const struct uvea_sim_node *node, uint64_t local_ns);

// The running task waits in `list` (NULL: only for the deadline) until woken; gives what it was
// woken with, TIMEOUT at the deadline (of the node's clock). A deadline that has passed lets other
// tasks run first. Once the run is over: CLOSED.
UVEA_MUST_USE enum uvea_error uvea_sim_wait(struct uvea_sim_node *node,
                                            struct uvea_sim_wait_list *list,
                                            enum uvea_sim_wait_kind kind, const void *object,
                                            uint64_t deadline_ns);

// Whether the node's tasks are being made to return: then calls give CLOSED. A task that goes on
// calling for ever does not come back from here.
bool uvea_sim_refuses(struct uvea_sim_node *node);

// Lets every other ready task run, then goes on.
void uvea_sim_yield(struct uvea_sim *sim);

void uvea_sim_wake(struct uvea_task *task, enum uvea_error error);
void uvea_sim_wake_first(struct uvea_sim_wait_list *list, enum uvea_error error);
void uvea_sim_wake_all(struct uvea_sim_wait_list *list, enum uvea_error error);

// Resumes the first ready task.
void uvea_sim_step(struct uvea_sim *sim);

// Moves the ready tasks of the node from one queue behind those of another.
void uvea_sim_ready_move(struct uvea_sim_wait_list *from, const struct uvea_sim_node *node,
                         struct uvea_sim_wait_list *to);

// Plans the first task of an incarnation.
UVEA_MUST_USE enum uvea_error uvea_sim_start_at(struct uvea_sim_node *node, uint64_t at_ns,
                                                uvea_task_fn *fn, void *arg);

// Makes the tasks of the node return (NULL: of every node) and nothing else happen meanwhile. The
// node is dying until uvea_sim_tasks_unwound.
void uvea_sim_tasks_unwind(struct uvea_sim *sim, const struct uvea_sim_node *node);
void uvea_sim_tasks_unwound(struct uvea_sim *sim, const struct uvea_sim_node *node);

// Drops what is left of its tasks (NULL: of all); gives how many had returned and were not joined.
unsigned uvea_sim_tasks_drop(struct uvea_sim *sim, const struct uvea_sim_node *node);

// ---- describe.c

// One line per live task into text.
void uvea_sim_describe_blocked(const struct uvea_sim *sim, char *text, size_t bytes);

extern const struct uvea_rt_ops uvea_sim_ops;

uint64_t uvea_sim_op_now_ns(struct uvea_rt *rt);
enum uvea_error uvea_sim_op_sleep_until(struct uvea_rt *rt, uint64_t deadline_ns);
void uvea_sim_op_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units);
enum uvea_error uvea_sim_op_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                                  struct uvea_task **task);
void uvea_sim_op_join(struct uvea_rt *rt, struct uvea_task *task);

// ---- channel.c

enum uvea_error uvea_sim_op_channel_open(struct uvea_rt *rt, size_t capacity,
                                         struct uvea_channel **channel);
enum uvea_error uvea_sim_op_channel_send(struct uvea_rt *rt, struct uvea_channel *channel,
                                         void *item, uint64_t deadline_ns);
enum uvea_error uvea_sim_op_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel,
                                         void **item, uint64_t deadline_ns);
void uvea_sim_op_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel);
void uvea_sim_op_channel_close(struct uvea_rt *rt, struct uvea_channel *channel);

// Drops those of the node that are left (NULL: all of them); gives how many. Also the next ones.
unsigned uvea_sim_channels_drop(struct uvea_sim *sim, const struct uvea_sim_node *node);

// ---- lock.c

enum uvea_error uvea_sim_op_lock_open(struct uvea_rt *rt, struct uvea_lock **lock);
void uvea_sim_op_lock_take(struct uvea_rt *rt, struct uvea_lock *lock);
void uvea_sim_op_lock_release(struct uvea_rt *rt, struct uvea_lock *lock);
void uvea_sim_op_lock_close(struct uvea_rt *rt, struct uvea_lock *lock);

unsigned uvea_sim_locks_drop(struct uvea_sim *sim, const struct uvea_sim_node *node);

// ---- process.c

UVEA_MUST_USE enum uvea_error uvea_sim_processes_open(struct uvea_sim *sim);
void uvea_sim_processes_close(struct uvea_sim *sim);

// What a computation costs on this node.
uint64_t uvea_sim_slowed_ns(const struct uvea_sim_node *node, uint64_t cost_ns);

void uvea_sim_incarnation_begin(struct uvea_sim_node *node);

// Its last task has returned.
void uvea_sim_incarnation_emptied(struct uvea_sim_node *node);

// Kills the nodes with kill_why.
void uvea_sim_kill_those_due(struct uvea_sim *sim);

// Counts the step that a task of the node is to take. False: the node is to be killed instead.
bool uvea_sim_may_step(struct uvea_sim_node *node);

uint64_t uvea_sim_op_wall_ns(struct uvea_rt *rt);
enum uvea_error uvea_sim_op_point(struct uvea_rt *rt, enum uvea_point point);

// ---- network.c

UVEA_MUST_USE enum uvea_error uvea_sim_network_open(struct uvea_sim *sim,
                                                    struct uvea_error_context *context);

// Sends the carrier over the link, to arrive at due_ns.
void uvea_sim_carry(struct uvea_sim *sim, struct uvea_sim_carrier *carrier,
                    struct uvea_sim_link *link, uint64_t due_ns);
void uvea_sim_carrier_drop(struct uvea_sim *sim, struct uvea_sim_carrier *carrier);

// Called first when a carrier fires: true when the link stands still and the carrier was put off.
bool uvea_sim_carrier_held(struct uvea_sim *sim, struct uvea_sim_carrier *carrier);

// When something that leaves now arrives, by a fresh draw of jitter.
uint64_t uvea_sim_link_arrival_ns(struct uvea_sim *sim, struct uvea_sim_link *link);

// How many of the next `bytes` bytes of the pipe may be written before a byte fault; *fault is the
// fault due right behind them, or NULL.
size_t uvea_sim_fault_limit(struct uvea_sim *sim, const struct uvea_sim_pipe *pipe, size_t bytes,
                            struct uvea_sim_armed_fault **fault);

// Carries out a byte fault on the pipe whose byte count reached it.
void uvea_sim_fault_at_byte(struct uvea_sim *sim, struct uvea_sim_pipe *pipe,
                            struct uvea_sim_armed_fault *fault);

// ---- pipe.c

void uvea_sim_pipe_init(struct uvea_sim_pipe *pipe, struct uvea_sim_connection *connection,
                        unsigned from_end, struct uvea_sim_link *link);
void uvea_sim_pipe_deinit(struct uvea_sim *sim, struct uvea_sim_pipe *pipe);

// Puts an END or a RESET behind the bytes written so far; the first tail stays.
void uvea_sim_pipe_finish(struct uvea_sim_pipe *pipe, enum uvea_sim_tail tail);

// Loses everything in flight.
void uvea_sim_pipe_break(struct uvea_sim_pipe *pipe);

enum uvea_error uvea_sim_op_stream_read(struct uvea_rt *rt, struct uvea_stream *stream,
                                        uint8_t *out, size_t capacity, size_t *got,
                                        uint64_t deadline_ns);
enum uvea_error uvea_sim_op_stream_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                         const uint8_t *bytes, size_t len, uint64_t deadline_ns);

// ---- connection.c

// Both ends get RESET from now on, and a dial in progress fails.
void uvea_sim_connection_break(struct uvea_sim_connection *connection);

// The node dies: its listeners and connections are gone.
void uvea_sim_connections_sever(struct uvea_sim_node *node);

// Drops the streams and listeners of the node that are left; gives how many.
unsigned uvea_sim_streams_drop(struct uvea_sim_node *node);
unsigned uvea_sim_listeners_drop(struct uvea_sim *sim, const struct uvea_sim_node *node);

// Drops all connections and listeners that are left.
void uvea_sim_connections_close(struct uvea_sim *sim);

// Those that the runtime itself keeps are not counted.
unsigned uvea_sim_open_streams(const struct uvea_sim *sim);

// Breaks the connection behind what was written so far, and releases this end. Nobody may be
// waiting on it.
void uvea_sim_stream_abort(struct uvea_stream *stream);

enum uvea_error uvea_sim_op_listen(struct uvea_rt *rt, const char *address,
                                   struct uvea_listener **listener);
enum uvea_error uvea_sim_op_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                   struct uvea_stream **stream, uint64_t deadline_ns);
void uvea_sim_op_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener);
void uvea_sim_op_listener_close(struct uvea_rt *rt, struct uvea_listener *listener);
enum uvea_error uvea_sim_op_dial(struct uvea_rt *rt, const char *address,
                                 struct uvea_stream **stream, uint64_t deadline_ns);
enum uvea_error uvea_sim_op_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                         struct uvea_party party);
void uvea_sim_op_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                               struct uvea_error_context *reason);
void uvea_sim_op_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream);
void uvea_sim_op_stream_close(struct uvea_rt *rt, struct uvea_stream *stream);

#endif
