/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fillboundary.h - FillBoundary of BoxLib: the exchange of ghost cells on a hierarchy of grids.
 *
 * An exchange of a level fills the ghost cells of all its boxes. A PE packs what it has for each
 * neighbour into one buffer, sends it, copies between boxes of its own, waits for the buffers of
 * its neighbours and unpacks them. In the paper the grids change during a run, so a receiver
 * allocates buffers for every exchange; hence the protocols differ in how a sender learns where to
 * write:
 *
 *   messages   it need not know: two-sided communication;
 *   pscw       the receiver sends the address, and both synchronise by post, start, complete and
 *              wait, as with MPI's windows;
 *   signal     one-sided: a sender puts the data and increases a notification (a signalling put).
 *              The address for the next exchange travels with the data in the other direction;
 *   channels   the buffers are opened once, and no address is sent. A sender lends its buffer, so
 *              that within a host the receiver unpacks the data where they are.
 *
 * Neighbours exchange in both directions, so a PE that has received exchange k of a neighbour knows
 * that the neighbour has unpacked exchange k - 1. Two sets of buffers per channel, used
 * alternately, therefore need no further synchronisation.
 */
#ifndef FILLBOUNDARY_H
#define FILLBOUNDARY_H

#include <skua/skua.h>

#include "common/stopwatch.h"
#include "ghosts.h"
#include "options.h"

/** A set of buffers of a channel in each direction. */
struct fb_channel_set {
    skua_channel in;
    skua_sender *out;
    double      *sent, *received;
};

/** The connection of a level with a neighbour. */
struct fb_link {
    const struct ghosts_neighbour *of;
    skua_msg                      *msg[2]; /* messages: received, by the parity of the exchange */
    struct fb_packed     *buffer[2];       /* puts: packed cells, by the parity of the exchange */
    skua_gaddr            to;              /* puts: the address of the neighbour's buffer */
    skua_gaddr            mine;            /* puts: the address of our buffer, while it is sent */
    size_t                offset;          /* offset of our receive buffers in the region */
    struct fb_channel_set set[2];          /* channels: buffers, by the parity of the exchange */
};

struct fb_level {
    struct ghosts_level ghosts;
    struct fb_link     *link;
    uint64_t            exchanges; /* number of exchanges with the present protocol */
    /* Arrivals (messages, channels), by the parity of the exchange. */
    int arrived[2];
};

/** The state of a PE. */
struct fb {
    struct fillboundary_options options;
    struct stopwatch            watch;
    skua_region                 region; /* the memory that puts write */
    struct fb_level             level[FB_LEVELS];
    int                         levels;
};

/** A protocol. All PEs call each of its functions. */
struct fb_protocol {
    const char *name;
    /** Prepares all levels; waits for the other PEs where that is needed. */
    void (*open)(struct fb *fb);
    /** Starts an exchange: packs and sends. */
    void (*start)(struct fb *fb, struct fb_level *level);
    /** Waits for the neighbours and unpacks. */
    void (*finish)(struct fb *fb, struct fb_level *level);
    /** Frees the resources of open(), after a barrier. */
    void (*close)(struct fb *fb);
};

extern const struct fb_protocol fb_messages, fb_pscw, fb_signal, fb_channels;

/** Registers handlers, before skua_main(). */
void fb_messages_register(void);
void fb_channels_register(void);

/** Returns the state of the calling PE. */
struct fb *fb_self(void);

/** Returns the connection of a level with a PE; the PE must be a neighbour. */
struct fb_link *fb_link_of(struct fb_level *level, int pe);

/** Waits until all neighbours of a level have arrived in the present exchange, counted in
 *  level->arrived. Returns false when the job ends. */
bool fb_wait_arrivals(struct fb_level *level);

#endif
