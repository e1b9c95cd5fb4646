/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_table.h - the table of regions, and the fast path from a global address to memory.
 *
 * All PEs of a host share one table, in the arena: one descriptor for each region, whatever the
 * number of its PEs.  A *piece* is the memory of a region on one PE; the pieces of a symmetric
 * region are contiguous, so that the address of a piece is computed.
 *
 * The id of a region is the slot of its descriptor and a generation:
 *
 *      | generation, 12 bits | slot, 20 bits |
 *
 * Free slots are reused in FIFO order, with the next generation: a stale id is recognised.  Slots
 * are allocated, filled and published under the lock of the root.
 *
 * *Plain* regions are those that every PE of the host reaches by load and store and whose uses need
 * not be counted, since all their PEs free them together: symmetric ones over consecutive PEs.
 * Their `count` is not 0, and ski_region_ptr() is the fast path to them.  All others go through
 * ski_resolve() (resolve.h), which also says why an address is not valid.
 *
 * A *varied* region is a symmetric one whose pieces differ in size.  Its `count` is 0, and `pieces`
 * describes the pieces of this host; the size of a piece on another host is known to that host, and
 * asked for like that of a region of one PE (rkey_cache.h).
 *
 * A job that spans several hosts has a table on each.  Symmetric regions have the same id on all
 * hosts, in slots below `common`, which the members agree on (symmetric_vote.h).  Ids of other
 * regions are valid only on the host of the PE that they are used with.
 */
#ifndef SKI_REGION_TABLE_H
#define SKI_REGION_TABLE_H

#include <skua/region.h>

#include "base/arena.h"
#include "boot/job.h"

struct ski_pe;
struct ski_rkey_table;

/* How a region was created. */
enum ski_region_kind {
    SKI_REGION_SYMMETRIC,
    SKI_REGION_ALLOCATED,  /* by one PE, in the arena                    */
    SKI_REGION_REGISTERED, /* memory of the program, at any address    */
};

/* Where the piece of a PE is in a varied region, whose pieces differ in size. */
struct ski_piece {
    uint64_t offset; /* from the base of the region */
    uint64_t bytes;
};

/* The descriptor of a region, or a free slot. */
struct ski_region {
    _Alignas(2 * SKI_CACHE_LINE) _Atomic uint32_t id; /* 0: the slot is free              */
    int32_t  first;                                   /* PE of the first piece            */
    uint32_t count;                                   /* pieces of a plain region; else 0 */
    uint32_t kind;
    uint64_t bytes;         /* of a piece                                       */
    uint64_t stride;        /* from one piece to the next                       */
    char    *base;          /* of the first piece; in the owner's address space */
    uint32_t members;       /* PEs with a piece, on all hosts                   */
    int32_t *member_list;   /* ascending; NULL: they are 0 .. members-1, or `first` alone      */
    int32_t *local_list;    /* members on this host, if some are on others; else NULL          */
    uint32_t local_members; /* number of members on this host                                  */
    int32_t  process; /* the process that owns registered memory outside of the arena; else -1 */
    int32_t  pid;     /* process id of that process                                      */

    const struct ski_piece *pieces; /* of a varied region: those of this host; else NULL */

    uint32_t         generation;
    uint32_t         next;  /* the next free slot                                   */
    _Atomic uint32_t uses;  /* operations in flight, where they are counted         */
    _Atomic uint64_t freed; /* symmetric: members that have freed it: a bit for each or, if there
                               are more than 64 on this host, their number           */
    _Atomic uint64_t *left; /* in that case a bit for each of them, behind the pieces; else NULL */
};

#define SKI_REGION_CLOSED UINT32_C(0x80000000) /* in uses: no new operations */

#define SKI_REGION_INDEX_BITS 20
#define SKI_REGION_NAME       48 /* bytes, the final zero included */

/* The description of a region for errors; guarded by the lock of the root. */
struct ski_region_label {
    uint32_t id;                    /* of the region that this is about, which may be freed  */
    uint32_t restart;               /* skua_region_restart, or SKI_REGION_LOCKS              */
    uint64_t grain;                 /* of skua_region_set_restart()                          */
    uint64_t total;                 /* bytes of a redistributed one, without padding; 0: all */
    uint64_t site;                  /* where it was created: an offset in the program, or 0  */
    char     name[SKI_REGION_NAME]; /* given by the program, or ""                           */
};

