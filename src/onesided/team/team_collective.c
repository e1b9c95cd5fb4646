/* SPDX-License-Identifier: Apache-2.0 */
/* team_collective.c - the public calls of team collectives: their checks, buffers and algorithms.
 */
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/pe/pe.h"
#include "onesided/team/schedule.h"
#include "onesided/team/team_call.h"
#include "onesided/team/team_packet.h"
#include "onesided/team/team_send.h"
#include "onesided/team/team_slot.h"

/* Bytes from which on data are copied from memory to memory; those between hosts from which on
 * fewer bytes gain more than fewer messages; those of an allgather, which sends no block twice
 * anyway; and those of a block from which on an all-to-all between hosts goes in pairs. */
#define COLLECTIVE_LARGE_NEAR 16384
#define COLLECTIVE_LARGE_FAR  131072
#define COLLECTIVE_LARGE_RING 1048576
#define COLLECTIVE_PAIRS_FAR  524288

/* A call in preparation. */
struct collective_call {
    struct ski_pe        *self;
    struct ski_team      *team;
    const char           *name; /* of the public function */
    struct ski_plan       plan;
    struct ski_small_call small; /* kind, buffers and completion; if slots make it, all */
};

/* Prepares a call of the public function @p name. */
static void collective_prepare(struct collective_call *c, const char *name,
                               enum ski_collective collective, skua_team team,
                               const skua_completion *done)
{
    c->self = ski_pe_of_caller(name);
    c->team = ski_team_of(c->self, name, team);
    c->name = name;
    c->plan = (struct ski_plan){.rank  = c->team->rank,
                                .size  = c->team->size,
                                .near  = c->team->near,
                                .hosts = c->team->hosts};
    /* collective_by_slots() sets the rest: gcc would zero all of it by a slow `rep stos`. */
    c->small.kind   = (struct ski_team_kind){.collective = (uint8_t)collective};
    c->small.from   = NULL;
    c->small.to     = NULL;
    c->small.blocks = NULL;
    c->small.done   = *done;
}

/* Sets the root of a call; ends the job if it does not exist. */
static void collective_set_root(struct collective_call *c, int root)
{
    char text[SKI_TEAM_STR];

    if (SKI_UNLIKELY(root < 0 || root >= c->team->size))
        ski_misuse("%s: the root, rank %d, does not exist; %s has ranks 0 to %d", c->name, root,
                   ski_team_str(c->team->name, text), c->team->size - 1);
    c->small.kind.root = c->plan.root = root;
}

/* Sets the bytes of a contribution or block; whether the call is large follows from them. */
static void collective_set_bytes(struct collective_call *c, size_t bytes)
{
    c->plan.bytes = bytes;
    c->plan.large = bytes >= (c->plan.near ? COLLECTIVE_LARGE_NEAR : COLLECTIVE_LARGE_FAR);
}

/* Sets the bytes of this member's block of an allgather that gathers @p all. */
static void collective_set_gathered(struct collective_call *c, size_t bytes, size_t all)
{
    c->plan.bytes = bytes;
    c->plan.large = c->plan.near ? all / (size_t)c->plan.size >= COLLECTIVE_LARGE_NEAR
                                 : all >= COLLECTIVE_LARGE_RING;
}

/* Ends the job: the buffers of a call overlap, or there is none. */
static SKI_COLD _Noreturn void collective_bad_buffer(const struct collective_call *c,
                                                     const char                   *what)
{
    char text[SKI_TEAM_STR];

    ski_misuse("%s of %s on PE %d: %s", c->name, ski_team_str(c->team->name, text), c->self->pe,
               what);
}

/* Returns @p bytes times the number of members; ends the job if memory cannot hold so many. */
static size_t collective_times_size(const struct collective_call *c, size_t bytes)
{
    if (SKI_UNLIKELY(bytes > (size_t)PTRDIFF_MAX / (size_t)c->plan.size))
        collective_bad_buffer(c, "the blocks of all members are more than fit into memory");
    return bytes * (size_t)c->plan.size;
}

