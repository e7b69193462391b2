// Named points of a party's life: where the order of steps matters most for what a crash leaves
// behind. The simulator can end a process at any of them, counts how often each was reached, and a
// sweep fails when one of them never was.
#ifndef UVEA_CORE_RT_POINT_H
#define UVEA_CORE_RT_POINT_H

// name, text, what has just happened / what has not yet
#define UVEA_POINTS(X)                                                                             \
    X(SHARE_STORED, "share-stored", "a share object is stored / not acknowledged")                 \
    X(REQUEST_SEQUENCED, "request-sequenced", "a request has its number / not acknowledged")       \
    X(INGESTED, "ingested", "topic messages are stored / not counted as available")                \
    X(SIZE_AGREED, "size-agreed", "the batch size is agreed / nothing is claimed")                 \
    X(CLAIMED, "claimed", "requests are claimed / their entries are not agreed")                   \
    X(ENTRIES_AGREED, "entries-agreed", "the entries are agreed / nothing is processed")           \
    X(DELETED, "deleted", "deletions are applied in memory / not searched")                        \
    X(SEARCHED, "searched", "a request was searched / not decided")                                \
    X(DECIDED, "decided", "all is decided / nothing else is changed in memory")                    \
    X(SPECTRAL_STORED, "spectral-stored", "a spectral row is stored / its record is not")          \
    X(APPLIED, "applied", "memory has changed / nothing is committed")                             \
    X(COMMITTED, "committed", "a batch is committed / its results are not published")              \
    X(PUBLISHED, "published", "results are published / the next batch is not begun")               \
    X(SYNC_EXCHANGED, "sync-exchanged", "start-up states are exchanged / nothing is repaired")     \
    X(ROLLED_FORWARD, "rolled-forward", "modifications are repaired / results are not replayed")   \
    X(REPLAYED, "replayed", "results are replayed / the ingest is not recovered")                  \
    X(INGEST_RECOVERED, "ingest-recovered", "claims are released / memory is not loaded")          \
    X(LOADED, "loaded", "memory is loaded / spectra are not agreed")                               \
    X(SPECTRAL_CONVERTED, "spectral-converted", "spectra are converted / not stored")              \
    X(READY, "ready", "the party is ready / the first batch is not begun")

enum uvea_point {
#define UVEA_POINT_ENUM(name, text, what) UVEA_POINT_##name,
    UVEA_POINTS(UVEA_POINT_ENUM)
#undef UVEA_POINT_ENUM
        UVEA_POINT_COUNT,
};

// For example "size-agreed".
const char *uvea_point_text(enum uvea_point point);

// UVEA_POINT_COUNT when there is none of that name.
enum uvea_point uvea_point_find(const char *text);

#endif
