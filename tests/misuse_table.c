/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misuse_table.c - every call reports misuse in the same way. Each row of the tables below is a
 * wrong call, made in a process of its own: outside of a phase, where no thread is a PE, and in a
 * phase, with wrong arguments. The error callback must be called once, with the name of the call.
 * Then
 *
 *   - a call without a status ends the job, whatever SKUA_ERRORS is, and the callback is told so;
 *   - a call with a status returns it with SKUA_ERRORS=status, and ends the job with fatal.
 *
 * (errors.c has the statuses of all calls that return one.)
 */
#include <signal.h>
#include <skua/skua.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static skua_msg *msg; /* the message of a phase */

static bool condition(void *arg)
{
    (void)arg;
    return true;
}

static bool idle(void *arg)
{
    (void)arg;
    return false;
}

static void body(void *arg)
{
    (void)arg;
}

static void on_message(skua_msg *message)
{
    skua_msg_free(message);
}

#define NO_HANDLER ((skua_handler){0})
#define NO_REF     ((skua_ref){0})
#define NO_ALL     ((skua_collection){0})
#define NO_ENTRY   ((skua_entry){0})
#define NO_CLASS   ((skua_class){0})
#define NO_REGION  ((skua_region){0})
#define NO_GADDR   skua_at(NO_REGION, 0, 0)
#define NO_SECTION ((skua_section){0})
#define NO_CHANNEL ((skua_channel){0})
#define NO_STREAM  ((skua_stream){0})
#define NO_TEAM    ((skua_team)NULL)
#define DONE       ((skua_completion){0})
#define FIRST      ((skua_detector){0})

static skua_counter counter;
static skua_future  future;
static skua_mutex   mutex;
static skua_cond    cond;
static skua_stats   stats;
static skua_layout  layout;
static skua_locks   locks;
static uint64_t     word;
static uint32_t     narrow;
static skua_buffer  buffer, remote = {.pe = 9};
static skua_channel channel;
static skua_region  region;
static skua_team    team;
static skua_update  update;

static skua_strategy no_strategy = {.name = "Not A Name"};

static skua_channel_reduction_def reduction;
static skua_registration_stats    registrations;
static skua_array_def             array;
static skua_range                 range;
static skua_class_def class = {.name = "late"};
static skua_balance_params  balance;
static skua_stream_def      stream;
static skua_reduction       sum = {SKUA_SUM, SKUA_INT64, 1};
static skua_team_blocks     blocks;
static skua_notify          notify;
static skua_notify_set      notifies = {.notify = &notify, .count = 1, .value = 1};
static skua_balance_stats   balanced;
static skua_interconnect    interconnect;
static skua_channel_end_def end = {.name = "late"};
static int                  coord[SKUA_TORUS_DIMS];
static size_t               index_of;

static void visit(void *self, void *arg)
{
    (void)self, (void)arg;
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
}

