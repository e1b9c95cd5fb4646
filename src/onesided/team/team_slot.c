/* SPDX-License-Identifier: Apache-2.0 */
/* team_slot.c - the calls that slots make (see team_slot.h). */
#include "onesided/team/team_slot.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arch.h"
#include "base/assert.h"
#include "base/copy.h"
#include "base/membarrier.h"
#include "base/memory.h"
#include "core/collective/reduction_order.h"
#include "core/collective/reduction_slot.h"
#include "core/message/inbox_send.h"
#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "core/sched/wait.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/team/schedule.h"
#include "onesided/team/team.h"

#define TEAM_SLOTS_REPORT   4 /* calls after which a member stores how many it has finished ... */
#define TEAM_SLOTS_SCANS    8 /* ... if they are scans, where a member reads one slot at most */
#define TEAM_SCANS_AHEAD    2 /* scans after which a claimed slot is used; more gain nothing */
#define TEAM_SLOTS_MAX      4096 /* calls in flight without a wait */
#define TEAM_SLOTS_COMBINED 4096 /* bytes of contributions that a member combines, at most */

_Static_assert(TEAM_SLOTS_SCANS < SKI_TEAM_SLOTS && TEAM_SLOTS_SCANS % TEAM_SLOTS_REPORT == 0,
               "see team_slot.h, Reuse");

/* ---- boards ------------------------------------------------------------------------ */

/* Returns the board of @p rank, or NULL if that PE has not begun; the members of other teams than
 * SKUA_TEAM_ALL, whose ranks are PEs, know all boards. */
static struct ski_team_board *team_board_of(struct ski_pe *self, struct ski_team_slots *slots,
                                            int rank)
{
    if (SKI_UNLIKELY(!slots->peer[rank])) /* acquire: the board is zeroed before it is found */
        slots->peer[rank] =
            atomic_load_explicit(&self->host->team_board[rank], memory_order_acquire);
    return slots->peer[rank];
}

/* Returns the memory for the data of a call on @p board, of which there are @p bytes. */
static char *team_slot_data(struct ski_team_board *board, uint32_t number, size_t bytes)
{
    return SKI_LIKELY(bytes <= SKI_TEAM_SLOT_INLINE) ? board->slot[number % SKI_TEAM_SLOTS].data
                                                     : board->longer[number % SKI_TEAM_SLOTS];
}

/* Returns the slot of @p rank for a call if it is filled, else NULL. */
static const struct ski_team_slot *team_slot_filled(struct ski_pe         *self,
                                                    struct ski_team_slots *slots, int rank,
                                                    uint32_t number)
{
    struct ski_team_board *board = team_board_of(self, slots, rank);
    struct ski_team_slot  *slot  = board ? &board->slot[number % SKI_TEAM_SLOTS] : NULL;

    return slot && ski_team_stamp_count(&slot->stamp) == number + 1 ? slot : NULL;
}

/* Returns whether a PE that has finished @p finished calls has finished the one that used the slot
 * of call @p number before.  It may have finished call @p number itself. */
static bool team_slot_is_free(uint32_t number, uint32_t finished)
{
    return (int32_t)(number - finished) < SKI_TEAM_SLOTS;
}

/* Returns the earlier of two numbers of calls, which may have wrapped around. */
static uint32_t team_slot_earlier(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0 ? a : b;
}

/* Returns how many calls the PE with @p board has finished; NULL: it has not begun. */
static uint32_t team_slot_finished_on(struct ski_team_board *board)
{
    return board ? ski_team_stamp_count(&board->finished) : 0;
}

/* ---- histories --------------------------------------------------------------------- */

