/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - the table of handlers, which is the same in every process.
 *
 * A message names its handler by a number, the place in this table: function
 * addresses differ between processes.  Number 0 is no handler, so that a variable
 * of type skua_handler that was forgotten is noticed; then come the runtime's own.
 * Process 0 publishes the names in the job; the others compare theirs at start.
 */
#ifndef SKI_HANDLER_H
#define SKI_HANDLER_H

#include <skua/message.h>

#include "boot/job.h"

enum {
    SKI_HANDLER_NONE,      /* of a skua_handler that was never registered     */
    SKI_HANDLER_THREAD,    /* run a user thread that is ready (thread.c)      */
    SKI_HANDLER_RESUME,    /* make a thread of ours ready (thread.c)          */
    SKI_HANDLER_COMPLETE,  /* a completion of ours has happened (completion.c) */
    SKI_HANDLER_BUNDLE,    /* several packets in one: never in a queue (net_send.c) */
    SKI_HANDLER_BROADCAST, /* broadcast.c, reduction.c */
    SKI_HANDLER_BROADCAST_HERE,
    SKI_HANDLER_BROADCAST_DONE,
    SKI_HANDLER_BROADCAST_SEGMENT, /* broadcast_segment.c */
    SKI_HANDLER_REDUCE,
    SKI_HANDLER_RESULT,
    SKI_HANDLER_CREDIT,   /* collective_window.c */
    SKI_HANDLER_BLOCKS,   /* reduction_split.c */
    SKI_HANDLER_NOTIFIED, /* onesided/sync/notify.c */
    SKI_HANDLER_REQUEST,  /* onesided/rma/am_origin.c */
    SKI_HANDLER_PLACED,
    SKI_HANDLER_SERVED,
    SKI_HANDLER_AGREE,      /* onesided/region/symmetric_alloc.c  */
    SKI_HANDLER_ROUND,      /* onesided/sync/notify.c */
    SKI_HANDLER_LOCK,       /* onesided/sync/lock_remote.c */
    SKI_HANDLER_RMA,        /* onesided/rma/rma_driver.c */
    SKI_HANDLER_BUFFER,     /* onesided/buffer/buffer.c */
    SKI_HANDLER_CHANNEL,    /* onesided/channel/channel.c */
    SKI_HANDLER_QUIET_ASK,  /* objects/services/quiescence.c */
    SKI_HANDLER_QUIET_WAVE, /* objects/services/termination.c */
    SKI_HANDLER_QUIET_REPORT,
    SKI_HANDLER_DETECT_START, /* objects/services/detector.c */
    SKI_HANDLER_DETECT_END,
    SKI_HANDLER_IDLE_ASK, /* objects/services/idle_report.c */
    SKI_HANDLER_IDLE_TEXT,
    SKI_HANDLER_READONLY, /* objects/services/program.c */
    SKI_HANDLER_PARTS,    /* objects/zerocopy/nocopy.c */
    SKI_HANDLER_EXIT,     /* shutdown.c */
    SKI_HANDLER_GONE,
    SKI_HANDLER_BYE,
    SKI_HANDLER_CREATE, /* objects/chare/collection.c */
    SKI_HANDLER_ADOPT,
    SKI_HANDLER_SEED, /* objects/chare/seed.c */
    SKI_HANDLER_SEED_GROW,
    SKI_HANDLER_SEED_ASK,
    SKI_HANDLER_SEED_NONE,
    SKI_HANDLER_SEED_KNOWN,
    SKI_HANDLER_SEED_GREW,
    SKI_HANDLER_INQUIRY, /* objects/location/dead_letter.c */
    SKI_HANDLER_INSERT,  /* objects/location/location.c */
    SKI_HANDLER_CLAIM,
    SKI_HANDLER_CLAIMED,
    SKI_HANDLER_DELETE,
    SKI_HANDLER_LOCATED,
    SKI_HANDLER_MIGRATE,
    SKI_HANDLER_PROBE, /* objects/location/forward.c */
    SKI_HANDLER_PROBED,
    SKI_HANDLER_BACKLOG,
    SKI_HANDLER_EVERYONE_ROOT, /* objects/collective/array_broadcast.c */
    SKI_HANDLER_EVERYONE,
    SKI_HANDLER_EVERYONE_CAME,
    SKI_HANDLER_EVERYONE_LATE,
    SKI_HANDLER_CLOSING, /* objects/location/insertion.c */
    SKI_HANDLER_CHECK,
    SKI_HANDLER_CHECKED,
    SKI_HANDLER_PART, /* objects/collective/array_reduction.c */
    SKI_HANDLER_START,
    SKI_HANDLER_FEWER,
    SKI_HANDLER_SECTION_CREATE, /* objects/collective/section_tree.c */
    SKI_HANDLER_SECTION_ROOT,   /* objects/collective/section_multicast.c */
    SKI_HANDLER_SECTION,
    SKI_HANDLER_SECTION_LATE,
    SKI_HANDLER_SECTION_PART, /* objects/collective/section_reduction.c */
    SKI_HANDLER_SECTION_FEWER,
    SKI_HANDLERS
};

#define SKI_HANDLERS_MOST (UINT16_MAX + 1)

struct ski_handlers {
    uint32_t         count;
    skua_handler_fn *fn; /* once it is closed, of SKI_HANDLERS_MOST: a number of 16 bits need
                            not be checked before it is used */
};

extern struct ski_handlers ski_handlers;

/** Put the runtime's own handlers in place.  Idempotent. */
void ski_handlers_init(void);

/** Agree on the table with the other processes of @p job, and close it.
 *  SKUA_ERR_MISMATCH, logged with the name that differs. */
skua_status_t ski_handlers_agree(struct ski_job *job, int process);

/** Let the processes agree on a name that is not a handler's: "@p what @p name". */
void ski_register_name(const char *what, const char *name);

const char *ski_handler_name(uint32_t id);

/** Report that @p call was given a handler that was never registered. */
SKI_COLD _Noreturn void ski_handler_misuse(const char *call, uint32_t id);

/** A message came for a number that is not in the table. */
SKI_COLD _Noreturn void ski_handler_unknown(skua_msg *msg);

#endif