/* CALL(name, arguments): outside of a phase. */
#define OUTSIDE                                                                                    \
    CALL(skua_pe, )                                                                                \
    CALL(skua_pes, )                                                                               \
    CALL(skua_process, )                                                                           \
    CALL(skua_processes, )                                                                         \
    CALL(skua_process_of, 0)                                                                       \
    CALL(skua_process_first, 0)                                                                    \
    CALL(skua_process_pes, 0)                                                                      \
    CALL(skua_shares_memory, 0)                                                                    \
    CALL(skua_exit, 0)                                                                             \
    CALL(skua_finalize, )                                                                          \
    CALL(skua_run, )                                                                               \
    CALL(skua_stop, )                                                                              \
    CALL(skua_run_until, condition, NULL)                                                          \
    CALL(skua_run_count, 1)                                                                        \
    CALL(skua_poll, 1)                                                                             \
    CALL(skua_timer_after, 1, DONE)                                                                \
    CALL(skua_timer_every, 1, DONE)                                                                \
    CALL(skua_timer_cancel, (skua_timer){1, 0})                                                    \
    CALL(skua_migrate_now, &word, 0)                                                               \
    CALL(skua_idle_add, idle, NULL)                                                                \
    CALL(skua_idle_remove, idle, NULL)                                                             \
    CALL(skua_stats_get, &stats, sizeof stats)                                                     \
    CALL(skua_msg_alloc, 8)                                                                        \
    CALL(skua_msg_alloc_bits, 8, 32)                                                               \
    CALL(skua_send_copy, 0, NO_HANDLER, NULL, 0)                                                   \
    CALL(skua_send_copy_prio, 0, NO_HANDLER, NULL, 0, 1)                                           \
    CALL(skua_quiescence, DONE)                                                                    \
    CALL(skua_barrier, DONE)                                                                       \
    CALL(skua_allreduce, SKUA_SUM, SKUA_INT64, &word, 1, DONE)                                     \
    CALL(skua_reduce, 0, SKUA_SUM, SKUA_INT64, &word, 1, DONE)                                     \
    CALL(skua_counter_wait, &counter, 1)                                                           \
    CALL(skua_future_wait, &future, NULL)                                                          \
    CALL(skua_future_set, &future, NULL, 0)                                                        \
    CALL(skua_mutex_unlock, &mutex)                                                                \
    CALL(skua_cond_wait, &cond, &mutex)                                                            \
    CALL(skua_cond_signal, &cond)                                                                  \
    CALL(skua_cond_broadcast, &cond)                                                               \
    CALL(skua_thread_create, body, NULL, 0)                                                        \
    CALL(skua_thread_self, )                                                                       \
    CALL(skua_thread_yield, )                                                                      \
    CALL(skua_thread_suspend, )                                                                    \
    CALL(skua_flush, 0)                                                                            \
    CALL(skua_flush_all, )                                                                         \
    CALL(skua_flush_region, ((skua_region){7}))                                                    \
    CALL(skua_sync, )                                                                              \
    CALL(skua_call, 0, (skua_function){0}, NULL, 0, DONE)                                          \
    CALL(skua_lock, locks, 0, 0)                                                                   \
    CALL(skua_unlock, locks, 0, 0)                                                                 \
    CALL(skua_hosts, )                                                                             \
    CALL(skua_host_of, 0)                                                                          \
    CALL(skua_host_pes, 0)                                                                         \
    CALL(skua_host_pe, 0, 0)                                                                       \
    CALL(skua_cpu_of, 0)                                                                           \
    CALL(skua_strategy_register, &no_strategy)                                                     \
    CALL(skua_distance, 0)                                                                         \
    CALL(skua_mesh_make, 2)                                                                        \
    CALL(skua_group_create, NO_CLASS, NULL, 0)                                                     \
    CALL(skua_process_group_create, NO_CLASS, NULL, 0)                                             \
    CALL(skua_array_create1, NO_CLASS, 1, NULL, 0)                                                 \
    CALL(skua_array_insert, NO_REF, 0, NULL, 0)                                                    \
    CALL(skua_array_close, NO_ALL)                                                                 \
    CALL(skua_collection_destroy, NO_ALL)                                                          \
    CALL(skua_collection_local_count, NO_ALL)                                                      \
    CALL(skua_group_local, NO_ALL)                                                                 \
    CALL(skua_chare_create, NO_CLASS, 0, NULL, 0)                                                  \
    CALL(skua_chare_create_local, NO_CLASS, NULL, 0)                                               \
    CALL(skua_invoke_copy_prio, NO_REF, NO_ENTRY, NULL, 0, 1)                                      \
    CALL(skua_invoke_all, NO_ALL, NO_ENTRY, NULL, 0)                                               \
    CALL(skua_invoke_now, NO_REF, NO_ENTRY, NULL, 0)                                               \
    CALL(skua_invoke_reply, NO_REF, NO_ENTRY, NULL, 0, DONE)                                       \
    CALL(skua_object_local, NO_REF)                                                                \
    CALL(skua_object_destroy_ref, NO_REF)                                                          \
    CALL(skua_location, NO_REF)                                                                    \
    CALL(skua_home, NO_REF)                                                                        \
    CALL(skua_reply, NULL, 0)                                                                      \
    CALL(skua_reply_later, )                                                                       \
    CALL(skua_detector_create, )                                                                   \
    CALL(skua_detector_start, FIRST, 1, DONE)                                                      \
    CALL(skua_detector_produce, FIRST, 1)                                                          \
    CALL(skua_detector_consume, FIRST, 1)                                                          \
    CALL(skua_detector_done, FIRST)                                                                \
    CALL(skua_section_create, NO_ALL, NULL, 0)                                                     \
    CALL(skua_section_destroy, NO_SECTION)                                                         \
    CALL(skua_section_invoke, NO_SECTION, NO_ENTRY, NULL, 0)                                       \
    CALL(skua_pe_data_get, (skua_pe_data){64})                                                     \
    CALL(skua_process_data_get, (skua_process_data){64})                                           \
    CALL(skua_buffer_alloc, 8)                                                                     \
    CALL(skua_channel_alloc, 8)                                                                    \
    CALL(skua_channel_open, NO_CHANNEL, &layout)                                                   \
    CALL(skua_channel_count, NO_CHANNEL)                                                           \
    CALL(skua_channel_ready, NO_CHANNEL)                                                           \
    CALL(skua_channel_destroy, NO_CHANNEL)                                                         \
    CALL(skua_zero_copy_bytes, 0)                                                                  \
    CALL(skua_notify_wait, &notify, 1)                                                             \
    CALL(skua_array_create, NO_CLASS, &array, NULL, 0)                                             \
    CALL(skua_array_create2, NO_CLASS, 1, 1, NULL, 0)                                              \
    CALL(skua_array_create3, NO_CLASS, 1, 1, 1, NULL, 0)                                           \
    CALL(skua_balance_now, )                                                                       \
    CALL(skua_measure_start, )                                                                     \
    CALL(skua_measure_stop, )                                                                      \
    CALL(skua_measure_reset, )                                                                     \
    CALL(skua_buffer_make, &word, 8, SKUA_REGISTER_NEVER, DONE, 0)                                 \
    CALL(skua_buffer_local, &buffer)                                                               \
    CALL(skua_buffer_get, &buffer, &buffer)                                                        \
    CALL(skua_buffer_put, &buffer, &buffer)                                                        \
    CALL(skua_buffer_register, &buffer)                                                            \
    CALL(skua_buffer_unregister, &buffer)                                                          \
    CALL(skua_registration_stats_get, &registrations, sizeof registrations)                        \
    CALL(skua_channel_create, &layout, NULL, NULL, NULL, &channel)                                 \
    CALL(skua_channel_open_many, &channel, 1, &layout)                                             \
    CALL(skua_channel_poll, NO_CHANNEL)                                                            \
    CALL(skua_fence, 0)                                                                            \
    CALL(skua_fence_all, )                                                                         \
    CALL(skua_region_create, 8, &region)                                                           \
    CALL(skua_region_create_local, 8, &region)                                                     \
    CALL(skua_region_create_from, &word, 8, &region)                                               \
    CALL(skua_region_create_varied, 8, &region)                                                    \
    CALL(skua_region_create_on, &(int){0}, 1, 8, &region)                                          \
    CALL(skua_region_create_team, SKUA_TEAM_ALL, 8, &region)                                       \
    CALL(skua_region_destroy, NO_REGION)                                                           \
    CALL(skua_region_set_name, NO_REGION, "none")                                                  \
    CALL(skua_region_set_restart, NO_REGION, SKUA_REGION_SAVED, 0)                                 \
    CALL(skua_region_local, NO_REGION)                                                             \
    CALL(skua_locks_create, 1, &locks)                                                             \
    CALL(skua_locks_destroy, locks)                                                                \
    CALL(skua_msg_try_alloc, 8, &msg)                                                              \
    CALL(skua_notify_add, NO_GADDR, 1)                                                             \
    CALL(skua_notify_wait_until, &notify, SKUA_CMP_GE, 1)                                          \
    CALL(skua_put, NO_GADDR, &word, 8)                                                             \
    CALL(skua_get_nb, &word, NO_GADDR, 8, NULL)                                                    \
    CALL(skua_atomic, NO_GADDR, SKUA_ATOMIC_ADD, SKUA_UINT64, &word, NULL)                         \
    CALL(skua_load64, NO_GADDR, &word)                                                             \
    CALL(skua_section_create_range, NO_ALL, &range, NULL)                                          \
    CALL(skua_team_pe, SKUA_TEAM_ALL)                                                              \
    CALL(skua_team_pes, SKUA_TEAM_ALL)                                                             \
    CALL(skua_team_pe_of, SKUA_TEAM_ALL, 0)                                                        \
    CALL(skua_team_translate, SKUA_TEAM_ALL, 0, SKUA_TEAM_ALL)                                     \
    CALL(skua_team_split, SKUA_TEAM_ALL, 0, 0, &team)                                              \
    CALL(skua_team_split_nb, SKUA_TEAM_ALL, 0, 0, &team, DONE)                                     \
    CALL(skua_team_destroy, SKUA_TEAM_ALL)                                                         \
    CALL(skua_team_barrier, SKUA_TEAM_ALL, DONE)                                                   \
    CALL(skua_balance_stats_get, &balanced, sizeof balanced)                                       \
    CALL(skua_channel_lend, NO_CHANNEL, &layout)                                                   \
    CALL(skua_channel_mark, NO_CHANNEL)                                                            \
    CALL(skua_channel_view, NO_CHANNEL)                                                            \
    CALL(skua_checkpoint, "none", DONE)                                                            \
    CALL(skua_checkpoint_if_due, DONE)                                                             \
    CALL(skua_checkpoint_make_due, )                                                               \
    CALL(skua_checkpoint_flush, DONE)                                                              \
    CALL(skua_resize, 2)                                                                           \
    CALL(skua_collection_each, NO_ALL, visit, NULL)                                                \
    CALL(skua_done_count, &counter)                                                                \
    CALL(skua_done_exit, 0)                                                                        \
    CALL(skua_done_future, &future)                                                                \
    CALL(skua_done_invoke, NO_REF, NO_ENTRY)                                                       \
    CALL(skua_done_invoke_all, NO_ALL, NO_ENTRY)                                                   \
    CALL(skua_done_invoke_section, NO_SECTION, NO_ENTRY)                                           \
    CALL(skua_future_all, &(skua_future *){&future}, 1, DONE)                                      \
    CALL(skua_future_any, &(skua_future *){&future}, 1, DONE)                                      \
    CALL(skua_future_then, &future, DONE)                                                          \
    CALL(skua_hops, 0, 0)                                                                          \
    CALL(skua_host_at, coord)                                                                      \
    CALL(skua_host_coord, 0, coord)                                                                \
    CALL(skua_host_hops, 0, 0)                                                                     \
    CALL(skua_host_name, 0)                                                                        \
    CALL(skua_host_switch, 0, 0)                                                                   \
    CALL(skua_interconnect_get, &interconnect, sizeof interconnect)                                \
    CALL(skua_invoke, NO_REF, NO_ENTRY, NULL)                                                      \
    CALL(skua_invoke_copy_to, &NO_REF, NO_ENTRY, NULL, 0)                                          \
    CALL(skua_measure_graph_start, )                                                               \
    CALL(skua_mutex_lock, &mutex)                                                                  \
    CALL(skua_nearest, 0, 1, coord)                                                                \
    CALL(skua_nocopy_alloc, 0, 8, NULL, 0)                                                         \
    CALL(skua_notify_wait_all, &notifies)                                                          \
    CALL(skua_notify_wait_any, &notifies)                                                          \
    CALL(skua_notify_wait_some, &notifies, &index_of)                                              \
    CALL(skua_region_size_of, NO_REGION, 0)                                                        \
    CALL(skua_section_rebuild, NO_SECTION)                                                         \
    CALL(skua_stream_flush, NO_STREAM)                                                             \
    CALL(skua_stream_waiting, NO_STREAM)                                                           \
    CALL(skua_stream_bind, NO_STREAM, NULL)                                                        \
    CALL(skua_thread_join, NULL)                                                                   \
    CALL(skua_thread_resume_on, 0, NULL)