/* Sets the buffers of a call, which do not overlap, except where the caller's own block is in
 * place. */
static void collective_set_buffers(struct collective_call *c, const void *from, size_t from_bytes,
                                   void *to, size_t to_bytes)
{
    uintptr_t f = (uintptr_t)from, t = (uintptr_t)to;

    if (SKI_UNLIKELY((!from && from_bytes) || (!to && to_bytes)))
        collective_bad_buffer(c, "a buffer is NULL");
    c->small.from = from;
    c->small.to   = to;
    if (SKI_UNLIKELY(!c->plan.in_place && from_bytes && to_bytes && f < t + to_bytes &&
                     t < f + from_bytes))
        collective_bad_buffer(c, "input and output overlap");
}

/* Returns the record of a call, whose schedule the caller adds. */
static struct ski_team_call *collective_begin(struct collective_call *c)
{
    struct ski_team_call *call = ski_team_call_next(c->self, c->team, &c->small.kind);

    call->buffer[SKI_FROM] = (char *)(uintptr_t)c->small.from;
    call->buffer[SKI_TO]   = c->small.to;
    call->done             = c->small.done;
    call->passed           = c->plan.bytes;
    return call;
}

/* Makes the call by slots in shared memory, if its blocks, of up to @p most bytes, are small and
 * its members on one host. */
static bool collective_by_slots(struct collective_call *c, size_t most)
{
    if (c->plan.prepare || !ski_team_slots_fit(c->team->slots, &c->small.kind, most))
        return false;
    c->small.in_place  = c->plan.in_place;
    c->small.bytes     = c->plan.bytes;
    c->small.team_call = c->team->calls++;
    if (SKI_UNLIKELY(c->team->records > 0))
        ski_team_check_early(c->team, &c->small);
    ski_team_slots_call(c->self, c->team->slots, &c->small);
    return true;
}

/* ---- barrier and broadcast --------------------------------------------------------- */

