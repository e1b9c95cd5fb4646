/* SPDX-License-Identifier: Apache-2.0 */
/* team_packet.c - packets of team collectives that arrive (see team_call.h). */
#include "onesided/team/team_packet.h"

#include <string.h>

#include "base/assert.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/team_call.h"
#include "onesided/team/team_send.h"
#include "onesided/team/team_slot.h"

#define TEAM_AHEAD_MAX (1u << 24) /* difference of call numbers in flight */

/* Ends the job: @p msg of rank @p rank belongs to the call @p made, which this member makes by
 * slots, so that the other member makes another call. */
static SKI_COLD _Noreturn void team_not_by_slots(struct ski_team             *team,
                                                 const struct ski_small_call *made, skua_msg *msg,
                                                 int rank)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    struct ski_team_call        call = {.team      = team,
                                        .number    = made->team_call,
                                        .kind      = made->kind,
                                        .kind_rank = team->rank,
                                        .passed    = made->bytes};

    if (ski_team_kind_equal(&call.kind, &head->kind))
        ski_team_size_mismatch(&call, msg, made->bytes);
    ski_team_mismatch(&call, &head->kind, rank);
}

static void team_check_slots(struct ski_team *team, skua_msg *msg, int rank)
{
    const struct ski_small_call *made =
        ski_team_slots_find(team->slots, ski_team_head_of(msg)->call);

    if (made)
        team_not_by_slots(team, made, msg, rank);
}

void ski_team_check_early(struct ski_team *team, const struct ski_small_call *made)
{
    const struct ski_team_call *call = ski_team_call_find(team, made->team_call);

    if (call)
        team_not_by_slots(team, made, call->early.first, call->kind_rank);
}

/* Ends the job if @p msg has data of a call that is over here: this member has received all that
 * others send in that call, if all name the same root and sizes that match. */
static void team_check_late(const struct ski_pe *self, const struct ski_team *team, skua_msg *msg,
                            int rank)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    char                        text[SKI_DESCRIBE_STR], name[SKI_TEAM_STR];

    if (head->packet > SKI_PACKET_ADDRESS || team->calls - head->call > TEAM_AHEAD_MAX ||
        ski_job_exiting(self->job))
        return;
    ski_misuse("collective call %u of %s differs between members: rank %d calls %s and sends what "
               "rank %d, where the call is over, does not expect; all members make the same calls "
               "in the same order, with the same root and sizes that match",
               head->call + 1, ski_team_str(team->name, name), rank,
               ski_collective_describe(&head->kind, text), team->rank);
}

/* Keeps DATA, ADDRESS, OFFER or STORED for a call that this member has not made.  @p call is its
 * record, or NULL. */
static void team_on_early(struct ski_pe *self, struct ski_team *team, struct ski_team_call *call,
                          skua_msg *msg)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    int                         rank = ski_team_rank_of(team, msg->source);

    if (rank < 0 || head->kind.collective >= SKI_COLLECTIVES ||
        head->call - team->calls > TEAM_AHEAD_MAX) {
        if (rank >= 0 && head->kind.collective < SKI_COLLECTIVES) {
            team_check_slots(team, msg, rank);
            team_check_late(self, team, msg, rank);
        }
        ski_net_drop(self, msg); /* among others, the call is over */
        return;
    }
    if (!call)
        call = ski_team_call_new(self, team, head->call, &head->kind, rank);
    if (!ski_team_kind_equal(&call->kind, &head->kind))
        ski_team_mismatch(call, &head->kind, rank);
    ski_list_push(&call->early, msg);
}

/* Handles DATA, ADDRESS, OFFER or STORED for the call that it names. */
static void team_on_data(struct ski_pe *self, struct ski_team *team, skua_msg *msg)
{
    struct ski_team_call *call = ski_team_call_find(team, ski_team_head_of(msg)->call);

    if (!call || !call->made) {
        team_on_early(self, team, call, msg);
        return;
    }
    ski_assert(call->team == team);
    ski_team_call_arrive(self, call, msg);
    ski_team_use_offer(self, call);
    ski_team_call_advance(self, call);
}

/* Handles a reply to ADDRESS, or TAKEN of this PE: the driver has sent memory that was lent to it.
 */
static void team_on_answer(struct ski_pe *self, struct ski_team *team, skua_msg *msg, int rank)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    struct ski_team_call       *call = ski_team_call_find(team, head->call);

    if (!call || !call->begun || call->lent == 0) {
        ski_net_drop(self, msg);
        return;
    }
    if (head->packet == SKI_PACKET_REFUSED)
        ski_team_resend(self, call, head->tag, rank);
    skua_msg_free(msg);
    ski_assert(call->lent > 0);
    call->lent--;
    ski_team_call_advance(self, call);
}

/* Handles a credit. */
static void team_on_credit(struct ski_pe *self, struct ski_team *team, skua_msg *msg)
{
    uint64_t bytes;

    memcpy(&bytes, ski_team_data(msg), sizeof bytes);
    if (bytes > team->window.in_flight) {
        ski_net_drop(self, msg);
        return;
    }
    ski_window_release(&team->window, bytes, "credit", msg->source);
    skua_msg_free(msg);
    ski_window_open(self, &team->window);
}

/* Returns whether a packet has the bytes that its kind needs, and whether its sender may lend
 * memory to this PE, if it does. */
