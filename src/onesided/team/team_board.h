/* SPDX-License-Identifier: Apache-2.0 */
/* team_board.h - the boards of team_slot.h, and what a member keeps of the slots of a team: the
 * data that team_slot.c makes calls with and team_board.c creates and frees. */
#ifndef SKI_TEAM_BOARD_H
#define SKI_TEAM_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <skua/completion.h>

#include "base/arch.h"
#include "onesided/team/team_describe.h"
#include "onesided/team/team_stamp.h"

struct ski_blocks;
struct ski_pe;
struct ski_team;

#define SKI_TEAM_SLOT_BYTES    8192 /* most bytes that a member writes for one call */
#define SKI_TEAM_SLOT_INLINE   992  /* those that it writes into the slot itself */
#define SKI_TEAM_SLOT_MEMBERS  32 /* members of a team with slots, at most: bits of half a stamp */
#define SKI_TEAM_SLOTS         16 /* of a board; a power of two */
#define SKI_TEAM_SLOTS_READERS 16 /* members, at most, where each reads the slots of all others */
#define SKI_TEAM_SLOT_FIRST    32 /* bytes of data in the cache line of the stamp */
#define SKI_TEAM_HISTORIES     16 /* of a board; a power of two */

/* A call that can be made by slots. */
struct ski_small_call {
    struct ski_team_kind kind;
    bool                 in_place;  /* the output has this member's block already */
    uint32_t             team_call; /* number among all calls of the team */
    size_t               bytes;     /* of a block or contribution, or this member's */
    const char          *from;
    char                *to;
    skua_completion      done;

    const struct ski_blocks *blocks; /* of an allgatherv, used until the call returns; else NULL */
    size_t                   all;    /* their bytes */
};

/* The slot that a member writes for one call. */
struct ski_team_slot {
    _Alignas(SKI_CACHE_LINE) struct ski_team_stamp stamp; /* 1 + number of the call */
    struct ski_team_kind kind;
    uint32_t             team_call; /* number among all calls of the team */
    uint32_t             bytes;     /* of a block */
    uint32_t             history;   /* of the calls up to this one */
    _Alignas(16) char data[SKI_TEAM_SLOT_INLINE];
};

_Static_assert(sizeof(struct ski_team_slot) == 1024, "a slot fills whole cache lines");
_Static_assert(offsetof(struct ski_team_slot, data) + SKI_TEAM_SLOT_FIRST == SKI_CACHE_LINE,
               "see there");

/* The slots of a member, which other members read. */
struct ski_team_board {
    _Alignas(
        SKI_CACHE_LINE) struct ski_team_stamp finished; /* 1 + number of the last finished call */
    bool             membarrier;                        /* this PE uses heavy fences */
    _Atomic uint32_t left;                              /* members that have destroyed the team */
    _Atomic uint16_t history[SKI_TEAM_HISTORIES]; /* of the calls up to some values of `finished` */
    struct ski_team_slot slot[SKI_TEAM_SLOTS];
    /* By slot; only on the boards of SKUA_TEAM_ALL. */
    _Alignas(SKI_CACHE_LINE) char longer[SKI_TEAM_SLOTS][SKI_TEAM_SLOT_BYTES];
};

/* A block of a call with blocks of different sizes. */
struct ski_team_slot_block {
    char    *to;
    uint32_t bytes;
};

/* A call in flight. */
struct ski_team_slot_call {
    struct ski_team_slot_call *next;
    uint32_t                   number;
    uint32_t                   history; /* of the calls up to this one */
    uint32_t                   sources; /* bits of the ranks whose slots this member reads */
    uint32_t                   end;     /* of the data that it reads there */
    bool                       writes;  /* this member writes a slot, and has not done so ... */
    bool                       relays;  /* ... and what it writes depends on what it reads */

    const struct ski_small_call *small; /* of the caller, or `kept` */
    struct ski_small_call        kept;  /* of a call that is in flight after its return */
    struct ski_team_slot_block   block[SKI_TEAM_SLOTS_READERS]; /* of an allgatherv, by rank */
};

/* The slots of a team on one of its members. */
struct ski_team_slots {
    const struct ski_team *team;
    struct ski_team_slots *next;                        /* that has calls in flight */
    struct ski_team_board *board;                       /* its own */
    struct ski_team_board *peer[SKI_TEAM_SLOT_MEMBERS]; /* by rank; NULL until it is found */
    size_t                 bytes; /* most bytes that a member writes for one call */
    uint32_t               room;  /* a lower bound of `finished` of all others */
    bool                   light; /* all others use heavy fences (membarrier.h) */
    int32_t                rank, size;
    uint32_t               calls;   /* number of the next call */
    uint32_t               history; /* of all calls so far: a hash of what members have in common */
    uint32_t               in_flight;
    struct ski_team_slot_call *first, **end; /* in flight, in their order */
    struct ski_team_slot_call *free;
    void                      *waiters; /* callers that wait until fewer calls are in flight */
};

/** Gives SKUA_TEAM_ALL slots on @p self, if all PEs of the job are on this host and few enough.
 *  Ends the job if the arena has no room for the board. */
void ski_team_board_open(struct ski_pe *self);

/** Allocates a board for a team that a split makes.  Returns NULL if the arena has no room for it
 *  or this PE is alone on its host. */
void *ski_team_board_alloc(struct ski_pe *self);

/** Frees a board that no other member knows; NULL is ignored. */
void ski_team_board_free(struct ski_pe *self, void *board);

/** Gives @p team slots on @p boards, one for each rank, as the members told them in the split.
 *  Returns false, to all members alike, if the team cannot have slots. */
bool ski_team_slots_begin(struct ski_pe *self, struct ski_team *team, void *const *boards);

/** Says that this member has destroyed @p team, if that has slots: the last one frees the boards.
 */
void ski_team_slots_leave(struct ski_pe *self, struct ski_team *team);

/** Frees what this member has for the slots of @p team but boards, which go with the arena. */
void ski_team_slots_end(struct ski_team *team);

#endif
