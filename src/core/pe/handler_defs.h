/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_defs.h - every handler of the runtime, declared once, one row each:
 *
 *      HANDLER(id, name, function, least, flags)
 *
 *      id        SKI_HANDLER_<id> is its number in messages
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

/* core.  NONE is a skua_handler that was never registered; net_recv.c splits BUNDLE. */
HANDLER(NONE, "skua.none", ski_handler_unknown, SKI_NEVER_REMOTE, 0)
HANDLER(THREAD, "skua.thread", ski_on_thread, SKI_NEVER_REMOTE, 0)
HANDLER(RESUME, "skua.thread-resume", ski_on_resume, sizeof(void *), 0)
HANDLER(COMPLETE, "skua.complete", ski_on_complete, SKI_COMPLETE_LEAST, 0)
HANDLER(BUNDLE, "skua.coalesced", ski_handler_unknown, 0, SKI_HANDLES_NO_BROADCAST)
HANDLER(BROADCAST, "skua.broadcast", ski_on_broadcast, 0,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(BROADCAST_HERE, "skua.broadcast-local", ski_on_broadcast_here, SKI_NEVER_REMOTE,
        SKI_HANDLES_PROGRAM)
HANDLER(BROADCAST_DONE, "skua.broadcast-done", ski_on_broadcast_done, sizeof(void *), 0)
HANDLER(BROADCAST_SEGMENT, "skua.broadcast-segment", ski_on_broadcast_segment, SKI_SEGMENT_LEAST,
        SKI_HANDLES_NO_BROADCAST)
HANDLER(REDUCE, "skua.reduction", ski_on_reduce, SKI_REDUCE_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(RESULT, "skua.reduction-result", ski_on_result, SKI_REDUCE_LEAST,
        SKI_HANDLES_PROGRAM | SKI_HANDLES_NO_BROADCAST)
HANDLER(CREDIT, "skua.collective-credit", ski_on_credit, SKI_CREDIT_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(BLOCKS, "skua.reduction-blocks", ski_on_blocks, SKI_NEVER_REMOTE, SKI_HANDLES_PROGRAM)

/* onesided */
HANDLER(NOTIFIED, "skua.notified", ski_on_notified, SKI_NEVER_REMOTE, 0)
HANDLER(REQUEST, "skua.am-request", ski_on_request, 0, SKI_HANDLES_HIDDEN | SKI_HANDLES_COUNTED)
HANDLER(PLACED, "skua.am-placed", ski_on_placed, SKI_NEVER_REMOTE, 0)
HANDLER(SERVED, "skua.am-reply", ski_on_served, 0, SKI_HANDLES_HIDDEN)
HANDLER(AGREE, "skua.symmetric-alloc", ski_on_agree, SKI_AGREE_LEAST, SKI_HANDLES_HIDDEN)
HANDLER(ROUND, "skua.barrier-round", ski_on_round, sizeof(uint32_t), 0)
HANDLER(LOCK, "skua.lock", ski_on_lock, SKI_LOCK_LEAST, SKI_HANDLES_HIDDEN)
HANDLER(RMA, "skua.rma-request", ski_on_rma, SKI_NEVER_REMOTE, 0)
HANDLER(BUFFER, "skua.buffer", ski_on_buffer, SKI_BUFFER_LEAST, 0)
HANDLER(CHANNEL, "skua.channel", ski_on_channel, SKI_CHANNEL_LEAST, 0)

/* objects: services */
HANDLER(QUIET_ASK, "skua.quiescence-request", ski_on_quiet_ask, SKI_QUIET_ASK_LEAST, 0)
HANDLER(QUIET_WAVE, "skua.termination-wave", ski_on_wave, SKI_WAVE_LEAST, 0)
HANDLER(QUIET_REPORT, "skua.termination-report", ski_on_report, SKI_REPORT_LEAST, 0)
HANDLER(DETECT_START, "skua.detector-start", ski_on_detect_start, SKI_DETECT_START_LEAST, 0)
HANDLER(DETECT_END, "skua.detector-end", ski_on_detect_end, SKI_DETECT_END_LEAST, 0)
HANDLER(IDLE_ASK, "skua.idle-report-request", ski_on_idle_ask, 0, 0)
HANDLER(IDLE_TEXT, "skua.idle-report-text", ski_on_idle_text, SKI_IDLE_TEXT_LEAST, 0)
HANDLER(READONLY, "skua.readonly", ski_on_readonly, SKI_READONLY_LEAST, 0)
HANDLER(PARTS, "skua.nocopy", ski_on_parts, SKI_PARTS_LEAST, 0)

/* core: the end of a job.  shutdown.c runs these three, and no others, while a PE leaves. */
HANDLER(EXIT, "skua.shutdown-exit", ski_on_exit, sizeof(int32_t), 0)
HANDLER(GONE, "skua.shutdown-stopped", ski_on_gone, sizeof(int32_t), 0)
HANDLER(BYE, "skua.shutdown-release", ski_on_bye, sizeof(int32_t), 0)

/* objects: chares and collections */
HANDLER(CREATE, "skua.collection-create", ski_on_create, SKI_CREATE_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(ADOPT, "skua.collection-adopt", ski_on_adopt, SKI_NEVER_REMOTE, 0)
HANDLER(SEED, "skua.seed", ski_on_seed, SKI_INSERT_LEAST, SKI_HANDLES_OBJECT)
HANDLER(SEED_GROW, "skua.seed-create", ski_on_seed_grow, SKI_NEVER_REMOTE, SKI_HANDLES_PROGRAM)
HANDLER(SEED_ASK, "skua.seed-request", ski_on_seed_ask, SKI_SEED_ASK_LEAST, 0)
HANDLER(SEED_NONE, "skua.seed-none", ski_on_seed_none, 0, 0)
HANDLER(SEED_KNOWN, "skua.seed-known", ski_on_seed_known, 0, 0)
HANDLER(SEED_GREW, "skua.seed-created", ski_on_seed_grew, SKI_LOCATED_LEAST, SKI_HANDLES_OBJECT)

/* objects: location */
HANDLER(INQUIRY, "skua.dead-letter", ski_on_inquiry, SKI_INQUIRY_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(INSERT, "skua.insert", ski_on_insert, SKI_INSERT_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(CLAIM, "skua.claim", ski_on_claim, SKI_CLAIM_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(CLAIMED, "skua.claimed", ski_on_claimed, SKI_LOCATED_LEAST, SKI_HANDLES_OBJECT)
HANDLER(DELETE, "skua.delete", ski_on_delete, 0, SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(LOCATED, "skua.location", ski_on_located, SKI_LOCATED_LEAST, SKI_HANDLES_OBJECT)
HANDLER(MIGRATE, "skua.migrate", ski_on_migrate, SKI_MIGRATE_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(PROBE, "skua.forward-probe", ski_on_probe, SKI_PROBE_LEAST, SKI_HANDLES_OBJECT)
HANDLER(PROBED, "skua.forward-probed", ski_on_probed, SKI_PROBED_LEAST, SKI_HANDLES_OBJECT)
HANDLER(BACKLOG, "skua.forward-backlog", ski_on_backlog, SKI_NEVER_REMOTE, 0)

/* objects: collectives */
HANDLER(EVERYONE_ROOT, "skua.array-broadcast-root", ski_on_everyone_root, SKI_EVERYONE_LEAST, 0)
HANDLER(EVERYONE, "skua.array-broadcast", ski_on_everyone, SKI_EVERYONE_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(EVERYONE_CAME, "skua.array-broadcast-arrival", ski_on_everyone_came,
        SKI_EVERYONE_CAME_LEAST, SKI_HANDLES_OBJECT)
HANDLER(EVERYONE_LATE, "skua.array-broadcast-catch-up", ski_on_everyone_late, SKI_EVERYONE_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(CLOSING, "skua.insertion-close", ski_on_closing, SKI_CLOSING_LEAST, 0)
HANDLER(CHECK, "skua.insertion-check", ski_on_check, SKI_CHECK_LEAST, SKI_HANDLES_OBJECT)
HANDLER(CHECKED, "skua.insertion-checked", ski_on_checked, SKI_CHECK_LEAST, SKI_HANDLES_OBJECT)
HANDLER(PART, "skua.array-reduction", ski_on_part, SKI_PART_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(START, "skua.array-reduction-start", ski_on_start, SKI_START_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(FEWER, "skua.array-reduction-fewer", ski_on_fewer, SKI_START_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(SECTION_CREATE, "skua.section-create", ski_on_section_create, SKI_SECTION_CREATE_LEAST, 0)
HANDLER(SECTION_ROOT, "skua.section-multicast-root", ski_on_section_root, SKI_SECTION_LEAST, 0)
HANDLER(SECTION, "skua.section-multicast", ski_on_section, SKI_SECTION_LEAST, SKI_HANDLES_PROGRAM)
HANDLER(SECTION_LATE, "skua.section-multicast-catch-up", ski_on_section_late, SKI_SECTION_LEAST,
        SKI_HANDLES_OBJECT | SKI_HANDLES_PROGRAM)
HANDLER(SECTION_PART, "skua.section-reduction", ski_on_section_part, SKI_SECTION_PART_LEAST,
        SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)
HANDLER(SECTION_FEWER, "skua.section-reduction-fewer", ski_on_section_fewer,
        SKI_SECTION_FEWER_LEAST, SKI_HANDLES_EITHER | SKI_HANDLES_PROGRAM)
