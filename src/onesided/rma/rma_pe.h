/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_pe.h - the side that asks: what a PE remembers of the operations it has
 * started, and how a thread that is no PE gets to send messages.
 */
#ifndef SKI_RMA_PE_H
#define SKI_RMA_PE_H

#include "onesided/onesided.h"
#include "base/config.h"
#include "core/message/message.h"
#include "core/pe/pe.h"
#include "onesided/channel/channel.h"
#include "onesided/rma/outstanding.h"

struct ski_sent; /* am_origin.c */
struct ski_late;
struct ski_expected;  /* notify.c  */
struct ski_agreement; /* symmetric_alloc.c   */
struct ski_known_region;
struct ski_rounds;
struct ski_registrations; /* registration.c */
struct ski_buffer_pool;   /* buffer_pool.c  */
struct ski_put;           /* buffer.c       */

#define SKI_KNOWN_BUCKETS 64

struct ski_origin {
    struct ski_outstanding_table outstanding; /* operations on the way                  */
    uint32_t                     at_driver;   /* uses of memory of callers by the driver    */
    size_t                       bytes;       /* of data in their packets                   */
    void                        *waiters;     /* for one of them to end                     */
    struct ski_sent             *sent;        /* packets that have not been answered        */
    uint32_t                     sent_room, sent_free;
    struct ski_late             *late; /* answers of ours that have not been sent (am_target.c)   */
    uint32_t                     late_count;
    struct ski_agreement        *agreements; /* on regions, that are not over              */
    struct ski_rounds           *rounds;     /* of them there have been                    */
    struct ski_known_region     *known[SKI_KNOWN_BUCKETS]; /* of other hosts, by a hash */
    uint32_t                     known_count;
    struct ski_expected         *expected;      /* notifications that are waited for          */
    uint64_t                     barriers;      /* we have been in                            */
    struct ski_registrations    *registrations; /* of buffers                            */
    struct ski_buffer_pool      *pool;          /* of memory for them                    */
    struct ski_put              *put_first;     /* of buffers, that wait for room        */
    uint32_t                     puts;          /* and that are under way                */
    struct ski_channels          channels;
};

static inline struct ski_origin *ski_origin_of(const struct ski_pe *self)
{
    return self->onesided;
}

struct ski_job *ski_origin_job(void);

/** Whether a message may have @p bytes of data that are copied from @p data: the arena, which it is
 *  in, is larger, and there are data. */
static inline bool ski_is_message(const void *data, size_t bytes)
{
    return bytes == 0 || (data && ski_origin_job() && bytes < ski_origin_job()->arena->bytes);
}

/** Who serves the memory of @p pe for others: itself, or the helper of its process. */
static inline int ski_server(const struct ski_job *job, int pe)
{
    return ski_config.helper ? ski_job_helper(job, ski_job_process_of(job, pe)) : pe;
}

/** Who hears what is told to @p pe: itself, or, for a guest, whoever is sure to listen in its
 *  process. */
static inline int ski_ear(const struct ski_job *job, int pe)
{
    return pe < job->pes ? pe : ski_server(job, ski_job_first_pe(job, ski_job_process_of(job, pe)));
}

/* Who acts for the calling thread: its PE, or the guest of the process, whom one
 * thread at a time can be. */
struct ski_actor {
    struct ski_pe *self;
    bool           guest;
};

/** False, for a thread that is no PE: the process is leaving skua_main(). */
bool ski_act_begin(struct ski_actor *actor);

/** Everything that was sent is on its way when this returns. */
void ski_act_end(struct ski_actor *actor);

/** A thread that is no PE is about to wait in memory of the job, and has done so:
 *  the process does not leave before.  False: it is leaving. */
bool ski_outside_begin(void);
void ski_outside_end(void);

#endif
