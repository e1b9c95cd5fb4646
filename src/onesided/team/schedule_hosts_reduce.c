/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_hosts_reduce.c - reductions inside a host first (see schedule_hosts.h).
 *
 * The members of a host, or of several, have a *set of blocks* of reduction_order.h: each block all
 * of whose ranks are among them is combined, and no block is combined in another order than that of
 * all ranks.  A member computes from the ranks alone which blocks another one sends.
 *
 * The members of a host form a binomial tree from the entry on, and so do the hosts from that of
 * the root on; a set goes up in one message.  If all members get the result, the entries exchange
 * sets by recursive doubling instead, and send the result down.
 *
 * Large contributions are cut into slices, one for each member of a host, if all hosts have as
 * many: member i of each host combines slice i of its host, members i of all hosts exchange their
 * sets, and each host puts its slices together.  So each contribution crosses the network combined
 * with those of its host, and all members send at once.
 *
 * Large contributions that the operator does not split are combined here only if the members of
 * each host have consecutive ranks: a set then has few blocks.  Elsewhere it may have as many as
 * the host has members, each as large as a contribution.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/reduction_order.h"
#include "onesided/team/schedule.h"
#include "onesided/team/schedule_hosts.h"

/* A block of ranks, and where its partial result is. */
struct hosts_block {
    int32_t             first, level;
    struct ski_position at;
};

/* Blocks in ascending order; no two of them are siblings. */
struct hosts_set {
    struct ski_schedule *s; /* gets the combinations; NULL: the set says which blocks there are */
    size_t               bytes;
    int                  size, levels; /* of the team, and of the block of all ranks */
    int                  count, room;
    struct hosts_block  *block;
};

/* ---- sets ------------------------------------------------------------------------------ */

static struct hosts_set hosts_set_make(struct ski_schedule *s, const struct ski_plan *plan)
{
    return (struct hosts_set){
        .s = s, .bytes = plan->bytes, .size = plan->size, .levels = ski_block_levels(plan->size)};
}