/* Adds a call to a history, with what its members have in common. */
static uint32_t team_history_add(uint32_t history, const struct ski_small_call *small)
{
    size_t   bytes = small->blocks ? small->all : small->bytes;
    uint64_t word;

    _Static_assert(sizeof small->kind == sizeof word, "a kind has no padding");
    memcpy(&word, &small->kind, sizeof word);
    word = (word ^ (uint64_t)bytes << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return (history ^ (uint32_t)(word >> 32)) * UINT32_C(0x9e3779b1);
}

/* Returns where @p board has the history of the calls before @p finished. */
static _Atomic uint16_t *team_history_at(struct ski_team_board *board, uint32_t finished)
{
    return &board->history[finished / TEAM_SLOTS_REPORT % SKI_TEAM_HISTORIES];
}

/* Ends the job: the calls so far are not those of rank @p rank. */
static SKI_COLD _Noreturn void team_history_mismatch(const struct ski_team_slots *slots, int rank)
{
    char text[SKI_TEAM_STR];

    ski_misuse("earlier collective calls of %s differ between rank %d and rank %d, "
               "such as a broadcast of which each was the root; all members make the same calls, "
               "with the same root and sizes, in the same order",
               ski_team_str(slots->team->name, text), slots->rank, rank);
}

/* Compares the calls that rank @p rank has finished, @p finished, with those of this PE: two
 * writers of a call do not read each other's slots.  The other PE cannot finish so many calls
 * meanwhile that it stores another history there: each needs the slot of a PE that knows what this
 * one has finished, or of this one. */
static void team_history_compare(const struct ski_team_slots *slots, struct ski_team_board *board,
                                 int rank, uint32_t finished)
{
    uint32_t own = team_slot_finished_on(slots->board), ahead = own - finished;

    if (finished == 0 || ahead >= SKI_TEAM_HISTORIES / 2 * TEAM_SLOTS_REPORT)
        return; /* it has finished none, or more than this PE, and compares itself */
    if (atomic_load_explicit(team_history_at(board, finished), memory_order_relaxed) !=
        atomic_load_explicit(team_history_at(slots->board, finished), memory_order_relaxed))
        team_history_mismatch(slots, rank);
}

/* Raises a stamp to @p count and wakes the members that sleep until then; @p go_on: see there. */
static void team_stamp_raise(struct ski_pe *self, const struct ski_team_slots *slots,
                             struct ski_team_stamp *stamp, uint32_t count, bool go_on)
{
    uint32_t sleepers = ski_team_stamp_raise(stamp, count, slots->light, go_on);

    for (; SKI_UNLIKELY(sleepers); sleepers &= sleepers - 1)
        ski_inbox_wakeup(self, ski_team_pe_at(slots->team, __builtin_ctz(sleepers)));
}

/* Stores that the calls up to @p call are finished. */
static void team_slots_report(struct ski_pe *self, struct ski_team_slots *slots,
                              const struct ski_team_slot_call *call, bool scan)
{
    uint32_t finished = call->number + 1;

    atomic_store_explicit(team_history_at(slots->board, finished), (uint16_t)(call->history >> 16),
                          memory_order_relaxed); /* published by the stamp */
    team_stamp_raise(self, slots, &slots->board->finished, finished, scan);
}

/* Looks at the boards of all others before call @p number. */
static void team_slots_look_around(struct ski_pe *self, struct ski_team_slots *slots,
                                   uint32_t number)
{
    slots->room  = number;
    slots->light = slots->board->membarrier;
    for (int rank = 0; rank < slots->size; rank++) {
        struct ski_team_board *board = team_board_of(self, slots, rank);

        slots->light = slots->light && board && board->membarrier;
        if (rank != slots->rank) {
            uint32_t finished = team_slot_finished_on(board);

            team_history_compare(slots, board, rank, finished);
            slots->room = team_slot_earlier(slots->room, finished);
        }
    }
}

/* Returns whether this member may write the slot of a call. */
static bool team_slot_has_room(struct ski_pe *self, struct ski_team_slots *slots, uint32_t number)
{
    if (SKI_LIKELY(team_slot_is_free(number, slots->room)))
        return true;
    team_slots_look_around(self, slots, number);
    return team_slot_is_free(number, slots->room);
}

/* Copies the data of a call, often a few bytes, for which a call of memcpy() takes long. */
static inline void team_slot_copy(char *to, const char *from, size_t bytes)
{
    if (bytes <= SKI_TEAM_SLOT_FIRST)
        ski_copy_small(to, from, bytes);
    else
        ski_copy(to, from, bytes);
}

/* ---- what the collectives write and read ---------------------------------------------------- */

/* Returns whether the blocks of all members travel in one slot. */
static bool team_slot_holds_blocks(unsigned collective)
{
    return collective == SKI_COLLECTIVE_SCATTER || collective == SKI_COLLECTIVE_ALLTOALL;
}

/* Returns how many bytes a member writes for a call. */
static size_t team_slot_written(const struct ski_team_slots *slots,
                                const struct ski_small_call *small)
{
    return team_slot_holds_blocks(small->kind.collective) ? (size_t)slots->size * small->bytes
                                                          : small->bytes;
}

/* Returns whether each member that has a result combines the contributions of all. */
static bool team_slot_is_reduction(unsigned collective)
{
    return collective == SKI_COLLECTIVE_REDUCE || collective == SKI_COLLECTIVE_ALLREDUCE;
}

static bool team_slot_is_scan(unsigned collective)
{
    return collective == SKI_COLLECTIVE_SCAN || collective == SKI_COLLECTIVE_EXSCAN;
}

/* Returns the most bytes of a block.  A member that reads larger blocks of many others in one call
 * is faster with messages; contributions are combined on the stack. */
static size_t team_slot_most(const struct ski_team_slots *slots, unsigned collective)
{
    size_t each     = slots->bytes / (size_t)slots->size;
    size_t combined = TEAM_SLOTS_COMBINED / (size_t)slots->size;

    if (team_slot_holds_blocks(collective))
        return each;
    if (team_slot_is_reduction(collective) && combined < SKI_TEAM_SLOT_INLINE)
        return combined;
    if (team_slot_is_reduction(collective) || team_slot_is_scan(collective) ||
        collective == SKI_COLLECTIVE_ALLGATHERV || each < SKI_TEAM_SLOT_INLINE)
        return SKI_TEAM_SLOT_INLINE;
    return each;
}

bool ski_team_slots_fit(const struct ski_team_slots *slots, const struct ski_team_kind *kind,
                        size_t bytes)
{
    if (!slots)
        return false;
    switch ((enum ski_collective)kind->collective) {
    case SKI_COLLECTIVE_BARRIER: return slots->size <= SKI_TEAM_SLOTS_READERS;
    case SKI_COLLECTIVE_REDUCE:
    case SKI_COLLECTIVE_ALLREDUCE:
    case SKI_COLLECTIVE_ALLGATHER:
    case SKI_COLLECTIVE_ALLGATHERV:
    case SKI_COLLECTIVE_ALLTOALL:
        if (slots->size > SKI_TEAM_SLOTS_READERS)
            return false;
        break;
    case SKI_COLLECTIVE_SCAN:
    case SKI_COLLECTIVE_EXSCAN:
        if (slots->size > SKI_SCHEDULE_CHAIN_MAX)
            return false;
        break;
    case SKI_COLLECTIVE_BROADCAST:
    case SKI_COLLECTIVE_GATHER:
    case SKI_COLLECTIVE_SCATTER: break;
    default: return false;
    }
    return bytes > 0 && bytes <= team_slot_most(slots, kind->collective);
}

/* Sets which slots this member reads and whether it writes one. */
static void team_slot_plan(const struct ski_team_slots *slots, struct ski_team_slot_call *call)
{
    unsigned collective = call->small->kind.collective;
    bool     at_root    = call->small->kind.root == slots->rank;
    uint32_t own        = UINT32_C(1) << slots->rank;
    uint32_t others     = (uint32_t)((UINT64_C(1) << slots->size) - 1) & ~own;

    call->end     = (uint32_t)call->small->bytes;
    call->sources = others;
    call->writes  = true;
    call->relays  = false;
    if (team_slot_holds_blocks(collective))
        call->end *= (uint32_t)slots->rank + 1;
    if (team_slot_is_scan(collective)) {
        call->sources = own >> 1;
        call->writes  = slots->rank + 1 < slots->size;
        call->relays  = slots->rank > 0;
    } else if (collective == SKI_COLLECTIVE_GATHER || collective == SKI_COLLECTIVE_REDUCE) {
        call->sources = at_root ? others : 0;
        call->writes  = !at_root;
    } else if (collective == SKI_COLLECTIVE_BROADCAST || collective == SKI_COLLECTIVE_SCATTER) {
        call->sources = at_root ? 0 : UINT32_C(1) << call->small->kind.root;
        call->writes  = at_root;
    }
    for (int rank = 0; call->small->blocks && rank < slots->size; rank++)
        call->block[rank] = (struct ski_team_slot_block){
            call->small->to + ski_blocks_offset(call->small->blocks, rank),
            (uint32_t)ski_blocks_size(call->small->blocks, rank)};
}

/* Returns how many bytes of rank @p rank a member of a call stores. */
static uint32_t team_slot_expected(const struct ski_team_slot_call *call, int rank)
{
    return call->small->kind.collective == SKI_COLLECTIVE_ALLGATHERV ? call->block[rank].bytes
                                                                     : (uint32_t)call->small->bytes;
}

/* Stores the output of a scan on the last rank; @p lower is the partial result of the others. */
static void team_slot_take_last(const struct ski_small_call *small, const char *lower)
{
    _Alignas(16) char temp[SKI_TEAM_SLOT_INLINE];
    bool              scan  = small->kind.collective == SKI_COLLECTIVE_SCAN;
    char             *first = scan && small->in_place ? temp : small->to;

    team_slot_copy(first, lower, small->bytes);
    if (!scan)
        return;
    ski_team_combine(&small->kind, first, small->from, small->bytes);
    if (small->in_place)
        team_slot_copy(small->to, temp, small->bytes);
}

/* Stores this member's own block in the output. */
static void team_slot_take_own(const struct ski_team_slots     *slots,
                               const struct ski_team_slot_call *call)
{
    const struct ski_small_call *small = call->small;
    const char                  *from  = small->from;
    char                        *to    = small->to;
    size_t                       own   = (size_t)slots->rank * small->bytes;

    switch ((enum ski_collective)small->kind.collective) {
    case SKI_COLLECTIVE_GATHER:
        if (small->kind.root != slots->rank)
            return;
        to += own;
        break;
    case SKI_COLLECTIVE_SCATTER:
        if (small->kind.root != slots->rank)
            return;
        from += own;
        break;
    case SKI_COLLECTIVE_ALLGATHER: to += own; break;
    case SKI_COLLECTIVE_ALLGATHERV: to = call->block[slots->rank].to; break;
    case SKI_COLLECTIVE_ALLTOALL:
        from += own;
        to += own;
        break;
    case SKI_COLLECTIVE_SCAN:
        if (slots->rank > 0)
            return;
        break;
    default: return;
    }
    if (!small->in_place && small->bytes)
        team_slot_copy(to, from, small->bytes);
}

/* Stores the data of rank @p rank, whose slot is filled, in the output. */
static void team_slot_take(const struct ski_team_slots     *slots,
                           const struct ski_team_slot_call *call, int rank)
{
    const struct ski_small_call *small = call->small;
    const char                  *data =
        team_slot_data(slots->peer[rank], call->number, team_slot_written(slots, small));
    char *to = small->to;

    if (small->kind.collective == SKI_COLLECTIVE_ALLGATHERV) {
        team_slot_copy(call->block[rank].to, data, call->block[rank].bytes);
        return;
    }
    if (team_slot_holds_blocks(small->kind.collective))
        data += (size_t)slots->rank * small->bytes;
    if (small->kind.collective == SKI_COLLECTIVE_BARRIER)
        return;
    if (small->kind.collective != SKI_COLLECTIVE_BROADCAST &&
        small->kind.collective != SKI_COLLECTIVE_SCATTER)
        to += (size_t)rank * small->bytes;
    team_slot_copy(to, data, small->bytes);
}

/* Returns the contribution of rank @p rank to a reduction; its slot is filled. */
static const char *team_slot_contribution(const struct ski_team_slots     *slots,
                                          const struct ski_team_slot_call *call, int rank)
{
    return rank == slots->rank ? call->small->from
                               : slots->peer[rank]->slot[call->number % SKI_TEAM_SLOTS].data;
}

/* Combines the contributions of the block of @p level that begins at rank @p block into @p to, in
 * the order of reduction_order.h. */
static void team_slot_combine(const struct ski_team_slots     *slots,
                              const struct ski_team_slot_call *call, int block, int level, char *to)
{
    const struct ski_small_call *small   = call->small;
    int                          sibling = level > 0 ? block + (1 << (level - 1)) : slots->size;
    _Alignas(16) char            upper[SKI_TEAM_SLOT_INLINE];

    if (level == 0)
        team_slot_copy(to, team_slot_contribution(slots, call, block), small->bytes);
    else
        team_slot_combine(slots, call, block, level - 1, to);
    if (sibling >= slots->size)
        return;
    if (level > 1)
        team_slot_combine(slots, call, sibling, level - 1, upper);
    ski_team_combine(&small->kind, to,
                     level > 1 ? upper : team_slot_contribution(slots, call, sibling),
                     small->bytes);
}

/* Stores the result of a reduction, to which all have contributed. */
static void team_slot_reduce(const struct ski_team_slots     *slots,
                             const struct ski_team_slot_call *call)
{
    _Alignas(16) char result[SKI_TEAM_SLOT_INLINE]; /* the output may be the contribution */

    team_slot_combine(slots, call, 0, ski_block_levels(slots->size), result);
    team_slot_copy(call->small->to, result, call->small->bytes);
}

/* ---- progress ----------------------------------------------------------------------- */

/* Returns whether a slot was written for the call that this member makes. */
static bool team_slot_agrees(const struct ski_team_slot_call *call,
                             const struct ski_team_slot      *slot)
{
    return slot->team_call == call->small->team_call &&
           ski_team_kind_equal(&call->small->kind, &slot->kind);
}

/* Ends the job: rank @p rank has written a slot for another call than this member makes. */
static SKI_COLD _Noreturn void team_slot_mismatch(const struct ski_team_slots     *slots,
                                                  const struct ski_team_slot_call *call,
                                                  const struct ski_team_slot *slot, int rank)
{
    char        text[2][SKI_DESCRIBE_STR], name[SKI_TEAM_STR];
    const char *team     = ski_team_str(slots->team->name, name);
    uint32_t    expected = team_slot_expected(call, rank);

    if (!team_slot_agrees(call, slot))
        ski_misuse("collective call %u of %s differs between members: rank %d calls %s, "
                   "rank %d calls %s; all members make the same calls in the same order",
                   call->small->team_call + 1, team, slots->rank,
                   ski_collective_describe(&call->small->kind, text[0]), rank,
                   ski_collective_describe(&slot->kind, text[1]));
    if (slot->bytes == expected)
        team_history_mismatch(slots, rank);
    ski_misuse("%s, call %u of %s: rank %d sends %u bytes where rank %d expects %u; "
               "members pass sizes that match",
               ski_collective_describe(&call->small->kind, text[0]), call->small->team_call + 1,
               team, rank, slot->bytes, slots->rank, expected);
}

/* Returns the slot that this member writes for a call. */
static struct ski_team_slot *team_slot_own(struct ski_team_slots *slots, uint32_t number)
{
    return &slots->board->slot[number % SKI_TEAM_SLOTS];
}

/* Brings the first lines of the slot that this member writes in a later call into its cache, from
 * those of its readers: a store to them would wait.  A slot that is not known to be free may be
 * read for an earlier call. */
static void team_slot_claim(struct ski_team_slots *slots, uint32_t number, size_t bytes)
{
    struct ski_team_slot *slot = team_slot_own(slots, number);

    if (!team_slot_is_free(number, slots->room))
        return;
    ski_claim_line(&slot->bytes);
    if (bytes > SKI_TEAM_SLOT_FIRST)
        ski_claim_line(slot->data + SKI_TEAM_SLOT_FIRST);
    if (bytes > SKI_TEAM_SLOT_FIRST + SKI_CACHE_LINE)
        ski_claim_line(slot->data + SKI_TEAM_SLOT_FIRST + SKI_CACHE_LINE);
}

/* Publishes the slot of a call, whose data are written. */
static void team_slot_publish(struct ski_pe *self, struct ski_team_slots *slots,
                              struct ski_team_slot_call *call, struct ski_team_slot *slot)
{
    bool scan = team_slot_is_scan(call->small->kind.collective);

    slot->kind      = call->small->kind;
    slot->team_call = call->small->team_call;
    slot->bytes     = (uint32_t)call->small->bytes;
    slot->history   = call->history;
    call->writes    = false;
    team_stamp_raise(self, slots, &slot->stamp, call->number + 1, scan);
    team_slot_claim(slots, call->number + (scan ? TEAM_SCANS_AHEAD : SKI_SLOTS_AHEAD),
                    team_slot_written(slots, call->small));
}

/* Publishes the partial result of a scan up to this member, which is not the last, and then stores
 * the output; @p lower is the partial result of the lower ranks. */
static void team_slot_relay(struct ski_pe *self, struct ski_team_slots *slots,
                            struct ski_team_slot_call *call, const char *lower)
{
    const struct ski_small_call *small = call->small;
    struct ski_team_slot        *own   = team_slot_own(slots, call->number);
    bool                         scan  = small->kind.collective == SKI_COLLECTIVE_SCAN;

    team_slot_copy(own->data, lower, small->bytes);
    ski_team_combine(&small->kind, own->data, small->from, small->bytes);
    team_slot_publish(self, slots, call, own);
    team_slot_copy(small->to, scan ? own->data : lower, small->bytes);
}

/* Writes and publishes the slot of a call that does not depend on others. */
static void team_slot_write(struct ski_pe *self, struct ski_team_slots *slots,
                            struct ski_team_slot_call *call)
{
    const char *from  = call->small->from;
    size_t      bytes = team_slot_written(slots, call->small);

    if (call->small->kind.collective == SKI_COLLECTIVE_BROADCAST)
        from = call->small->to;
    if (bytes)
        team_slot_copy(team_slot_data(slots->board, call->number, bytes), from, bytes);
    team_slot_publish(self, slots, call, team_slot_own(slots, call->number));
}

/* Requests the first and the last line of the data of rank @p rank at the same time as the stamp,
 * not after it. */
static void team_slot_prefetch_data(const struct ski_team_slots     *slots,
                                    const struct ski_team_slot_call *call, int rank)
{
    struct ski_team_slot *slot;

    if (call->end <= SKI_TEAM_SLOT_FIRST || call->end > SKI_TEAM_SLOT_INLINE || !slots->peer[rank])
        return;
    slot = &slots->peer[rank]->slot[call->number % SKI_TEAM_SLOTS];
    ski_prefetch_polled(slot->data + call->end - call->small->bytes);
    ski_prefetch_polled(slot->data + call->end - 1);
}

/* Returns whether all slots that a call reads are filled. */
static bool team_slot_call_ready(struct ski_pe *self, struct ski_team_slots *slots,
                                 const struct ski_team_slot_call *call)
{
    for (uint32_t left = call->sources; left; left &= left - 1) {
        int rank = __builtin_ctz(left);

        team_slot_prefetch_data(slots, call, rank);
        if (!team_slot_filled(self, slots, rank, call->number))
            return false;
    }
    return true;
}

/* Brings the line of the next call into the cache while this one is read, where a call has one
 * source: a writer that is ahead has filled it. */
static void team_slot_prefetch_next(const struct ski_team_slots     *slots,
                                    const struct ski_team_slot_call *call)
{
    if (call->relays)
        __builtin_prefetch(
            &slots->peer[slots->rank - 1]->slot[(call->number + 1) % SKI_TEAM_SLOTS]);
}

/* Reads the slots of a call, which are filled, at least one; a member that relays has room in its
 * own. */
static void team_slot_call_read(struct ski_pe *self, struct ski_team_slots *slots,
                                struct ski_team_slot_call *call)
{
    bool reduction = team_slot_is_reduction(call->small->kind.collective);

    for (uint32_t left = call->sources; left; left &= left - 1) {
        int                         rank = __builtin_ctz(left);
        const struct ski_team_slot *slot = team_slot_filled(self, slots, rank, call->number);

        if (SKI_UNLIKELY(!team_slot_agrees(call, slot) ||
                         slot->bytes != team_slot_expected(call, rank) ||
                         slot->history != call->history))
            team_slot_mismatch(slots, call, slot, rank);
        if (reduction)
            continue; /* they are combined in another order */
        if (!call->relays)
            team_slot_take(slots, call, rank);
        else if (call->writes)
            team_slot_relay(self, slots, call, slot->data);
        else
            team_slot_take_last(call->small, slot->data);
    }
    if (reduction)
        team_slot_reduce(slots, call);
    ski_board_count(self);
}

/* Adds slots with calls in flight to the list of those that the PE polls. */
static void team_slots_list(struct ski_pe *self, struct ski_team_slots *slots)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    slots->next        = NULL;
    *teams->polled_end = slots;
    teams->polled_end  = &slots->next;
    self->queue.events |= SKI_EVENT_POLLED_1;
}