/* A region of locks, which a checkpoint saves if all of them are free. */
#define SKI_REGION_LOCKS 16

/* The table as it is in the arena. */
struct ski_region_root {
    struct ski_lock lock; /* guards all of this, and descriptors that are not published   */
    uint32_t        slots, fresh;
    uint32_t        common;      /* slots below have the same region on all hosts; 0: one host */
    uint32_t        common_used; /* slots from here to `common` were never used           */
    uint32_t        free_first, free_last, free_count;
    uint32_t        reserved_first, reserved_end; /* slots of the former job, in a restart   */
    struct ski_symmetric_pending    *pending;     /* symmetric_alloc.c */
    struct ski_region               *table;
    struct ski_region_label         *labels; /* one for each slot */
    _Atomic(struct ski_rkey_table *) rkeys;  /* of other hosts (rkey_table.h); NULL: none yet */
};

/* The table as a process sees it.  Before skua_main() it is one empty slot. */
struct ski_regions {
    struct ski_region *table; /* one empty slot if all operations go by request (direct=0) */
    uint32_t           mask;  /* slots - 1 */
    int32_t            process;
    _Atomic int32_t    busy; /* twice the requests of this process in flight to PEs of this host,
                                and 1 if all operations are in strict order: no fast path */
};

/** The table of this process. */
extern struct ski_regions ski_regions __attribute__((visibility("hidden")));

/* The root of this process; NULL before skua_main(). */
extern struct ski_region_root *ski_region_root;

/* The functions of a module that keeps something about regions; NULL: it does not observe that. */
struct ski_region_observer {
    /** The memory of PE @p self in a region, @p bytes at @p piece, will be freed. */
    void (*piece_freed)(struct ski_pe *self, const char *piece, size_t bytes);
    /** Region @p id has been removed from the table; its memory will be freed. */
    void (*removed)(uint32_t id);
};

/** Creates the table in the arena of @p job and stores it in @p root.  A failure has been logged.
 */
skua_status ski_regions_create(struct ski_job *job, struct ski_region_root **root);

/** Uses the table at @p root from now on, in process @p process; @p observers end with one of all
 *  NULL.  Reads ski_config. */
void ski_regions_open(struct ski_job *job, int process, struct ski_region_root *root,
                      const struct ski_region_observer *observers);

/** Detaches the table: the state is that before ski_regions_open(). */
void ski_regions_reset(void);

/* ---- the fast path ------------------------------------------------------------------- */

/** Returns the piece that @p at is in, and its size, if the region is plain; else NULL. */
static inline char *ski_region_piece(skua_gaddr at, uint64_t *bytes)
{
    const struct ski_region *region = &ski_regions.table[at.region.id & ski_regions.mask];
    uint32_t                 rank   = (uint32_t)at.pe - (uint32_t)region->first;

    /* Relaxed: the descriptor was published before the id that the caller has. */
    if (SKI_UNLIKELY(atomic_load_explicit(&region->id, memory_order_relaxed) != at.region.id ||
                     rank >= region->count))
        return NULL;
    *bytes = region->bytes;
    return region->base + rank * region->stride;
}

/** Returns the memory of @p bytes at @p at if its region is plain and contains them; else NULL. */
static inline char *ski_region_ptr(skua_gaddr at, size_t bytes)
{
    uint64_t room;
    char    *piece = ski_region_piece(at, &room);

    if (SKI_UNLIKELY(!piece || at.offset > room || bytes > room - at.offset))
        return NULL;
    return piece + at.offset;
}

/** Returns whether an operation may use ski_region_ptr(): nothing is in flight that it would have
 *  to be ordered with. */
static inline bool ski_fast_path_open(void)
{
    return SKI_LIKELY(atomic_load_explicit(&ski_regions.busy, memory_order_relaxed) == 0);
}

/* ---- the table ------------------------------------------------------------------------ */

/** Allocates a slot.  Returns NULL, logged, if all are in use.  The caller holds the lock. */
struct ski_region *ski_region_table_alloc(void);

/** Fills slot @p region with what @p like describes and publishes it by a new id, which is
 *  returned.  The caller holds the lock. */
uint32_t ski_region_table_publish(struct ski_region *region, const struct ski_region *like);

/** Fills the slot of @p id, which all hosts have agreed on, and publishes it.  Returns false,
 * logged, if the id has no free slot here.  The caller holds the lock. */