static bool team_packet_valid(const struct ski_pe *self, skua_msg *msg)
{
    const struct ski_team_head *head  = ski_team_head_of(msg);
    size_t                      bytes = ski_team_data_bytes(msg);
    struct ski_team_address     lent;
    uint64_t                    at;

    switch (head->packet) {
    case SKI_PACKET_DATA: return true;
    case SKI_PACKET_STORED:
    case SKI_PACKET_TAKEN:
    case SKI_PACKET_REFUSED: /* memory is lent inside a host, and to the driver by this PE */
        return bytes == 0 && ski_job_index(self->job, msg->source) >= 0;
    case SKI_PACKET_CREDIT: return bytes == sizeof(uint64_t);
    case SKI_PACKET_OFFER:
    case SKI_PACKET_ADDRESS: break;
    default: return false;
    }
    if (bytes != sizeof lent || ski_job_index(self->job, msg->source) < 0)
        return false;
    memcpy(&lent, ski_team_data(msg), sizeof lent);
    at = lent.address - (uint64_t)(uintptr_t)self->job->arena->base;
    return at >= self->job->arena->bytes || self->job->arena->bytes - at >= lent.bytes;
}

/* ---- in-place delivery ------------------------------------------------------------------ */

/* Returns the arrival that @p head belongs to, of a call that has begun, or NULL. */
static struct ski_arrival *team_arrival(struct ski_pe *self, const struct ski_team_head *head,
                                        struct ski_team_call **call)
{
    struct ski_team *team = ski_team_find(self, head->team);

    *call = team ? ski_team_call_find(team, head->call) : NULL;
    return *call && (*call)->begun && head->packet == SKI_PACKET_DATA &&
                   head->tag < (*call)->schedule.tags &&
                   (*call)->arrival[head->tag].step != SKI_STEP_NONE
               ? &(*call)->arrival[head->tag]
               : NULL;
}

size_t ski_team_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct ski_team_call  *call;
    struct ski_team_head   head;
    struct ski_arrival    *arrival;
    const struct ski_step *step;

    /* Only the thread of the PE itself may receive, and not into memory that a program which has
     * been notified of the end may have freed. */
    if (self != ski_self || ski_pe_exiting(self) || ski_job_exiting(self->job))
        return 0;
    memcpy(&head, data, sizeof head);
    arrival = team_arrival(self, &head, &call);
    if (!arrival || arrival->msg || arrival->in_place || arrival->step < call->pc)
        return 0;
    step = &call->schedule.step[arrival->step];
    if (step->action != SKI_STEP_RECV || step->reused ||
        !ski_team_kind_equal(&call->kind, &head.kind) || step->bytes != ski_team_data_bytes(msg) ||
        ski_team_pe_at(call->team, step->rank) != msg->source)
        return 0;
    arrival->in_place = true;
    *to               = call->buffer[step->at.buffer] + step->at.at;
    return step->bytes;
}

/* The message has this PE as its source, which no packet from another PE has. */
skua_msg *ski_team_placed(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole)
{
    struct ski_team_call *call;
    struct ski_team_head  head;
    struct ski_arrival   *arrival;

    (void)msg;
    memcpy(&head, data, sizeof head);
    if (whole)
        return ski_msg_copy(self, SKI_HANDLER_TEAM, &head, sizeof head);
    arrival = team_arrival(self, &head, &call);
    if (arrival)
        arrival->in_place = false;
    return NULL;
}

/* Handles the message that represents DATA received in place. */
static void team_on_placed(struct ski_pe *self, skua_msg *msg)
{
    struct ski_team_call *call;
    struct ski_arrival   *arrival = team_arrival(self, ski_team_head_of(msg), &call);

    if (!arrival || !arrival->in_place || arrival->msg) {
        ski_net_drop(self, msg);
        return;
    }
    arrival->msg = msg;
    ski_team_call_advance(self, call);
}

/* Handles a valid packet of @p team. */
static void team_on_packet(struct ski_pe *self, struct ski_team *team, skua_msg *msg)
{
    const struct ski_team_head *head = ski_team_head_of(msg);
    int                         rank;

    if (SKI_LIKELY(head->packet <= SKI_PACKET_STORED)) {
        if (head->packet == SKI_PACKET_DATA && msg->source == self->pe)
            team_on_placed(self, msg);
        else
            team_on_data(self, team, msg);
        return;
    }
    rank = ski_team_rank_of(team, msg->source);
    if (rank < 0)
        ski_net_drop(self, msg);
    else if (head->packet == SKI_PACKET_CREDIT)
        team_on_credit(self, team, msg);
    else
        team_on_answer(self, team, msg, rank);
}

void ski_on_team(skua_msg *msg)
{
    struct ski_pe              *self  = ski_self;
    struct ski_team_pe         *teams = ski_onesided_pe(self)->team;
    const struct ski_team_head *head  = ski_team_head_of(msg);
    struct ski_team            *team  = ski_team_find(self, head->team);

    if (!team_packet_valid(self, msg))
        ski_net_drop(self, msg);
    else if (team)
        team_on_packet(self, team, msg);
    else if (head->packet == SKI_PACKET_CREDIT)
        skua_msg_free(msg); /* this PE has destroyed the team */
    else if (teams->splits > 0)
        ski_list_push(&teams->unclaimed, msg);
    else
        ski_net_drop(self, msg);
}

void ski_team_claim(struct ski_pe *self, struct ski_team *team)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;
    struct ski_list     all;
    skua_msg           *msg;

    ski_list_init(&all);
    ski_list_prepend(&all, &teams->unclaimed);
    while ((msg = ski_list_pop(&all))) {
        if (ski_team_head_of(msg)->team == team->name)
            team_on_packet(self, team, msg);
        else
            ski_list_push(&teams->unclaimed, msg);
    }
}
