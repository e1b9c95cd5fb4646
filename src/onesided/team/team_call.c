/* SPDX-License-Identifier: Apache-2.0 */
/* team_call.c - calls of team collectives and their progress (see team_call.h). */
#include "onesided/team/team_call.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/pe.h"
#include "onesided/rma/cma.h"
#include "onesided/team/team_send.h"

#define TEAM_DEFERRED_MAX 4096 /* calls of a team that are deferred without a wait */

/* ---- receiving ------------------------------------------------------------------- */

/* Stores or combines @p data, which have arrived for @p step. */
static void team_store(const struct ski_team_call *call, const struct ski_step *step,
                       const char *data)
{
    char *to = call->buffer[step->at.buffer] + step->at.at;

    if (step->bytes == 0)
        return;
    if (step->action == SKI_STEP_RECV_COMBINE)
        ski_team_combine(&call->kind, to, data, step->bytes);
    else
        ski_copy(to, data, step->bytes);
}

/* Reads memory of another process that was lent.  Returns false if the system does not allow it. */
static bool team_read_remote(const struct ski_team_call *call, const struct ski_step *step,
                             const struct ski_team_address *lent)
{
    char       *to     = call->buffer[step->at.buffer] + step->at.at;
    const char *from   = (const char *)(uintptr_t)lent->address;
    char       *temp   = step->action == SKI_STEP_RECV_COMBINE ? ski_malloc(step->bytes) : NULL;
    int32_t     pid    = ski_job_pid(ski_self->job, ski_team_pe_at(call->team, step->rank));
    skua_status status = ski_cma_read(ski_collective_name(call->kind.collective), pid,
                                      temp ? temp : to, from, step->bytes);

    if (temp && status == SKUA_OK)
        ski_team_combine(&call->kind, to, temp, step->bytes);
    free(temp);
    if (status != SKUA_OK && status != SKUA_ERR_UNSUPPORTED && !ski_job_exiting(ski_self->job))
        ski_misuse("%s: the memory of rank %d cannot be read; the buffers of a collective stay "
                   "valid until its completion",
                   ski_collective_name(call->kind.collective), step->rank);
    return status == SKUA_OK;
}

/* Stores memory that another PE of this process has lent.  Returns false if the job ends. */
static bool team_store_sibling(struct ski_pe *self, const struct ski_team_call *call,
                               const struct ski_step *step, const char *from, int pe)
{
    if (!ski_team_access_begin(self, pe))
        return false;
    team_store(call, step, from);
    ski_team_access_end(self);
    return true;
}

/* Stores lent memory, and answers.  Returns false if the sender was asked to send the data, or the
 * job ends and its memory may be gone. */
static bool team_store_lent(struct ski_pe *self, struct ski_team_call *call,
                            const struct ski_step *step, skua_msg *msg)
{
    struct ski_team_address lent;
    const char             *from;
    bool                    read = true;

    memcpy(&lent, ski_team_data(msg), sizeof lent);
    from = (const char *)(uintptr_t)lent.address;
    if (ski_arena_contains(self->job->arena, from)) {
        team_store(call, step, from);
    } else if (ski_job_process_of(self->job, msg->source) == self->process) {
        if (!team_store_sibling(self, call, step, from, msg->source))
            return false;
    } else {
        if (ski_job_exiting(self->job))
            return false;
        read = team_read_remote(call, step, &lent);
    }
    ski_team_answer(self, call, msg, step->tag, read ? SKI_PACKET_TAKEN : SKI_PACKET_REFUSED);
    return read;
}

/* Executes a RECV whose message has arrived.  Returns false if its data will arrive in another one.
 */
static bool team_step_recv(struct ski_pe *self, struct ski_team_call *call,
                           const struct ski_step *step)
{
    skua_msg *msg    = call->arrival[step->tag].msg;
    bool      stored = true;

    call->arrival[step->tag].msg = NULL;
    if (ski_team_head_of(msg)->packet == SKI_PACKET_ADDRESS) {
        stored = team_store_lent(self, call, step, msg);
    } else if (ski_team_head_of(msg)->packet == SKI_PACKET_DATA) {
        if (!call->arrival[step->tag].in_place)
            team_store(call, step, ski_team_data(msg));
        ski_team_credit(self, call, step, msg);
        if (ski_team_head_of(msg)->want_taken)
            ski_team_answer(self, call, msg, step->tag, SKI_PACKET_TAKEN);
    }
    skua_msg_free(msg);
    return stored;
}

/* ---- progress ------------------------------------------------------------------------ */

/* Executes a COPY. */
static void team_step_copy(const struct ski_team_call *call, const struct ski_step *step)
{
    char       *to   = call->buffer[step->at.buffer] + step->at.at;
    const char *from = call->buffer[step->from.buffer] + step->from.at;

    for (uint32_t i = 0; i < step->repeat; i++)
        memcpy(to + i * step->stride, from + i * step->from_stride, step->bytes);
}

