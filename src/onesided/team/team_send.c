/* SPDX-License-Identifier: Apache-2.0 */
/* team_send.c - packets of team collectives that this member sends (see team_call.h). */
#include "onesided/team/team_send.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "base/arch.h"
#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/team/team_hosts.h"
#include "core/net/zcopy_send.h"

#define TEAM_LEND_SHARED  4096   /* bytes from which memory of the arena or process is lent */
#define TEAM_LEND_CMA     16384  /* bytes from which other memory is lent                 */
#define TEAM_SCAN_COPIED  524288 /* bytes of a scan from which on segments are copied     */
#define TEAM_COPIES_MAX                                                                            \
    ((size_t)4 << 20) /* bytes of copies for all members, where copies take less time */
#define TEAM_STORE_PART                                                                            \
    ((size_t)4 << 20)       /* bytes stored in offered memory between two checks for the end */
#define TEAM_UNCOPIED 12288 /* bytes from which DATA to another host are not copied    */

_Static_assert(sizeof(struct ski_team_head) == SKI_TEAM_MIN, "see handler_defs.h");
_Static_assert(sizeof(struct ski_team_head) + sizeof(struct ski_team_address) <= SKUA_INLINE_MAX,
               "an address fits into a cell");

/* Returns the head of a packet of @p call. */
static struct ski_team_head team_make_head(const struct ski_team_call *call, uint32_t tag,
                                           enum ski_team_packet packet)
{
    return (struct ski_team_head){.team   = call->team->name,
                                  .call   = call->number,
                                  .tag    = tag & 0xffffff,
                                  .packet = packet & 0x3fu,
                                  .kind   = call->kind};
}

/* Sends a packet with a few bytes after its head. */
static void team_send_small(struct ski_pe *self, int pe, const struct ski_team_head *head,
                            const void *data, size_t bytes)
{
    struct {
        struct ski_team_head head;
        char                 data[SKUA_INLINE_MAX - sizeof(struct ski_team_head)];
    } packet;

    ski_assert(bytes <= sizeof packet.data);
    packet.head = *head;
    if (SKI_LIKELY(bytes == sizeof(uint64_t)))
        memcpy(packet.data, data, sizeof(uint64_t)); /* inline */
    else if (bytes)
        memcpy(packet.data, data, bytes);
    if (!ski_msg_try_small(self, pe, SKI_HANDLER_TEAM, 0, &packet, sizeof *head + bytes))
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_TEAM}, &packet, sizeof *head + bytes);
}

/* Returns whether data of a call travel in one direction, so that their bytes need a credit. */
static bool team_needs_credit(const struct ski_team_kind *kind)
{
    return (1u << kind->collective) &
           (1u << SKI_COLLECTIVE_BROADCAST | 1u << SKI_COLLECTIVE_REDUCE |
            1u << SKI_COLLECTIVE_SCAN | 1u << SKI_COLLECTIVE_EXSCAN | 1u << SKI_COLLECTIVE_GATHER |
            1u << SKI_COLLECTIVE_GATHERV | 1u << SKI_COLLECTIVE_SCATTER |
            1u << SKI_COLLECTIVE_SCATTERV);
}

/* Counts DATA of @p bytes in the window. */
static void team_charge(struct ski_team_call *call, size_t bytes)
{
    call->team->window.in_flight += ski_call_cost(bytes);
    if (!team_needs_credit(&call->kind))
        call->cost += ski_call_cost(bytes);
}

/* Returns whether @p call is a scan that sends more segments to @p pe, of this host, than the
 * window permits: the copies of all would fill the arena. */
static bool team_is_paced(const struct ski_pe *self, const struct ski_team_call *call, int pe)
{
    return (call->kind.collective == SKI_COLLECTIVE_SCAN ||
            call->kind.collective == SKI_COLLECTIVE_EXSCAN) &&
           call->passed >= call->team->window.bytes && ski_job_index(self->job, pe) >= 0;
}

/* Returns whether the receiver of DATA of @p call to @p pe, which are counted, confirms them: once
 * half of the window is used, and not while it has not confirmed others. */
static bool team_wants_taken(const struct ski_pe *self, const struct ski_team_call *call, int pe)
{
    return call->lent == 0 && call->team->window.in_flight >= call->team->window.bytes / 2 &&
           team_is_paced(self, call, pe);
}

/* Runs within the driver when it has sent lent memory: the call, which may have ended with the job,
 * continues by a message.  @p arg is the head of that message. */