/* Executes what a call can do now, all earlier calls of which are finished.  Returns whether it is
 * finished. */
static bool team_slot_call_advance(struct ski_pe *self, struct ski_team_slots *slots,
                                   struct ski_team_slot_call *call)
{
    bool scan = team_slot_is_scan(call->small->kind.collective);

    if (call->writes && !team_slot_has_room(self, slots, call->number))
        return false;
    if (call->writes && !call->relays)
        team_slot_write(self, slots, call);
    if (call->sources) {
        if (!team_slot_call_ready(self, slots, call))
            return false;
        team_slot_prefetch_next(slots, call);
        team_slot_call_read(self, slots, call);
    }
    team_slot_take_own(slots, call);
    if ((call->number + 1) % TEAM_SLOTS_REPORT == 0 &&
        (!scan || (call->number + 1) % TEAM_SLOTS_SCANS == 0)) /* no division */
        team_slots_report(self, slots, call, scan);
    return true;
}

/* Removes the first call, which is finished, of the slots at @p link in the list of those with
 * calls in flight.  Slots with further calls go to its end: completions may make calls for ever. */
static void team_slot_call_remove(struct ski_pe *self, struct ski_team_slots **link)
{
    struct ski_team_pe        *teams = ski_onesided_pe(self)->team;
    struct ski_team_slots     *slots = *link;
    struct ski_team_slot_call *call  = slots->first;

    *link = slots->next;
    if (!slots->next)
        teams->polled_end = link;
    slots->first = call->next;
    if (slots->first)
        team_slots_list(self, slots);
    else
        slots->end = &slots->first;
    if (!teams->polled)
        self->queue.events &= ~(uint32_t)SKI_EVENT_POLLED_1;
    call->next  = slots->free;
    slots->free = call;
    if (--slots->in_flight == TEAM_SLOTS_MAX / 2)
        ski_wake_all(self, &slots->waiters);
}

