// Every statement that reads or changes rows, once for both back ends. Parameters are $1, $2, ...
// and stand in this order where they first appear. Words in braces: core/store/sql.h.
#ifndef UVEA_CORE_STORE_STATEMENTS_H
#define UVEA_CORE_STORE_STATEMENTS_H

#define UVEA_SQL_EYE_LEFT ", left_code, left_mask, left_sum"
#define UVEA_SQL_EYE_RIGHT ", right_code, right_mask, right_sum"
#define UVEA_SQL_RECORDS(eyes)                                                                     \
    "SELECT id, version_id" eyes " FROM irises WHERE id >= $1 AND id < $2 ORDER BY id"
#define UVEA_SQL_RECORD_VALUES                                                                     \
    "INSERT INTO irises (id, version_id, last_modified_at, left_code, left_mask, left_sum,"        \
    " right_code, right_mask, right_sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
#define UVEA_SQL_MODIFICATION                                                                      \
    "SELECT id, coalesce(sequence_number, 0) AS sequence_number,"                                  \
    " coalesce(serial_id, 0) AS serial_id, request_type, s3_url,"                                  \
    " CASE status WHEN 'COMPLETED' THEN 1 ELSE 0 END AS completed,"                                \
    " persisted, result_message_body, attributes, row_sum, coalesce(batch, 0) AS batch"
#define UVEA_SQL_PENDING                                                                           \
    " FROM ingested_requests WHERE persisted_at IS NULL AND consumed_batch_id IS NULL AND"         \
    " sequence_number <= $1"
#define UVEA_SQL_RESULT                                                                            \
    "INSERT INTO results (published_at, modification_id, number)"                                  \
    " SELECT $1, id, (SELECT coalesce(max(number), 0) FROM results) + "

