/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_defs.h - every handler of the runtime, declared once, one row each:
 *
 *      HANDLER(id, name, function, least, flags)
 *
 *      id        its number in messages
 *      name      what errors and traces print
 *      function  void function(skua_msg *msg)
 *      least     the fewest bytes of data of a packet from another host, checked before it is run;
 *                SKI_NEVER_REMOTE: no such packet exists
 *      flags     SKI_HANDLES_* (builtin.h), or 0
 *
 * handler.h makes the numbers and the prototypes of this list, src/builtin.c the tables.  The order
 * of rows is the order of numbers.  Handlers of the layers above core are listed as well: numbers
 * are the same in all processes, so there is one list.
 *
 * This file is included several times, with different definitions of HANDLER.
 */

/* core.  Number 0 is a skua_handler that was never registered; net_recv.c splits coalesced packets.
 */
HANDLER(SKI_HANDLER_NONE, "skua.none", ski_handler_unknown, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_THREAD, "skua.thread", ski_on_thread, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_THREAD_RESUME, "skua.thread-resume", ski_on_thread_resume, sizeof(void *), 0)
HANDLER(SKI_HANDLER_COMPLETE, "skua.complete", ski_on_complete, SKI_COMPLETE_MIN, 0)
HANDLER(SKI_HANDLER_COMPLETE_MOVED, "skua.complete-moved", ski_on_complete_moved, SKI_COMPLETE_MIN,
        0)
HANDLER(SKI_HANDLER_ISOMALLOC, "skua.isomalloc", ski_on_isomalloc, SKI_ISOMALLOC_MIN, 0)
HANDLER(SKI_HANDLER_COALESCED, "skua.coalesced", ski_handler_unknown, 0, SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_BROADCAST, "skua.broadcast", ski_on_broadcast, 0,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_BROADCAST_LOCAL, "skua.broadcast-local", ski_on_broadcast_here,
        SKI_NEVER_REMOTE, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BROADCAST_DONE, "skua.broadcast-done", ski_on_broadcast_done, sizeof(void *), 0)
HANDLER(SKI_HANDLER_BROADCAST_SENT, "skua.broadcast-sent", ski_on_broadcast_sent, SKI_NEVER_REMOTE,
        0)
HANDLER(SKI_HANDLER_BROADCAST_LENT, "skua.broadcast-lent", ski_on_broadcast_lent, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_BROADCAST_SEGMENT, "skua.broadcast-segment", ski_on_broadcast_segment,
        SKI_SEGMENT_MIN, SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_REDUCTION, "skua.reduction", ski_on_reduce, SKI_REDUCE_MIN,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_REDUCTION_HOSTS, "skua.reduction-hosts", ski_on_reduction_hosts, SKI_REDUCE_MIN,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_REDUCTION_HALVED, "skua.reduction-halved", ski_on_reduction_halved,
        SKI_REDUCE_MIN, SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_REDUCTION_RESULT, "skua.reduction-result", ski_on_result, SKI_REDUCE_MIN,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_COLLECTIVE_CREDIT, "skua.collective-credit", ski_on_credit, SKI_CREDIT_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_REDUCTION_BLOCKS, "skua.reduction-blocks", ski_on_blocks, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_REDUCTION_SENT, "skua.reduction-sent", ski_on_reduction_sent, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)

/* onesided */
HANDLER(SKI_HANDLER_NOTIFIED, "skua.notified", ski_on_notified, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_AM_REQUEST, "skua.am-request", ski_on_am_request, 0,
        SKI_HANDLES_HIDDEN | SKI_HANDLES_COUNTED)
HANDLER(SKI_HANDLER_AM_PLACED, "skua.am-placed", ski_on_am_placed, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_AM_REPLY, "skua.am-reply", ski_on_am_reply, 0, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_SYMMETRIC_VOTE, "skua.symmetric-vote", ski_on_symmetric_vote,
        SKI_SYMMETRIC_VOTE_MIN, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_BARRIER_ROUND, "skua.barrier-round", ski_on_barrier_round, sizeof(uint32_t), 0)