static void team_sent(struct ski_pe *self, void *arg)
{
    ski_assert(ski_rma_pe(self)->at_driver > 0);
    ski_rma_pe(self)->at_driver--;
    ski_msg_post(self, self->pe, SKI_HANDLER_TEAM,
                 ski_msg_copy(self, SKI_HANDLER_TEAM, arg, sizeof(struct ski_team_head)));
    free(arg);
}

/* Sends the bytes of a SEND to another host without a copy.  Returns false if that is not
 * possible now. */
static bool team_send_zcopy(struct ski_pe *self, struct ski_team_call *call,
                            const struct ski_step *step, int pe, const struct ski_team_head *head)
{
    const char           *data = call->buffer[step->at.buffer] + step->at.at;
    struct ski_team_head *taken;
    skua_msg             *msg;

    if (step->copied || step->bytes < TEAM_UNCOPIED || ski_job_index(self->job, pe) >= 0 ||
        !ski_zcopy_send_supported())
        return false;
    msg                    = skua_msg_alloc(sizeof *head + sizeof(struct ski_zcopy_send));
    msg->handler           = SKI_HANDLER_TEAM;
    msg->source            = self->pe;
    *ski_team_head_of(msg) = *head;
    taken                  = ski_malloc(sizeof *taken);
    *taken                 = team_make_head(call, 0, SKI_PACKET_TAKEN);
    call->lent++; /* it may be sent before this returns */
    ski_rma_pe(self)->at_driver++;
    if (ski_zcopy_send(self, pe, msg, sizeof *head, data, step->bytes, team_sent, taken))
        return true;
    call->lent--;
    ski_rma_pe(self)->at_driver--;
    free(taken);
    skua_msg_free(msg);
    return false;
}

/* Sends the bytes of a SEND. */
static void team_send_data(struct ski_pe *self, struct ski_team_call *call,
                           const struct ski_step *step, int pe)
{
    struct ski_team_head head = team_make_head(call, step->tag, SKI_PACKET_DATA);
    const char          *data = call->buffer[step->at.buffer] + step->at.at;
    skua_msg            *msg;

    team_charge(call, step->bytes);
    head.want_credit = ski_window_is_used(&call->team->window);
    head.want_taken  = team_wants_taken(self, call, pe);
    call->lent += head.want_taken;
    if (sizeof head + step->bytes <= SKUA_INLINE_MAX) {
        team_send_small(self, pe, &head, data, step->bytes);
        return;
    }
    if (team_send_zcopy(self, call, step, pe, &head))
        return;
    msg                    = skua_msg_alloc(sizeof head + step->bytes);
    *ski_team_head_of(msg) = head;
    memcpy(ski_team_data(msg), data, step->bytes);
    skua_send(pe, (skua_handler){SKI_HANDLER_TEAM}, msg);
}

/* Returns how many members of the team are on this host. */
static int team_local_members(const struct ski_team *team)
{
    return team->hosts ? ski_hosts_size(team->hosts, ski_hosts_of(team->hosts, team->rank))
                       : team->size;
}

/* Returns the bytes from which memory is lent where copies always take less time: all members of
 * this host may copy a block for each other one, in the part of the arena that a window has. */
static size_t team_lend_bounded(const struct ski_team *team)
{
    size_t most = team->window.bytes < TEAM_COPIES_MAX ? team->window.bytes : TEAM_COPIES_MAX;

    return most / (size_t)(team_local_members(team) - 1) + 1;
}

/* Returns whether the system copies @p bytes for the receiver. */
static bool team_lends_cma(const struct ski_team *team, size_t bytes)
{
    return ski_config.cma && bytes >= TEAM_LEND_CMA &&
           (!SKI_CMA_SLOW || bytes >= team_lend_bounded(team));
}

/* Returns whether @p call is a scan of two members that is so large that the copies of the first
 * one, which waits for nothing, take less time than system calls of the second one, and not larger
 * than what a member may copy into the arena. */
static bool team_scan_copies(const struct ski_team_call *call)
{
    return call->kind.collective == SKI_COLLECTIVE_SCAN && call->team->size == 2 &&
           call->passed >= TEAM_SCAN_COPIED && call->passed < team_lend_bounded(call->team);
}

/* Returns whether the memory of a SEND to @p pe is lent rather than copied. */
static bool team_lends(const struct ski_pe *self, const struct ski_team_call *call,
                       const struct ski_step *step, int pe, const char *data)
{
    if (step->copied || step->bytes < TEAM_LEND_SHARED || ski_job_index(self->job, pe) < 0 ||
        (step->eager && step->bytes < call->team->window.bytes))
        return false;
    return ski_arena_contains(self->job->arena, data) ||
           ski_job_process_of(self->job, pe) == self->process ||
           (!team_scan_copies(call) && team_lends_cma(call->team, step->bytes));
}

