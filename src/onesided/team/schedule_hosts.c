/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_hosts.c - collectives that move data, inside a host first (see schedule_hosts.h). */
#include "onesided/team/schedule_hosts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onesided/team/schedule.h"

#define HOSTS_LARGE_LOCAL 16384 /* bytes that are lent inside a host                         */
#define HOSTS_FLAT        64    /* hosts up to which the root exchanges messages with all of them */
#define HOSTS_BLOCK_MAX   4096  /* bytes of a block of a gather or scatter                       */
#define HOSTS_PAIR_MAX    1024  /* bytes of a block of an all-to-all ...                         */
#define HOSTS_ROW_MAX     65536 /* ... of those of a member ...                                  */
#define HOSTS_ROWS_MAX    262144 /* ... and of those of the members of a host                */

/* ---- parts ----------------------------------------------------------------------------- */

/* Lists the ranks of this host, and finds the indices of this member and the entry. */
static void parts_list_local(struct ski_parts *parts, int root)
{
    parts->locals = ski_hosts_size(parts->hosts, parts->host);
    parts->local  = ski_malloc((size_t)parts->locals * sizeof *parts->local);
    for (int i = 0; i < parts->locals; i++) {
        parts->local[i] = ski_hosts_rank(parts->hosts, parts->host, i);
        if (parts->local[i] == parts->plan->rank)
            parts->index = i;
        if (parts->local[i] == root)
            parts->entry = i;
    }
}

void ski_parts_begin(struct ski_parts *parts, const struct ski_plan *plan, int root)
{
    *parts           = (struct ski_parts){.plan = plan, .hosts = plan->hosts};
    parts->host      = ski_hosts_of(plan->hosts, plan->rank);
    parts->root_host = root < 0 ? 0 : ski_hosts_of(plan->hosts, root);
    parts_list_local(parts, root);
    if (!ski_parts_enter(parts))
        return;
    parts->entries = ski_malloc((size_t)plan->hosts->hosts * sizeof *parts->entries);
    for (int host = 0; host < plan->hosts->hosts; host++)
        parts->entries[host] =
            root >= 0 && host == parts->root_host ? root : ski_hosts_rank(plan->hosts, host, 0);
}

void ski_parts_end(struct ski_parts *parts)
{
    free(parts->local);
    free(parts->entries);
}

struct ski_plan ski_part_local(struct ski_schedule *s, struct ski_parts *parts, uint32_t number,
                               struct ski_position from, struct ski_position to, size_t bytes)
{
    struct ski_plan plan = *parts->plan;

    plan.rank     = parts->index;
    plan.size     = parts->locals;
    plan.root     = parts->entry;
    plan.hosts    = NULL;
    plan.near     = true;
    plan.in_place = false;
    plan.bytes    = bytes;
    plan.large    = bytes >= HOSTS_LARGE_LOCAL;
    parts->view   = (struct ski_view){parts->local, number, from, to};
    s->view       = &parts->view;
    return plan;
}

/* Begins part @p number among the entries; its root is that of the root's host.  Returns its plan,
 * for plan->bytes. */
static struct ski_plan hosts_part_entries(struct ski_schedule *s, struct ski_parts *parts,
                                          uint32_t number, struct ski_position from,
                                          struct ski_position to)
{
    struct ski_plan plan = *parts->plan;

    plan.rank     = parts->host;
    plan.size     = parts->hosts->hosts;
    plan.root     = parts->root_host;
    plan.hosts    = NULL;
    plan.in_place = false;
    parts->view   = (struct ski_view){parts->entries, number, from, to};
    s->view       = &parts->view;
    return plan;
}

void ski_part_end(struct ski_schedule *s)
{
    s->view = NULL;
}

/* ---- barrier and broadcast ------------------------------------------------------------- */

void ski_schedule_hosts_barrier(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position nothing = ski_position(SKI_TO, 0);
    struct ski_parts    parts;
    struct ski_plan     part;

    ski_parts_begin(&parts, plan, -1);
    part = ski_part_local(s, &parts, 0, nothing, nothing, 0);
    ski_schedule_gather(s, &part);
    if (ski_parts_enter(&parts)) {
        part = hosts_part_entries(s, &parts, 1, nothing, nothing);
        ski_schedule_barrier(s, &part);
    }
    part = ski_part_local(s, &parts, 2, nothing, nothing, 0);
    ski_schedule_broadcast(s, &part);
    ski_part_end(s);
    ski_parts_end(&parts);
}

