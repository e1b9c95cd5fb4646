/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - schedules of collectives that move data (see schedule.h). */
#include "onesided/team/schedule.h"

#include "base/assert.h"
#include "core/collective/reduction_order.h"

#define SCHEDULE_DIRECT     4  /* members up to which an allgather inside a host is direct ... */
#define SCHEDULE_DIRECT_FAR 3  /* ... and between hosts                                   */
#define SCHEDULE_FLAT       64 /* members up to which a gather or scatter between hosts is direct */
#define SCHEDULE_BRUCK      16 /* members from which on a small all-to-all is Bruck's    */
#define SCHEDULE_BRUCK_TO   256 /* bytes of a block up to which it is                     */

/* ---- barrier and broadcast ----------------------------------------------------- */

void ski_schedule_barrier(struct ski_schedule *s, const struct ski_plan *plan)
{
    uint32_t tag = 0;

    if (plan->hosts) {
        ski_schedule_hosts_barrier(s, plan);
        return;
    }
    for (int64_t far = 1; far < plan->size; far *= 2, tag++) {
        ski_step_send(s, ski_rank_after(plan, far), tag, ski_position(SKI_TO, 0), 0);
        ski_step_recv(s, ski_rank_before(plan, far), tag, ski_position(SKI_TO, 0), 0);
    }
}

/* Returns the rank of the member whose distance from the root is @p relative. */
static int schedule_from_root(const struct ski_plan *plan, int64_t relative)
{
    return (int)((relative + plan->root) % plan->size);
}

/* Returns the distance of this member from the root. */
static int schedule_relative(const struct ski_plan *plan)
{
    return plan->rank < plan->root ? plan->rank - plan->root + plan->size : plan->rank - plan->root;
}

/* Returns the number of members in the subtree of a binomial tree whose top has the distance
 * @p relative from the root and stands 2^level members wide. */
static int64_t schedule_subtree(const struct ski_plan *plan, int64_t relative, int level)
{
    int64_t rest = plan->size - relative;

    return rest < INT64_C(1) << level ? rest : INT64_C(1) << level;
}

/* Returns the level of a member in a binomial tree: it is the lowest bit of @p relative. */
static int schedule_level(const struct ski_plan *plan, int relative)
{
    return relative ? __builtin_ctz((unsigned)relative) : ski_block_levels(plan->size);
}

/* Adds the broadcast of all bytes down a binomial tree. */
static void schedule_broadcast_tree(struct ski_schedule *s, const struct ski_plan *plan)
{
    int                 relative = schedule_relative(plan), level = schedule_level(plan, relative);
    struct ski_position all = ski_position(SKI_TO, 0);

    if (relative)
        ski_step_recv(s, schedule_from_root(plan, relative & (relative - 1)), 0, all, plan->bytes);
    while (level-- > 0)
        if (relative + (INT64_C(1) << level) < plan->size)
            ski_step_send(s, schedule_from_root(plan, relative + (INT64_C(1) << level)), 0, all,
                          plan->bytes);
}

/* Adds the broadcast from the root to each member, which copies from the memory of the root. */
static void schedule_broadcast_direct(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position all = ski_position(SKI_TO, 0);

    if (plan->rank != plan->root)
        ski_step_recv(s, plan->root, 0, all, plan->bytes);
    for (int i = 1; plan->rank == plan->root && i < plan->size; i++)
        ski_step_send(s, ski_rank_after(plan, i), 0, all, plan->bytes);
}

/* Adds a ring in which slices pass all members: this member begins with the one of its distance
 * @p relative from the first. */
static void schedule_ring(struct ski_schedule *s, const struct ski_plan *plan, int relative,
                          uint32_t tag)
{
    int next = ski_rank_after(plan, 1), previous = ski_rank_before(plan, 1);

    ski_assert((unsigned)relative < (unsigned)plan->size);
    for (int i = 0; i + 1 < plan->size; i++) {
        int    sent     = (relative - i + plan->size) % plan->size;
        int    received = (sent - 1 + plan->size) % plan->size;
        size_t at = ski_slice(plan, sent), end = ski_slice(plan, sent + 1);

        ski_step_send(s, next, tag + (uint32_t)i, ski_position(SKI_TO, at), end - at);
        at  = ski_slice(plan, received);
        end = ski_slice(plan, received + 1);
        ski_step_recv(s, previous, tag + (uint32_t)i, ski_position(SKI_TO, at), end - at);
    }
}