/* Advances the first call of each team, until one is finished: its completion may make calls and
 * destroy teams, which changes the lists. */
static bool team_slots_poll(struct ski_pe *self)
{
    struct ski_team_slots **link = &ski_onesided_pe(self)->team->polled;
    skua_completion         done;

    ski_assert(*link);
    if (self->before_wait)
        return false;
    while (*link && !team_slot_call_advance(self, *link, (*link)->first))
        link = &(*link)->next;
    if (!*link)
        return false;
    done              = (*link)->first->small->done;
    self->idle_passes = 0;
    team_slot_call_remove(self, link);
    skua_complete(done, NULL, 0);
    return true;
}

/* Requests a wakeup from each member that a call waits for.  Returns false if one of them has not
 * begun. */
static bool team_slot_call_arm(struct ski_pe *self, struct ski_team_slots *slots,
                               const struct ski_team_slot_call *call)
{
    for (int rank = 0; rank < slots->size; rank++) {
        struct ski_team_board *board = team_board_of(self, slots, rank);

        if (!board)
            return false;
        if (call->sources & UINT32_C(1) << rank)
            ski_team_stamp_arm(&board->slot[call->number % SKI_TEAM_SLOTS].stamp, slots->rank);
        if (call->writes && rank != slots->rank &&
            !team_slot_is_free(call->number, team_slot_finished_on(board)))
            ski_team_stamp_arm(&board->finished, slots->rank);
    }
    return true;
}