/* Adds the broadcast of @p bytes of the output of the entry inside each host: the last part. */
static void hosts_broadcast_local(struct ski_schedule *s, struct ski_parts *parts, size_t bytes)
{
    struct ski_position all = ski_position(SKI_TO, 0);
    struct ski_plan     part;

    part = ski_part_local(s, parts, SKI_PARTS - 1, all, all, bytes);
    ski_schedule_broadcast(s, &part);
    ski_part_end(s);
}

void ski_schedule_hosts_broadcast(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position all = ski_position(SKI_TO, 0);
    struct ski_parts    parts;
    struct ski_plan     part;

    ski_parts_begin(&parts, plan, plan->root);
    if (ski_parts_enter(&parts)) {
        part = hosts_part_entries(s, &parts, 0, all, all);
        ski_schedule_broadcast(s, &part);
    }
    hosts_broadcast_local(s, &parts, plan->bytes);
    ski_parts_end(&parts);
}

/* ---- blocks in the order of ranks, and in that of the members of a host ------------------------
 */

/* Returns whether the members of @p host have consecutive ranks. */
static bool hosts_is_run(const struct ski_team_hosts *hosts, int host)
{
    return ski_hosts_run(hosts, host, 0) == ski_hosts_size(hosts, host);
}

/* Adds copies of the blocks of the members of @p host: between @p ranks, in the order of all ranks,
 * and @p packed, in the order of the members; @p unpack: from there to @p ranks. */
static void hosts_pack(struct ski_schedule *s, const struct ski_plan *plan, int host,
                       struct ski_position ranks, struct ski_position packed, bool unpack)
{
    int size = ski_hosts_size(plan->hosts, host);

    for (int i = 0, run; i < size; i += run) {
        size_t              rank = (size_t)ski_hosts_rank(plan->hosts, host, i);
        struct ski_position at   = {ranks.buffer, ranks.at + rank * plan->bytes};
        struct ski_position in   = {packed.buffer, packed.at + (size_t)i * plan->bytes};

        run = ski_hosts_run(plan->hosts, host, i);
        ski_step_copy(s, unpack ? at : in, unpack ? in : at, (size_t)run * plan->bytes);
    }
}

/* Returns where the blocks of the members of @p host are in their order: in @p ranks, if their
 * ranks are consecutive, or in new temporary memory. */
static struct ski_position hosts_packed(struct ski_schedule *s, const struct ski_plan *plan,
                                        int host, struct ski_position ranks)
{
    if (!hosts_is_run(plan->hosts, host))
        return ski_step_temp(s, plan->bytes * (size_t)ski_hosts_size(plan->hosts, host));
    ranks.at += plan->bytes * (size_t)ski_hosts_rank(plan->hosts, host, 0);
    return ranks;
}

/* Returns whether @p packed, of hosts_packed() for @p ranks, is temporary memory. */
static bool hosts_is_temp(struct ski_position packed, struct ski_position ranks)
{
    return packed.buffer != ranks.buffer;
}

/* Returns the bytes of the blocks of all members of @p host. */
static size_t hosts_bytes(const struct ski_plan *plan, int host)
{
    return plan->bytes * (size_t)ski_hosts_size(plan->hosts, host);
}

/* Returns the host @p i hosts after that of the root. */
static int hosts_after_root(const struct ski_parts *parts, int i)
{
    return (parts->root_host + i) % parts->hosts->hosts;
}

/* ---- gather and scatter ---------------------------------------------------------------- */

/* Returns whether blocks are small enough to be gathered or scattered by the entries. */
static bool hosts_gathers(const struct ski_plan *plan)
{
    return plan->bytes <= HOSTS_BLOCK_MAX && plan->hosts->hosts <= HOSTS_FLAT;
}

/* Adds the gather of the blocks of this host to its entry; returns their position there. */
static struct ski_position hosts_gather_local(struct ski_schedule *s, struct ski_parts *parts,
                                              struct ski_position to, bool in_place)
{
    struct ski_plan part;

    part          = ski_part_local(s, parts, 0, ski_position(SKI_FROM, 0), to, parts->plan->bytes);
    part.in_place = in_place;
    ski_schedule_gather(s, &part);
    ski_part_end(s);
    return to;
}

