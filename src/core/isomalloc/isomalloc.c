/* SPDX-License-Identifier: Apache-2.0 */
/* isomalloc.c - see isomalloc.h. */
#include "core/isomalloc/isomalloc.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/sanitizer.h"
#include "base/vector.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/message/message.h"

#define ISO_ZONES       96        /* sizes of blocks: four to a power of two        */
#define ISO_SHIFT_MIN   6         /* the smallest block has 4 << 6 bytes; all are cache lines */
#define ISO_STACKS      ISO_ZONES /* the number of the zone that holds slots */
#define ISO_GUARD_LARGE ((size_t)1 << 20)
#define ISO_GUARD_SMALL ((size_t)64 << 10)
#define ISO_ROOMY       ((size_t)16 << 30) /* slots of a PE that have large guards */
#define ISO_KEPT_MIN    4 /* free slots that keep their pages even if they are large */
#define ISO_GOLDEN      UINT64_C(0x9e3779b97f4a7c15)
#define ISO_SHARE_MAX   ((size_t)64 << 30) /* bytes of a share */
#define ISO_SHARES_MAX  ((uint64_t)1 << 24)

/* The layout of the range, the same in all processes of the job. */
struct iso_layout {
    uintptr_t base; /* 0: the range is not mapped */
    size_t    bytes, slot_bytes;
    size_t    shares, share, stacks, zone;
    size_t    guard, slot;
    int32_t   pes;
};

static struct iso_layout iso;

struct ski_isomalloc_range ski_isomalloc_range;

/* The blocks of one size that a PE owns. */
struct iso_zone {
    size_t            fresh; /* blocks from here on were never used */
    struct ski_vector free;
};

struct ski_isomalloc {
    struct iso_zone       zone[ISO_ZONES + 1];
    struct ski_vector     cold;  /* free slots whose pages went back to the system */
    struct ski_iso_block *block; /* open addressing by address */
    size_t                count, mask;
    bool                  restores; /* blocks of a former job come back at their addresses */
};

/* The update that an owner gets about its block. */
struct iso_update {
    uint64_t at;
    int32_t  pe;
    uint32_t moves;
};

_Static_assert(sizeof(struct iso_update) == SKI_ISOMALLOC_MIN, "see isomalloc.h");

/* ---- layout -------------------------------------------------------------------------------- */

static size_t iso_round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Divides the range of @p to into @p shares.  Returns false if they would be too small. */
static bool iso_divide(struct iso_layout *to, size_t shares)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    to->shares = shares;
    to->share  = to->bytes / shares / ((size_t)2 << 20) * ((size_t)2 << 20);
    to->stacks = to->share / 2 / page * page;
    to->zone   = (to->share - to->stacks) / ISO_ZONES / SKI_UNIT_BYTES * SKI_UNIT_BYTES;
    to->guard  = iso_round_up(to->stacks >= ISO_ROOMY ? ISO_GUARD_LARGE : ISO_GUARD_SMALL, page);
    to->slot   = to->guard + iso_round_up(to->slot_bytes, page);
    return to->zone > 0 && to->stacks >= to->slot;
}

bool ski_isomalloc_open(const struct ski_job *job, size_t slot_bytes)
{
    void  *base = ski_arena_map_iso(&iso.bytes);
    size_t spare;

    if (!base)
        return false;
    iso.pes        = job->pes;
    iso.slot_bytes = slot_bytes;
    spare          = iso.bytes / ISO_SHARE_MAX;
    if (!iso_divide(&iso, spare > (size_t)job->pes ? spare : (size_t)job->pes))
        return false;
    iso.base            = (uintptr_t)base;
    ski_isomalloc_range = (struct ski_isomalloc_range){iso.base, iso.share * iso.shares};
    return true;
}

void ski_isomalloc_close(void)
{
    iso.base            = 0; /* the arena unmaps it */
    ski_isomalloc_range = (struct ski_isomalloc_range){0, 0};
}

/* Returns the number of a layout, for ski_isomalloc_layout(). */
static uint64_t iso_layout_number(const struct iso_layout *of)
{
    return of->base ? ((uint64_t)of->base ^ of->share * ISO_GOLDEN) + of->slot * 31 + of->shares
                    : 0;
}

uint64_t ski_isomalloc_layout(void)
{
    return iso_layout_number(&iso);
}

