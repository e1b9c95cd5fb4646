/* SPDX-License-Identifier: Apache-2.0 */
/* team_call.c - records, packets and progress of team collectives (see team_call.h). */
#include "onesided/team/team_call.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/zcopy_send.h"

#define TEAM_LEND_SHARED   4096       /* bytes from which memory of the arena or process is lent */
#define TEAM_UNCOPIED      32768      /* bytes from which DATA to another host are not copied */
#define TEAM_LEND_CMA      16384      /* bytes from which other memory is lent                   */
#define TEAM_MOST_AHEAD    (1u << 24) /* difference of call numbers in flight, at most           */
#define TEAM_DEFERRED_MOST 4096       /* calls of a team that are deferred without a wait */
#define TEAM_STEP_NONE     UINT32_MAX

/* Kinds of packets. */
enum team_packet {
    TEAM_PACKET_DATA,
    TEAM_PACKET_ADDRESS,
    TEAM_PACKET_TAKEN,
    TEAM_PACKET_REFUSED,
    TEAM_PACKET_CREDIT,
    TEAM_PACKETS /* their number */
};

/* What follows the head of TEAM_PACKET_ADDRESS. */
struct team_address {
    uint64_t address;
    uint64_t bytes;
    int32_t  pid;
    int32_t  unused;
};

_Static_assert(sizeof(struct ski_team_head) == SKI_TEAM_LEAST, "see handler_defs.h");
_Static_assert(sizeof(struct ski_team_head) + sizeof(struct team_address) <= SKUA_INLINE_MAX,
               "an address fits into a cell");

/* Returns the head of a packet. */
static struct ski_team_head *team_head(skua_msg *msg)
{
    return (struct ski_team_head *)(void *)(msg + 1);
}

/* Returns the bytes behind the head of a packet. */
static char *team_data(skua_msg *msg)
{
    return (char *)(team_head(msg) + 1);
}

/* Returns the number of bytes behind the head of a packet. */
static size_t team_data_bytes(const skua_msg *msg)
{
    return msg->bytes - sizeof(struct ski_team_head);
}

/* ---- records ------------------------------------------------------------------- */

/* Returns the entry of the table for call @p number. */
static struct ski_team_call **team_entry(struct ski_team *team, uint32_t number)
{
    ski_assert(team->table_size && (team->table_size & (team->table_size - 1)) == 0);
    return &team->table[number & (team->table_size - 1)];
}

/* Returns the record of call @p number, or NULL. */
static struct ski_team_call *team_call_find(struct ski_team *team, uint32_t number)
{
    struct ski_team_call *call = team->table_size ? *team_entry(team, number) : NULL;

    return call && call->number == number ? call : NULL;
}

/* Doubles the table: numbers in flight are close together, so in a table that is large enough each
 * has an entry of its own. */
static void team_table_grow(struct ski_team *team)
{
    struct ski_team_call **old  = team->table;
    uint32_t               size = team->table_size;

    team->table_size = size ? 2 * size : 8;
    team->table      = ski_calloc(team->table_size, sizeof *team->table);
    for (uint32_t i = 0; i < size; i++)
        if (old[i])
            *team_entry(team, old[i]->number) = old[i];
    free(old);
}

/* Returns a new record of call @p number. */
static struct ski_team_call *team_call_new(struct ski_pe *self, struct ski_team *team,
                                           uint32_t number, const struct ski_team_kind *kind,
                                           int rank)
{
    struct ski_team_pe   *teams = ski_onesided_pe(self)->team;
    struct ski_team_call *call  = teams->free_calls;

    if (call)
        teams->free_calls = call->next;
    else
        call = ski_malloc(sizeof *call);
    memset(call, 0, offsetof(struct ski_team_call, schedule));
    call->team      = team;
    call->number    = number;
    call->kind      = *kind;
    call->kind_rank = rank;
    call->arrival   = call->few;
    ski_list_init(&call->early);
    ski_schedule_init(&call->schedule);
    while (team->table_size == 0 || *team_entry(team, number))
        team_table_grow(team);
    *team_entry(team, number) = call;
    team->records++;
    return call;
}