/* Executes a step.  Returns false if it must wait. */
static bool team_step(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step)
{
    char *at = call->buffer[step->at.buffer] + step->at.at;

    switch ((enum ski_step_action)step->action) {
    case SKI_STEP_SEND:
        if (ski_team_send_waits(self, call, step))
            return false;
        ski_team_send(self, call, step);
        break;
    case SKI_STEP_RECV:
    case SKI_STEP_RECV_COMBINE:
        return call->arrival[step->tag].msg && team_step_recv(self, call, step);
    case SKI_STEP_COPY: team_step_copy(call, step); break;
    case SKI_STEP_COMBINE:
        ski_team_combine(&call->kind, at, call->buffer[step->from.buffer] + step->from.at,
                         step->bytes);
        break;
    case SKI_STEP_PREPARE:
        ski_op_prepare(ski_op_numbered(call->kind.op), at,
                       step->bytes >> ski_type_shift((skua_type)call->kind.type),
                       (skua_type)call->kind.type);
        break;
    case SKI_STEP_FLUSH: return call->lent == 0;
    }
    return true;
}

/* Ends a call whose schedule is executed. */
static void team_call_finish(struct ski_pe *self, struct ski_team_call *call)
{
    struct ski_team *team = call->team;
    skua_completion  done = call->done;

    ski_window_release(&team->window, call->cost, "team collective", self->pe);
    ski_team_call_release(self, call);
    ski_window_open(self, &team->window);
    skua_complete(done, NULL, 0); /* the team may be destroyed by it */
}

void ski_team_call_advance(struct ski_pe *self, struct ski_team_call *call)
{
    if (!call->begun)
        return;
    while (call->pc < call->schedule.steps) {
        if (!team_step(self, call, &call->schedule.step[call->pc]))
            return;
        call->pc++;
    }
    if (call->lent == 0)
        team_call_finish(self, call);
}

/* ---- calls ------------------------------------------------------------------------ */

SKI_COLD _Noreturn void ski_team_mismatch(const struct ski_team_call *call,
                                          const struct ski_team_kind *kind, int rank)
{
    char text[2][SKI_DESCRIBE_STR], team[SKI_TEAM_STR];

    ski_misuse("collective call %u of %s differs between members: rank %d calls %s, rank %d calls "
               "%s; all members make the same calls in the same order",
               call->number + 1, ski_team_str(call->team->name, team), call->kind_rank,
               ski_collective_describe(&call->kind, text[0]), rank,
               ski_collective_describe(kind, text[1]));
}

/* Keeps an OFFER until the SEND that it is for; one that is not used is of no consequence. */
static void team_call_keep_offer(struct ski_team_call *call, skua_msg *msg)
{
    if (call->kind.collective == SKI_COLLECTIVE_GATHER &&
        msg->source == ski_team_pe_at(call->team, call->kind.root)) {
        memcpy(&call->offer, ski_team_data(msg), sizeof call->offer);
        call->offered = true;
    }
    skua_msg_free(msg);
}

/* Returns whether this member accepts @p msg for @p arrival. */
static bool team_call_accepts(const struct ski_team_call *call, const struct ski_arrival *arrival,
                              enum ski_team_packet packet)
{
    if (packet == SKI_PACKET_STORED && !(call->begun && call->schedule.step[arrival->step].offers))
        return false;
    return !arrival->msg && !arrival->in_place && arrival->step >= call->pc;
}

/* Returns how many bytes of a SEND @p msg announces, of which the RECV has @p expected. */
static size_t team_msg_bytes(skua_msg *msg, size_t expected)
{
    struct ski_team_address lent;

    switch (ski_team_head_of(msg)->packet) {
    case SKI_PACKET_ADDRESS:
    case SKI_PACKET_OFFER: memcpy(&lent, ski_team_data(msg), sizeof lent); return lent.bytes;
    case SKI_PACKET_STORED: return expected; /* the sender has compared them */
    default: return ski_team_data_bytes(msg);
    }
}

SKI_COLD _Noreturn void ski_team_size_mismatch(const struct ski_team_call *call, skua_msg *msg,
                                               size_t expected)
{
    char text[SKI_DESCRIBE_STR], team[SKI_TEAM_STR], passed[48] = "";
    char mine[24] = "none of that size";

    if (expected != SKI_TEAM_NOTHING)
        snprintf(mine, sizeof mine, "%zu", expected);
    if (call->passed && call->passed != expected) /* it has several blocks, or a slice */
        snprintf(passed, sizeof passed, " (it passes %zu)", call->passed);
    ski_misuse("%s, call %u of %s: rank %d sends %zu bytes where rank %d expects %s%s; members "
               "pass sizes that match",
               ski_collective_describe(&call->kind, text), call->number + 1,
               ski_team_str(call->team->name, team), ski_team_rank_of(call->team, msg->source),
               team_msg_bytes(msg, 0), call->team->rank, mine, passed);
}