uint64_t ski_isomalloc_shares(void)
{
    return iso.base ? iso.shares : 0;
}

size_t ski_isomalloc_guard(void)
{
    return iso.guard;
}

size_t ski_isomalloc_slot_bytes(void)
{
    return iso.slot - iso.guard;
}

static size_t iso_share_of(uintptr_t at)
{
    return (at - iso.base) / iso.share;
}

/* A job that was restarted may have fewer PEs than there are shares in use. */
static int iso_owner(uintptr_t at)
{
    return (int)(iso_share_of(at) % (size_t)iso.pes);
}

int ski_isomalloc_owner(const void *at)
{
    return iso_owner((uintptr_t)at);
}

static size_t iso_zone_block(unsigned zone)
{
    return zone == ISO_STACKS ? iso.slot : (size_t)(4 + zone % 4) << (ISO_SHIFT_MIN + zone / 4);
}

static size_t iso_zone_bytes(unsigned zone)
{
    return zone == ISO_STACKS ? iso.stacks : iso.zone;
}

static uintptr_t iso_zone_start(size_t number, unsigned zone)
{
    uintptr_t share = iso.base + number * iso.share;

    return zone == ISO_STACKS ? share : share + iso.stacks + zone * iso.zone;
}

static unsigned iso_zone_of_size(size_t bytes)
{
    unsigned zone = 0;

    while (zone < ISO_ZONES && iso_zone_block(zone) < bytes)
        zone++;
    return zone; /* ISO_ZONES: too large for any */
}

/* Returns the zone of an address in the range; more than ISO_ZONES: none, since zones are rounded
 * down. */
static unsigned iso_zone_of(uintptr_t at)
{
    size_t offset = (at - iso.base) % iso.share;

    if (offset < iso.stacks)
        return ISO_STACKS;
    offset = (offset - iso.stacks) / iso.zone;
    return offset < ISO_ZONES ? (unsigned)offset : ISO_ZONES + 1;
}

uintptr_t ski_isomalloc_block(const void *at)
{
    uintptr_t address = (uintptr_t)at, start;
    unsigned  zone;
    size_t    number, each;

    if (!ski_isomalloc_contains(at) || (zone = iso_zone_of(address)) > ISO_ZONES)
        return 0;
    start  = iso_zone_start(iso_share_of(address), zone);
    each   = iso_zone_block(zone);
    number = (address - start) / each;
    return (number + 1) * each <= iso_zone_bytes(zone) ? start + number * each : 0;
}

/* ---- records ------------------------------------------------------------------------------- */

static size_t iso_first_place(const struct ski_isomalloc *m, uintptr_t at)
{
    return (size_t)((at >> ISO_SHIFT_MIN) * ISO_GOLDEN >> 20) & m->mask;
}

static struct ski_iso_block *iso_find(const struct ski_isomalloc *m, uintptr_t at)
{
    size_t i = iso_first_place(m, at);

    while (m->block[i].at && m->block[i].at != at)
        i = (i + 1) & m->mask;
    return &m->block[i];
}

static void iso_grow(struct ski_isomalloc *m)
{
    struct ski_iso_block *old  = m->block;
    size_t                room = m->mask + 1;

    m->mask  = 2 * room - 1;
    m->block = ski_calloc(2 * room, sizeof *m->block);
    for (size_t i = 0; i < room; i++)
        if (old[i].at)
            *iso_find(m, old[i].at) = old[i];
    free(old);
}

static struct ski_iso_block *iso_add(struct ski_isomalloc *m, uintptr_t at)
{
    struct ski_iso_block *found = iso_find(m, at);

    if (found->at)
        return found;
    if (2 * ++m->count > m->mask) {
        iso_grow(m);
        found = iso_find(m, at);
    }
    *found = (struct ski_iso_block){.at = at, .pe = SKI_ISO_FREE};
    return found;
}

/* Removes a record; those after it move up, so that each is found from its first place. */
static void iso_remove(struct ski_isomalloc *m, struct ski_iso_block *found)
{
    size_t hole = (size_t)(found - m->block), i = hole;

    m->count--;
    while (m->block[i = (i + 1) & m->mask].at) {
        size_t first = iso_first_place(m, m->block[i].at);

        if (((i - first) & m->mask) < ((i - hole) & m->mask))
            continue;
        m->block[hole] = m->block[i];
        hole           = i;
    }
    m->block[hole].at = 0;
}