/* CALL(name, arguments): on the only PE of a phase. */
#define WITHIN                                                                                     \
    CALL(skua_process_of, 9)                                                                       \
    CALL(skua_process_first, 9)                                                                    \
    CALL(skua_process_pes, 9)                                                                      \
    CALL(skua_shares_memory, 9)                                                                    \
    CALL(skua_send, 9, (skua_handler){1}, msg)                                                     \
    CALL(skua_send, 0, NO_HANDLER, msg)                                                            \
    CALL(skua_send_copy, 9, NO_HANDLER, NULL, 0)                                                   \
    CALL(skua_send_copy_prio, 0, NO_HANDLER, NULL, 0, 1)                                           \
    CALL(skua_enqueue, NO_HANDLER, msg)                                                            \
    CALL(skua_broadcast, NO_HANDLER, msg, DONE)                                                    \
    CALL(skua_done_send, 0, NO_HANDLER)                                                            \
    CALL(skua_done_call, NULL, NULL)                                                               \
    CALL(skua_reduce, 9, SKUA_SUM, SKUA_INT64, &word, 1, DONE)                                     \
    CALL(skua_reduce, 0, SKUA_BIT_OR, SKUA_DOUBLE, &word, 1, DONE)                                 \
    CALL(skua_allreduce, SKUA_BIT_OR, SKUA_DOUBLE, &word, 1, DONE)                                 \
    CALL(skua_reduce, 0, (skua_op)(0x10000 + SKUA_SUM), SKUA_INT64, &word, 1, DONE)                \
    CALL(skua_allreduce, (skua_op)(0x10000 + SKUA_SUM), SKUA_INT64, &word, 1, DONE)                \
    CALL(skua_mutex_unlock, &mutex)                                                                \
    CALL(skua_thread_suspend, )                                                                    \
    CALL(skua_flush, 9)                                                                            \
    CALL(skua_flush_region, NO_REGION)                                                             \
    CALL(skua_call, 9, (skua_function){1}, NULL, 0, DONE)                                          \
    CALL(skua_call, 0, (skua_function){0}, NULL, 0, DONE)                                          \
    CALL(skua_host_of, 9)                                                                          \
    CALL(skua_host_pes, 9)                                                                         \
    CALL(skua_host_pe, 9, 0)                                                                       \
    CALL(skua_cpu_of, 9)                                                                           \
    CALL(skua_distance, 9)                                                                         \
    CALL(skua_mesh_make, 99)                                                                       \
    CALL(skua_group_create, NO_CLASS, NULL, 0)                                                     \
    CALL(skua_process_group_create, NO_CLASS, NULL, 0)                                             \
    CALL(skua_array_create1, NO_CLASS, 1, NULL, 0)                                                 \
    CALL(skua_chare_create, NO_CLASS, 0, NULL, 0)                                                  \
    CALL(skua_chare_create_local, NO_CLASS, NULL, 0)                                               \
    CALL(skua_invoke_all, NO_ALL, NO_ENTRY, NULL, 0)                                               \
    CALL(skua_detector_start, ((skua_detector){9, 9}), 1, DONE)                                    \
    CALL(skua_detector_produce, ((skua_detector){9, 9}), 1)                                        \
    CALL(skua_detector_done, ((skua_detector){9, 9}))                                              \
    CALL(skua_pe_data_get, (skua_pe_data){0})                                                      \
    CALL(skua_process_data_get, (skua_process_data){0})                                            \
    CALL(skua_zero_copy_bytes, 9)                                                                  \
    CALL(skua_handler_register, "late", on_message)                                                \
    CALL(skua_pe_data_register, 8)                                                                 \
    CALL(skua_process_data_register, 8)                                                            \
    CALL(skua_readonly_register, "late", &word, 8)                                                 \
    CALL(skua_channel_count, NO_CHANNEL)                                                           \
    CALL(skua_channel_ready, NO_CHANNEL)                                                           \
    CALL(skua_channel_destroy, NO_CHANNEL)                                                         \
    CALL(skua_array_create, NO_CLASS, &array, NULL, 0)                                             \
    CALL(skua_array_create2, NO_CLASS, 1, 1, NULL, 0)                                              \
    CALL(skua_array_create3, NO_CLASS, 1, 1, 1, NULL, 0)                                           \
    CALL(skua_balance_set_strategy, "no-such-strategy")                                            \
    CALL(skua_buffer_unregister, &remote)                                                          \
    CALL(skua_channel_poll, NO_CHANNEL)                                                            \
    CALL(skua_class_register, &class)                                                              \
    CALL(skua_class_set_balance, NO_CLASS, &balance)                                               \
    CALL(skua_entry_register, NO_CLASS, "late", NULL, 0)                                           \
    CALL(skua_method_register, NO_CLASS, "late", NULL, 0)                                          \
    CALL(skua_function_register, "late", NULL)                                                     \
    CALL(skua_op_register, "late", NULL)                                                           \
    CALL(skua_stream_register, "late", &stream)                                                    \
    CALL(skua_fence, 9)                                                                            \
    CALL(skua_section_create_range, NO_ALL, &range, NULL)                                          \
    CALL(skua_team_pe, NO_TEAM)                                                                    \
    CALL(skua_team_pes, NO_TEAM)                                                                   \
    CALL(skua_team_pe_of, SKUA_TEAM_ALL, 9)                                                        \
    CALL(skua_team_translate, SKUA_TEAM_ALL, 9, SKUA_TEAM_ALL)                                     \
    CALL(skua_team_split_nb, NO_TEAM, 0, 0, &team, DONE)                                           \
    CALL(skua_team_split_nb, SKUA_TEAM_ALL, -9, 0, &team, DONE)                                    \
    CALL(skua_team_barrier, NO_TEAM, DONE)                                                         \
    CALL(skua_team_broadcast, SKUA_TEAM_ALL, 9, &word, 8, DONE)                                    \
    CALL(skua_team_reduce, SKUA_TEAM_ALL, 9, &sum, &word, &word, DONE)                             \
    CALL(skua_team_allreduce, NO_TEAM, &sum, &word, &word, DONE)                                   \
    CALL(skua_team_scan, SKUA_TEAM_ALL, NULL, &word, &word, DONE)                                  \
    CALL(skua_team_exscan, SKUA_TEAM_ALL, NULL, &word, &word, DONE)                                \
    CALL(skua_team_gather, SKUA_TEAM_ALL, 9, &word, 8, &word, DONE)                                \
    CALL(skua_team_gatherv, SKUA_TEAM_ALL, 9, &word, 8, &blocks, DONE)                             \
    CALL(skua_team_scatter, SKUA_TEAM_ALL, 9, &word, &word, 8, DONE)                               \
    CALL(skua_team_scatterv, SKUA_TEAM_ALL, 9, &blocks, &word, 8, DONE)                            \
    CALL(skua_team_allgather, NO_TEAM, &word, 8, &word, DONE)                                      \
    CALL(skua_team_allgatherv, NO_TEAM, &word, 8, &blocks, DONE)                                   \
    CALL(skua_team_alltoall, NO_TEAM, &word, &word, 8, DONE)                                       \
    CALL(skua_team_alltoallv, NO_TEAM, &blocks, &blocks, DONE)                                     \
    CALL(skua_main, 0, NULL, start)                                                                \
    CALL(skua_program, 0, NULL, start)                                                             \
    CALL(skua_channel_mark, NO_CHANNEL)                                                            \
    CALL(skua_channel_view, NO_CHANNEL)                                                            \
    CALL(skua_channel_end_register, &end)                                                          \
    CALL(skua_checkpoint_register, "late", &word, 8)                                               \
    CALL(skua_checkpoint_hook, SKUA_CHECKPOINT_BEFORE, NULL, NULL)                                 \
    CALL(skua_collection_each, NO_ALL, visit, NULL)                                                \
    CALL(skua_done_invoke, NO_REF, NO_ENTRY)                                                       \
    CALL(skua_done_invoke_all, NO_ALL, NO_ENTRY)                                                   \
    CALL(skua_done_invoke_section, NO_SECTION, NO_ENTRY)                                           \
    CALL(skua_hops, 0, 9)                                                                          \
    CALL(skua_host_coord, 9, coord)                                                                \
    CALL(skua_host_hops, 0, 9)                                                                     \
    CALL(skua_host_name, 9)                                                                        \
    CALL(skua_host_switch, 9, 0)                                                                   \
    CALL(skua_inplace_register, NO_CLASS, "late", NULL, NULL, 0)                                   \
    CALL(skua_invoke, NO_REF, NO_ENTRY, msg)                                                       \
    CALL(skua_map_register, "late", NULL)                                                          \
    CALL(skua_nearest, 9, 1, coord)                                                                \
    CALL(skua_notify_test, &notify, (skua_cmp)99, 1)                                               \
    CALL(skua_notify_wait_until, &notify, (skua_cmp)99, 1)                                         \
    CALL(skua_readonly_block_register, "late", NULL, NULL)                                         \
    CALL(skua_section_rebuild, NO_SECTION)                                                         \
    CALL(skua_stream_flush, NO_STREAM)                                                             \
    CALL(skua_stream_waiting, NO_STREAM)                                                           \
    CALL(skua_stream_bind, NO_STREAM, NULL)                                                        \
    CALL(skua_thread_resume_on, 9, NULL)                                                           \
    CALL(skua_complete, ((skua_completion){.kind = 99}), NULL, 0)