bool ski_region_table_publish_as(uint32_t id, const struct ski_region *like);

/** Returns the number of slots that a restarted job must reserve for the regions of this one. */
uint32_t ski_region_table_used(void);

/** Keeps slots below @p used free for ski_region_table_restore(), in a job that is restarted.  All
 *  PEs may call this: the first one reserves them. */
void ski_region_table_reserve(uint32_t used);

/** Allows new regions to use the slots that no region of the former job has taken. */
void ski_region_table_unreserve(void);

/** Publishes @p like as region @p id of the former job.  Returns NULL, or why that is not possible.
 *  The caller holds the lock. */
const char *ski_region_table_restore(uint32_t id, const struct ski_region *like);

/** Returns whether @p id is one that all hosts have in common. */
static inline bool ski_region_table_is_common(uint32_t id)
{
    return (id & (ski_region_root->slots - 1)) < ski_region_root->common;
}

/** Allocates a slot and publishes @p like in it.  Returns its id, or 0. */
uint32_t ski_region_table_add(const struct ski_region *like);

/** Removes a region and notifies the observers; its slot becomes free. */
void ski_region_table_remove(struct ski_region *region);

/** Removes region @p id, if it exists, and frees its memory in the arena. */
void ski_region_destroy(uint32_t id);

/** Notifies the observers that the piece of @p self in a region will be freed. */
void ski_region_piece_freed(struct ski_pe *self, const char *piece, size_t bytes);

/** Returns the region of an id, or NULL. */
struct ski_region *ski_region_table_find(skua_region region);

/** Returns the number of a PE's piece among those of this host, or -1. */
int64_t ski_region_rank(const struct ski_region *region, int pe);

/** Returns whether @p pe has a piece, on any host. */
bool ski_region_is_member(const struct ski_region *region, int pe);

/** Returns the number of pieces on this host. */
static inline uint32_t ski_region_piece_count(const struct ski_region *region)
{
    return region->local_list ? region->local_members : region->members;
}

/** Returns the memory of piece @p rank of this host. */
static inline char *ski_region_piece_at(const struct ski_region *region, int64_t rank)
{
    return region->base +
           (region->pieces ? region->pieces[rank].offset : (uint64_t)rank * region->stride);
}

/** Returns the size of piece @p rank of this host. */
static inline uint64_t ski_region_piece_bytes(const struct ski_region *region, int64_t rank)
{
    return region->pieces ? region->pieces[rank].bytes : region->bytes;
}

/** Returns the piece of a varied region that @p at is in, and its size, if this process reaches
 *  it by load and store; else NULL. */
char *ski_region_varied_piece(skua_gaddr at, uint64_t *bytes);

/** Records that the member with piece @p rank has freed a symmetric region.  Returns 1 if all of
 * this host have now, 0 if not, -1 if this one had already. */
int ski_region_leave(struct ski_region *region, int64_t rank);

/** Marks a symmetric region as freed by all members of this host. */
void ski_region_leave_all(struct ski_region *region);

/** Returns whether @p id is a symmetric region that all its members on this host have freed. */
bool ski_region_all_freed(uint32_t id);

/** Closes a region that counts its operations to new ones, forever. Returns false if some are in
 * flight. */
bool ski_region_close(struct ski_region *region);

/** Refuses new operations on a region that counts them, until ski_region_resume().  Operations in
 *  flight continue. */
void ski_region_suspend(struct ski_region *region);

/** Returns whether no operation is in flight on a suspended region, which may be removed then. */
bool ski_region_drained(const struct ski_region *region);

/** Allows operations on a suspended region again. */
void ski_region_resume(struct ski_region *region);

/* ---- labels (region_label.c) ----------------------------------------------------------- */

/** Returns the label of region @p id; its `id` is 0 if nothing is known. */
struct ski_region_label ski_region_label_get(uint32_t id);

/** Sets the label of region label->id. */
void ski_region_label_set(const struct ski_region_label *label);

/** Records that region @p id was created by the call that returns to @p site, unless its site is
 *  known. */
void ski_region_set_site(uint32_t id, const void *site);

#define SKI_REGION_STR 256

/** Describes region @p id for an error: its id, its name, where it was created, as far as known. */
const char *ski_region_str(uint32_t id, char text[SKI_REGION_STR]);

#endif