struct ski_iso_block *ski_isomalloc_here(struct ski_pe *self, const void *at)
{
    uintptr_t             block = ski_isomalloc_block(at);
    struct ski_iso_block *found = block ? iso_find(self->iso, block) : NULL;

    return found && found->at && found->pe == self->pe ? found : NULL;
}

int ski_isomalloc_lookup(struct ski_pe *self, const void *at)
{
    uintptr_t             block = ski_isomalloc_block(at);
    struct ski_iso_block *found = block ? iso_find(self->iso, block) : NULL;

    if (!found)
        return SKI_ISO_FREE;
    if (iso_owner(block) != self->pe)
        return iso_owner(block);
    return found->at ? found->pe : SKI_ISO_FREE;
}

/* ---- allocation ---------------------------------------------------------------------------- */

/* The pages of a slot that is not used go back to the system. */
static void iso_release_pages(uintptr_t slot)
{
    madvise((char *)slot + iso.guard, iso.slot - iso.guard, MADV_REMOVE);
}

/* Returns a free block that was used before, one that keeps its pages if there is one; 0: none. */
static uintptr_t iso_take_used(struct ski_isomalloc *m, unsigned zone)
{
    void *at = ski_vector_pop(&m->zone[zone].free);

    return (uintptr_t)(at || zone != ISO_STACKS ? at : ski_vector_pop(&m->cold));
}

/* Returns the next block of this PE's shares that was never used; 0: there is none.  Blocks of a
 * former job, which have records, are among them. */
static uintptr_t iso_take_fresh(struct ski_pe *self, unsigned zone)
{
    size_t   *next = &self->iso->zone[zone].fresh, each = iso_zone_block(zone);
    size_t    room = iso_zone_bytes(zone) / each, share;
    uintptr_t at;

    do {
        if (room == 0)
            return 0;
        share = (size_t)self->pe + *next / room * (size_t)iso.pes;
        if (share >= iso.shares)
            return 0;
        at = iso_zone_start(share, zone) + (*next)++ % room * each;
    } while (iso_find(self->iso, at)->at);
    return at;
}

/* Takes a block.  *@p fresh becomes true if this process uses it for the first time. */
static void *iso_take(struct ski_pe *self, unsigned zone, bool *fresh)
{
    uintptr_t             at = iso_take_used(self->iso, zone);
    struct ski_iso_block *block;

    *fresh = !at;
    if (!at && !(at = iso_take_fresh(self, zone)))
        return NULL;
    block = iso_add(self->iso, at);
    ski_assert(block->pe == SKI_ISO_FREE);
    *fresh |= block->bare;
    block->pe      = self->pe;
    block->results = 0;
    block->bare    = false;
    return (void *)at;
}

void *ski_isomalloc(struct ski_pe *self, size_t bytes)
{
    unsigned zone = iso_zone_of_size(bytes);
    bool     fresh;
    void    *at = zone < ISO_ZONES ? iso_take(self, zone, &fresh) : NULL;

    if (at)
        ski_sanitizer_root_add(at, iso_zone_block(zone));
    return at;
}

char *ski_isomalloc_slot(struct ski_pe *self, bool *fresh)
{
    return iso_take(self, ISO_STACKS, fresh);
}

/* Returns how many free slots keep their pages: half of the setting stack_cache, of which
 * core/thread/stack.c has the other half, and a few at least, since slots may be large. */
static size_t iso_slots_kept(void)
{
    size_t count = ski_config.stack_cache / 2 / ski_isomalloc_slot_bytes();

    if (ski_config.stack_cache == 0)
        return 0;
    return count > ISO_KEPT_MIN ? count : ISO_KEPT_MIN;
}

/* Keeps a free slot with its pages while the setting stack_cache allows it.  Slots with pages are
 * used first, so a number of threads that comes and goes costs no system calls. */
static void iso_keep_slot(struct ski_isomalloc *m, uintptr_t slot)
{
    struct ski_vector *warm = &m->zone[ISO_STACKS].free;

    if (warm->count < iso_slots_kept()) {
        ski_vector_push(warm, (void *)slot);
        return;
    }
    iso_release_pages(slot);
    ski_vector_push(&m->cold, (void *)slot);
}

