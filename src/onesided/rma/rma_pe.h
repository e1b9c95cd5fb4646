/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_pe.h - the side that asks: what a PE remembers of the operations it has
 * started, and how a thread that is no PE gets to send messages.
 */
#ifndef SKI_RMA_PE_H
#define SKI_RMA_PE_H

#include "onesided/onesided.h"
#include "base/config.h"
#include "core/pe/pe.h"
#include "onesided/channel/channel.h"
#include "onesided/rma/outstanding.h"

struct ski_am_sent; /* am_origin.c */
struct ski_am_deferred_reply;
struct ski_notify_watch; /* notify.c  */
struct ski_vote_state;   /* symmetric_alloc.c   */
struct ski_rkey;
struct ski_vote_counter;
struct ski_registrations; /* registration.c */
struct ski_buffer_pool;   /* buffer_pool.c  */
struct ski_buffer_put;    /* buffer.c       */

#define SKI_RKEY_BUCKETS 64

struct ski_rma_pe {
    struct ski_outstanding_table  outstanding; /* operations on the way                  */
    uint32_t                      at_driver;   /* uses of memory of callers by the driver    */
    size_t                        bytes;       /* of data in their packets                   */
    void                         *waiters;     /* for one of them to end                     */
    struct ski_am_sent           *sent;        /* packets that have not been answered        */
    uint32_t                      sent_room, sent_free;
    struct ski_am_deferred_reply *late; /* answers of ours that have not been sent (am_target.c) */
    uint32_t                      late_count;
    struct ski_vote_state        *agreements; /* on regions, that are not over              */
    struct ski_vote_counter      *rounds;     /* of them there have been                    */
    struct ski_rkey              *known[SKI_RKEY_BUCKETS]; /* of other hosts, by a hash */
    uint32_t                      known_count;
    struct ski_notify_watch      *expected;      /* notifications that are waited for          */
    uint64_t                      barriers;      /* we have been in                            */
    struct ski_registrations     *registrations; /* of buffers                            */
    struct ski_buffer_pool       *pool;          /* of memory for them                    */
    struct ski_buffer_put        *put_first;     /* of buffers, that wait for room        */
    uint32_t                      puts;          /* and that are under way                */
    struct ski_channel_pe         channels;
};

static inline struct ski_rma_pe *ski_rma_pe_of(const struct ski_pe *self)
{
    return self->onesided;
}

struct ski_job *ski_onesided_job(void);

/** Whether a message may have @p bytes of data that are copied from @p data: the arena, which it is
 *  in, is larger, and there are data. */
static inline bool ski_fits_message(const void *data, size_t bytes)
{
    return bytes == 0 || (data && ski_onesided_job() && bytes < ski_onesided_job()->arena->bytes);
}

/** Who serves the memory of @p pe for others: itself, or the helper of its process. */
static inline int ski_am_server(const struct ski_job *job, int pe)
{
    return ski_config.helper ? ski_job_helper(job, ski_job_process_of(job, pe)) : pe;
}

/** Who hears what is told to @p pe: itself, or, for a guest, whoever is sure to listen in its
 *  process. */
static inline int ski_reply_pe(const struct ski_job *job, int pe)
{
    return pe < job->pes ? pe
                         : ski_am_server(job, ski_job_first_pe(job, ski_job_process_of(job, pe)));
}

/* Who acts for the calling thread: its PE, or the guest of the process, whom one
 * thread at a time can be. */
struct ski_caller {
    struct ski_pe *self;
    bool           guest;
};

/** False, for a thread that is no PE: the process is leaving skua_main(). */
bool ski_caller_enter(struct ski_caller *actor);

/** Everything that was sent is on its way when this returns. */
void ski_caller_leave(struct ski_caller *actor);

/** A thread that is no PE is about to wait in memory of the job, and has done so:
 *  the process does not leave before.  False: it is leaving. */
bool ski_external_enter(void);
void ski_external_leave(void);

#endif