/* CALL(name, arguments): in a phase, of calls that return a status. */
#define STATUS                                                                                     \
    CALL(skua_init, NULL)                                                                          \
    CALL(skua_put, NO_GADDR, &word, 8)                                                             \
    CALL(skua_get, &word, NO_GADDR, 8)                                                             \
    CALL(skua_put_nb, NO_GADDR, &word, 8, NULL)                                                    \
    CALL(skua_get_nb, &word, NO_GADDR, 8, NULL)                                                    \
    CALL(skua_copy, NO_GADDR, NO_GADDR, 8)                                                         \
    CALL(skua_copy_nb, NO_GADDR, NO_GADDR, 8, NULL)                                                \
    CALL(skua_copy_after, &future, NO_GADDR, NO_GADDR, 8, NULL)                                    \
    CALL(skua_put_layout, NO_GADDR, &layout, &layout)                                              \
    CALL(skua_get_layout, &layout, NO_GADDR, &layout)                                              \
    CALL(skua_put_layout_nb, NO_GADDR, &layout, &layout, NULL)                                     \
    CALL(skua_get_layout_nb, &layout, NO_GADDR, &layout, NULL)                                     \
    CALL(skua_acc, NO_GADDR, &word, 8, &update)                                                    \
    CALL(skua_acc_layout, NO_GADDR, &layout, &layout, &update)                                     \
    CALL(skua_acc_nb, NO_GADDR, &word, 8, &update, NULL)                                           \
    CALL(skua_acc_layout_nb, NO_GADDR, &layout, &layout, &update, NULL)                            \
    CALL(skua_atomic, NO_GADDR, SKUA_ATOMIC_ADD, SKUA_UINT64, &word, NULL)                         \
    CALL(skua_atomic, NO_GADDR, SKUA_ATOMIC_AND, SKUA_DOUBLE, &word, NULL)                         \
    CALL(skua_atomic_nb, NO_GADDR, SKUA_ATOMIC_ADD, SKUA_UINT64, &word, NULL, NULL)                \
    CALL(skua_fetch_add64, NO_GADDR, 1, &word)                                                     \
    CALL(skua_fetch_and64, NO_GADDR, 1, &word)                                                     \
    CALL(skua_fetch_or64, NO_GADDR, 1, &word)                                                      \
    CALL(skua_fetch_xor64, NO_GADDR, 1, &word)                                                     \
    CALL(skua_swap64, NO_GADDR, 1, &word)                                                          \
    CALL(skua_compare_swap64, NO_GADDR, 1, 2, &word)                                               \
    CALL(skua_load64, NO_GADDR, &word)                                                             \
    CALL(skua_store64, NO_GADDR, 1)                                                                \
    CALL(skua_fetch_add32, NO_GADDR, 1, &narrow)                                                   \
    CALL(skua_fetch_and32, NO_GADDR, 1, &narrow)                                                   \
    CALL(skua_fetch_or32, NO_GADDR, 1, &narrow)                                                    \
    CALL(skua_fetch_xor32, NO_GADDR, 1, &narrow)                                                   \
    CALL(skua_swap32, NO_GADDR, 1, &narrow)                                                        \
    CALL(skua_compare_swap32, NO_GADDR, 1, 2, &narrow)                                             \
    CALL(skua_load32, NO_GADDR, &narrow)                                                           \
    CALL(skua_store32, NO_GADDR, 1)                                                                \
    CALL(skua_notify_add, NO_GADDR, 1)                                                             \
    CALL(skua_locks_destroy, locks)                                                                \
    CALL(skua_buffer_get, &remote, &buffer)                                                        \
    CALL(skua_buffer_put, &remote, &buffer)                                                        \
    CALL(skua_buffer_register, &remote)                                                            \
    CALL(skua_channel_create, &layout, NULL, NULL, NULL, &channel)                                 \
    CALL(skua_channel_create_view, &layout, NULL, NULL, NULL, &channel)                            \
    CALL(skua_channel_create_reduction, &reduction, &channel)                                      \
    CALL(skua_msg_set_priority_bits, msg, NULL, 1)                                                 \
    CALL(skua_region_create_on, &(int){9}, 1, 8, &region)                                          \
    CALL(skua_region_create_from, NULL, 8, &region)                                                \
    CALL(skua_region_create_team, NO_TEAM, 8, &region)                                             \
    CALL(skua_region_destroy, NO_REGION)                                                           \
    CALL(skua_region_set_name, NO_REGION, "none")                                                  \
    CALL(skua_region_set_restart, NO_REGION, SKUA_REGION_SAVED, 0)                                 \
    CALL(skua_resize, 0)                                                                           \
    CALL(skua_team_split, NO_TEAM, 0, 0, &team)                                                    \
    CALL(skua_team_destroy, NO_TEAM)