/* Frees what a record owns. */
static void team_call_clear(struct ski_team_call *call)
{
    ski_schedule_free(&call->schedule);
    if (call->arrival != call->few)
        free(call->arrival);
    if (call->temp)
        skua_msg_free(call->temp);
}

/* Ends a record. */
static void team_call_release(struct ski_pe *self, struct ski_team_call *call)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    ski_assert(*team_entry(call->team, call->number) == call && call->team->records > 0);
    *team_entry(call->team, call->number) = NULL;
    call->team->records--;
    team_call_clear(call);
    call->next        = teams->free_calls;
    teams->free_calls = call;
}

void ski_team_calls_end(struct ski_team *team)
{
    for (uint32_t i = 0; i < team->table_size; i++) {
        struct ski_team_call *call = team->table[i];

        if (!call)
            continue;
        call->temp = NULL; /* it goes with the arena */
        team_call_clear(call);
        free(call);
    }
    free(team->table);
    ski_window_destroy(&team->window);
}

void ski_team_free_calls_end(struct ski_team_pe *teams)
{
    while (teams->free_calls) {
        struct ski_team_call *call = teams->free_calls;

        teams->free_calls = call->next;
        free(call);
    }
}

/* ---- sending --------------------------------------------------------------------- */

/* Returns the head of a packet of @p call. */
static struct ski_team_head team_make_head(const struct ski_team_call *call, uint32_t tag,
                                           enum team_packet packet)
{
    return (struct ski_team_head){.team   = call->team->name,
                                  .call   = call->number,
                                  .tag    = tag & 0xffffff,
                                  .packet = packet & 0x7fu,
                                  .kind   = call->kind};
}