/* Frees a block of this PE, its owner. */
static void iso_put(struct ski_pe *self, struct ski_iso_block *block, uint32_t moves)
{
    struct iso_zone *to = &self->iso->zone[iso_zone_of(block->at)];

    ski_assert(block->pe != SKI_ISO_FREE);
    block->pe    = SKI_ISO_FREE;
    block->moves = moves;
    if (to == &self->iso->zone[ISO_STACKS])
        iso_keep_slot(self->iso, block->at);
    else
        ski_vector_push(&to->free, (void *)block->at);
}

static void iso_tell_owner(struct ski_pe *self, int owner, const struct ski_iso_block *block)
{
    struct iso_update update = {block->at, block->pe, block->moves};

    if (!ski_msg_try_small(self, owner, SKI_HANDLER_ISOMALLOC, 0, &update, sizeof update))
        ski_msg_post(self, owner, SKI_HANDLER_ISOMALLOC,
                     ski_msg_copy(self, SKI_HANDLER_ISOMALLOC, &update, sizeof update));
}

/* Releases a block that moves to PE @p to: its record, if another PE owns it, and its pages, if @p
 * to is on another host.  The PEs of the owner's host use the same memory. */
static void iso_forget(struct ski_pe *self, struct ski_iso_block *block, int to)
{
    uintptr_t at = block->at;

    if (iso_zone_of(at) == ISO_STACKS && ski_job_index(self->job, to) < 0)
        iso_release_pages(at);
    if (iso_owner(at) != self->pe)
        iso_remove(self->iso, block);
}

void ski_isomalloc_free(struct ski_pe *self, void *at)
{
    struct ski_iso_block *block = iso_find(self->iso, (uintptr_t)at);
    int                   owner = iso_owner((uintptr_t)at);

    ski_assert(block->at && block->pe == self->pe);
    if (iso_zone_of((uintptr_t)at) < ISO_ZONES)
        ski_sanitizer_root_remove(at, iso_zone_block(iso_zone_of((uintptr_t)at)));
    if (owner == self->pe) {
        iso_put(self, block, block->moves);
        return;
    }
    block->pe = SKI_ISO_FREE;
    iso_tell_owner(self, owner, block);
    iso_forget(self, block, owner);
}

/* ---- moves --------------------------------------------------------------------------------- */

struct ski_iso_move ski_isomalloc_depart(struct ski_pe *self, void *at, int to)
{
    struct ski_iso_block *block = iso_find(self->iso, (uintptr_t)at);
    int                   owner = iso_owner((uintptr_t)at);
    struct ski_iso_move   move  = {(uintptr_t)at, block->moves + 1, block->results};

    ski_assert(block->at && block->pe == self->pe && to != self->pe);
    block->pe    = to;
    block->moves = move.moves;
    if (iso_zone_of((uintptr_t)at) < ISO_ZONES)
        ski_sanitizer_root_remove(at, iso_zone_block(iso_zone_of((uintptr_t)at)));
    if (owner != self->pe && owner != to)
        iso_tell_owner(self, owner, block);
    iso_forget(self, block, to);
    return move;
}

bool ski_isomalloc_is_slot(const void *at)
{
    return iso_zone_of((uintptr_t)at) == ISO_STACKS;
}

bool ski_isomalloc_move_valid(struct ski_pe *self, const struct ski_iso_move *move, size_t bytes)
{
    uintptr_t at = (uintptr_t)move->at;

    return self->iso && at && ski_isomalloc_block((void *)at) == at &&
           (iso_zone_of(at) == ISO_STACKS) == (bytes == 0) &&
           bytes <= iso_zone_block(iso_zone_of(at)) && !ski_isomalloc_here(self, (void *)at);
}

void ski_isomalloc_arrive(struct ski_pe *self, const struct ski_iso_move *move)
{
    struct ski_iso_block *block = iso_add(self->iso, (uintptr_t)move->at);
    unsigned              zone  = iso_zone_of((uintptr_t)move->at);

    block->pe      = self->pe;
    block->moves   = move->moves;
    block->results = move->results;
    if (zone < ISO_ZONES)
        ski_sanitizer_root_add((void *)(uintptr_t)move->at, iso_zone_block(zone));
}

/* ---- a restart ----------------------------------------------------------------------------- */