HANDLER(SKI_HANDLER_LOCK, "skua.lock", ski_on_lock, SKI_LOCK_MIN, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_RMA_REQUEST, "skua.rma-request", ski_on_rma, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_COPY_REQUEST, "skua.copy-request", ski_on_copy_request, SKI_COPY_MIN, 0)
HANDLER(SKI_HANDLER_BUFFER, "skua.buffer", ski_on_buffer, SKI_BUFFER_MIN, 0)
HANDLER(SKI_HANDLER_BUFFER_DATA, "skua.buffer-data", ski_on_buffer_data, SKI_BUFFER_DATA_MIN, 0)
HANDLER(SKI_HANDLER_ROUND_TRIP, "skua.round-trip", ski_on_round_trip, SKI_ROUND_TRIP_MIN, 0)
HANDLER(SKI_HANDLER_BUFFER_SENT, "skua.buffer-sent", ski_on_buffer_sent, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_CHANNEL, "skua.channel", ski_on_channel, SKI_CHANNEL_MIN, 0)
HANDLER(SKI_HANDLER_CHANNEL_PUT, "skua.channel-put", ski_on_channel_put, SKI_CHANNEL_PUT_MIN, 0)
HANDLER(SKI_HANDLER_TEAM, "skua.team", ski_on_team, SKI_TEAM_MIN,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)

/* objects: services */
HANDLER(SKI_HANDLER_QUIESCENCE_REQUEST, "skua.quiescence-request", ski_on_quiescence_request,
        SKI_QUIESCENCE_REQUEST_MIN, 0)
HANDLER(SKI_HANDLER_FINALIZE, "skua.finalize", ski_on_finalize, 0, 0)
HANDLER(SKI_HANDLER_TERMINATION_WAVE, "skua.termination-wave", ski_on_termination_wave,
        SKI_TERMINATION_WAVE_MIN, 0)
HANDLER(SKI_HANDLER_TERMINATION_REPORT, "skua.termination-report", ski_on_termination_report,
        SKI_TERMINATION_REPORT_MIN, 0)
HANDLER(SKI_HANDLER_DETECTOR_START, "skua.detector-start", ski_on_detector_start,
        SKI_DETECTOR_START_MIN, 0)
HANDLER(SKI_HANDLER_DETECTOR_END, "skua.detector-end", ski_on_detector_end, SKI_DETECTOR_END_MIN, 0)
HANDLER(SKI_HANDLER_IDLE_REPORT_REQUEST, "skua.idle-report-request", ski_on_idle_report_request, 0,
        0)
HANDLER(SKI_HANDLER_IDLE_REPORT_TEXT, "skua.idle-report-text", ski_on_idle_text, SKI_IDLE_TEXT_MIN,
        0)
HANDLER(SKI_HANDLER_READONLY, "skua.readonly", ski_on_readonly, SKI_READONLY_MIN, 0)
HANDLER(SKI_HANDLER_NOCOPY, "skua.nocopy", ski_on_nocopy, SKI_NOCOPY_MIN, 0)
HANDLER(SKI_HANDLER_NOCOPY_NET, "skua.nocopy-net", ski_on_nocopy_net, SKI_NOCOPY_NET_MIN,
        SKI_HANDLES_NO_BROADCAST)

/* core: the end of a job.  shutdown.c runs these three, and no others, while a PE leaves. */
HANDLER(SKI_HANDLER_SHUTDOWN_EXIT, "skua.shutdown-exit", ski_on_shutdown_exit, sizeof(int32_t), 0)
HANDLER(SKI_HANDLER_SHUTDOWN_STOPPED, "skua.shutdown-stopped", ski_on_shutdown_stopped,
        sizeof(int32_t), 0)
HANDLER(SKI_HANDLER_SHUTDOWN_RELEASE, "skua.shutdown-release", ski_on_shutdown_release,
        sizeof(int32_t), 0)

/* objects: chares and collections */
HANDLER(SKI_HANDLER_COLLECTION_CREATE, "skua.collection-create", ski_on_create, SKI_CREATE_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_COLLECTION_ADOPT, "skua.collection-adopt", ski_on_adopt, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_SEED, "skua.seed", ski_on_seed, SKI_INSERT_MIN, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_SEED_CREATE, "skua.seed-create", ski_on_seed_create, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SEED_REQUEST, "skua.seed-request", ski_on_seed_request, SKI_SEED_REQUEST_MIN, 0)
HANDLER(SKI_HANDLER_SEED_NONE, "skua.seed-none", ski_on_seed_none, 0, 0)
HANDLER(SKI_HANDLER_SEED_KNOWN, "skua.seed-known", ski_on_seed_known, 0, 0)
HANDLER(SKI_HANDLER_SEED_CREATED, "skua.seed-created", ski_on_seed_created, SKI_LOCATED_MIN,
        SKI_HANDLES_OBJECT)

