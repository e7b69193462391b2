// What happened in a simulation, in order: a rolling SHA-256 over every event, the last events of
// each node for the failure report, and on request the whole list, kept or compared with that of an
// earlier run. Nothing that differs between two runs of one seed (address, process, wall clock) may
// enter an event.
//
// The hash covers, per event: time (8 bytes LE), amount (8 bytes LE), kind, node, peer (1 byte
// each), and the SHA-256 of the payload (32 bytes) when there is one.
#ifndef UVEA_SIM_RUNTIME_TRACE_H
#define UVEA_SIM_RUNTIME_TRACE_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// name, text in reports, meaning of `amount`
#define UVEA_SIM_EVENTS(X)                                                                         \
    X(SPAWN, "spawn", "0; label is the task's name")                                               \
    X(EXIT, "exit", "0; label is the task's name")                                                 \
    X(SLEEP, "sleep", "nanoseconds of simulated time")                                             \
    X(CHARGE, "charge", "nanoseconds of simulated time")                                           \
    X(TIMEOUT, "timeout", "0; label is the task's name")                                           \
    X(LISTEN, "listen", "0; text is the address")                                                  \
    X(DIAL, "dial", "connection number; text is the address")                                      \
    X(CONNECT, "connect", "connection number: the dialer learns it is up")                         \
    X(REFUSE, "refuse", "connection number: nobody listens there")                                 \
    X(ACCEPT, "accept", "connection number")                                                       \
    X(DELIVER, "deliver", "bytes that arrived; payload is these bytes")                            \
    X(END, "end", "connection number: the peer's orderly end arrived")                             \
    X(SHUT, "shut", "connection number")                                                           \
    X(RESET, "reset", "connection number")                                                         \
    X(STALL, "stall", "nanoseconds the link towards peer stands still")                            \
    X(HEAL, "heal", "0: the link towards peer moves again")                                        \
    X(STOP, "stop", "0: the node is being stopped")                                                \
    X(NOTE, "note", "0; label is the note's kind")                                                 \
    X(POINT, "point", "how often the node passed it; label is the point's name")                   \
    X(WALL, "wall", "nanoseconds the wall clock steps by, in two's complement")                    \
    X(HTTP, "http", "status of an answer to peer; text is the request")                            \
    X(HTTP_FAULT, "http-fault", "status or 0; label is the fault, text the target")                \
    X(START, "start", "incarnation")                                                               \
    X(ENDED, "ended", "incarnation: its program ended by itself")                                  \
    X(DEATH, "death", "incarnation; label says what killed it")                                    \
    X(PAUSE, "pause", "nanoseconds in which no task of the node runs")                             \
    X(RESUME, "resume", "0: the pause is over")                                                    \
    X(SLOW, "slow", "percent of the usual cost of computing")                                      \
    X(MEMORY, "memory", "which allocation since the failure was armed fails")

enum uvea_sim_event_kind {
#define UVEA_SIM_EVENT_ENUM(name, text, what) UVEA_SIM_EVENT_##name,
    UVEA_SIM_EVENTS(UVEA_SIM_EVENT_ENUM)
#undef UVEA_SIM_EVENT_ENUM
        UVEA_SIM_EVENT_COUNT,
};

enum {
    UVEA_SIM_NODES_MAX = 8,
    UVEA_SIM_NO_PEER = 0xff,
    UVEA_SIM_HASH_BYTES = 32,
    UVEA_SIM_TRACE_LAST = 64,      // events kept per node for the report
    UVEA_SIM_TRACE_TEXT_BYTES = 96 // of a note's text, with the final zero
};

// One event, compact. label is a string literal (a task's name, a note's kind) or NULL and only
// for people: its content is in the digest where it matters.
struct uvea_sim_record {
    uint64_t time_ns;
    uint64_t amount;
    uint64_t digest; // first 8 bytes of the payload's SHA-256, little-endian; 0 without payload
    const char *label;
    uint8_t kind;
    uint8_t node;
    uint8_t peer; // or UVEA_SIM_NO_PEER
};

// All zero is an empty list.
struct uvea_sim_record_list {
    struct uvea_sim_record *records;
    size_t count;
    size_t capacity;
    bool cut; // memory ran short: only the first `count` events are here
};

void uvea_sim_record_list_deinit(struct uvea_sim_record_list *list);

// The first event in which two runs differ. An absent record means that this run had ended.
struct uvea_sim_difference {
    bool found;
    bool has_expected;
    bool has_got;
    uint64_t index;
    struct uvea_sim_record expected;
    struct uvea_sim_record got;
};

struct uvea_sim_trace;

// names: one per node, not copied.
UVEA_MUST_USE enum uvea_error uvea_sim_trace_open(const char *const *names, unsigned node_count,
                                                  struct uvea_sim_trace **trace);
void uvea_sim_trace_close(struct uvea_sim_trace *trace);

// ---- what to do with events, chosen before the first one; each may be left out

// Appends every event to list (borrowed).
void uvea_sim_trace_keep(struct uvea_sim_trace *trace, struct uvea_sim_record_list *list);

// Compares every event with the list of an earlier run (borrowed) as it happens.
void uvea_sim_trace_compare(struct uvea_sim_trace *trace,
                            const struct uvea_sim_record_list *expected);

// Writes every event as one line of JSON:
// {"i":0,"t":0,"node":"p0","kind":"spawn","peer":"p1","amount":0,"digest":"..","label":"..","text":".."}
// with peer, digest, label and text left out where there is none. The caller checks ferror().
void uvea_sim_trace_write(struct uvea_sim_trace *trace, FILE *out);

// ---- events

// An event without payload.
void uvea_sim_trace_event(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, const char *label);

// An event whose payload is bytes, in two parts (the halves of a ring buffer) that are hashed as
// one; either may be empty.
struct uvea_sim_bytes {
    const void *data;
    size_t bytes;
};
void uvea_sim_trace_bytes(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, struct uvea_sim_bytes first,
                          struct uvea_sim_bytes second);

// An event whose payload is words: label (a string literal, or NULL) and a zero byte, then text (or
// NULL). Only the first bytes of text are kept for the report.
void uvea_sim_trace_words(struct uvea_sim_trace *trace, uint64_t time_ns,
                          enum uvea_sim_event_kind kind, unsigned node, unsigned peer,
                          uint64_t amount, const char *label, const char *text);

// ---- results, at any time

uint64_t uvea_sim_trace_count(const struct uvea_sim_trace *trace);

// The hash over all events so far.
void uvea_sim_trace_hash(struct uvea_sim_trace *trace, uint8_t hash[UVEA_SIM_HASH_BYTES]);

// The first difference to the list given to compare; call it when the run has ended, so that a
// missing tail is seen too.
void uvea_sim_trace_difference(const struct uvea_sim_trace *trace,
                               struct uvea_sim_difference *difference);

// Prints one record on a line of its own.
void uvea_sim_trace_print(const struct uvea_sim_trace *trace, const struct uvea_sim_record *record,
                          FILE *out);

// Prints the last events of the first `lanes` nodes side by side, oldest first, at most `last` of
// each node (and at most UVEA_SIM_TRACE_LAST). Ends, shuts and exits are left out.
void uvea_sim_trace_lanes(const struct uvea_sim_trace *trace, unsigned lanes, unsigned last,
                          FILE *out);

const char *uvea_sim_event_text(enum uvea_sim_event_kind kind);

#endif