/* CALL(name, arguments): in a phase, of calls that request more memory than there is. This is not
 * misuse: they return a status with either setting. */
#define SHORTAGE                                                                                   \
    CALL(skua_locks_create, SIZE_MAX, &locks)                                                      \
    CALL(skua_msg_try_alloc, SIZE_MAX, &msg)                                                       \
    CALL(skua_region_create, SIZE_MAX, &region)                                                    \
    CALL(skua_region_create_varied, SIZE_MAX, &region)                                             \
    CALL(skua_region_create_local, SIZE_MAX, &region)

/* CALL(name, arguments): in a phase, of calls that return NULL. */
#define ABSENT                                                                                     \
    CALL(skua_channel_lend, NO_CHANNEL, &layout)                                                   \
    CALL(skua_channel_open, NO_CHANNEL, &layout)

/*
 * Calls without a row, for tests/abi.sh, which finds the name of every public function here:
 *
 *   no wrong argument can be recognised, or none exists
 *      skua_abort skua_done_nothing skua_error_set_callback skua_initialized skua_log_set_callback
 *      skua_status_str skua_strategy_at skua_strategy_find skua_time skua_version
 *      skua_version_expect skua_balance_strategy skua_inplace_count skua_set_next
 *      skua_layout_bytes skua_layout_copy skua_mesh_coord skua_mesh_pe
 *   what is not there is 0, NULL or complete
 *      skua_gaddr_local skua_handle_test skua_handle_wait skua_region_size skua_mutex_trylock
 *      skua_future_clear skua_future_test skua_notify_take skua_notify_test_all
 *      skua_notify_test_any skua_notify_test_some skua_notify_value
 *   the argument is memory or an object of the runtime, which misbehave.c and pup_misuse.c misuse
 *      skua_msg_free skua_msg_set_expedited skua_msg_set_priority skua_msg_size skua_msg_source
 *      skua_buffer_free skua_channel_free skua_channel_close skua_channel_put
 *      skua_channel_put_from skua_channel_put_test skua_channel_put_then skua_channel_put_wait
 *      skua_thread_detach skua_thread_resume skua_thread_set_name skua_at_sync skua_balance_load
 *      skua_collection_of skua_contribute_nothing skua_contribute_to skua_index_of skua_migrate
 *      skua_object_destroy skua_ref_of skua_section_contribute skua_inplace_data
 *      skua_inplace_head skua_inplace_reference skua_inplace_withdraw skua_invoke_inplace
 *      skua_object_channel_close skua_object_channel_count skua_object_channel_create
 *      skua_object_channel_open skua_object_channel_put skua_object_channel_ready
 *      skua_pup_array_named skua_pup_begin skua_pup_bytes_named skua_pup_end
 *      skua_pup_memory_named skua_pup_packing skua_pup_plain skua_pup_sizing
 *      skua_pup_string_named skua_pup_unpacking
 *   generated code and inline functions call them
 *      skua_nocopy_broadcast skua_nocopy_bytes skua_nocopy_copied skua_nocopy_count
 *      skua_nocopy_data skua_nocopy_free skua_nocopy_head_bytes skua_nocopy_invoke_all
 *      skua_nocopy_invoke_section skua_nocopy_ready skua_nocopy_ready_entry
 *      skua_stream_memory skua_stream_next skua_stream_nowhere
 */