/* Adds the scatter of slices down a binomial tree, then the ring. */
static void schedule_broadcast_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    int    relative = schedule_relative(plan), level = schedule_level(plan, relative);
    size_t at = ski_slice(plan, relative);

    if (relative) {
        size_t end = ski_slice(plan, (int)(relative + schedule_subtree(plan, relative, level)));

        ski_step_recv(s, schedule_from_root(plan, relative & (relative - 1)), 0,
                      ski_position(SKI_TO, at), end - at);
    }
    while (level-- > 0) {
        int64_t child = relative + (INT64_C(1) << level);

        if (child >= plan->size)
            continue;
        at = ski_slice(plan, (int)child);
        ski_step_send(s, schedule_from_root(plan, child), 0, ski_position(SKI_TO, at),
                      ski_slice(plan, (int)(child + schedule_subtree(plan, child, level))) - at);
    }
    schedule_ring(s, plan, relative, 1);
}

void ski_schedule_broadcast(struct ski_schedule *s, const struct ski_plan *plan)
{
    ski_assert((unsigned)plan->root < (unsigned)plan->size);
    if (plan->hosts)
        ski_schedule_hosts_broadcast(s, plan);
    else if (plan->large && plan->near)
        schedule_broadcast_direct(s, plan);
    else if (plan->large && plan->size > 2)
        schedule_broadcast_slices(s, plan);
    else
        schedule_broadcast_tree(s, plan);
}

/* ---- gather and scatter ---------------------------------------------------------- */

/* Adds the copies between a buffer in the order of ranks and one in the order of distances from the
 * root. */
static void schedule_rotate(struct ski_schedule *s, const struct ski_plan *plan,
                            struct ski_position ranks, struct ski_position distances, bool back)
{
    size_t              behind = plan->bytes * (size_t)(plan->size - plan->root);
    size_t              before = plan->bytes * (size_t)plan->root;
    struct ski_position upper = ranks, lower = distances;

    upper.at += before;
    lower.at += behind;
    if (back) {
        ski_step_copy(s, distances, upper, behind);
        ski_step_copy(s, lower, ranks, before);
    } else {
        ski_step_copy(s, upper, distances, behind);
        ski_step_copy(s, ranks, lower, before);
    }
}

/* Adds a gather up a binomial tree: the blocks of a subtree are in the order of distances from the
 * root, which is the order of ranks if the root is rank 0. */
static void schedule_gather_tree(struct ski_schedule *s, const struct ski_plan *plan)
{
    int                 relative = schedule_relative(plan), level = schedule_level(plan, relative);
    size_t              bytes  = plan->bytes;
    bool                direct = plan->rank == plan->root && plan->root == 0;
    bool                leaf   = schedule_subtree(plan, relative, level) == 1 && relative;
    struct ski_position at =
        leaf     ? ski_position(SKI_FROM, 0)
        : direct ? ski_position(SKI_TO, 0)
                 : ski_step_temp(s, bytes * (size_t)schedule_subtree(plan, relative, level));

    if (!leaf && !(direct && plan->in_place))
        ski_step_copy(s, at, ski_position(SKI_FROM, 0), bytes);
    for (int k = 0; k < level; k++) {
        int64_t child = relative + (INT64_C(1) << k);

        if (child < plan->size)
            ski_step_recv(s, schedule_from_root(plan, child), (uint32_t)k,
                          ski_position(at.buffer, at.at + (bytes << k)),
                          bytes * (size_t)schedule_subtree(plan, child, k));
    }
    if (relative)
        ski_step_send(s, schedule_from_root(plan, relative & (relative - 1)), (uint32_t)level, at,
                      bytes * (size_t)schedule_subtree(plan, relative, level));
    else if (!direct)
        schedule_rotate(s, plan, ski_position(SKI_TO, 0), at, false);
}

/* Returns whether the root of a gather copies its own block first: if other blocks arrive, or
 * members store theirs, meanwhile.  If members lend their blocks they wait for the root, which
 * copies its own block last. */
static bool schedule_gather_begins_own(const struct ski_plan *plan)
{
    return plan->offers || !plan->near;
}

/* Adds the copy of the root's own block. */
static void schedule_gather_own(struct ski_schedule *s, const struct ski_plan *plan,
                                const struct ski_blocks *to)
{
    if (!plan->in_place)
        ski_step_copy(s, ski_position(SKI_TO, ski_blocks_offset(to, plan->rank)),
                      ski_position(SKI_FROM, 0), ski_blocks_size(to, plan->rank));
}

