// What every back end must do: one list of tests, run by one program for each.
#ifndef UVEA_TESTS_STORE_SUITE_H
#define UVEA_TESTS_STORE_SUITE_H

#define SUITE(X)                                                                                   \
    X(records_are_read_as_written)                                                                 \
    X(records_are_read_by_range_and_eye)                                                           \
    X(reader_ends_the_reading)                                                                     \
    X(eye_is_read_at_its_version_only)                                                             \
    X(seed_follows_the_largest_serial)                                                             \
    X(inserts_must_be_contiguous)                                                                  \
    X(updates_must_raise_the_version)                                                              \
    X(spoiled_record_is_never_read)                                                                \
    X(ingest_counts_what_has_no_gap)                                                               \
    X(ingest_leaves_duplicates_alone)                                                              \
    X(ingest_counts_many_at_once)                                                                  \
    X(bodies_are_any_bytes)                                                                        \
    X(spoiled_message_is_never_read)                                                               \
    X(database_has_one_owner)                                                                      \
    X(claim_numbers_modifications)                                                                 \
    X(claim_is_compare_and_set)                                                                    \
    X(commit_changes_everything_at_once)                                                           \
    X(commit_refuses_what_was_not_claimed)                                                         \
    X(recovery_persists_and_releases)                                                              \
    X(newest_modifications_ascend)                                                                 \
    X(results_are_published_once)                                                                  \
    X(results_need_a_completed_modification)                                                       \
    X(replay_goes_by_type_then_id)                                                                 \
    X(replay_looks_back_so_far_only)                                                               \
    X(results_name_their_batch)                                                                    \
    X(repair_writes_deletes_and_restores)                                                          \
    X(repair_is_all_or_nothing)                                                                    \
    X(topic_numbers_each_message_once)                                                             \
    X(share_objects_never_change)                                                                  \
    X(share_objects_may_be_large)                                                                  \
    X(spectral_rows_are_replaced_and_trimmed)                                                      \
    X(spectral_rows_of_wrong_size_are_left_out)                                                    \
    X(texts_and_numbers_are_checked)                                                               \
    X(everything_is_there_after_opening_again)                                                     \
    X(newer_schema_is_refused_unwritten)                                                           \
    X(foreign_tables_are_refused_unwritten)                                                        \
    X(older_schema_is_brought_up_to_date)                                                          \
    X(older_results_are_of_no_batch)                                                               \
    X(second_user_is_refused_by_name)                                                              \
    X(migrators_at_once_all_succeed)                                                               \
    X(threads_take_turns)                                                                          \
    X(failed_write_ends_the_store)                                                                 \
    X(failed_commit_ends_the_store)                                                                \
    X(killed_process_loses_nothing_acknowledged)

#define SUITE_DECLARE(name) void name(void **state);
SUITE(SUITE_DECLARE)
#undef SUITE_DECLARE

#endif