#undef skua_init /* the function, not the macro of the header */

struct row {
    const char *call;
};

#define CALL(name, ...) {#name},
static const struct row outside[] = {OUTSIDE}, within[] = {WITHIN}, status[] = {STATUS},
                        shortage[] = {SHORTAGE}, absent[] = {ABSENT};
#undef CALL

/* ---- the rows as functions ----------------------------------------------------------------- */

#define CALL(name, ...)                                                                            \
    if (at-- == 0) {                                                                               \
        (void)name(__VA_ARGS__);                                                                   \
        return 0;                                                                                  \
    }
static int run_outside(size_t at)
{
    OUTSIDE
    return 0;
}

static int run_within(size_t at)
{
    WITHIN
    return 0;
}
#undef CALL

#define CALL(name, ...)                                                                            \
    if (at-- == 0)                                                                                 \
        return name(__VA_ARGS__) < 0;
static int run_status(size_t at)
{
    STATUS
    return 0;
}

static int run_shortage(size_t at)
{
    SHORTAGE
    return 0;
}

#undef CALL
#define CALL(name, ...)                                                                            \
    if (at-- == 0)                                                                                 \
        return name(__VA_ARGS__) == NULL;
static int run_absent(size_t at)
{
    ABSENT
    return 0;
}

/* ---- one row in a process -------------------------------------------------------------------- */