/* Adds the receipt of the blocks of the other hosts at the root, whose own host's are at @p own. */
static void hosts_gather_recv(struct ski_schedule *s, const struct ski_parts *parts,
                              struct ski_position own)
{
    struct ski_position to = ski_position(SKI_TO, 0);

    if (hosts_is_temp(own, to))
        hosts_pack(s, parts->plan, parts->host, to, own, true);
    for (int i = 1; i < parts->hosts->hosts; i++) {
        int                 host = hosts_after_root(parts, i);
        struct ski_position in   = hosts_packed(s, parts->plan, host, to);

        ski_step_recv(s, parts->entries[host], (uint32_t)host * SKI_PARTS + 1, in,
                      hosts_bytes(parts->plan, host));
        if (hosts_is_temp(in, to))
            hosts_pack(s, parts->plan, host, to, in, true);
    }
}

bool ski_schedule_hosts_gather(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position at, to = ski_position(SKI_TO, 0);
    struct ski_parts    parts;

    if (!hosts_gathers(plan))
        return false;
    ski_parts_begin(&parts, plan, plan->root);
    if (plan->rank == plan->root) {
        at = hosts_packed(s, plan, parts.host, to);
        hosts_gather_local(s, &parts, at, plan->in_place && !hosts_is_temp(at, to));
        hosts_gather_recv(s, &parts, at);
    } else {
        at = ski_parts_enter(&parts) ? ski_step_temp(s, hosts_bytes(plan, parts.host)) : to;
        hosts_gather_local(s, &parts, at, false);
        if (ski_parts_enter(&parts))
            ski_step_send(s, plan->root, (uint32_t)parts.host * SKI_PARTS + 1, at,
                          hosts_bytes(plan, parts.host));
    }
    ski_parts_end(&parts);
    return true;
}

/* Adds the transfers of the blocks of the other hosts from the root. */
static void hosts_scatter_send(struct ski_schedule *s, const struct ski_parts *parts)
{
    struct ski_position from = ski_position(SKI_FROM, 0);

    for (int i = 1; i < parts->hosts->hosts; i++) {
        int                 host = hosts_after_root(parts, i);
        struct ski_position out  = hosts_packed(s, parts->plan, host, from);

        if (hosts_is_temp(out, from))
            hosts_pack(s, parts->plan, host, from, out, false);
        ski_step_send(s, parts->entries[host], 1, out, hosts_bytes(parts->plan, host));
    }
}

bool ski_schedule_hosts_scatter(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct ski_position at = ski_position(SKI_FROM, 0), from = at;
    struct ski_parts    parts;
    struct ski_plan     part;

    if (!hosts_gathers(plan))
        return false;
    ski_parts_begin(&parts, plan, plan->root);
    if (plan->rank == plan->root) {
        hosts_scatter_send(s, &parts);
        at = hosts_packed(s, plan, parts.host, from);
        if (hosts_is_temp(at, from))
            hosts_pack(s, plan, parts.host, from, at, false);
    } else if (ski_parts_enter(&parts)) {
        at = ski_step_temp(s, hosts_bytes(plan, parts.host));
        ski_step_recv(s, plan->root, 1, at, hosts_bytes(plan, parts.host));
    }
    part          = ski_part_local(s, &parts, 2, at, ski_position(SKI_TO, 0), plan->bytes);
    part.in_place = plan->rank == plan->root && plan->in_place && !hosts_is_temp(at, from);
    ski_schedule_scatter(s, &part);
    ski_part_end(s);
    ski_parts_end(&parts);
    return true;
}

/* ---- allgather --------------------------------------------------------------------------- */

/* The blocks of an allgather of the entries: one for each host. */
struct hosts_blocks {
    struct ski_blocks   blocks;
    size_t             *sizes, *offsets; /* NULL: they are equal */
    struct ski_position base;            /* the output, or temporary memory */
};

/* Returns whether all hosts have consecutive ranks; *@p equal: and as many, in their order. */
static bool hosts_are_runs(const struct ski_team_hosts *hosts, bool *equal)
{
    int  size = ski_hosts_size(hosts, 0);
    bool runs = true;

    *equal = true;
    for (int host = 0; host < hosts->hosts; host++) {
        runs   = runs && hosts_is_run(hosts, host);
        *equal = *equal && ski_hosts_size(hosts, host) == size &&
                 ski_hosts_rank(hosts, host, 0) == host * size;
    }
    *equal = *equal && runs;
    return runs;
}