/* ---- accesses to memory of other PEs -----------------------------------------------
 *
 * A program that learns that the job ends may free memory that it has offered or lent, while other
 * PEs store into it or read it.  So a PE that does names the PE of the memory in its word
 * `accessing` of the arena, and checks only then whether the job ends.  A PE that gives up a wait
 * because the job ends first waits until no word names it.
 *
 * The word is set, job->exit is checked and skua_exit() sets it in one order (seq_cst).  If the
 * check misses the exit, the word was set before the exit.  The PE that gives up has read the exit,
 * so its fence comes after that, and it reads the word or a later value.  A later 0 is released
 * behind the accesses, and acquired before the memory is freed. */

void ski_team_access_end(struct ski_pe *self)
{
    /* Pairs with the acquire in ski_team_end_accesses(). */
    atomic_store_explicit(&ski_onesided->accessing[self->index], 0, memory_order_release);
}

bool ski_team_access_begin(struct ski_pe *self, int pe)
{
    ski_assert(self->index < self->job->local_pes);
    atomic_store(&ski_onesided->accessing[self->index], pe + 1);
    if (SKI_LIKELY(atomic_load(&self->job->exit) == 0))
        return true;
    ski_team_access_end(self);
    return false;
}

/* Returns whether the process of the PE with local index @p index runs.  Nothing clears the word of
 * a process that was killed. */