/* The arguments of the callback, which are written to a pipe. */
struct told {
    char call[64];
    bool fatal;
};

static int told_fd;

static bool on_error(void *arg, const skua_error *error)
{
    struct told told = {.fatal = error->fatal};

    (void)arg;
    snprintf(told.call, sizeof told.call, "%s", error->call);
    if (write(told_fd, &told, sizeof told) != (ssize_t)sizeof told)
        _exit(3);
    return true;
}

static void silent(void *arg, const skua_log_line *line)
{
    (void)arg, (void)line;
}

static _Noreturn void child(int (*run)(size_t at), size_t at, bool phase, const char *errors)
{
    const char *const settings[] = {errors, "log_level=fatal", NULL};
    int               refused;

    if (!freopen("/dev/null", "w", stderr))
        _exit(3);
    skua_log_set_callback(silent, NULL);
    if (phase && skua_init(&(skua_init_params){.settings = settings}) != SKUA_OK)
        _exit(3);
    if (phase)
        msg = skua_msg_alloc(8);
    skua_error_set_callback(on_error, NULL);
    refused = run(at);
    _exit(refused ? 0 : 2);
}

/* Runs a row. Returns true if the callback was called once with the right arguments, and the
 * process ended as expected. */
static bool row_is_right(const char *call, int (*run)(size_t at), size_t at, bool phase,
                         const char *errors, bool ends)
{
    struct told told[2] = {0};
    int         ends_of[2], code;
    ssize_t     bytes;
    pid_t       pid;

    CHECK(pipe(ends_of) == 0);
    pid = fork();
    if (pid == 0) {
        told_fd = ends_of[1];
        child(run, at, phase, errors);
    }
    close(ends_of[1]);
    waitpid(pid, &code, 0);
    bytes = read(ends_of[0], told, sizeof told);
    close(ends_of[0]);
    if (bytes == (ssize_t)sizeof *told && strcmp(told->call, call) == 0 && told->fatal == ends &&
        (ends ? WIFSIGNALED(code) && WTERMSIG(code) == SIGABRT : code == 0))
        return true;
    printf("# called %d times for \"%s\", fatal %d, status %#x\n",
           (int)(bytes / (ssize_t)sizeof *told), told->call, told->fatal, (unsigned)code);
    return false;
}