void ski_schedule_gatherv(struct ski_schedule *s, const struct ski_plan *plan,
                          const struct ski_blocks *to)
{
    ski_assert((unsigned)plan->root < (unsigned)plan->size);
    if (plan->rank != plan->root) {
        ski_step_send(s, plan->root, (uint32_t)plan->rank, ski_position(SKI_FROM, 0), plan->bytes);
        return;
    }
    if (schedule_gather_begins_own(plan))
        schedule_gather_own(s, plan, to);
    for (int i = 1; i < plan->size; i++) {
        int rank = ski_rank_after(plan, i);

        ski_step_recv(s, rank, (uint32_t)rank, ski_position(SKI_TO, ski_blocks_offset(to, rank)),
                      ski_blocks_size(to, rank))
            ->offers = plan->offers;
    }
    if (!schedule_gather_begins_own(plan))
        schedule_gather_own(s, plan, to);
}

/* Returns whether the root of a gather or scatter and each member exchange one message.  Between
 * hosts a tree sends each block up to log2(size) times, one link after the other. */
static bool schedule_is_flat(const struct ski_plan *plan)
{
    return plan->large || plan->size <= (plan->near ? SCHEDULE_DIRECT : SCHEDULE_FLAT);
}

void ski_schedule_gather(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_blocks to = {.bytes = plan->bytes};

    if (plan->hosts && ski_schedule_hosts_gather(s, plan))
        return;
    if (schedule_is_flat(plan))
        ski_schedule_gatherv(s, plan, &to);
    else
        schedule_gather_tree(s, plan);
}

/* Adds a scatter down a binomial tree, as schedule_gather_tree() in reverse. */
static void schedule_scatter_tree(struct ski_schedule *s, const struct ski_plan *plan)
{
    int    relative = schedule_relative(plan), level = schedule_level(plan, relative);
    size_t bytes = plan->bytes, all = bytes * (size_t)schedule_subtree(plan, relative, level);
    bool   direct          = plan->rank == plan->root && plan->root == 0;
    struct ski_position at = direct         ? ski_position(SKI_FROM, 0)
                             : all == bytes ? ski_position(SKI_TO, 0)
                                            : ski_step_temp(s, all);

    if (relative)
        ski_step_recv(s, schedule_from_root(plan, relative & (relative - 1)), 0, at, all);
    else if (!direct)
        schedule_rotate(s, plan, ski_position(SKI_FROM, 0), at, true);
    while (level-- > 0) {
        int64_t child = relative + (INT64_C(1) << level);

        if (child < plan->size)
            ski_step_send(s, schedule_from_root(plan, child), 0,
                          ski_position(at.buffer, at.at + (bytes << level)),
                          bytes * (size_t)schedule_subtree(plan, child, level));
    }
    if (at.buffer != SKI_TO && !(plan->rank == plan->root && plan->in_place))
        ski_step_copy(s, ski_position(SKI_TO, 0), at, bytes);
}

void ski_schedule_scatterv(struct ski_schedule *s, const struct ski_plan *plan,
                           const struct ski_blocks *from)
{
    if (plan->rank != plan->root) {
        ski_step_recv(s, plan->root, 0, ski_position(SKI_TO, 0), plan->bytes);
        return;
    }
    for (int i = 1; i < plan->size; i++) {
        int rank = ski_rank_after(plan, i);

        ski_step_send(s, rank, 0, ski_position(SKI_FROM, ski_blocks_offset(from, rank)),
                      ski_blocks_size(from, rank));
    }
    if (!plan->in_place)
        ski_step_copy(s, ski_position(SKI_TO, 0),
                      ski_position(SKI_FROM, ski_blocks_offset(from, plan->rank)),
                      ski_blocks_size(from, plan->rank));
}

void ski_schedule_scatter(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_blocks from = {.bytes = plan->bytes};

    if (plan->hosts && ski_schedule_hosts_scatter(s, plan))
        return;
    if (schedule_is_flat(plan))
        ski_schedule_scatterv(s, plan, &from);
    else
        schedule_scatter_tree(s, plan);
}

/* ---- allgather -------------------------------------------------------------------- */

/* Returns the position of block @p rank of the output. */
static struct ski_position schedule_block(const struct ski_blocks *to, int rank)
{
    return ski_position(SKI_TO, ski_blocks_offset(to, rank));
}