void ski_team_call_arrive(struct ski_pe *self, struct ski_team_call *call, skua_msg *msg)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    struct ski_arrival         *arrival =
        head->tag < call->schedule.tags ? &call->arrival[head->tag] : NULL;
    const struct ski_step *step =
        arrival && arrival->step != SKI_STEP_NONE ? &call->schedule.step[arrival->step] : NULL;
    size_t bytes = team_msg_bytes(msg, step ? step->bytes : 0);

    if (SKI_UNLIKELY(!ski_team_kind_equal(&call->kind, &head->kind)))
        ski_team_mismatch(call, &head->kind, ski_team_rank_of(call->team, msg->source));
    if (head->packet == SKI_PACKET_OFFER) {
        team_call_keep_offer(call, msg);
        return;
    }
    if (SKI_UNLIKELY(!step || ski_team_pe_at(call->team, step->rank) != msg->source))
        ski_team_size_mismatch(call, msg, SKI_TEAM_NOTHING);
    if (SKI_UNLIKELY(bytes != step->bytes))
        ski_team_size_mismatch(call, msg, step->bytes);
    if (SKI_UNLIKELY(!team_call_accepts(call, arrival, head->packet)))
        ski_net_drop(self, msg);
    else if (head->packet == SKI_PACKET_ADDRESS && step->offers)
        skua_msg_free(msg); /* the sender waits for the OFFER */
    else
        arrival->msg = msg;
}

struct ski_team_call *ski_team_call_next(struct ski_pe *self, struct ski_team *team,
                                         const struct ski_team_kind *kind)
{
    uint32_t              number = team->calls++;
    struct ski_team_call *call   = ski_team_call_find(team, number);

    if (!call)
        call = ski_team_call_new(self, team, number, kind, team->rank);
    if (!ski_team_kind_equal(&call->kind, kind))
        ski_team_mismatch(call, kind, team->rank);
    return call;
}

/* Prepares the arrivals of a call: which RECV a tag belongs to. */
static void team_call_prepare(struct ski_team_call *call)
{
    struct ski_schedule *s = &call->schedule;

    if (s->tags > SKI_ARRIVALS_INLINE)
        call->arrival = ski_malloc(s->tags * sizeof *call->arrival);
    for (uint32_t tag = 0; tag < s->tags; tag++)
        call->arrival[tag] = (struct ski_arrival){NULL, SKI_STEP_NONE, false};
    for (uint32_t i = 0; i < s->steps; i++)
        if (s->step[i].action == SKI_STEP_RECV || s->step[i].action == SKI_STEP_RECV_COMBINE) {
            ski_assert(call->arrival[s->step[i].tag].step == SKI_STEP_NONE);
            call->arrival[s->step[i].tag].step = i;
        }
}

/* Begins a call, for which the window has room. */
static void team_call_begin(struct ski_pe *self, struct ski_team_call *call)
{
    call->begun = true;
    call->cost  = SKI_CALL_COST;
    call->team->window.in_flight += SKI_CALL_COST;
    if (call->schedule.temp) {
        call->temp             = skua_msg_alloc(call->schedule.temp);
        call->buffer[SKI_TEMP] = skua_msg_data(call->temp);
    }
    if (call->kind.collective == SKI_COLLECTIVE_GATHER)
        ski_team_offer(self, call);
    ski_team_call_advance(self, call);
}

/* A call that found the window full. */
struct team_deferred {
    struct ski_deferred   base;
    struct ski_team_call *call;
};

static void team_begin_deferred(struct ski_pe *self, struct ski_deferred *base)
{
    struct ski_team_call *call = ((struct team_deferred *)base)->call;

    ski_assert(call->team->deferred > 0);
    call->team->deferred--;
    team_call_begin(self, call);
}

/* Queues the call or, if very many are queued and the caller is no handler, waits until it has
 * begun. */
static SKI_COLD void team_wait_or_defer(struct ski_pe *self, struct ski_team_call *call)
{
    struct team_deferred waiting = {.base.begin = team_begin_deferred, .call = call}, *deferred;

    call->team->deferred++;
    if (call->team->deferred > TEAM_DEFERRED_MAX && ski_window_waits(self)) {
        ski_window_wait(self, &call->team->window, &waiting.base);
        return;
    }
    deferred  = ski_malloc(sizeof *deferred);
    *deferred = waiting;
    ski_window_defer(&call->team->window, &deferred->base);
}

void ski_team_call_make(struct ski_pe *self, struct ski_team_call *call)
{
    skua_msg *msg;

    team_call_prepare(call);
    call->made = true;
    while ((msg = ski_list_pop(&call->early)))
        ski_team_call_arrive(self, call, msg);
    if (SKI_UNLIKELY(ski_window_full(&call->team->window)))
        team_wait_or_defer(self, call);
    else
        team_call_begin(self, call);
}