/* Returns whether a call waits for other members. */
static bool team_slot_call_waits(struct ski_pe *self, struct ski_team_slots *slots,
                                 const struct ski_team_slot_call *call)
{
    if (call->writes && (!call->relays || team_slot_call_ready(self, slots, call)))
        return !team_slot_has_room(self, slots, call->number);
    return !team_slot_call_ready(self, slots, call);
}

/* Requests a wakeup from each PE that the first call of a team waits for.  Returns false if one of
 * the calls can continue, or a fence has failed, without which a PE that has raised a stamp may not
 * see the request. */
static bool team_slots_arm(struct ski_pe *self)
{
    struct ski_team_slots *first = ski_onesided_pe(self)->team->polled;

    for (struct ski_team_slots *slots = first; slots; slots = slots->next)
        if (!team_slot_call_arm(self, slots, slots->first))
            return false;
    if (!ski_onesided_pe(self)->team->membarrier)
        ski_order_swap(); /* of the requests */
    else if (!ski_membarrier_heavy())
        return false;
    for (struct ski_team_slots *slots = first; slots; slots = slots->next)
        if (!team_slot_call_waits(self, slots, slots->first))
            return false;
    return true;
}

static const struct ski_polled team_slots_polled = {team_slots_poll, team_slots_arm};