/* Returns the position of this member's block before an allgather. */
static struct ski_position schedule_own_block(const struct ski_plan   *plan,
                                              const struct ski_blocks *to)
{
    return plan->in_place ? schedule_block(to, plan->rank) : ski_position(SKI_FROM, 0);
}

/* Adds the copy of this member's block to its output, while that block is in flight. */
static void schedule_allgather_own(struct ski_schedule *s, const struct ski_plan *plan,
                                   const struct ski_blocks *to)
{
    if (!plan->in_place)
        ski_step_copy(s, schedule_block(to, plan->rank), schedule_own_block(plan, to),
                      ski_blocks_size(to, plan->rank));
}

/* Adds the transfer of this member's block to each other member. */
static void schedule_allgather_direct(struct ski_schedule *s, const struct ski_plan *plan,
                                      const struct ski_blocks *to)
{
    for (int i = 1; i < plan->size; i++)
        ski_step_send(s, ski_rank_after(plan, i), (uint32_t)plan->rank,
                      schedule_own_block(plan, to), ski_blocks_size(to, plan->rank));
    schedule_allgather_own(s, plan, to);
    for (int i = 1; i < plan->size; i++) {
        int rank = ski_rank_before(plan, i);

        ski_step_recv(s, rank, (uint32_t)rank, schedule_block(to, rank), ski_blocks_size(to, rank));
    }
}

/* Adds a ring: each member sends on what it has received, so each link carries each block once. */
static void schedule_allgather_ring(struct ski_schedule *s, const struct ski_plan *plan,
                                    const struct ski_blocks *to)
{
    int next = ski_rank_after(plan, 1), previous = ski_rank_before(plan, 1);

    for (int i = 0; i + 1 < plan->size; i++) {
        int sent = ski_rank_before(plan, i), received = ski_rank_before(plan, i + 1);

        ski_step_send(s, next, (uint32_t)i,
                      i == 0 ? schedule_own_block(plan, to) : schedule_block(to, sent),
                      ski_blocks_size(to, sent));
        if (i == 0)
            schedule_allgather_own(s, plan, to);
        ski_step_recv(s, previous, (uint32_t)i, schedule_block(to, received),
                      ski_blocks_size(to, received));
    }
}

/* Adds recursive doubling, for 2^k members with equal blocks: all transfers are contiguous. */
static void schedule_allgather_doubling(struct ski_schedule *s, const struct ski_plan *plan,
                                        const struct ski_blocks *to)
{
    for (int k = 0; 1 << k < plan->size; k++) {
        int mine = ski_block_of(plan->rank, k), theirs = ski_block_sibling(plan->rank, k);

        ski_step_send(s, plan->rank ^ (1 << k), (uint32_t)k,
                      k == 0 ? schedule_own_block(plan, to) : schedule_block(to, mine),
                      to->bytes << k);
        if (k == 0)
            schedule_allgather_own(s, plan, to);
        ski_step_recv(s, plan->rank ^ (1 << k), (uint32_t)k, schedule_block(to, theirs),
                      to->bytes << k);
    }
}

/* Adds Bruck's algorithm: blocks are collected in temporary memory in the order of their distance
 * from this member, which doubles in each round. */
static void schedule_allgather_bruck(struct ski_schedule *s, const struct ski_plan *plan,
                                     const struct ski_blocks *to)
{
    struct ski_position temp;
    size_t              total = 0, have = ski_blocks_size(to, plan->rank);
    uint32_t            tag = 0;

    for (int r = 0; r < plan->size; r++)
        total += ski_blocks_size(to, r);
    temp = ski_step_temp(s, total);
    ski_step_copy(s, temp, schedule_own_block(plan, to), have);
    for (int64_t far = 1; far < plan->size; far *= 2, tag++) {
        int64_t count = plan->size - far < far ? plan->size - far : far;
        size_t  sent = 0, received = 0;

        for (int64_t i = 0; i < count; i++) {
            sent += ski_blocks_size(to, ski_rank_after(plan, i));
            received += ski_blocks_size(to, ski_rank_after(plan, far + i));
        }
        ski_step_send(s, ski_rank_before(plan, far), tag, temp, sent);
        ski_step_recv(s, ski_rank_after(plan, far), tag, ski_position(SKI_TEMP, temp.at + have),
                      received);
        have += received;
    }
    have = 0;
    for (int64_t i = 0; i < plan->size; i++) {
        int rank = ski_rank_after(plan, i);

        ski_step_copy(s, schedule_block(to, rank), ski_position(SKI_TEMP, temp.at + have),
                      plan->in_place && i == 0 ? 0 : ski_blocks_size(to, rank));
        have += ski_blocks_size(to, rank);
    }
}

