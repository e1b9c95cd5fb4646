/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.h - players of pingpong.ci, and what they measure. */
#ifndef PINGPONG_H
#define PINGPONG_H

#include <stdint.h>

#include "options.h"

struct outcome {                 /* of a run: a sum over both players */
    double seconds, best, wrong; /* best: of a batch, for each trip */
};

struct times { /* seconds of a round trip: the best, and the sum of the means of runs */
    double best, total;
};

struct Player {
    Player_element other;
    int            index;
    int            way;
    char          *source, *target; /* room for the largest size                  */
    int64_t        bytes;           /* of it, that are sent                       */
    skua_channel   in;              /* into our target                            */
    uint64_t       count;           /* of it, when a run began                    */
    skua_sender   *out;             /* into the other's; NULL: not yet            */
    skua_buffer    offered, wanted; /* our source and target, for gets            */
    int64_t        come;            /* how often the other's data have            */
    int64_t        told;            /* and how often they have got ours, by gets  */
    int64_t        batch, left;     /* trips of a batch, those still to come       */
    double         started, mark;   /* a run, a batch; of player 0                */
    double         seconds, best;
};

void         register_map(void);
Player_proxy create_players(void);
void         take_outcome(Main *main, int size, int way, struct outcome outcome);
void         report(const Main *main);

void create_channel(Player *player, int64_t bytes);
void open_channel(Player *player, skua_channel channel);
void serve_first(Player *player);
void take_ball(Player *player, const Ball *ball);
void fetch(Player *player, const skua_buffer *from);
void hand_in(Player *player);

#endif