/* objects: location */
HANDLER(SKI_HANDLER_DEAD_LETTER, "skua.dead-letter", ski_on_inquiry, SKI_INQUIRY_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_INSERT, "skua.insert", ski_on_insert, SKI_INSERT_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CLAIM, "skua.claim", ski_on_claim, SKI_CLAIM_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CLAIMED, "skua.claimed", ski_on_claimed, SKI_LOCATED_MIN, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_DELETE, "skua.delete", ski_on_delete, 0,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_LOCATION, "skua.location", ski_on_located, SKI_LOCATED_MIN, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_ROUTE_MARKER, "skua.route-marker", ski_on_route_marker, SKI_ROUTE_MARKER_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_ROUTE_CLEAR, "skua.route-clear", ski_on_route_clear, SKI_ROUTE_CLEAR_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_HOLD_REPORT, "skua.hold-report", ski_on_hold_report, SKI_LOCATED_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_HOLD_FLUSHED, "skua.hold-flushed", ski_on_hold_flushed, SKI_HOLD_FLUSHED_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_MIGRATE, "skua.migrate", ski_on_migrate, SKI_MIGRATE_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CODE_MAP, "skua.code-map", ski_on_code_map, SKI_CODE_MAP_MIN, 0)
HANDLER(SKI_HANDLER_CODE_MAP_ANSWER, "skua.code-map-answer", ski_on_code_map_answer,
        SKI_CODE_MAP_ANSWER_MIN, 0)
HANDLER(SKI_HANDLER_FORWARD_PROBE, "skua.forward-probe", ski_on_probe, SKI_PROBE_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_FORWARD_PROBED, "skua.forward-probed", ski_on_probed, SKI_PROBED_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_FORWARD_BACKLOG, "skua.forward-backlog", ski_on_backlog, SKI_NEVER_REMOTE, 0)

/* objects: collectives */
HANDLER(SKI_HANDLER_ARRAY_BROADCAST_ROOT, "skua.array-broadcast-root", ski_on_array_broadcast_root,
        SKI_ARRAY_BROADCAST_MIN, 0)
HANDLER(SKI_HANDLER_ARRAY_BROADCAST, "skua.array-broadcast", ski_on_array_broadcast,
        SKI_ARRAY_BROADCAST_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_ARRAY_BROADCAST_ARRIVAL, "skua.array-broadcast-arrival",
        ski_on_array_broadcast_arrival, SKI_ARRAY_BROADCAST_ARRIVAL_MIN, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_ARRAY_BROADCAST_ACKNOWLEDGE, "skua.array-broadcast-acknowledge",
        ski_on_array_broadcast_acknowledge, 0, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_ARRAY_BROADCAST_CATCH_UP, "skua.array-broadcast-catch-up",
        ski_on_array_broadcast_catch_up, SKI_ARRAY_BROADCAST_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_INSERTION_CLOSE, "skua.insertion-close", ski_on_closing, SKI_CLOSING_MIN, 0)
HANDLER(SKI_HANDLER_INSERTION_CHECK, "skua.insertion-check", ski_on_check, SKI_CHECK_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_INSERTION_CHECKED, "skua.insertion-checked", ski_on_checked, SKI_CHECK_MIN,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_ARRAY_REDUCTION_REPORT, "skua.array-reduction", ski_on_array_reduction_report,
        SKI_ARRAY_REDUCTION_REPORT_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_ARRAY_REDUCTION_START, "skua.array-reduction-start",
        ski_on_array_reduction_start, SKI_ARRAY_REDUCTION_START_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_ARRAY_REDUCTION_INACTIVE, "skua.array-reduction-inactive",
        ski_on_array_reduction_inactive, SKI_ARRAY_REDUCTION_START_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_OBJECT_CHANNEL, "skua.object-channel", ski_on_object_channel,
        SKI_OBJECT_CHANNEL_MIN, SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_CREATE, "skua.section-create", ski_on_section_create,
        SKI_SECTION_CREATE_MIN, 0)
HANDLER(SKI_HANDLER_SECTION_REBUILD, "skua.section-rebuild", ski_on_section_rebuild,
        SKI_SECTION_REBUILD_MIN, 0)