/* Computes the blocks of the hosts. */
static struct hosts_blocks hosts_make_blocks(struct ski_schedule *s, const struct ski_plan *plan)
{
    const struct ski_team_hosts *hosts = plan->hosts;
    struct hosts_blocks          b     = {.base = ski_position(SKI_TO, 0)};
    size_t                       at    = 0;
    bool                         equal, runs = hosts_are_runs(hosts, &equal);

    b.blocks.bytes = hosts_bytes(plan, 0);
    if (equal)
        return b;
    if (!runs)
        b.base = ski_step_temp(s, plan->bytes * (size_t)plan->size);
    b.blocks.sizes = b.sizes = ski_malloc((size_t)hosts->hosts * sizeof *b.sizes);
    b.blocks.offsets = b.offsets = ski_malloc((size_t)hosts->hosts * sizeof *b.offsets);
    for (int host = 0; host < hosts->hosts; host++, at += hosts_bytes(plan, host - 1)) {
        b.sizes[host]   = hosts_bytes(plan, host);
        b.offsets[host] = runs ? plan->bytes * (size_t)ski_hosts_rank(hosts, host, 0) : at;
    }
    return b;
}

/* Adds what an entry does in an allgather: the blocks of all members are then in its output. */
static void hosts_allgather_entry(struct ski_schedule *s, struct ski_parts *parts)
{
    const struct ski_plan *plan = parts->plan;
    struct ski_position    to   = ski_position(SKI_TO, 0), at;
    struct hosts_blocks    b    = hosts_make_blocks(s, plan);
    bool                   temp = hosts_is_temp(b.base, to);
    struct ski_plan        part;

    at = ski_position(b.base.buffer, b.base.at + ski_blocks_offset(&b.blocks, parts->host));
    hosts_gather_local(s, parts, at, plan->in_place && !temp);
    part          = hosts_part_entries(s, parts, 1, b.base, b.base);
    part.in_place = true;
    part.bytes    = ski_blocks_size(&b.blocks, parts->host);
    ski_schedule_allgather(s, &part, &b.blocks);
    ski_part_end(s);
    for (int host = 0; temp && host < plan->hosts->hosts; host++)
        hosts_pack(s, plan, host, to, ski_position(SKI_TEMP, b.base.at + b.offsets[host]), true);
    free(b.sizes);
    free(b.offsets);
}

bool ski_schedule_hosts_allgather(struct ski_schedule *s, const struct ski_plan *plan,
                                  const struct ski_blocks *to)
{
    struct ski_parts parts;

    if (plan->large || to->sizes)
        return false;
    ski_parts_begin(&parts, plan, -1);
    if (ski_parts_enter(&parts))
        hosts_allgather_entry(s, &parts);
    else
        hosts_gather_local(s, &parts, ski_position(SKI_TO, 0), false);
    hosts_broadcast_local(s, &parts, plan->bytes * (size_t)plan->size);
    ski_parts_end(&parts);
    return true;
}

/* ---- all-to-all -------------------------------------------------------------------------- */

/* The memory of an entry: a row of blocks, one for each rank, of each member of the host. */
struct hosts_rows {
    struct ski_position out, in; /* rows that members send, and receive */
    size_t              row;     /* bytes of a row */
};

/* Adds the transfer of the blocks for @p host: those of the first member here, then the next. */
static void hosts_exchange_send(struct ski_schedule *s, const struct ski_parts *parts,
                                const struct hosts_rows *rows, int host)
{
    const struct ski_plan *plan = parts->plan;
    size_t                 part = hosts_bytes(plan, host), locals = (size_t)parts->locals;
    struct ski_position    packed = ski_step_temp(s, locals * part);
    int                    size   = ski_hosts_size(plan->hosts, host);

    for (int i = 0, run; i < size; i += run) {
        size_t              rank = (size_t)ski_hosts_rank(plan->hosts, host, i);
        struct ski_position to   = {SKI_TEMP, packed.at + (size_t)i * plan->bytes};
        struct ski_position from = {SKI_TEMP, rows->out.at + rank * plan->bytes};
        struct ski_step    *step;

        run  = ski_hosts_run(plan->hosts, host, i);
        step = ski_step_copy(s, to, from, (size_t)run * plan->bytes);
        step->repeat *= (uint32_t)locals;
        step->stride      = part;
        step->from_stride = rows->row;
    }
    ski_step_send(s, parts->entries[host], (uint32_t)parts->host * SKI_PARTS + 1, packed,
                  locals * part);
}

