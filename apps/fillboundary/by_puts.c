/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_puts.c - ghost cells in puts: between post, start, complete and wait, and signalling.
 *
 * The region of a PE begins with a slot for each level and PE, in which that PE stores the address
 * of its receive buffer and announces its data; two receive buffers for each neighbour follow, used
 * alternately. A buffer begins with the address for the next exchange in the other direction, so
 * that signalling puts need no message of their own for addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "fillboundary.h"

/* The memory that one neighbour writes, in a cache line of its own. */
struct fb_slot {
    skua_notify ready;   /* counts permissions to write: one per exchange (pscw: two) */
    skua_notify arrived; /* counts exchanges whose data are in the buffer of this PE */
    skua_gaddr  buffer;  /* the address that the data of this PE go to */
    char        fill[64 - 2 * sizeof(skua_notify) - sizeof(skua_gaddr)];
};

/* A buffer. */
struct fb_packed {
    skua_gaddr next; /* signal: the address for the receiver's data in the next exchange */
    double     cell[];
};

static size_t fb_packed_bytes(const struct ghosts_cells *cells)
{
    return sizeof(struct fb_packed) + (size_t)cells->all * sizeof(double);
}

/* Returns the distance of the two receive buffers of a neighbour. */
static size_t fb_packed_room(const struct ghosts_cells *cells)
{
    return (fb_packed_bytes(cells) + 63) / 64 * 64;
}

/* Returns the offset of the slot for @p pe in a region. */
static size_t fb_slot_offset(const struct fb_level *level, int pe)
{
    return ((size_t)level->ghosts.level * (size_t)skua_pes() + (size_t)pe) * sizeof(struct fb_slot);
}

static struct fb_slot *fb_slot(const struct fb *fb, const struct fb_level *level, int pe)
{
    return (struct fb_slot *)((char *)skua_region_local(fb->region) + fb_slot_offset(level, pe));
}

/* Returns the global address of a member of the slot of this PE on a neighbour. */
static skua_gaddr fb_our_slot(const struct fb *fb, const struct fb_level *level, int pe,
                              size_t member)
{
    return skua_at(fb->region, pe, fb_slot_offset(level, skua_pe()) + member);
}

static void fb_puts_open(struct fb *fb)
{
    size_t slots = (size_t)fb->levels * (size_t)skua_pes() * sizeof(struct fb_slot), bytes = slots;

    for (int l = 0; l < fb->levels; l++)
        for (int i = 0; i < fb->level[l].ghosts.neighbours; i++) {
            struct fb_link *link = &fb->level[l].link[i];

            link->offset = bytes;
            for (int b = 0; b < 2; b++) {
                link->buffer[b] = malloc(fb_packed_bytes(&link->of->send));
                if (!link->buffer[b])
                    skua_abort("cannot allocate a buffer for ghost cells");
            }
            bytes += 2 * fb_packed_room(&link->of->receive);
        }
    if (skua_region_create_varied(bytes, &fb->region))
        skua_abort("cannot create a region of %zu bytes for ghost cells", bytes);
    memset(skua_region_local(fb->region), 0, slots);
    skua_sync();
}

static void fb_puts_close(struct fb *fb)
{
    skua_sync();
    skua_region_destroy(fb->region);
    for (int l = 0; l < fb->levels; l++)
        for (int i = 0; i < fb->level[l].ghosts.neighbours; i++)
            for (int b = 0; b < 2; b++)
                free(fb->level[l].link[i].buffer[b]);
}

/* Returns the address of one of the receive buffers of this PE. */
static skua_gaddr fb_receive_buffer(const struct fb *fb, const struct fb_link *link,
                                    uint64_t exchange)
{
    return skua_at(fb->region, skua_pe(),
                   link->offset + exchange % 2 * fb_packed_room(&link->of->receive));
}

/* Sends a neighbour the address to write to. `mine` does not change before the neighbour has
 * answered. */
static void fb_put_address(const struct fb *fb, const struct fb_level *level, struct fb_link *link)
{
    int pe = link->of->pe;

    link->mine = fb_receive_buffer(fb, link, level->exchanges);

    skua_put_nb(
        fb_our_slot(fb, level, pe, offsetof(struct fb_slot, buffer)), &link->mine,
        sizeof link->mine,
        &(skua_rma_params){.notify = fb_our_slot(fb, level, pe, offsetof(struct fb_slot, ready))});
}

