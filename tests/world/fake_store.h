// Stores as the ledger reads them at the end, held in memory where tests can spoil them. They stand
// in for those of core/store: only what the ledger calls is there.
#ifndef UVEA_TESTS_WORLD_FAKE_STORE_H
#define UVEA_TESTS_WORLD_FAKE_STORE_H

#include "core/store/store.h"

enum { FAKE_RECORDS_MAX = 40, FAKE_ROWS_MAX = 40 };

struct fake_record {
    uint16_t version;
    uint16_t eye[UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
};

struct fake_row {
    struct uvea_modification modification;
    struct uvea_store_result result;
    char text[2048]; // of both
};

struct uvea_store {
    struct fake_record records[FAKE_RECORDS_MAX]; // serial s is records[s - 1]
    uint32_t record_count;
    uint32_t serial_max;
    struct fake_row rows[FAKE_ROWS_MAX]; // results in order of publication
    size_t row_count;
    size_t result_count;
    uint64_t frontier;
    struct uvea_store_ingest_state ingest;
    enum uvea_error broken; // what the next call reports
};

#endif