/* Adds the copies of what member @p i of @p host sends to the members here, contiguous at @p from,
 * into their rows. */
static void hosts_exchange_store(struct ski_schedule *s, const struct ski_parts *parts,
                                 const struct hosts_rows *rows, int host, int i,
                                 struct ski_position from)
{
    size_t              bytes = parts->plan->bytes;
    size_t              rank  = (size_t)ski_hosts_rank(parts->hosts, host, i);
    struct ski_position to    = {SKI_TEMP, rows->in.at + rank * bytes};
    struct ski_step    *step  = ski_step_copy(s, to, from, bytes);

    step->repeat *= (uint32_t)parts->locals;
    step->stride      = rows->row;
    step->from_stride = bytes;
}

/* Adds the blocks that the members of this host send each other. */
static void hosts_exchange_own(struct ski_schedule *s, const struct ski_parts *parts,
                               const struct hosts_rows *rows)
{
    struct ski_position packed = hosts_is_run(parts->hosts, parts->host)
                                     ? rows->out
                                     : ski_step_temp(s, hosts_bytes(parts->plan, parts->host));

    for (int i = 0; i < parts->locals; i++) {
        struct ski_position row = {SKI_TEMP, rows->out.at + (size_t)i * rows->row}, from = packed;

        if (packed.at == rows->out.at)
            from.at = row.at + parts->plan->bytes * (size_t)parts->local[0];
        else
            hosts_pack(s, parts->plan, parts->host, row, packed, false);
        hosts_exchange_store(s, parts, rows, parts->host, i, from);
    }
}

/* Adds what an entry does in an all-to-all, between the parts of its host. */
static void hosts_exchange(struct ski_schedule *s, const struct ski_parts *parts,
                           const struct hosts_rows *rows)
{
    size_t locals = (size_t)parts->locals;

    for (int i = 1; i < parts->hosts->hosts; i++)
        hosts_exchange_send(s, parts, rows, (parts->host + i) % parts->hosts->hosts);
    hosts_exchange_own(s, parts, rows);
    for (int i = 1; i < parts->hosts->hosts; i++) {
        int                 host = (parts->host + parts->hosts->hosts - i) % parts->hosts->hosts;
        int                 size = ski_hosts_size(parts->hosts, host);
        struct ski_position in   = ski_step_temp(s, hosts_bytes(parts->plan, host) * locals);

        ski_step_recv(s, parts->entries[host], (uint32_t)host * SKI_PARTS + 1, in,
                      hosts_bytes(parts->plan, host) * locals);
        for (int member = 0; member < size; member++, in.at += parts->plan->bytes * locals)
            hosts_exchange_store(s, parts, rows, host, member, in);
    }
}

bool ski_schedule_hosts_alltoall(struct ski_schedule *s, const struct ski_plan *plan,
                                 const struct ski_blocks *from)
{
    struct hosts_rows   rows = {.row = plan->bytes * (size_t)plan->size};
    struct ski_position in = ski_position(SKI_FROM, 0), out = ski_position(SKI_TO, 0);
    struct ski_parts    parts;
    struct ski_plan     part;

    if (from->sizes || plan->bytes > HOSTS_PAIR_MAX || rows.row > HOSTS_ROW_MAX ||
        rows.row * (size_t)(plan->size / plan->hosts->hosts) > HOSTS_ROWS_MAX ||
        plan->hosts->hosts > HOSTS_FLAT)
        return false;
    ski_parts_begin(&parts, plan, -1);
    rows.out = rows.in = in;
    if (ski_parts_enter(&parts)) {
        rows.out = ski_step_temp(s, rows.row * (size_t)parts.locals);
        rows.in  = ski_step_temp(s, rows.row * (size_t)parts.locals);
    }
    part = ski_part_local(s, &parts, 0, in, rows.out, rows.row);
    ski_schedule_gather(s, &part);
    ski_part_end(s);
    if (ski_parts_enter(&parts))
        hosts_exchange(s, &parts, &rows);
    part = ski_part_local(s, &parts, 2, rows.in, out, rows.row);
    ski_schedule_scatter(s, &part);
    ski_part_end(s);
    ski_parts_end(&parts);
    return true;
}