HANDLER(SKI_HANDLER_SECTION_MULTICAST_ROOT, "skua.section-multicast-root",
        ski_on_section_multicast_root, SKI_SECTION_MULTICAST_MIN, 0)
HANDLER(SKI_HANDLER_SECTION_MULTICAST, "skua.section-multicast", ski_on_section_multicast,
        SKI_SECTION_MULTICAST_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_MULTICAST_CATCH_UP, "skua.section-multicast-catch-up",
        ski_on_section_multicast_catch_up, SKI_SECTION_MULTICAST_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_MULTICAST_RETURNED, "skua.section-multicast-returned",
        ski_on_section_multicast_returned, SKI_SECTION_MULTICAST_MIN,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_REDUCTION_REPORT, "skua.section-reduction",
        ski_on_section_reduction_report, SKI_SECTION_REDUCTION_REPORT_MIN,
        SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_REDUCTION_LEAVE, "skua.section-reduction-leave",
        ski_on_section_reduction_leave, SKI_SECTION_REDUCTION_LEAVE_MIN,
        SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)

/* checkpoint */
HANDLER(SKI_HANDLER_CHECKPOINT_REQUEST, "skua.checkpoint-request", ski_on_checkpoint_request,
        SKI_CHECKPOINT_REQUEST_MIN, 0)
HANDLER(SKI_HANDLER_CHECKPOINT_ORDER, "skua.checkpoint-order", ski_on_checkpoint_order,
        SKI_CHECKPOINT_ORDER_MIN, 0)
HANDLER(SKI_HANDLER_CHECKPOINT_REPORT, "skua.checkpoint-report", ski_on_checkpoint_report,
        SKI_CHECKPOINT_REPORT_MIN, 0)
HANDLER(SKI_HANDLER_CHECKPOINT_WRITTEN, "skua.checkpoint-written", ski_on_checkpoint_written,
        SKI_CHECKPOINT_WRITTEN_MIN, 0)
HANDLER(SKI_HANDLER_BUDDY_PIECE, "skua.buddy-piece", ski_on_buddy_piece, SKI_BUDDY_PIECE_MIN, 0)
HANDLER(SKI_HANDLER_BUDDY_ANSWER, "skua.buddy-answer", ski_on_buddy_answer, SKI_BUDDY_ANSWER_MIN, 0)
HANDLER(SKI_HANDLER_RESTORE_STEP, "skua.restore-step", ski_on_restore_step, SKI_RESTORE_STEP_MIN, 0)
HANDLER(SKI_HANDLER_RESTORE_RECORD, "skua.restore-record", ski_on_restore_record,
        SKI_RESTORE_RECORD_MIN, 0)
HANDLER(SKI_HANDLER_RESTORE_REPORT, "skua.restore-report", ski_on_restore_report,
        SKI_RESTORE_REPORT_MIN, 0)

/* balance */
HANDLER(SKI_HANDLER_SYNC_CHECK, "skua.sync-check", ski_on_sync_check, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SYNC_RESUME, "skua.sync-resume", ski_on_sync_resume, SKI_NEVER_REMOTE,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SYNC_REPORT, "skua.sync-report", ski_on_sync_report, SKI_SYNC_REPORT_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_REQUEST, "skua.balance-request", ski_on_balance_request,
        SKI_BALANCE_REQUEST_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_GATHER, "skua.balance-gather", ski_on_balance_gather, SKI_GATHER_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_LOADS, "skua.balance-loads", ski_on_balance_loads, SKI_LOADS_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_ORDERS, "skua.balance-orders", ski_on_balance_orders, SKI_ORDERS_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_VOID, "skua.balance-void", ski_on_balance_void, 0, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_MOVED, "skua.balance-moved", ski_on_balance_moved, SKI_MOVED_MIN,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_NEIGHBOUR_START, "skua.neighbour-start", ski_on_neighbour_start,
        SKI_NEIGHBOUR_START_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_NEIGHBOUR_UPDATE, "skua.neighbour-update", ski_on_neighbour_update,
        SKI_NEIGHBOUR_UPDATE_MIN, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BALANCE_RESUME, "skua.balance-resume", ski_on_balance_resume,
        SKI_BALANCE_RESUME_MIN, SKI_HANDLES_PROGRAM)