static bool team_process_runs(struct ski_job *job, int index)
{
    int32_t pid = ski_job_pid(job, ski_job_pe_at(job, index));

    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

void ski_team_end_accesses(struct ski_pe *self)
{
    if (self->index >= self->job->local_pes) /* a hidden PE is no member */
        return;
    ski_fence(memory_order_seq_cst);
    for (int i = 0; i < self->job->local_pes; i++)
        /* Pairs with the release in ski_team_access_end(). */
        while (atomic_load_explicit(&ski_onesided->accessing[i], memory_order_acquire) ==
                   self->pe + 1 &&
               team_process_runs(self->job, i))
            sched_yield();
}

/* Stores a part of the bytes of a SEND in memory of @p pe, its receiver. */
static skua_status team_store_part(struct ski_pe *self, const struct ski_team_call *call, int pe,
                                   char *to, const char *data, size_t bytes)
{
    if (!ski_arena_contains(self->job->arena, to) &&
        ski_job_process_of(self->job, pe) != self->process)
        return ski_cma_write(ski_collective_name(call->kind.collective), ski_job_pid(self->job, pe),
                             to, data, bytes);
    ski_copy(to, data, bytes);
    return SKUA_OK;
}

/* Stores the bytes of a SEND in memory of its receiver, in parts, so that a receiver that gives up
 * waits for one part.  Returns SKUA_ERR_UNSUPPORTED if the system does not allow it, SKUA_ERR_EXIT
 * if the job ends. */
static skua_status team_store_remote(struct ski_pe *self, const struct ski_team_call *call,
                                     const struct ski_step *step)
{
    const char *data   = call->buffer[step->at.buffer] + step->at.at;
    char       *to     = (char *)(uintptr_t)call->offer.address;
    int         pe     = ski_team_pe_at(call->team, step->rank);
    skua_status status = ski_team_access_begin(self, pe) ? SKUA_OK : SKUA_ERR_EXIT;

    for (size_t at = 0, part; status == SKUA_OK && at < step->bytes; at += part) {
        part   = step->bytes - at < TEAM_STORE_PART ? step->bytes - at : TEAM_STORE_PART;
        status = ski_job_exiting(self->job)
                     ? SKUA_ERR_EXIT
                     : team_store_part(self, call, pe, to + at, data + at, part);
    }
    ski_team_access_end(self);
    if (status == SKUA_OK || status == SKUA_ERR_UNSUPPORTED)
        return status;
    if (!ski_job_exiting(self->job))
        ski_misuse("%s: the memory of rank %d cannot be written; the buffers of a collective stay "
                   "valid until its completion",
                   ski_collective_name(call->kind.collective), step->rank);
    return SKUA_ERR_EXIT;
}

/* Stores the bytes of a SEND, which are lent, where its receiver has offered memory.  Returns false
 * if there is no offer for them: one of another size is a mistake, which the receiver finds when it
 * gets ADDRESS.  While the job ends, the memory may be gone. */
static bool team_send_to_offer(struct ski_pe *self, struct ski_team_call *call,
                               const struct ski_step *step)
{
    struct ski_team_head head = team_make_head(call, step->tag, SKI_PACKET_STORED);
    int                  pe   = ski_team_pe_at(call->team, step->rank);
    skua_status          status;

    if (!call->offered || call->offer.bytes != step->bytes)
        return false;
    status = team_store_remote(self, call, step);
    if (status == SKUA_ERR_EXIT)
        return true;
    call->offered = false;
    if (status == SKUA_OK)
        team_send_small(self, pe, &head, NULL, 0);
    else
        team_send_data(self, call, step, pe);
    call->lent--;
    return true;
}

/* Sends the address of the bytes of a step: of a SEND to the receiver, or of a RECV to the sender.
 */
static void team_send_address(struct ski_pe *self, const struct ski_team_call *call,
                              const struct ski_step *step, enum ski_team_packet packet)
{
    struct ski_team_head    head    = team_make_head(call, step->tag, packet);
    const char             *data    = call->buffer[step->at.buffer] + step->at.at;
    struct ski_team_address address = {(uintptr_t)data, step->bytes};

    team_send_small(self, ski_team_pe_at(call->team, step->rank), &head, &address, sizeof address);
}

bool ski_team_send_waits(struct ski_pe *self, const struct ski_team_call *call,
                         const struct ski_step *step)
{
    const char *data = call->buffer[step->at.buffer] + step->at.at;
    int         pe   = ski_team_pe_at(call->team, step->rank);

    return call->lent > 0 && call->team->window.in_flight >= call->team->window.bytes &&
           team_is_paced(self, call, pe) && !team_lends(self, call, step, pe, data);
}

void ski_team_send(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step)
{
    const char *data = call->buffer[step->at.buffer] + step->at.at;
    int         pe   = ski_team_pe_at(call->team, step->rank);

    ski_assert(pe != self->pe);
    if (!team_lends(self, call, step, pe, data)) {
        team_send_data(self, call, step, pe);
        return;
    }
    call->lent++;
    if (!team_send_to_offer(self, call, step))
        team_send_address(self, call, step, SKI_PACKET_ADDRESS);
}

/* ---- offers ----------------------------------------------------------------------- */

bool ski_team_offers(const struct ski_team *team, size_t bytes)
{
    return team->size > 1 && team_lends_cma(team, bytes);
}

void ski_team_offer(struct ski_pe *self, const struct ski_team_call *call)
{
    for (uint32_t i = 0; i < call->schedule.steps; i++)
        if (call->schedule.step[i].offers)
            team_send_address(self, call, &call->schedule.step[i], SKI_PACKET_OFFER);
}

void ski_team_use_offer(struct ski_pe *self, struct ski_team_call *call)
{
    for (uint32_t i = 0; call->offered && call->lent > 0 && i < call->pc; i++)
        if (call->schedule.step[i].action == SKI_STEP_SEND)
            team_send_to_offer(self, call, &call->schedule.step[i]);
}

void ski_team_resend(struct ski_pe *self, struct ski_team_call *call, uint32_t tag, int rank)
{
    for (uint32_t i = 0; i < call->pc; i++) {
        const struct ski_step *step = &call->schedule.step[i];

        if (step->action == SKI_STEP_SEND && step->tag == tag && step->rank == rank)
            team_send_data(self, call, step, ski_team_pe_at(call->team, rank));
    }
}

/* ---- answers and credits --------------------------------------------------------- */

void ski_team_answer(struct ski_pe *self, const struct ski_team_call *call, const skua_msg *msg,
                     uint32_t tag, enum ski_team_packet packet)
{
    struct ski_team_head head = team_make_head(call, tag, packet);

    team_send_small(self, msg->source, &head, NULL, 0);
}

void ski_team_credit(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step,
                     skua_msg *msg)
{
    struct ski_team *team = call->team;
    int              rank = step->rank;

    if (!team_needs_credit(&call->kind))
        return;
    if (!team->owed)
        team->owed = ski_calloc((size_t)team->size, sizeof *team->owed);
    team->owed[rank] += ski_call_cost(step->bytes);
    if (ski_team_head_of(msg)->want_credit || team->owed[rank] >= team->window.bytes / 8) {
        struct ski_team_head head = team_make_head(call, 0, SKI_PACKET_CREDIT);

        team_send_small(self, ski_team_pe_at(team, rank), &head, &team->owed[rank],
                        sizeof team->owed[rank]);
        team->owed[rank] = 0;
    }
}