void ski_schedule_allgather(struct ski_schedule *s, const struct ski_plan *plan,
                            const struct ski_blocks *to)
{
    int direct = plan->near ? SCHEDULE_DIRECT : SCHEDULE_DIRECT_FAR;

    if (plan->hosts && ski_schedule_hosts_allgather(s, plan, to))
        return;
    if (plan->size <= direct || (plan->large && plan->near))
        schedule_allgather_direct(s, plan, to);
    else if (plan->large)
        schedule_allgather_ring(s, plan, to);
    else if (!to->sizes && (plan->size & (plan->size - 1)) == 0)
        schedule_allgather_doubling(s, plan, to);
    else
        schedule_allgather_bruck(s, plan, to);
}

/* ---- all-to-all -------------------------------------------------------------------- */

/* Adds the copy of the block that this member sends itself. */
static void schedule_alltoall_own(struct ski_schedule *s, const struct ski_plan *plan,
                                  const struct ski_blocks *from, const struct ski_blocks *to)
{
    ski_step_copy(s, schedule_block(to, plan->rank),
                  ski_position(SKI_FROM, ski_blocks_offset(from, plan->rank)),
                  ski_blocks_size(to, plan->rank));
}

/* Adds the receipt of the block of the member @p distance ranks before. */
static void schedule_alltoall_recv(struct ski_schedule *s, const struct ski_plan *plan,
                                   const struct ski_blocks *to, int distance)
{
    int    rank  = ski_rank_before(plan, distance);
    size_t bytes = ski_blocks_size(to, rank);

    if (bytes)
        ski_step_recv(s, rank, (uint32_t)rank, schedule_block(to, rank), bytes);
}

/* Adds direct transfers.  All members send at once; if blocks are large and travel between hosts,
 * each is sent after the last but three has arrived, which bounds the memory that packets take. */
static void schedule_alltoall_direct(struct ski_schedule *s, const struct ski_plan *plan,
                                     const struct ski_blocks *from, const struct ski_blocks *to)
{
    int ahead = plan->large && !plan->near ? 3 : plan->size;

    for (int i = 1; i < plan->size; i++) {
        int    rank  = ski_rank_after(plan, i);
        size_t bytes = ski_blocks_size(from, rank);

        if (bytes)
            ski_step_send(s, rank, (uint32_t)plan->rank,
                          ski_position(SKI_FROM, ski_blocks_offset(from, rank)), bytes);
        if (i > ahead)
            schedule_alltoall_recv(s, plan, to, i - ahead);
    }
    schedule_alltoall_own(s, plan, from, to);
    for (int i = plan->size - ahead > 1 ? plan->size - ahead : 1; i < plan->size; i++)
        schedule_alltoall_recv(s, plan, to, i);
    s->tags = (uint32_t)plan->size; /* a block that is not expected is recognised */
}

/* The part of an exchange in pairs in which half a block goes to a member and half a block comes
 * from it. */
struct schedule_half {
    int      rank;
    uint32_t tag[2]; /* of the half that this member sends, and of the one that it receives */
    size_t   at, bytes;
};

/* Returns the tag of a half of @p rank, which is no tag of a block: so a half is not accepted as a
 * block by a member that passes another size. */
static uint32_t schedule_half_tag(const struct ski_plan *plan, int rank, uint32_t second)
{
    return (uint32_t)plan->size + 2 * (uint32_t)rank + second;
}

/* Returns half @p k of an exchange in pairs: two belong to a block. */
static struct schedule_half schedule_alltoall_half(const struct ski_plan *plan, int k)
{
    uint32_t second = (uint32_t)k % 2;
    int      rank   = plan->rank ^ (k / 2 + 1);
    size_t   first  = plan->bytes - plan->bytes / 2;

    return (struct schedule_half){
        rank,
        {schedule_half_tag(plan, plan->rank, second), schedule_half_tag(plan, rank, second)},
        second ? first : 0,
        second ? plan->bytes - first : first};
}

/* Adds an exchange in pairs, for 2^k members, more than one, with equal blocks: the i-th block is
 * exchanged with the member whose rank differs in the bits of i, in both directions at once.  A
 * member sends half a block before it waits for the one before, so that it does not wait if the
 * next member is late; more would not stay in the cache. */