static void fb_put_addresses(const struct fb *fb, const struct fb_level *level)
{
    for (int i = 0; i < level->ghosts.neighbours; i++)
        fb_put_address(fb, level, &level->link[i]);
}

/* Packs for a neighbour and puts the cells into its buffer. A buffer on the same host is written
 * directly. Otherwise two send buffers are used alternately: the one of the exchange before last
 * is free, since the neighbour unpacked its data before it sent the data that this PE received
 * last. */
static void fb_put_cells(struct fb *fb, struct fb_level *level, struct fb_link *link,
                         skua_gaddr notify)
{
    struct fb_packed *direct = skua_gaddr_local(link->to);
    struct fb_packed *to     = direct ? direct : link->buffer[level->exchanges % 2];

    to->next = fb_receive_buffer(fb, link, level->exchanges + 1);
    ghosts_pack(link->of, to->cell);
    stopwatch_lap(&fb->watch, PHASE_PACKING);
    if (!direct)
        skua_put_nb(link->to, to, fb_packed_bytes(&link->of->send),
                    &(skua_rma_params){.notify = notify});
    else if (!skua_gaddr_is_none(notify))
        skua_notify_add(notify, 1);
    stopwatch_lap(&fb->watch, PHASE_SENDING);
}

/* Waits for the data of all neighbours and unpacks them. */
static void fb_puts_finish(struct fb *fb, struct fb_level *level)
{
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        struct fb_link         *link = &level->link[i];
        const struct fb_packed *from =
            skua_gaddr_local(fb_receive_buffer(fb, link, level->exchanges));

        if (!skua_notify_wait(&fb_slot(fb, level, link->of->pe)->arrived, level->exchanges + 1))
            return;
        stopwatch_lap(&fb->watch, PHASE_WAITING);
        link->to = from->next;
        ghosts_unpack(link->of, from->cell);
        stopwatch_lap(&fb->watch, PHASE_UNPACKING);
    }
}

/* Waits until the counter `ready` of each neighbour has reached @p target, and reads the
 * addresses. */
static bool fb_wait_ready(const struct fb *fb, const struct fb_level *level, uint64_t target)
{
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        struct fb_slot *slot = fb_slot(fb, level, level->link[i].of->pe);

        if (!skua_notify_wait(&slot->ready, target))
            return false;
        level->link[i].to = slot->buffer;
    }
    return true;
}

/* ---- signalling put ----------------------------------------------------------------------- */

static void fb_signal_open(struct fb *fb)
{
    fb_puts_open(fb);
    for (int l = 0; l < fb->levels; l++)
        fb_put_addresses(fb, &fb->level[l]);
    for (int l = 0; l < fb->levels; l++)
        fb_wait_ready(fb, &fb->level[l], 1);
}

static void fb_signal_start(struct fb *fb, struct fb_level *level)
{
    for (int i = 0; i < level->ghosts.neighbours; i++)
        fb_put_cells(
            fb, level, &level->link[i],
            fb_our_slot(fb, level, level->link[i].of->pe, offsetof(struct fb_slot, arrived)));
}

const struct fb_protocol fb_signal = {"signal", fb_signal_open, fb_signal_start, fb_puts_finish,
                                      fb_puts_close};

/* ---- post, start, complete, wait ------------------------------------------------------------ */

static void fb_notify_all(const struct fb *fb, const struct fb_level *level, size_t member)
{
    for (int i = 0; i < level->ghosts.neighbours; i++)
        skua_notify_add(fb_our_slot(fb, level, level->link[i].of->pe, member), 1);
}

static void fb_pscw_start(struct fb *fb, struct fb_level *level)
{
    uint64_t before = 2 * level->exchanges;

    fb_put_addresses(fb, level);
    if (!fb_wait_ready(fb, level, before + 1))
        return;
    stopwatch_lap(&fb->watch, PHASE_EXCHANGE);
    fb_notify_all(fb, level, offsetof(struct fb_slot, ready)); /* post */
    if (!fb_wait_ready(fb, level, before + 2))                 /* start */
        return;
    for (int i = 0; i < level->ghosts.neighbours; i++)
        fb_put_cells(fb, level, &level->link[i], (skua_gaddr){0});
    fb_notify_all(fb, level, offsetof(struct fb_slot, arrived)); /* complete: after the puts */
    stopwatch_lap(&fb->watch, PHASE_SENDING);
}

const struct fb_protocol fb_pscw = {"pscw", fb_puts_open, fb_pscw_start, fb_puts_finish,
                                    fb_puts_close};
