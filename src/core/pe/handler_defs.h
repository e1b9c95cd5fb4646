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
HANDLER(SKI_HANDLER_COMPLETE, "skua.complete", ski_on_complete, SKI_COMPLETE_LEAST, 0)
HANDLER(SKI_HANDLER_COALESCED, "skua.coalesced", ski_handler_unknown, 0, SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_BROADCAST, "skua.broadcast", ski_on_broadcast, 0,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_BROADCAST_HERE, "skua.broadcast-local", ski_on_broadcast_here, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BROADCAST_DONE, "skua.broadcast-done", ski_on_broadcast_done, sizeof(void *), 0)
HANDLER(SKI_HANDLER_BROADCAST_SEGMENT, "skua.broadcast-segment", ski_on_broadcast_segment,
        SKI_SEGMENT_LEAST, SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_REDUCE, "skua.reduction", ski_on_reduce, SKI_REDUCE_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_RESULT, "skua.reduction-result", ski_on_result, SKI_REDUCE_LEAST,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(SKI_HANDLER_CREDIT, "skua.collective-credit", ski_on_credit, SKI_CREDIT_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_BLOCKS, "skua.reduction-blocks", ski_on_blocks, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)

/* onesided */
HANDLER(SKI_HANDLER_NOTIFIED, "skua.notified", ski_on_notified, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_REQUEST, "skua.am-request", ski_on_request, 0,
        SKI_HANDLES_HIDDEN | SKI_HANDLES_COUNTED)
HANDLER(SKI_HANDLER_PLACED, "skua.am-placed", ski_on_placed, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_SERVED, "skua.am-reply", ski_on_served, 0, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_AGREE, "skua.symmetric-vote", ski_on_agree, SKI_AGREE_LEAST, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_ROUND, "skua.barrier-round", ski_on_round, sizeof(uint32_t), 0)
HANDLER(SKI_HANDLER_LOCK, "skua.lock", ski_on_lock, SKI_LOCK_LEAST, SKI_HANDLES_HIDDEN)
HANDLER(SKI_HANDLER_RMA, "skua.rma-request", ski_on_rma, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_BUFFER, "skua.buffer", ski_on_buffer, SKI_BUFFER_LEAST, 0)
HANDLER(SKI_HANDLER_CHANNEL, "skua.channel", ski_on_channel, SKI_CHANNEL_LEAST, 0)

/* objects: services */
HANDLER(SKI_HANDLER_QUIET_ASK, "skua.quiescence-request", ski_on_quiet_ask, SKI_QUIET_ASK_LEAST, 0)
HANDLER(SKI_HANDLER_QUIET_WAVE, "skua.termination-wave", ski_on_wave, SKI_WAVE_LEAST, 0)
HANDLER(SKI_HANDLER_QUIET_REPORT, "skua.termination-report", ski_on_report, SKI_REPORT_LEAST, 0)
HANDLER(SKI_HANDLER_DETECT_START, "skua.detector-start", ski_on_detect_start,
        SKI_DETECT_START_LEAST, 0)
HANDLER(SKI_HANDLER_DETECT_END, "skua.detector-end", ski_on_detect_end, SKI_DETECT_END_LEAST, 0)
HANDLER(SKI_HANDLER_IDLE_ASK, "skua.idle-report-request", ski_on_idle_ask, 0, 0)
HANDLER(SKI_HANDLER_IDLE_TEXT, "skua.idle-report-text", ski_on_idle_text, SKI_IDLE_TEXT_LEAST, 0)
HANDLER(SKI_HANDLER_READONLY, "skua.readonly", ski_on_readonly, SKI_READONLY_LEAST, 0)
HANDLER(SKI_HANDLER_PARTS, "skua.nocopy", ski_on_parts, SKI_PARTS_LEAST, 0)

/* core: the end of a job.  shutdown.c runs these three, and no others, while a PE leaves. */
HANDLER(SKI_HANDLER_SHUTDOWN_EXIT, "skua.shutdown-exit", ski_on_shutdown_exit, sizeof(int32_t), 0)
HANDLER(SKI_HANDLER_SHUTDOWN_STOPPED, "skua.shutdown-stopped", ski_on_shutdown_stopped,
        sizeof(int32_t), 0)
HANDLER(SKI_HANDLER_SHUTDOWN_RELEASE, "skua.shutdown-release", ski_on_shutdown_release,
        sizeof(int32_t), 0)

/* objects: chares and collections */
HANDLER(SKI_HANDLER_CREATE, "skua.collection-create", ski_on_create, SKI_CREATE_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_ADOPT, "skua.collection-adopt", ski_on_adopt, SKI_NEVER_REMOTE, 0)
HANDLER(SKI_HANDLER_SEED, "skua.seed", ski_on_seed, SKI_INSERT_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_SEED_GROW, "skua.seed-create", ski_on_seed_grow, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SEED_ASK, "skua.seed-request", ski_on_seed_ask, SKI_SEED_ASK_LEAST, 0)
HANDLER(SKI_HANDLER_SEED_NONE, "skua.seed-none", ski_on_seed_none, 0, 0)
HANDLER(SKI_HANDLER_SEED_KNOWN, "skua.seed-known", ski_on_seed_known, 0, 0)
HANDLER(SKI_HANDLER_SEED_GREW, "skua.seed-created", ski_on_seed_grew, SKI_LOCATED_LEAST,
        SKI_HANDLES_OBJECT)

/* objects: location */
HANDLER(SKI_HANDLER_INQUIRY, "skua.dead-letter", ski_on_inquiry, SKI_INQUIRY_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_INSERT, "skua.insert", ski_on_insert, SKI_INSERT_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CLAIM, "skua.claim", ski_on_claim, SKI_CLAIM_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CLAIMED, "skua.claimed", ski_on_claimed, SKI_LOCATED_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_DELETE, "skua.delete", ski_on_delete, 0,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_LOCATED, "skua.location", ski_on_located, SKI_LOCATED_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_MIGRATE, "skua.migrate", ski_on_migrate, SKI_MIGRATE_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_PROBE, "skua.forward-probe", ski_on_probe, SKI_PROBE_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_PROBED, "skua.forward-probed", ski_on_probed, SKI_PROBED_LEAST,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_BACKLOG, "skua.forward-backlog", ski_on_backlog, SKI_NEVER_REMOTE, 0)

/* objects: collectives */
HANDLER(SKI_HANDLER_EVERYONE_ROOT, "skua.array-broadcast-root", ski_on_everyone_root,
        SKI_EVERYONE_LEAST, 0)
HANDLER(SKI_HANDLER_EVERYONE, "skua.array-broadcast", ski_on_everyone, SKI_EVERYONE_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_EVERYONE_CAME, "skua.array-broadcast-arrival", ski_on_everyone_came,
        SKI_EVERYONE_CAME_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_EVERYONE_LATE, "skua.array-broadcast-catch-up", ski_on_everyone_late,
        SKI_EVERYONE_LEAST, SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_CLOSING, "skua.insertion-close", ski_on_closing, SKI_CLOSING_LEAST, 0)
HANDLER(SKI_HANDLER_CHECK, "skua.insertion-check", ski_on_check, SKI_CHECK_LEAST,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_CHECKED, "skua.insertion-checked", ski_on_checked, SKI_CHECK_LEAST,
        SKI_HANDLES_OBJECT)
HANDLER(SKI_HANDLER_PART, "skua.array-reduction", ski_on_part, SKI_PART_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_START, "skua.array-reduction-start", ski_on_start, SKI_START_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_FEWER, "skua.array-reduction-fewer", ski_on_fewer, SKI_START_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_CREATE, "skua.section-create", ski_on_section_create,
        SKI_SECTION_CREATE_LEAST, 0)
HANDLER(SKI_HANDLER_SECTION_ROOT, "skua.section-multicast-root", ski_on_section_root,
        SKI_SECTION_LEAST, 0)
HANDLER(SKI_HANDLER_SECTION, "skua.section-multicast", ski_on_section, SKI_SECTION_LEAST,
        SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_LATE, "skua.section-multicast-catch-up", ski_on_section_late,
        SKI_SECTION_LEAST, SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_PART, "skua.section-reduction", ski_on_section_part,
        SKI_SECTION_PART_LEAST, SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)
HANDLER(SKI_HANDLER_SECTION_FEWER, "skua.section-reduction-fewer", ski_on_section_fewer,
        SKI_SECTION_FEWER_LEAST, SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)