void ski_team_slots_open(struct ski_pe *self)
{
    struct ski_team_pe *teams = ski_onesided_pe(self)->team;

    self->polled[1]   = &team_slots_polled;
    teams->polled     = NULL;
    teams->polled_end = &teams->polled;
    ski_team_board_open(self);
}

/* ---- calls ------------------------------------------------------------------------- */

/* Waits until fewer calls are in flight, so that their number is bounded. */
static SKI_COLD void team_slots_wait(struct ski_pe *self, struct ski_team_slots *slots)
{
    static const struct ski_call call = {"a collective call, for earlier ones to finish", NULL};

    while (slots->in_flight > TEAM_SLOTS_MAX / 2 && ski_wait_on(self, &slots->waiters, call)) {
    }
}

/* Adds a call that could not be finished at once to those in flight. */
static void team_slots_add(struct ski_pe *self, struct ski_team_slots *slots,
                           const struct ski_team_slot_call *call)
{
    struct ski_team_slot_call *added = slots->free;

    if (added)
        slots->free = added->next;
    else
        added = ski_malloc(sizeof *added);
    added->next    = NULL;
    added->number  = call->number;
    added->history = call->history;
    added->sources = call->sources;
    added->end     = call->end;
    added->writes  = call->writes;
    added->relays  = call->relays;
    added->kept    = *call->small;
    added->small   = &added->kept;
    if (call->small->blocks)
        memcpy(added->block, call->block, (size_t)slots->size * sizeof *call->block);
    if (!slots->first)
        team_slots_list(self, slots);
    *slots->end = added;
    slots->end  = &added->next;
    if (SKI_UNLIKELY(++slots->in_flight > TEAM_SLOTS_MAX && ski_window_waits(self)))
        team_slots_wait(self, slots);
}