/* Returns where a block that begins at @p first is, or belongs. */
static int hosts_set_find(const struct hosts_set *set, int first)
{
    int low = 0, high = set->count;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (set->block[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void hosts_set_insert(struct hosts_set *set, struct hosts_block block)
{
    int at = hosts_set_find(set, block.first);

    if (set->count == set->room) {
        set->room  = set->room ? 2 * set->room : 8;
        set->block = ski_realloc(set->block, (size_t)set->room * sizeof *set->block);
    }
    for (int i = set->count++; i > at; i--)
        set->block[i] = set->block[i - 1];
    set->block[at] = block;
}

/* Removes the block that is the sibling of @p block.  Returns false if the set does not have it. */
static bool hosts_set_remove(struct hosts_set *set, const struct hosts_block *block,
                             struct hosts_block *sibling)
{
    int first = ski_block_sibling(block->first, block->level), at = hosts_set_find(set, first);

    if (at == set->count || set->block[at].first != first || set->block[at].level != block->level)
        return false;
    *sibling = set->block[at];
    set->count--;
    for (int i = at; i < set->count; i++)
        set->block[i] = set->block[i + 1];
    return true;
}

/* Adds a block, and combines it with its sibling, and so on. */
static void hosts_set_add(struct hosts_set *set, struct hosts_block block)
{
    struct hosts_block other;

    for (; block.level < set->levels; block.level++) {
        if (ski_block_sibling(block.first, block.level) >= set->size)
            continue;
        if (!hosts_set_remove(set, &block, &other))
            break;
        if (other.first < block.first) {
            struct hosts_block upper = block;

            block = other;
            other = upper;
        }
        if (set->s)
            ski_step_combine(set->s, block.at, other.at, set->bytes);
    }
    hosts_set_insert(set, block);
}

/* Adds @p count ranks from @p first on to a set without combinations, as few blocks. */
static void hosts_set_add_run(struct hosts_set *set, int first, int count)
{
    while (count > 0) {
        int level = 0;

        while (level < set->levels && ski_block_of(first, level + 1) == first &&
               ((1 << (level + 1)) <= count || first + count == set->size))
            level++;
        hosts_set_add(set, (struct hosts_block){.first = first, .level = level});
        first += 1 << level;
        count -= 1 << level;
    }
}

/* Adds all members of @p host. */
static void hosts_set_add_host(struct hosts_set *set, const struct ski_team_hosts *hosts, int host)
{
    int size = ski_hosts_size(hosts, host);

    for (int i = 0, run; i < size; i += run) {
        run = ski_hosts_run(hosts, host, i);
        hosts_set_add_run(set, ski_hosts_rank(hosts, host, i), run);
    }
}

/* ---- messages -------------------------------------------------------------------------- */

/* Puts the blocks of a set one behind another, in memory that does not change afterwards; a single
 * block stays where it is.  Returns where. */
static struct ski_position hosts_set_pack(struct ski_schedule *s, const struct hosts_set *set)
{
    struct ski_position at = set->block[0].at;

    if (set->count > 1) {
        at = ski_step_temp(s, set->bytes * (size_t)set->count);
        for (int i = 0; i < set->count; i++)
            ski_step_copy(s, ski_position(SKI_TEMP, at.at + set->bytes * (size_t)i),
                          set->block[i].at, set->bytes);
    }
    return at;
}

/* Adds the transfer of a set, packed at @p at, to @p rank in one message. */
static void hosts_set_send(struct ski_schedule *s, const struct hosts_set *set,
                           struct ski_position at, int rank, uint32_t tag, bool copied)
{
    ski_step_send(s, rank, tag, at, set->bytes * (size_t)set->count)->copied =
        copied && set->count == 1;
}

/* Adds the receipt of the blocks of @p shape from @p rank, and their combination with @p set. */
static void hosts_set_recv(struct ski_schedule *s, struct hosts_set *set,
                           const struct hosts_set *shape, int rank, uint32_t tag)
{
    struct ski_position at = ski_step_temp(s, set->bytes * (size_t)shape->count);

    ski_step_recv(s, rank, tag, at, set->bytes * (size_t)shape->count);
    ski_step_add(s, SKI_STEP_FLUSH); /* what was sent may be combined now */
    for (int i = 0; i < shape->count; i++) {
        struct hosts_block block = shape->block[i];

        block.at = ski_position(SKI_TEMP, at.at + set->bytes * (size_t)i);
        hosts_set_add(set, block);
    }
}

/* ---- trees ------------------------------------------------------------------------------ */

/* Returns the level of the member with @p distance from the root of a binomial tree of @p size. */
static int hosts_tree_level(int distance, int size)
{
    return distance ? __builtin_ctz((unsigned)distance) : ski_block_levels(size);
}

/* Returns the members of the subtree that begins at @p distance and stands 2^level wide. */
static int hosts_subtree(int distance, int level, int size)
{
    return size - distance < 1 << level ? size - distance : 1 << level;
}

/* Returns whether this member has children or sends a set on, so that it needs a copy of its
 * contribution. */
static bool hosts_is_inner(const struct ski_parts *parts, int distance)
{
    return ski_parts_enter(parts) || (!(distance & 1) && distance + 1 < parts->locals);
}

/* Begins the set of this member: its contribution. */
static struct hosts_set hosts_set_begin(struct ski_schedule *s, const struct ski_parts *parts,
                                        int distance, bool result)
{
    const struct ski_plan *plan = parts->plan;
    struct hosts_set       set  = hosts_set_make(s, plan);
    struct ski_position    at   = ski_position(SKI_FROM, 0);

    if (hosts_is_inner(parts, distance) || plan->prepare) {
        at = result ? ski_position(SKI_TO, 0) : ski_step_temp(s, plan->bytes);
        ski_step_contribute(s, plan, at);
    }
    hosts_set_add(&set, (struct hosts_block){.first = plan->rank, .level = 0, .at = at});
    return set;
}

/* Adds the reduction inside this host: its entry then has the set of the host.  The part is 0. */
static void hosts_reduce_local(struct ski_schedule *s, const struct ski_parts *parts,
                               struct hosts_set *set, int distance)
{
    int level = hosts_tree_level(distance, parts->locals);

    for (int k = 0; k < level; k++) {
        struct hosts_set shape = hosts_set_make(NULL, parts->plan);
        int              child = distance + (1 << k);

        if (child >= parts->locals)
            break;
        for (int i = 0; i < hosts_subtree(child, k, parts->locals); i++)
            hosts_set_add_run(&shape, parts->local[(parts->entry + child + i) % parts->locals], 1);
        hosts_set_recv(s, set, &shape, parts->local[(parts->entry + child) % parts->locals],
                       (uint32_t)k * SKI_PARTS);
        free(shape.block);
    }
    if (distance)
        hosts_set_send(s, set, hosts_set_pack(s, set),
                       parts->local[(parts->entry + (distance & (distance - 1))) % parts->locals],
                       (uint32_t)level * SKI_PARTS, false);
}

/* Adds the reduction of the entries to the root.  The part is 1. */
static void hosts_reduce_entries(struct ski_schedule *s, const struct ski_parts *parts,
                                 struct hosts_set *set)
{
    int hosts = parts->hosts->hosts, distance = (parts->host - parts->root_host + hosts) % hosts;
    int level = hosts_tree_level(distance, hosts);

    for (int k = 0; k < level; k++) {
        struct hosts_set shape = hosts_set_make(NULL, parts->plan);
        int              child = distance + (1 << k);

        if (child >= hosts)
            break;
        for (int i = 0; i < hosts_subtree(child, k, hosts); i++)
            hosts_set_add_host(&shape, parts->hosts, (parts->root_host + child + i) % hosts);
        hosts_set_recv(s, set, &shape, parts->entries[(parts->root_host + child) % hosts],
                       (uint32_t)k * SKI_PARTS + 1);
        free(shape.block);
    }
    if (distance)
        hosts_set_send(s, set, hosts_set_pack(s, set),
                       parts->entries[(parts->root_host + (distance & (distance - 1))) % hosts],
                       (uint32_t)level * SKI_PARTS + 1, false);
}

/* Adds the copy of the result, the only block of @p set, to the output, unless it is there. */
static void hosts_deliver(struct ski_schedule *s, const struct hosts_set *set)
{
    ski_assert(set->count == 1 && set->block[0].level == set->levels);
    if (set->block[0].at.buffer != SKI_TO) {
        ski_step_add(s, SKI_STEP_FLUSH); /* the output may be what was sent */
        ski_step_copy(s, ski_position(SKI_TO, 0), set->block[0].at, set->bytes);
    }
}

/* Returns the distance of this member from the entry of its host. */
static int hosts_distance(const struct ski_parts *parts)
{
    return (parts->index - parts->entry + parts->locals) % parts->locals;
}

/* ---- exchange ------------------------------------------------------------------------------ */

/* Adds the messages of a round: to all hosts for which this one is the delegate of its block. */
static void hosts_exchange_sets(struct ski_schedule *s, const struct ski_parts *parts,
                                const struct hosts_set *set, int level)
{
    int                 hosts = parts->hosts->hosts, first = parts->host ^ (1 << level), bits = 0;
    int                 ignores = ski_block_ignores(parts->host, level, hosts);
    struct ski_position at;

    if (first >= hosts)
        return;
    at = hosts_set_pack(s, set); /* once for all of them */
    do {
        int host = first | bits;

        if (host < hosts)
            hosts_set_send(s, set, at, parts->entries[host], (uint32_t)level * SKI_PARTS + 1,
                           !parts->plan->large);
        bits = (bits - ignores) & ignores; /* the next subset of `ignores` */
    } while (bits);
}

/* Adds an exchange of the entries, each of which then has all blocks. */
static void hosts_exchange_entries(struct ski_schedule *s, const struct ski_parts *parts,
                                   struct hosts_set *set)
{
    int hosts = parts->hosts->hosts;

    for (int level = 0; level < ski_block_levels(hosts); level++) {
        int              sibling = ski_block_sibling(parts->host, level);
        struct hosts_set shape   = hosts_set_make(NULL, parts->plan);

        if (sibling >= hosts)
            continue;
        hosts_exchange_sets(s, parts, set, level);
        for (int host = sibling; host < sibling + (1 << level) && host < hosts; host++)
            hosts_set_add_host(&shape, parts->hosts, host);
        hosts_set_recv(s, set, &shape,
                       parts->entries[ski_block_delegate(sibling, level, parts->host, hosts)],
                       (uint32_t)level * SKI_PARTS + 1);
        free(shape.block);
    }
}

/* ---- slices of large contributions ------------------------------------------------------- */

/* The slice of this member: the same part of the contributions on all hosts. */
struct hosts_slice {
    struct ski_plan     local; /* of the members of this host, which share a contribution */
    struct ski_position input; /* this member's contribution */
    size_t              at, bytes;
    struct hosts_set    set;
};

/* Returns whether all hosts have as many members. */
static bool hosts_are_even(const struct ski_team_hosts *hosts)
{
    for (int host = 1; host < hosts->hosts; host++)
        if (ski_hosts_size(hosts, host) != ski_hosts_size(hosts, 0))
            return false;
    return true;
}

/* Begins the parts of a division into slices: the owners of a slice are the entries. */
static struct hosts_slice hosts_slice_begin(struct ski_schedule *s, struct ski_parts *parts,
                                            const struct ski_plan *plan, int root)
{
    struct ski_position nothing = ski_position(SKI_FROM, 0);
    struct hosts_slice  slice   = {.input = nothing, .set = hosts_set_make(s, plan)};

    ski_parts_begin(parts, plan, root);
    slice.local = ski_part_local(s, parts, 0, nothing, nothing, plan->bytes);
    ski_part_end(s);
    free(parts->entries);
    parts->entries = ski_malloc((size_t)plan->hosts->hosts * sizeof *parts->entries);
    for (int host = 0; host < plan->hosts->hosts; host++)
        parts->entries[host] = ski_hosts_rank(plan->hosts, host, parts->index);
    slice.at        = ski_slice(&slice.local, parts->index);
    slice.bytes     = ski_slice(&slice.local, parts->index + 1) - slice.at;
    slice.set.bytes = slice.bytes;
    return slice;
}

/* Adds the receipt of member @p i's contribution to the slice: combined with that of the rank
 * before, if it is its sibling. */
static void hosts_slice_recv(struct ski_schedule *s, const struct ski_parts *parts,
                             struct hosts_slice *slice, int i)
{
    struct hosts_block block = {.first = parts->local[i]}, lower;
    struct ski_step   *step;

    if (block.first & 1 && hosts_set_remove(&slice->set, &block, &lower)) {
        step = ski_step_recv(s, block.first, (uint32_t)i * SKI_PARTS, lower.at, slice->bytes);
        step->action = SKI_STEP_RECV_COMBINE;
        block        = lower;
        block.level  = 1;
    } else {
        block.at = ski_step_temp(s, slice->bytes);
        ski_step_recv(s, block.first, (uint32_t)i * SKI_PARTS, block.at, slice->bytes);
    }
    hosts_set_add(&slice->set, block);
}

/* Adds the combination of the contributions of this host to the slice of this member. */
static void hosts_slice_combine(struct ski_schedule *s, const struct ski_parts *parts,
                                struct hosts_slice *slice)
{
    if (parts->plan->prepare) {
        slice->input = ski_step_temp(s, parts->plan->bytes);
        ski_step_contribute(s, parts->plan, slice->input);
    }
    for (int i = 1; i < parts->locals; i++) {
        int    to = ski_rank_after(&slice->local, i);
        size_t at = ski_slice(&slice->local, to);

        ski_step_send(s, parts->local[to], (uint32_t)parts->index * SKI_PARTS,
                      ski_position(slice->input.buffer, slice->input.at + at),
                      ski_slice(&slice->local, to + 1) - at);
    }
    for (int i = 0; i < parts->locals; i++)
        if (i == parts->index) {
            struct hosts_block own = {.first = parts->plan->rank};

            own.at = ski_step_temp(s, slice->bytes);
            ski_step_copy(s, own.at, ski_position(slice->input.buffer, slice->input.at + slice->at),
                          slice->bytes);
            hosts_set_add(&slice->set, own);
        } else {
            hosts_slice_recv(s, parts, slice, i);
        }
}

/* Adds the transfer of the result of this member's slice to member @p to of this host. */
static void hosts_slice_send(struct ski_schedule *s, const struct ski_parts *parts,
                             const struct hosts_slice *slice, int to)
{
    ski_step_send(s, parts->local[to], (uint32_t)parts->index * SKI_PARTS + 2,
                  slice->set.block[0].at, slice->bytes);
}

/* Adds the copy of the result of this member's slice, and the receipt of the others. */
static void hosts_slices_store(struct ski_schedule *s, const struct ski_parts *parts,
                               const struct hosts_slice *slice)
{
    ski_step_copy(s, ski_position(SKI_TO, slice->at), slice->set.block[0].at, slice->bytes);
    for (int i = 1; i < parts->locals; i++) {
        int    from = ski_rank_before(&slice->local, i);
        size_t at   = ski_slice(&slice->local, from);

        ski_step_recv(s, parts->local[from], (uint32_t)from * SKI_PARTS + 2,
                      ski_position(SKI_TO, at), ski_slice(&slice->local, from + 1) - at)
            ->reused = true;
    }
}

/* Adds a large reduction to all members.  Returns false if the hosts have different numbers of
 * members. */
static bool hosts_allreduce_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_parts   parts;
    struct hosts_slice slice;

    if (!hosts_are_even(plan->hosts))
        return false;
    slice = hosts_slice_begin(s, &parts, plan, -1);
    hosts_slice_combine(s, &parts, &slice);
    hosts_exchange_entries(s, &parts, &slice.set);
    for (int i = 1; i < parts.locals; i++)
        hosts_slice_send(s, &parts, &slice, ski_rank_after(&slice.local, i));
    hosts_slices_store(s, &parts, &slice);
    free(slice.set.block);
    ski_parts_end(&parts);
    return true;
}

/* Adds a large reduction to the root.  Returns false if the hosts have different numbers of
 * members. */
static bool hosts_reduce_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_parts   parts;
    struct hosts_slice slice;

    if (!hosts_are_even(plan->hosts))
        return false;
    slice = hosts_slice_begin(s, &parts, plan, plan->root);
    hosts_slice_combine(s, &parts, &slice);
    hosts_reduce_entries(s, &parts, &slice.set);
    if (plan->rank == plan->root)
        hosts_slices_store(s, &parts, &slice);
    else if (parts.host == parts.root_host)
        hosts_slice_send(s, &parts, &slice, parts.entry);
    free(slice.set.block);
    ski_parts_end(&parts);
    return true;
}

/* Returns whether the sets of blocks of a reduction that is not cut into slices are small. */
static bool hosts_sets_are_small(const struct ski_plan *plan)
{
    const struct ski_team_hosts *hosts = plan->hosts;

    if (!plan->large)
        return true;
    for (int host = 0; host < hosts->hosts; host++)
        if (ski_hosts_run(hosts, host, 0) < ski_hosts_size(hosts, host))
            return false;
    return true;
}

/* ---- to a root --------------------------------------------------------------------------- */

bool ski_schedule_hosts_reduce(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_parts parts;
    struct hosts_set set;

    if (plan->large && plan->element)
        return hosts_reduce_slices(s, plan);
    if (!hosts_sets_are_small(plan))
        return false;
    ski_parts_begin(&parts, plan, plan->root);
    set = hosts_set_begin(s, &parts, hosts_distance(&parts), plan->rank == plan->root);
    hosts_reduce_local(s, &parts, &set, hosts_distance(&parts));
    if (ski_parts_enter(&parts))
        hosts_reduce_entries(s, &parts, &set);
    if (plan->rank == plan->root)
        hosts_deliver(s, &set);
    free(set.block);
    ski_parts_end(&parts);
    return true;
}

/* ---- to all members ---------------------------------------------------------------------- */

bool ski_schedule_hosts_allreduce(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position all = ski_position(SKI_TO, 0);
    struct ski_parts    parts;
    struct ski_plan     part;
    struct hosts_set    set;

    if (plan->large && plan->element)
        return hosts_allreduce_slices(s, plan);
    if (!hosts_sets_are_small(plan))
        return false;
    ski_parts_begin(&parts, plan, -1);
    set = hosts_set_begin(s, &parts, hosts_distance(&parts), ski_parts_enter(&parts));
    hosts_reduce_local(s, &parts, &set, hosts_distance(&parts));
    if (ski_parts_enter(&parts)) {
        hosts_exchange_entries(s, &parts, &set);
        hosts_deliver(s, &set);
    }
    part = ski_part_local(s, &parts, 2, all, all, plan->bytes);
    ski_schedule_broadcast(s, &part);
    ski_part_end(s);
    free(set.block);
    ski_parts_end(&parts);
    return true;
}