/* The layout is stored only if it is that of the former job: PEs of this process that could not
 * take it over, or have done so, may allocate already. */
bool ski_isomalloc_adopt(struct ski_pe *self, uint64_t shares, uint64_t layout)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct iso_layout      former;

    if (!self->iso || shares == 0 || shares > ISO_SHARES_MAX)
        return false;
    pthread_mutex_lock(&lock);
    former              = iso;
    self->iso->restores = iso_divide(&former, shares) && iso_layout_number(&former) == layout;
    if (self->iso->restores && iso.shares != shares)
        iso = former;
    pthread_mutex_unlock(&lock);
    return self->iso->restores;
}

bool ski_isomalloc_restores(const struct ski_pe *self)
{
    return self->iso && self->iso->restores;
}

/* Returns whether the block at @p at is known to be in use. */
static bool iso_is_used(const struct ski_isomalloc *m, uintptr_t at)
{
    const struct ski_iso_block *block = iso_find(m, at);

    return block->at && block->pe != SKI_ISO_FREE;
}

bool ski_isomalloc_may_restore(struct ski_pe *self, const struct ski_iso_move *move, size_t bytes)
{
    return ski_isomalloc_restores(self) && ski_isomalloc_move_valid(self, move, bytes) &&
           !iso_is_used(self->iso, (uintptr_t)move->at);
}

bool ski_isomalloc_restored(struct ski_pe *self, uint64_t at, int pe)
{
    struct ski_iso_block *block;

    if (pe < 0 || pe >= self->pes || !ski_isomalloc_restores(self) || !at ||
        ski_isomalloc_block((void *)(uintptr_t)at) != at || iso_owner((uintptr_t)at) != self->pe ||
        iso_is_used(self->iso, (uintptr_t)at))
        return false;
    block       = iso_add(self->iso, (uintptr_t)at);
    block->pe   = pe;
    block->bare = true;
    return true;
}

/* ---- updates ------------------------------------------------------------------------------- */

/* Returns whether an update from another PE is about a block that this PE owns and has given
 * out. */
static bool iso_update_valid(const struct ski_pe *self, const struct iso_update *update)
{
    return self->iso && update->pe >= SKI_ISO_FREE && update->pe < self->pes &&
           ski_isomalloc_block((void *)(uintptr_t)update->at) == update->at && update->at &&
           iso_owner((uintptr_t)update->at) == self->pe &&
           iso_find(self->iso, (uintptr_t)update->at)->at;
}

void ski_on_isomalloc(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct iso_update     update;
    struct ski_iso_block *block;

    memcpy(&update, skua_msg_data(msg), sizeof update);
    if (!iso_update_valid(self, &update)) {
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    block = iso_find(self->iso, (uintptr_t)update.at);
    if ((int32_t)(update.moves - block->moves) < 0 || block->pe == SKI_ISO_FREE)
        return; /* overtaken by a later one */
    if (update.pe == SKI_ISO_FREE) {
        iso_put(self, block, update.moves);
    } else if (update.moves != block->moves) {
        block->pe    = update.pe;
        block->moves = update.moves;
    }
}

/* ---- a PE begins and ends ------------------------------------------------------------------ */

void ski_isomalloc_begin(struct ski_pe *self)
{
    if (!iso.base || ski_pe_hidden(self))
        return;
    self->iso        = ski_calloc(1, sizeof *self->iso);
    self->iso->mask  = 63;
    self->iso->block = ski_calloc(self->iso->mask + 1, sizeof *self->iso->block);
    /* Removes what an earlier phase has left. In the first phase, other PEs may have restored
     * blocks. */
    if (atomic_load_explicit(&self->job->phase, memory_order_relaxed) < 2)
        return;
    for (size_t i = (size_t)self->pe; i < iso.shares; i += (size_t)iso.pes)
        madvise((char *)iso.base + i * iso.share, iso.share, MADV_REMOVE);
}

void ski_isomalloc_end(struct ski_pe *self)
{
    struct ski_isomalloc *m = self->iso;

    if (!m)
        return;
    for (unsigned zone = 0; zone <= ISO_ZONES; zone++)
        ski_vector_destroy(&m->zone[zone].free);
    ski_vector_destroy(&m->cold);
    free(m->block);
    free(m);
    self->iso = NULL;
}