void ski_team_slots_call(struct ski_pe *self, struct ski_team_slots *slots,
                         const struct ski_small_call *small)
{
    struct ski_team_slot_call call; /* `kept` is not set */

    call.number    = slots->calls++;
    call.small     = small;
    slots->history = team_history_add(slots->history, small);
    call.history   = slots->history;
    team_slot_plan(slots, &call);
    if (!slots->first && team_slot_call_advance(self, slots, &call))
        skua_complete(small->done, NULL, 0);
    else
        team_slots_add(self, slots, &call);
}

/* A member that has finished the next call has written its slot, or read that of another one. */
uint32_t ski_team_slots_in_flight(const struct ski_team_slots *slots)
{
    bool next = false;

    for (int rank = 0; slots && rank < slots->size; rank++) {
        const struct ski_team_board *board = slots->peer[rank];

        next = next ||
               (board && ski_team_stamp_count(&board->slot[slots->calls % SKI_TEAM_SLOTS].stamp) ==
                             slots->calls + 1);
    }
    return slots ? slots->in_flight + next : 0;
}

const struct ski_small_call *ski_team_slots_find(const struct ski_team_slots *slots,
                                                 uint32_t                     team_call)
{
    for (const struct ski_team_slot_call *call = slots ? slots->first : NULL; call;
         call                                  = call->next)
        if (call->small->team_call == team_call)
            return call->small;
    return NULL;
}

const struct ski_small_call *ski_team_slots_oldest(const struct ski_team_slots *slots)
{
    return slots && slots->first ? slots->first->small : NULL;
}