// name, types of the parameters, text
#define UVEA_SQL_STATEMENTS(X)                                                                     \
    X(CATALOG, "",                                                                                 \
      "SELECT count(*), count(CASE name WHEN 'uvea_schema' THEN 1 END) FROM {catalog}")            \
    X(SCHEMA_VERSION, "", "SELECT coalesce(max(version), 0) FROM uvea_schema")                     \
    X(SCHEMA_APPLIED, "ii", "INSERT INTO uvea_schema (version, applied_at) VALUES ($1, $2)")       \
                                                                                                   \
    X(RECORD_COUNT, "", "SELECT count(*), coalesce(max(id), 0) FROM irises")                       \
    X(RECORD_LAST, "", "SELECT coalesce(max(id), 0) FROM irises")                                  \
    X(RECORD_VERSION, "i", "SELECT version_id FROM irises WHERE id = $1")                          \
    X(RECORDS_BARE, "ii", UVEA_SQL_RECORDS(""))                                                    \
    X(RECORDS_LEFT, "ii", UVEA_SQL_RECORDS(UVEA_SQL_EYE_LEFT))                                     \
    X(RECORDS_RIGHT, "ii", UVEA_SQL_RECORDS(UVEA_SQL_EYE_RIGHT))                                   \
    X(RECORDS_BOTH, "ii", UVEA_SQL_RECORDS(UVEA_SQL_EYE_LEFT UVEA_SQL_EYE_RIGHT))                  \
    X(RECORD_INSERT, "iiibbibbi", UVEA_SQL_RECORD_VALUES)                                          \
    X(RECORD_PUT, "iiibbibbi",                                                                     \
      UVEA_SQL_RECORD_VALUES                                                                       \
      " ON CONFLICT (id) DO UPDATE SET version_id = excluded.version_id,"                          \
      " last_modified_at = excluded.last_modified_at, left_code = excluded.left_code,"             \
      " left_mask = excluded.left_mask, left_sum = excluded.left_sum,"                             \
      " right_code = excluded.right_code, right_mask = excluded.right_mask,"                       \
      " right_sum = excluded.right_sum")                                                           \
                                                                                                   \
    X(MODIFICATION_LAST, "", "SELECT coalesce(max(id), 0) FROM modifications")                     \
    X(MODIFICATION_FIND, "i", UVEA_SQL_MODIFICATION " FROM modifications WHERE id = $1")           \
    X(MODIFICATION_INSERT, "iiitttiii",                                                            \
      "INSERT INTO modifications (id, sequence_number, serial_id, request_type, s3_url,"           \
      " attributes, row_sum, created_at, batch, status, persisted)"                                \
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'IN_PROGRESS', 0)")                            \
    X(MODIFICATION_COMPLETE, "iitii",                                                              \
      "UPDATE modifications SET status = 'COMPLETED', serial_id = $1, persisted = $2,"             \
      " result_message_body = $3, row_sum = $4 WHERE id = $5")                                     \
    X(MODIFICATION_PUT, "iiitttiiit",                                                              \
      "INSERT INTO modifications (id, sequence_number, serial_id, request_type, s3_url,"           \
      " attributes, row_sum, created_at, persisted, result_message_body, status)"                  \
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'COMPLETED')"                             \
      " ON CONFLICT (id) DO UPDATE SET serial_id = excluded.serial_id,"                            \
      " request_type = excluded.request_type, s3_url = excluded.s3_url,"                           \
      " row_sum = excluded.row_sum, persisted = excluded.persisted, status = excluded.status,"     \
      " result_message_body ="                                                                     \
      " coalesce(modifications.result_message_body, excluded.result_message_body)")                \
    X(MODIFICATION_DELETE, "i",                                                                    \
      "DELETE FROM modifications WHERE id = $1 AND status = 'IN_PROGRESS'")                        \
    X(MODIFICATIONS_NEWEST, "i",                                                                   \
      "SELECT * FROM (" UVEA_SQL_MODIFICATION                                                      \
      " FROM modifications ORDER BY id DESC LIMIT $1) AS newest ORDER BY id")                      \
                                                                                                   \
    X(INGEST_INSERT, "tbiiii",                                                                     \
      "INSERT INTO ingested_requests (sequence_number, message_body, message_sum, is_valid,"       \
      " received_at, persisted_at) VALUES ($1, $2, $3, $4, $5, $6)"                                \
      " ON CONFLICT (sequence_number) DO NOTHING")                                                 \
    X(INGEST_AFTER, "ti",                                                                          \
      "SELECT sequence_number FROM ingested_requests WHERE sequence_number > $1"                   \
      " ORDER BY sequence_number LIMIT $2")                                                        \
    X(INGEST_PENDING_COUNT, "t", "SELECT count(*)" UVEA_SQL_PENDING)                               \
    X(INGEST_PENDING, "ti",                                                                        \
      "SELECT sequence_number, message_body, message_sum, is_valid" UVEA_SQL_PENDING               \
      " ORDER BY sequence_number LIMIT $2")                                                        \
    X(INGEST_CLAIM, "it",                                                                          \
      "UPDATE ingested_requests SET consumed_batch_id = $1 WHERE sequence_number = $2"             \
      " AND consumed_batch_id IS NULL AND persisted_at IS NULL")                                   \
    X(INGEST_PERSIST, "it",                                                                        \
      "UPDATE ingested_requests SET persisted_at = $1 WHERE sequence_number = $2"                  \
      " AND consumed_batch_id IS NOT NULL AND persisted_at IS NULL")                               \
    X(INGEST_PERSIST_UP_TO, "it",                                                                  \
      "UPDATE ingested_requests SET persisted_at = $1 WHERE sequence_number <= $2"                 \
      " AND persisted_at IS NULL")                                                                 \
    X(INGEST_RELEASE, "",                                                                          \
      "UPDATE ingested_requests SET consumed_batch_id = NULL WHERE persisted_at IS NULL"           \
      " AND consumed_batch_id IS NOT NULL")                                                        \
                                                                                                   \
    X(STATE_GET, "tt",                                                                             \
      "SELECT value, value_sum FROM persistent_state WHERE domain = $1 AND name = $2")             \
    X(STATE_PUT, "ttii",                                                                           \
      "INSERT INTO persistent_state (domain, name, value, value_sum) VALUES ($1, $2, $3, $4)"      \
      " ON CONFLICT (domain, name) DO UPDATE SET value = excluded.value,"                          \
      " value_sum = excluded.value_sum")                                                           \
                                                                                                   \
    X(RESULT_FIND, "i", "SELECT number FROM results WHERE modification_id = $1")                   \
    X(RESULT_PUBLISH, "ii",                                                                        \
      UVEA_SQL_RESULT "1 FROM modifications WHERE id = $2 AND status = 'COMPLETED'"                \
                      " AND result_message_body IS NOT NULL")                                      \
    X(RESULT_REPLAY, "ii",                                                                         \
      UVEA_SQL_RESULT                                                                              \
      "row_number() OVER (ORDER BY CASE request_type WHEN 'uniqueness' THEN 1"                     \
      " WHEN 'identity_deletion' THEN 2 WHEN 'reauth' THEN 3 WHEN 'reset_update' THEN 4"           \
      " WHEN 'reset_check' THEN 5 WHEN 'recovery_check' THEN 6 WHEN 'recovery_update' THEN 7"      \
      " ELSE 8 END, id) FROM (SELECT * FROM modifications ORDER BY id DESC LIMIT $2) AS newest"    \
      " WHERE status = 'COMPLETED' AND result_message_body IS NOT NULL"                            \
      " AND NOT EXISTS (SELECT 1 FROM results WHERE modification_id = newest.id)")                 \
    X(RESULTS, "ii",                                                                               \
      UVEA_SQL_MODIFICATION ", number FROM results JOIN modifications ON id = modification_id"     \
                            " WHERE number > $1 ORDER BY number LIMIT $2")                         \
                                                                                                   \
    X(TOPIC_FIND, "t", "SELECT sequence_number FROM topic WHERE message_id = $1")                  \
    X(TOPIC_LAST, "", "SELECT coalesce(max(sequence_number), 0) FROM topic")                       \
    X(TOPIC_INSERT, "itbii",                                                                       \
      "INSERT INTO topic (sequence_number, message_id, body, body_sum, received_at)"               \
      " VALUES ($1, $2, $3, $4, $5)")                                                              \
    X(TOPIC_READ, "ii",                                                                            \
      "SELECT sequence_number, body, body_sum, message_id FROM topic"                              \
      " WHERE sequence_number > $1 ORDER BY sequence_number LIMIT $2")                             \
                                                                                                   \
    X(OBJECT_INSERT, "tbii",                                                                       \
      "INSERT INTO share_objects (object_key, bytes, bytes_sum, received_at)"                      \
      " VALUES ($1, $2, $3, $4) ON CONFLICT (object_key) DO NOTHING")                              \
    X(OBJECT_GET, "t", "SELECT bytes, bytes_sum FROM share_objects WHERE object_key = $1")         \
                                                                                                   \
    X(SPECTRAL_READ, "iii",                                                                        \
      "SELECT serial_id, version_id, party, format_version, generation, payload_hash, payload"     \
      " FROM cpu_spectral_irises WHERE side = $1 AND serial_id >= $2 AND serial_id < $3"           \
      " ORDER BY serial_id")                                                                       \
    X(SPECTRAL_PUT, "iiiiibbb",                                                                    \
      "INSERT INTO cpu_spectral_irises (serial_id, version_id, side, party, format_version,"       \
      " generation, payload_hash, payload) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"                \
      " ON CONFLICT (side, serial_id) DO UPDATE SET version_id = excluded.version_id,"             \
      " party = excluded.party, format_version = excluded.format_version,"                         \
      " generation = excluded.generation, payload_hash = excluded.payload_hash,"                   \
      " payload = excluded.payload")                                                               \
    X(SPECTRAL_TRIM, "i", "DELETE FROM cpu_spectral_irises WHERE serial_id > $1")

enum uvea_sql_statement {
#define UVEA_SQL_ENUM(name, types, text) UVEA_SQL_##name,
    UVEA_SQL_STATEMENTS(UVEA_SQL_ENUM)
#undef UVEA_SQL_ENUM
        UVEA_SQL_STATEMENT_COUNT,
};

enum { UVEA_SQL_PARAMETERS_MAX = 10 };

#endif
