/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - the table of handlers, which is the same in every process.
 *
 * A message names its handler by a number, the place in this table: function
 * addresses differ between processes.  The runtime's own come first.  Process
 * 0 publishes the names in the job; the others compare theirs at start.
 */
#ifndef SKI_HANDLER_H
#define SKI_HANDLER_H

#include <skua/message.h>

#include "boot/job.h"

enum {
    SKI_HANDLER_THREAD,    /* run a user thread that is ready (thread.c)      */
    SKI_HANDLER_RESUME,    /* make a thread of ours ready (thread.c)          */
    SKI_HANDLER_COMPLETE,  /* a completion of ours has happened (completion.c) */
    SKI_HANDLER_BROADCAST, /* broadcast.c, reduction.c */
    SKI_HANDLER_BROADCAST_HERE,
    SKI_HANDLER_BROADCAST_DONE,
    SKI_HANDLER_REDUCE,
    SKI_HANDLER_RESULT,
    SKI_HANDLER_NOTIFIED, /* onesided/notify.c */
    SKI_HANDLER_REQUEST,  /* onesided/request.c */
    SKI_HANDLER_PLACED,
    SKI_HANDLER_SERVED,
    SKI_HANDLER_AGREE, /* onesided/agree.c  */
    SKI_HANDLER_ROUND, /* onesided/notify.c */
    SKI_HANDLER_LOCK,  /* onesided/lock_far.c */
    SKI_HANDLER_RMA,   /* onesided/rma.c */
    SKI_HANDLER_EXIT,  /* leave.c */
    SKI_HANDLER_GONE,
    SKI_HANDLER_BYE,
    SKI_HANDLERS
};

struct ski_handlers {
    uint32_t         count;
    skua_handler_fn *fn;
};

extern struct ski_handlers ski_handlers;

/** Put the runtime's own handlers in place.  Idempotent. */
void ski_handlers_init(void);

/** Agree on the table with the other processes of @p job, and close it.
 *  SKUA_ERR_MISMATCH, logged with the name that differs. */
skua_status_t ski_handlers_agree(struct ski_job *job, int process);

const char *ski_handler_name(uint32_t id);

/** A message came for a number that is not in the table. */
SKI_COLD _Noreturn void ski_handler_unknown(uint32_t id, int source);

#endif