static void schedule_alltoall_pairs(struct ski_schedule *s, const struct ski_plan *plan,
                                    const struct ski_blocks *from, const struct ski_blocks *to)
{
    int halves = 2 * (plan->size - 1);

    for (int k = 0; k <= halves; k++) {
        if (k < halves) {
            struct schedule_half half = schedule_alltoall_half(plan, k);

            ski_step_send(s, half.rank, half.tag[0],
                          ski_position(SKI_FROM, ski_blocks_offset(from, half.rank) + half.at),
                          half.bytes);
        }
        if (k == 0) { /* while the first half is in flight */
            schedule_alltoall_own(s, plan, from, to);
        } else {
            struct schedule_half half = schedule_alltoall_half(plan, k - 1);
            struct ski_position  at   = schedule_block(to, half.rank);

            at.at += half.at;
            ski_step_recv(s, half.rank, half.tag[1], at, half.bytes);
        }
    }
    s->tags = 3 * (uint32_t)plan->size; /* a half that is not expected is recognised */
}

/* Adds the copy between the blocks at @p temp whose number has bit @p k and contiguous memory at @p
 * packed; returns their bytes. */
static size_t schedule_bruck_pack(struct ski_schedule *s, const struct ski_plan *plan,
                                  struct ski_position temp, struct ski_position packed, int k,
                                  bool unpack)
{
    size_t           run = plan->bytes << k, whole = (size_t)plan->size >> (k + 1);
    size_t           over = (size_t)plan->size - (whole << (k + 1)), rest;
    struct ski_step *step;

    rest = over > (size_t)1 << k ? (over - ((size_t)1 << k)) * plan->bytes : 0;
    temp.at += run;
    step              = ski_step_copy(s, unpack ? temp : packed, unpack ? packed : temp, run);
    step->repeat      = (uint32_t)whole;
    step->stride      = unpack ? 2 * run : run;
    step->from_stride = unpack ? run : 2 * run;
    temp.at += 2 * run * whole;
    packed.at += run * whole;
    ski_step_copy(s, unpack ? temp : packed, unpack ? packed : temp, rest);
    return run * whole + rest;
}

/* Adds Bruck's algorithm: in round k the blocks whose distance to their target has bit k travel 2^k
 * ranks, so there are log2 messages of half of the data each. */
static void schedule_alltoall_bruck(struct ski_schedule *s, const struct ski_plan *plan)
{
    size_t              all  = plan->bytes * (size_t)plan->size;
    struct ski_position temp = ski_step_temp(s, all), out = ski_step_temp(s, all),
                        in = ski_step_temp(s, all);

    ski_step_copy(s, temp, ski_position(SKI_FROM, plan->bytes * (size_t)plan->rank),
                  all - plan->bytes * (size_t)plan->rank);
    ski_step_copy(s, ski_position(SKI_TEMP, temp.at + all - plan->bytes * (size_t)plan->rank),
                  ski_position(SKI_FROM, 0), plan->bytes * (size_t)plan->rank);
    for (int k = 0; 1 << k < plan->size; k++) {
        size_t bytes = schedule_bruck_pack(s, plan, temp, out, k, false);

        ski_step_send(s, ski_rank_after(plan, 1 << k), (uint32_t)k, out, bytes)->copied = true;
        ski_step_recv(s, ski_rank_before(plan, 1 << k), (uint32_t)k, in, bytes)->reused = true;
        schedule_bruck_pack(s, plan, temp, in, k, true);
    }
    for (int i = 0; i < plan->size; i++)
        ski_step_copy(s, ski_position(SKI_TO, plan->bytes * (size_t)ski_rank_before(plan, i)),
                      ski_position(SKI_TEMP, temp.at + plan->bytes * (size_t)i), plan->bytes);
}

void ski_schedule_alltoall(struct ski_schedule *s, const struct ski_plan *plan,
                           const struct ski_blocks *from, const struct ski_blocks *to)
{
    if (plan->hosts && ski_schedule_hosts_alltoall(s, plan, from))
        return;
    if (!from->sizes && plan->size >= SCHEDULE_BRUCK && plan->bytes > 0 &&
        plan->bytes <= SCHEDULE_BRUCK_TO)
        schedule_alltoall_bruck(s, plan);
    else if (!from->sizes && plan->paired && plan->size > 1 && (plan->size & (plan->size - 1)) == 0)
        schedule_alltoall_pairs(s, plan, from, to);
    else
        schedule_alltoall_direct(s, plan, from, to);
}