void skua_team_barrier(skua_team team, skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_BARRIER, team, &done);
    if (team == SKUA_TEAM_ALL) {
        skua_barrier(done);
        return;
    }
    if (collective_by_slots(&c, 0))
        return;
    call = collective_begin(&c);
    ski_schedule_barrier(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

void skua_team_broadcast(skua_team team, int root, void *data, size_t bytes, skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_BROADCAST, team, &done);
    collective_set_root(&c, root);
    collective_set_bytes(&c, bytes);
    collective_set_buffers(&c, NULL, 0, data, bytes);
    if (collective_by_slots(&c, bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_broadcast(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

/* ---- reductions and scans ------------------------------------------------------------ */

/* Sets operator, type and buffers of a call; @p result: this member has one. */
static void collective_set_reduction(struct collective_call *c, const skua_reduction *reduction,
                                     const void *from, void *to, bool result)
{
    size_t bytes;

    if (SKI_UNLIKELY(!reduction || !ski_op_function(reduction->op, reduction->type)))
        ski_misuse("%s: there is no %s of type %s", c->name,
                   reduction ? ski_op_name(reduction->op) : "operator NULL",
                   reduction ? ski_type_name(reduction->type) : "NULL");
    if (SKI_UNLIKELY(reduction->count > (size_t)PTRDIFF_MAX >> ski_type_shift(reduction->type)))
        collective_bad_buffer(c, "the elements are more than fit into memory");
    bytes              = reduction->count << ski_type_shift(reduction->type);
    c->small.kind.op   = (uint16_t)reduction->op;
    c->small.kind.type = (uint8_t)reduction->type;
    c->plan.in_place   = result && from == to;
    c->plan.prepare    = ski_op_prepares(reduction->op);
    c->plan.element    = ski_op_splits(reduction->op) ? ski_type_size(reduction->type) : 0;
    collective_set_bytes(c, bytes);
    collective_set_buffers(c, from, bytes, to, result ? bytes : 0);
}

void skua_team_reduce(skua_team team, int root, const skua_reduction *reduction, const void *from,
                      void *to, skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_REDUCE, team, &done);
    collective_set_root(&c, root);
    collective_set_reduction(&c, reduction, from, to, root == c.plan.rank);
    if (collective_by_slots(&c, c.plan.bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_reduce(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

/* The result of an allreduce of all PEs, before it is in the memory of the caller: the data of a
 * message, which goes with the arena if the job ends before. */
struct collective_result {
    void           *to;
    skua_completion done;
};

static void collective_store_result(void *arg, const void *data, size_t bytes)
{
    struct collective_result result = *(struct collective_result *)skua_msg_data(arg);

    skua_msg_free(arg);
    if (bytes)
        memcpy(result.to, data, bytes);
    skua_complete(result.done, NULL, 0);
}

void skua_team_allreduce(skua_team team, const skua_reduction *reduction, const void *from,
                         void *to, skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_ALLREDUCE, team, &done);
    collective_set_reduction(&c, reduction, from, to, true);
    if (team == SKUA_TEAM_ALL) {
        skua_msg *msg = skua_msg_alloc(sizeof(struct collective_result));

        *(struct collective_result *)skua_msg_data(msg) = (struct collective_result){to, done};
        skua_allreduce(reduction->op, reduction->type, from, reduction->count,
                       skua_done_call(collective_store_result, msg));
        return;
    }
    if (collective_by_slots(&c, c.plan.bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_allreduce(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

/* Makes a call of a scan. */
static void collective_scan(struct collective_call *c, const skua_reduction *reduction,
                            const void *from, void *to)
{
    struct ski_team_call *call;

    collective_set_reduction(c, reduction, from, to, true);
    if (collective_by_slots(c, c->plan.bytes))
        return;
    call = collective_begin(c);
    ski_schedule_scan(&call->schedule, &c->plan, c->small.kind.collective == SKI_COLLECTIVE_EXSCAN);
    ski_team_call_make(c->self, call);
}

void skua_team_scan(skua_team team, const skua_reduction *reduction, const void *from, void *to,
                    skua_completion done)
{
    struct collective_call c;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_SCAN, team, &done);
    collective_scan(&c, reduction, from, to);
}

void skua_team_exscan(skua_team team, const skua_reduction *reduction, const void *from, void *to,
                      skua_completion done)
{
    struct collective_call c;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_EXSCAN, team, &done);
    collective_scan(&c, reduction, from, to);
}

/* ---- blocks of different sizes ---------------------------------------------------------- */

/* The blocks of a skua_team_blocks, with offsets of their own if it has none. */
struct collective_vector {
    struct ski_blocks blocks;
    size_t           *computed; /* offsets, or NULL */
    size_t            end; /* bytes from the start of the buffer to the end of its last block */
};

/* Ends the job: a vector is incomplete, or larger than memory. */
static SKI_COLD _Noreturn void collective_bad_vector(const struct collective_call *c)
{
    collective_bad_buffer(c,
                          "a skua_team_blocks is NULL, has no sizes, or does not fit into memory");
}

/* Returns the blocks of @p vector; the caller frees `computed`. */
static struct collective_vector collective_vector(const struct collective_call *c,
                                                  const skua_team_blocks       *vector)
{
    struct collective_vector v = {.end = 0};

    if (SKI_UNLIKELY(!vector || !vector->bytes))
        collective_bad_vector(c);
    v.blocks = (struct ski_blocks){.sizes = vector->bytes, .offsets = vector->offsets};
    if (!vector->offsets)
        v.blocks.offsets = v.computed = ski_malloc((size_t)c->plan.size * sizeof *v.computed);
    for (int rank = 0; rank < c->plan.size; rank++) {
        size_t at = v.computed ? v.end : vector->offsets[rank], bytes = vector->bytes[rank];

        if (SKI_UNLIKELY(at > PTRDIFF_MAX || bytes > (size_t)PTRDIFF_MAX - at))
            collective_bad_vector(c);
        if (v.computed)
            v.computed[rank] = at;
        if (bytes && at + bytes > v.end)
            v.end = at + bytes;
    }
    if (SKI_UNLIKELY(!vector->data && v.end))
        collective_bad_buffer(c, "a buffer is NULL");
    return v;
}

/* Sets the buffers of a call whose input is the vector @p v of @p from, or whose output is.  The
 * other one, @p bytes at @p other, may be the caller's own block of the vector, and has its size.
 */
static void collective_set_block(struct collective_call *c, const struct collective_vector *v,
                                 const void *data, const void *other, size_t bytes)
{
    const char *own = (const char *)data + ski_blocks_offset(&v->blocks, c->plan.rank);

    c->plan.in_place = other == own;
    if (SKI_UNLIKELY(ski_blocks_size(&v->blocks, c->plan.rank) != bytes))
        collective_bad_buffer(c, "the caller's block does not have the size that it passes");
}

/* ---- gather and scatter ------------------------------------------------------------------ */

void skua_team_gather(skua_team team, int root, const void *from, size_t bytes, void *to,
                      skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;
    size_t                 all;
    bool                   at_root;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_GATHER, team, &done);
    all = collective_times_size(&c, bytes);
    collective_set_root(&c, root);
    at_root         = root == c.plan.rank;
    c.plan.in_place = at_root && from == (char *)to + bytes * (size_t)root;
    collective_set_bytes(&c, bytes);
    collective_set_buffers(&c, from, bytes, to, at_root ? all : 0);
    if (collective_by_slots(&c, bytes))
        return;
    c.plan.offers = c.plan.near && ski_team_offers(c.team, bytes);
    call          = collective_begin(&c);
    ski_schedule_gather(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

void skua_team_gatherv(skua_team team, int root, const void *from, size_t bytes,
                       const skua_team_blocks *to, skua_completion done)
{
    struct collective_call   c;
    struct collective_vector v = {.computed = NULL};
    struct ski_team_call    *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_GATHERV, team, &done);
    collective_set_root(&c, root);
    if (root == c.plan.rank) {
        v = collective_vector(&c, to);
        collective_set_block(&c, &v, to->data, from, bytes);
    }
    collective_set_bytes(&c, bytes);
    collective_set_buffers(&c, from, bytes, root == c.plan.rank ? to->data : NULL, v.end);
    call = collective_begin(&c);
    ski_schedule_gatherv(&call->schedule, &c.plan, &v.blocks);
    free(v.computed);
    ski_team_call_make(c.self, call);
}

void skua_team_scatter(skua_team team, int root, const void *from, void *to, size_t bytes,
                       skua_completion done)
{
    struct collective_call c;
    struct ski_team_call  *call;
    size_t                 all;
    bool                   at_root;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_SCATTER, team, &done);
    all = collective_times_size(&c, bytes);
    collective_set_root(&c, root);
    at_root         = root == c.plan.rank;
    c.plan.in_place = at_root && to == (const char *)from + bytes * (size_t)root;
    collective_set_bytes(&c, bytes);
    collective_set_buffers(&c, from, at_root ? all : 0, to, bytes);
    if (collective_by_slots(&c, bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_scatter(&call->schedule, &c.plan);
    ski_team_call_make(c.self, call);
}

void skua_team_scatterv(skua_team team, int root, const skua_team_blocks *from, void *to,
                        size_t bytes, skua_completion done)
{
    struct collective_call   c;
    struct collective_vector v = {.computed = NULL};
    struct ski_team_call    *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_SCATTERV, team, &done);
    collective_set_root(&c, root);
    if (root == c.plan.rank) {
        v = collective_vector(&c, from);
        collective_set_block(&c, &v, from->data, to, bytes);
    }
    collective_set_bytes(&c, bytes);
    collective_set_buffers(&c, root == c.plan.rank ? from->data : NULL, v.end, to, bytes);
    call = collective_begin(&c);
    ski_schedule_scatterv(&call->schedule, &c.plan, &v.blocks);
    free(v.computed);
    ski_team_call_make(c.self, call);
}

/* ---- allgather and all-to-all ---------------------------------------------------------------- */

void skua_team_allgather(skua_team team, const void *from, size_t bytes, void *to,
                         skua_completion done)
{
    struct collective_call c;
    struct ski_blocks      blocks = {.bytes = bytes};
    size_t                 all;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_ALLGATHER, team, &done);
    all             = collective_times_size(&c, bytes);
    c.plan.in_place = from == (char *)to + bytes * (size_t)c.plan.rank;
    collective_set_gathered(&c, bytes, all);
    collective_set_buffers(&c, from, bytes, to, all);
    if (collective_by_slots(&c, bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_allgather(&call->schedule, &c.plan, &blocks);
    ski_team_call_make(c.self, call);
}

void skua_team_allgatherv(skua_team team, const void *from, size_t bytes,
                          const skua_team_blocks *to, skua_completion done)
{
    struct collective_call   c;
    struct collective_vector v;
    struct ski_team_call    *call;
    size_t                   all = 0, most = 0;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_ALLGATHERV, team, &done);
    v = collective_vector(&c, to);
    for (int rank = 0; rank < c.plan.size; rank++) {
        all += to->bytes[rank];
        most = to->bytes[rank] > most ? to->bytes[rank] : most;
    }
    collective_set_block(&c, &v, to->data, from, bytes);
    collective_set_gathered(&c, bytes, all);
    collective_set_buffers(&c, from, bytes, to->data, v.end);
    c.small.blocks = &v.blocks;
    c.small.all    = all;
    if (!collective_by_slots(&c, most)) {
        call = collective_begin(&c);
        ski_schedule_allgather(&call->schedule, &c.plan, &v.blocks);
        ski_team_call_make(c.self, call);
    }
    free(v.computed);
}

void skua_team_alltoall(skua_team team, const void *from, void *to, size_t bytes,
                        skua_completion done)
{
    struct collective_call c;
    struct ski_blocks      blocks = {.bytes = bytes};
    size_t                 all;
    struct ski_team_call  *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_ALLTOALL, team, &done);
    all = collective_times_size(&c, bytes);
    collective_set_bytes(&c, bytes);
    c.plan.paired = !c.plan.near && bytes >= COLLECTIVE_PAIRS_FAR;
    collective_set_buffers(&c, from, all, to, all);
    if (collective_by_slots(&c, bytes))
        return;
    call = collective_begin(&c);
    ski_schedule_alltoall(&call->schedule, &c.plan, &blocks, &blocks);
    ski_team_call_make(c.self, call);
}

void skua_team_alltoallv(skua_team team, const skua_team_blocks *from, const skua_team_blocks *to,
                         skua_completion done)
{
    struct collective_call   c;
    struct collective_vector f, t;
    struct ski_team_call    *call;

    collective_prepare(&c, __func__, SKI_COLLECTIVE_ALLTOALLV, team, &done);
    f = collective_vector(&c, from);
    t = collective_vector(&c, to);
    if (SKI_UNLIKELY(from->bytes[c.plan.rank] != to->bytes[c.plan.rank]))
        collective_bad_buffer(&c, "the block that the caller sends itself has two sizes");
    c.plan.large = true;
    collective_set_buffers(&c, from->data, f.end, to->data, t.end);
    call = collective_begin(&c);
    ski_schedule_alltoall(&call->schedule, &c.plan, &f.blocks, &t.blocks);
    free(f.computed);
    free(t.computed);
    ski_team_call_make(c.self, call);
}
