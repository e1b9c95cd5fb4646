/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.h - the players of pingpong.ci and their results. */
#ifndef PINGPONG_H
#define PINGPONG_H

#include <stdint.h>

#include "options.h"

/* The result of a run, summed over both players. */
struct pingpong_outcome {
    double seconds, best, wrong; /* best: seconds per round trip of the fastest batch */
};

/* Seconds per round trip: the best, and the sum of the means of all runs. */
struct pingpong_times {
    double best, total;
};

struct Player {
    Player_element other;
    int            index;
    int            variant;
    char          *source; /* the data that is sent, in ordinary memory             */
    /* The data for gets, in memory that the other player can read. */
    char        *shared;
    char        *target;          /* received data; each has room for the largest size          */
    int64_t      bytes;           /* the current size                                           */
    skua_channel in;              /* the channel into our target                                */
    uint64_t     count;           /* number of puts through it before the run                   */
    skua_sender *out;             /* sender into the target of the other player; NULL: not open */
    skua_buffer  offered, wanted; /* descriptors of `shared` and `target`, for gets             */
    int64_t      received;        /* number of arrivals of the other player's data in this run  */
    int64_t      acknowledged;    /* number of completed gets of our data in this run           */
    int64_t      batch, left;     /* round trips of a batch, and those remaining                */
    double       started, mark;   /* start of the run and of the batch, on player 0             */
    double       seconds, best;
};

void         register_map(void);
Player_proxy create_players(void);
void         add_outcome(Main *main, int size, int variant, struct pingpong_outcome outcome);
void         report(const Main *main);

void create_channel(Player *player, int64_t bytes);
void open_channel(Player *player, skua_channel channel);
void send_first(Player *player);
void receive_ball(Player *player, const Ball *ball);
void fetch(Player *player, const skua_buffer *from);
void contribute_outcome(Player *player);

#endif