static void all_rows(const struct row *rows, size_t count, int (*run)(size_t at), bool phase,
                     const char *errors, bool ends)
{
    for (size_t i = 0; i < count; i++)
        OK(row_is_right(rows[i].call, run, i, phase, errors, ends), "%s, row %zu, %s, %s",
           rows[i].call, i, phase ? "in a phase" : "outside", errors);
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

int main(void)
{
    fflush(stdout);
    setvbuf(stdout, NULL, _IOLBF, 0);
    all_rows(outside, COUNT(outside), run_outside, false, "errors=status", true);
    all_rows(within, COUNT(within), run_within, true, "errors=status", true);
    all_rows(within, 4, run_within, true, "errors=fatal", true); /* backtraces take long */
    all_rows(status, COUNT(status), run_status, true, "errors=status", false);
    all_rows(status, COUNT(status), run_status, true, "errors=fatal", true);
    all_rows(absent, COUNT(absent), run_absent, true, "errors=status", false);
    all_rows(absent, COUNT(absent), run_absent, true, "errors=fatal", true);
    for (size_t i = 0; i < COUNT(shortage); i++) {
        OK(row_is_right("", run_shortage, i, true, "errors=status", false), "%s, row %zu, status",
           shortage[i].call, i);
        OK(row_is_right("", run_shortage, i, true, "errors=fatal", false), "%s, row %zu, fatal",
           shortage[i].call, i);
    }
    return tap_end();
}