/* Sends a packet with a few bytes behind its head. */
static void team_send_small(int pe, const struct ski_team_head *head, const void *data,
                            size_t bytes)
{
    char packet[SKUA_INLINE_MAX];

    ski_assert(sizeof *head + bytes <= sizeof packet);
    memcpy(packet, head, sizeof *head);
    if (bytes)
        memcpy(packet + sizeof *head, data, bytes);
    skua_send_copy(pe, (skua_handler){SKI_HANDLER_TEAM}, packet, sizeof *head + bytes);
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

/* Sends the bytes of a SEND to another host from where they lie.  False: that is not possible now.
 */
static bool team_send_uncopied(struct ski_pe *self, struct ski_team_call *call,
                               const struct ski_step *step, int pe,
                               const struct ski_team_head *head)
{
    const char           *data = call->buffer[step->at.buffer] + step->at.at;
    struct ski_team_head *taken;
    skua_msg             *msg;

    if (step->copied || step->bytes < TEAM_UNCOPIED || ski_job_index(self->job, pe) >= 0 ||
        !ski_zcopy_send_supported())
        return false;
    msg             = skua_msg_alloc(sizeof *head + sizeof(struct ski_zcopy_send));
    msg->handler    = SKI_HANDLER_TEAM;
    msg->source     = self->pe;
    *team_head(msg) = *head;
    taken           = ski_malloc(sizeof *taken);
    *taken          = team_make_head(call, 0, TEAM_PACKET_TAKEN);
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
    struct ski_team_head head = team_make_head(call, step->tag, TEAM_PACKET_DATA);
    const char          *data = call->buffer[step->at.buffer] + step->at.at;
    skua_msg            *msg;

    team_charge(call, step->bytes);
    head.want_credit = ski_window_wants_credit(&call->team->window);
    if (sizeof head + step->bytes <= SKUA_INLINE_MAX) {
        team_send_small(pe, &head, data, step->bytes);
        return;
    }
    if (team_send_uncopied(self, call, step, pe, &head))
        return;
    msg             = skua_msg_alloc(sizeof head + step->bytes);
    *team_head(msg) = head;
    memcpy(team_data(msg), data, step->bytes);
    skua_send(pe, (skua_handler){SKI_HANDLER_TEAM}, msg);
}

/* Returns whether the memory of a SEND to @p pe is lent rather than copied. */
static bool team_lends(const struct ski_pe *self, const struct ski_step *step, int pe,
                       const char *data)
{
    if (step->copied || step->bytes < TEAM_LEND_SHARED || ski_job_index(self->job, pe) < 0)
        return false;
    return ski_arena_contains(self->job->arena, data) ||
           ski_job_process_of(self->job, pe) == self->process ||
           (ski_config.cma && step->bytes >= TEAM_LEND_CMA);
}

/* Executes a SEND. */
static void team_step_send(struct ski_pe *self, struct ski_team_call *call,
                           const struct ski_step *step)
{
    const char *data = call->buffer[step->at.buffer] + step->at.at;
    int         pe   = ski_team_pe_at(call->team, step->rank);

    ski_assert(pe != self->pe);
    if (team_lends(self, step, pe, data)) {
        struct ski_team_head head = team_make_head(call, step->tag, TEAM_PACKET_ADDRESS);
        struct team_address  lent = {(uintptr_t)data, step->bytes, (int32_t)getpid(), 0};

        call->lent++;
        team_send_small(pe, &head, &lent, sizeof lent);
    } else {
        team_send_data(self, call, step, pe);
    }
}

/* ---- receiving --------------------------------------------------------------------- */

/* Sends the sender of @p msg the answer to ADDRESS. */
static void team_answer(const struct ski_team_call *call, const skua_msg *msg, uint32_t tag,
                        enum team_packet packet)
{
    struct ski_team_head head = team_make_head(call, tag, packet);

    team_send_small(msg->source, &head, NULL, 0);
}

/* Grants the sender of DATA for @p step a credit, which is sent at once if the packet
 * requests it, else with later ones. */
static void team_credit(struct ski_team_call *call, const struct ski_step *step, skua_msg *msg)
{
    struct ski_team *team = call->team;
    int              rank = step->rank;

    if (!team_needs_credit(&call->kind))
        return;
    if (!team->owed)
        team->owed = ski_calloc((size_t)team->size, sizeof *team->owed);
    team->owed[rank] += ski_call_cost(step->bytes);
    if (team_head(msg)->want_credit || team->owed[rank] >= team->window.bytes / 8) {
        struct ski_team_head head = team_make_head(call, 0, TEAM_PACKET_CREDIT);

        team_send_small(ski_team_pe_at(team, rank), &head, &team->owed[rank],
                        sizeof team->owed[rank]);
        team->owed[rank] = 0;
    }
}

/* Applies the operator of @p call: into = into (op) from. */
static void team_combine(const struct ski_team_call *call, char *into, const char *from,
                         size_t bytes)
{
    skua_type type = (skua_type)call->kind.type;

    if (bytes)
        ski_op_function(ski_op_numbered(call->kind.op), type)(into, from,
                                                              bytes >> ski_type_shift(type), type);
}

/* Stores or combines @p data, which have arrived for @p step. */
static void team_store(const struct ski_team_call *call, const struct ski_step *step,
                       const char *data)
{
    char *to = call->buffer[step->at.buffer] + step->at.at;

    if (step->bytes == 0)
        return;
    if (step->action == SKI_STEP_RECV_COMBINE)
        team_combine(call, to, data, step->bytes);
    else
        ski_copy(to, data, step->bytes);
}

/* Reads memory of another process that was lent.  False: the system does not allow it. */
static bool team_read_remote(const struct ski_team_call *call, const struct ski_step *step,
                             const struct team_address *lent)
{
    char       *to     = call->buffer[step->at.buffer] + step->at.at;
    const char *from   = (const char *)(uintptr_t)lent->address;
    char       *temp   = step->action == SKI_STEP_RECV_COMBINE ? ski_malloc(step->bytes) : NULL;
    skua_status status = ski_cma_read(ski_collective_name(call->kind.collective), lent->pid,
                                      temp ? temp : to, from, step->bytes);

    if (temp && status == SKUA_OK)
        team_combine(call, to, temp, step->bytes);
    free(temp);
    if (status != SKUA_OK && status != SKUA_ERR_UNSUPPORTED)
        ski_misuse("%s: the memory of rank %d cannot be read; the buffers of a collective stay "
                   "valid until its completion",
                   ski_collective_name(call->kind.collective), step->rank);
    return status == SKUA_OK;
}

/* Stores lent memory, and answers.  False: the sender was asked to send the data. */
static bool team_store_lent(struct ski_pe *self, struct ski_team_call *call,
                            const struct ski_step *step, skua_msg *msg)
{
    struct team_address lent;
    const char         *from;
    bool                read = true;

    memcpy(&lent, team_data(msg), sizeof lent);
    from = (const char *)(uintptr_t)lent.address;
    if (ski_arena_contains(self->job->arena, from) ||
        ski_job_process_of(self->job, msg->source) == self->process)
        team_store(call, step, from);
    else
        read = team_read_remote(call, step, &lent);
    team_answer(call, msg, step->tag, read ? TEAM_PACKET_TAKEN : TEAM_PACKET_REFUSED);
    return read;
}

/* Executes a RECV whose message has arrived.  False: its data will arrive in another one. */
static bool team_step_recv(struct ski_pe *self, struct ski_team_call *call,
                           const struct ski_step *step)
{
    skua_msg *msg    = call->arrival[step->tag].msg;
    bool      stored = true;

    call->arrival[step->tag].msg = NULL;
    if (team_head(msg)->packet == TEAM_PACKET_ADDRESS) {
        stored = team_store_lent(self, call, step, msg);
    } else {
        if (!call->arrival[step->tag].in_place)
            team_store(call, step, team_data(msg));
        team_credit(call, step, msg);
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

/* Executes a step.  False: it must wait. */
static bool team_step(struct ski_pe *self, struct ski_team_call *call, const struct ski_step *step)
{
    char *at = call->buffer[step->at.buffer] + step->at.at;

    switch ((enum ski_step_action)step->action) {
    case SKI_STEP_SEND: team_step_send(self, call, step); break;
    case SKI_STEP_RECV:
    case SKI_STEP_RECV_COMBINE:
        return call->arrival[step->tag].msg && team_step_recv(self, call, step);
    case SKI_STEP_COPY: team_step_copy(call, step); break;
    case SKI_STEP_COMBINE:
        team_combine(call, at, call->buffer[step->from.buffer] + step->from.at, step->bytes);
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
    team_call_release(self, call);
    ski_window_open(self, &team->window);
    skua_complete(done, NULL, 0); /* the team may be destroyed by it */
}

/* Executes the schedule of @p call as far as packets have arrived; the call may be over when it
 * returns. */
static void team_call_advance(struct ski_pe *self, struct ski_team_call *call)
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

/* Ends the job: two members make different calls. */
static SKI_COLD _Noreturn void team_mismatch(const struct ski_team_call *call,
                                             const struct ski_team_kind *kind, int rank)
{
    char text[2][SKI_DESCRIBE_STR], team[SKI_TEAM_STR];

    ski_misuse("collective call %u of %s differs between members: rank %d calls %s, rank %d calls "
               "%s; all members make the same calls in the same order",
               call->number + 1, ski_team_str(call->team->name, team), call->kind_rank,
               ski_collective_describe(&call->kind, text[0]), rank,
               ski_collective_describe(kind, text[1]));
}

/* Ends the job: a member sends other bytes than this one expects. */
static SKI_COLD _Noreturn void team_size_mismatch(const struct ski_team_call *call, int rank,
                                                  size_t bytes, size_t expected)
{
    char text[SKI_DESCRIBE_STR], team[SKI_TEAM_STR];

    ski_misuse("%s, call %u of %s: rank %d sends %zu bytes where rank %d expects %zu; members pass "
               "sizes that match",
               ski_collective_describe(&call->kind, text), call->number + 1,
               ski_team_str(call->team->name, team), rank, bytes, call->team->rank, expected);
}

/* Returns whether two kinds of calls are the same. */
static bool team_kind_equal(const struct ski_team_kind *a, const struct ski_team_kind *b)
{
    return a->collective == b->collective && a->type == b->type && a->op == b->op &&
           a->root == b->root;
}

/* Stores @p msg, from the member with rank @p rank, in the arrivals of a call that was made. */
static void team_arrive(struct ski_pe *self, struct ski_team_call *call, skua_msg *msg, int rank)
{
    const struct ski_team_head *head = team_head(msg);
    struct ski_arrival         *arrival =
        head->tag < call->schedule.tags ? &call->arrival[head->tag] : NULL;
    const struct ski_step *step;
    size_t                 bytes = team_data_bytes(msg);

    if (!team_kind_equal(&call->kind, &head->kind))
        team_mismatch(call, &head->kind, rank);
    if (head->packet == TEAM_PACKET_ADDRESS)
        memcpy(&bytes, team_data(msg) + offsetof(struct team_address, bytes), sizeof bytes);
    if (arrival && arrival->step == TEAM_STEP_NONE)
        team_size_mismatch(call, rank, bytes, 0);
    step = arrival ? &call->schedule.step[arrival->step] : NULL;
    if (!step || arrival->msg || arrival->in_place || arrival->step < call->pc ||
        step->rank != rank) {
        ski_net_drop(self, msg);
        return;
    }
    if (bytes != step->bytes)
        team_size_mismatch(call, rank, bytes, step->bytes);
    arrival->msg = msg;
}

struct ski_team_call *ski_team_call_next(struct ski_pe *self, struct ski_team *team,
                                         const struct ski_team_kind *kind)
{
    uint32_t              number = team->calls++;
    struct ski_team_call *call   = team_call_find(team, number);

    if (!call)
        call = team_call_new(self, team, number, kind, team->rank);
    if (!team_kind_equal(&call->kind, kind))
        team_mismatch(call, kind, team->rank);
    return call;
}

/* Prepares the arrivals of a call: which RECV a tag belongs to. */
static void team_call_prepare(struct ski_team_call *call)
{
    struct ski_schedule *s = &call->schedule;

    if (s->tags > SKI_ARRIVALS_INLINE)
        call->arrival = ski_malloc(s->tags * sizeof *call->arrival);
    for (uint32_t tag = 0; tag < s->tags; tag++)
        call->arrival[tag] = (struct ski_arrival){NULL, TEAM_STEP_NONE, false};
    for (uint32_t i = 0; i < s->steps; i++)
        if (s->step[i].action == SKI_STEP_RECV || s->step[i].action == SKI_STEP_RECV_COMBINE) {
            ski_assert(call->arrival[s->step[i].tag].step == TEAM_STEP_NONE);
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
    team_call_advance(self, call);
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
    if (call->team->deferred > TEAM_DEFERRED_MOST && ski_window_waits(self)) {
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
        team_arrive(self, call, msg, ski_team_rank_of(call->team, msg->source));
    if (SKI_UNLIKELY(ski_window_full(&call->team->window)))
        team_wait_or_defer(self, call);
    else
        team_call_begin(self, call);
}

/* ---- packets ------------------------------------------------------------------------ */

/* Takes DATA or ADDRESS, from the member with rank @p rank, for the call that it names. */
static void team_on_data(struct ski_pe *self, struct ski_team *team, skua_msg *msg, int rank)
{
    const struct ski_team_head *head = team_head(msg);
    struct ski_team_call       *call = team_call_find(team, head->call);

    if (!call && head->call - team->calls > TEAM_MOST_AHEAD) {
        ski_net_drop(self, msg); /* the call is over */
        return;
    }
    if (!call)
        call = team_call_new(self, team, head->call, &head->kind, rank);
    if (call->made) {
        team_arrive(self, call, msg, rank);
        team_call_advance(self, call);
    } else {
        if (!team_kind_equal(&call->kind, &head->kind))
            team_mismatch(call, &head->kind, rank);
        ski_list_push(&call->early, msg);
    }
}

/* Sends the data of the SEND with @p tag to rank @p rank, which could not read them. */
static void team_resend(struct ski_pe *self, struct ski_team_call *call, uint32_t tag, int rank)
{
    for (uint32_t i = 0; i < call->pc; i++) {
        const struct ski_step *step = &call->schedule.step[i];

        if (step->action == SKI_STEP_SEND && step->tag == tag && step->rank == rank)
            team_send_data(self, call, step, ski_team_pe_at(call->team, rank));
    }
}

/* Takes an answer to ADDRESS. */
static void team_on_answer(struct ski_pe *self, struct ski_team *team, skua_msg *msg, int rank)
{
    const struct ski_team_head *head = team_head(msg);
    struct ski_team_call       *call = team_call_find(team, head->call);

    if (!call || !call->begun || call->lent == 0) {
        ski_net_drop(self, msg);
        return;
    }
    if (head->packet == TEAM_PACKET_REFUSED)
        team_resend(self, call, head->tag, rank);
    skua_msg_free(msg);
    call->lent--;
    team_call_advance(self, call);
}

/* Takes a credit. */
static void team_on_credit(struct ski_pe *self, struct ski_team *team, skua_msg *msg)
{
    uint64_t bytes;

    memcpy(&bytes, team_data(msg), sizeof bytes);
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
    const struct ski_team_head *head  = team_head(msg);
    size_t                      bytes = team_data_bytes(msg);
    struct team_address         lent;
    uint64_t                    at;

    switch (head->packet) {
    case TEAM_PACKET_DATA: return true;
    case TEAM_PACKET_TAKEN:
    case TEAM_PACKET_REFUSED: return bytes == 0;
    case TEAM_PACKET_CREDIT: return bytes == sizeof(uint64_t);
    case TEAM_PACKET_ADDRESS: break;
    default: return false;
    }
    if (bytes != sizeof lent || ski_job_index(self->job, msg->source) < 0)
        return false;
    memcpy(&lent, team_data(msg), sizeof lent);
    at = lent.address - (uint64_t)(uintptr_t)self->job->arena->base;
    return at >= self->job->arena->bytes || self->job->arena->bytes - at >= lent.bytes;
}

/* ---- in-place delivery ------------------------------------------------------------------ */

/* Returns the arrival that @p head belongs to, of a call that has begun, or NULL. */
static struct ski_arrival *team_arrival(struct ski_pe *self, const struct ski_team_head *head,
                                        struct ski_team_call **call)
{
    struct ski_team *team = ski_team_find(self, head->team);

    *call = team ? team_call_find(team, head->call) : NULL;
    return *call && (*call)->begun && head->packet == TEAM_PACKET_DATA &&
                   head->tag < (*call)->schedule.tags &&
                   (*call)->arrival[head->tag].step != TEAM_STEP_NONE
               ? &(*call)->arrival[head->tag]
               : NULL;
}

size_t ski_team_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct ski_team_call  *call;
    struct ski_team_head   head;
    struct ski_arrival    *arrival;
    const struct ski_step *step;

    memcpy(&head, data, sizeof head);
    arrival = team_arrival(self, &head, &call);
    if (!arrival || arrival->msg || arrival->in_place || arrival->step < call->pc)
        return 0;
    step = &call->schedule.step[arrival->step];
    if (step->action != SKI_STEP_RECV || step->reused ||
        !team_kind_equal(&call->kind, &head.kind) || step->bytes != team_data_bytes(msg) ||
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

/* Takes the message that represents DATA received in place. */
static void team_on_placed(struct ski_pe *self, skua_msg *msg)
{
    struct ski_team_call *call;
    struct ski_arrival   *arrival = team_arrival(self, team_head(msg), &call);

    if (!arrival || !arrival->in_place || arrival->msg) {
        ski_net_drop(self, msg);
        return;
    }
    arrival->msg = msg;
    team_call_advance(self, call);
}

/* Takes a valid packet of @p team. */
static void team_on_packet(struct ski_pe *self, struct ski_team *team, skua_msg *msg)
{
    const struct ski_team_head *head = team_head(msg);
    int                         rank = ski_team_rank_of(team, msg->source);

    if (rank < 0 || head->kind.collective >= SKI_COLLECTIVES)
        ski_net_drop(self, msg);
    else if (head->packet == TEAM_PACKET_DATA && msg->source == self->pe)
        team_on_placed(self, msg);
    else if (head->packet <= TEAM_PACKET_ADDRESS)
        team_on_data(self, team, msg, rank);
    else if (head->packet == TEAM_PACKET_CREDIT)
        team_on_credit(self, team, msg);
    else
        team_on_answer(self, team, msg, rank);
}

void ski_on_team(skua_msg *msg)
{
    struct ski_pe              *self  = ski_self;
    struct ski_team_pe         *teams = ski_onesided_pe(self)->team;
    const struct ski_team_head *head  = team_head(msg);
    struct ski_team            *team  = ski_team_find(self, head->team);

    if (!team_packet_valid(self, msg))
        ski_net_drop(self, msg);
    else if (team)
        team_on_packet(self, team, msg);
    else if (head->packet == TEAM_PACKET_CREDIT)
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
        if (team_head(msg)->team == team->name)
            team_on_packet(self, team, msg);
        else
            ski_list_push(&teams->unclaimed, msg);
    }
}
