/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - the teams of a PE.
 *
 * A team is identified by its *name*, the value of skua_team: the PE with rank 0 and a number that
 * this PE has given to one split only.  So teams that are created at the same time, on overlapping
 * sets of PEs, have different names, and the exchange of a split is enough to agree on them.
 *
 *      | PE (32) | number, from 1 on (32) |          SKUA_TEAM_ALL is number 1 of PE 0
 *
 * A split is an all-to-all exchange of color, key and number in the parent, after which each member
 * computes the new team by itself.  A member may finish the split earlier than another and call a
 * collective of the new team; its packets wait on the other one (team_call.c) until the team exists
 * there.
 */
#ifndef SKI_TEAM_H
#define SKI_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/team.h>

#include "core/collective/collective.h"
#include "core/data/msg_list.h"

struct ski_pe;
struct ski_team_call;
struct ski_team_hosts;
struct ski_team_slots;

#define SKI_TEAM_ALL ((uint64_t)(uintptr_t)SKUA_TEAM_ALL) /* its name */

#define SKI_TEAM_BUCKETS 32 /* of the table of teams; a power of two */

/* A team on one of its members. */
struct ski_team {
    struct ski_team        *next; /* in its bucket */
    uint64_t                name;
    int32_t                 rank, size;
    bool                    near;     /* all members are on this host                     */
    struct ski_team_hosts  *hosts;    /* NULL: one host, or a host for each member         */
    int32_t                *pe;       /* by rank; NULL: the rank is the PE                */
    int32_t                *by_pe;    /* ranks in the order of their PEs; NULL as `pe`    */
    uint32_t                calls;    /* number of the next call                          */
    struct ski_number_table table;    /* of calls in flight */
    uint32_t                records;  /* calls in the table                               */
    struct ski_window       window;   /* flow control of its calls                        */
    uint32_t                deferred; /* calls that the window defers                     */
    uint64_t               *owed;     /* by rank, or NULL: bytes of credits not yet sent   */
    struct ski_team_slots  *slots;    /* for small calls inside a host, or NULL            */
};

/* The teams of a PE. */
struct ski_team_pe {
    struct ski_team  all;
    struct ski_team *bucket[SKI_TEAM_BUCKETS]; /* teams but `all`, by name            */
    uint32_t         numbers;                  /* numbers given to splits by this PE  */
    uint32_t         gone;                     /* highest number of teams that a restart
                                                  on other PEs has ended               */
    uint32_t                splits;            /* splits of this PE in progress    */
    struct ski_list         unclaimed;         /* packets of teams that a split makes */
    struct ski_team        *destroyed;         /* whose memory is not yet freed       */
    struct ski_team_call   *free_calls;        /* records that can be reused          */
    struct ski_team_slots  *polled;            /* with calls in flight ...             */
    struct ski_team_slots **polled_end;        /* ... and the end of their list        */
    bool                    membarrier;        /* this PE executes heavy fences before it sleeps */
};

/** Returns the bucket of the team @p name. */
static inline struct ski_team **ski_team_bucket(struct ski_team_pe *teams, uint64_t name)
{
    return &teams->bucket[(name ^ name >> 32) & (SKI_TEAM_BUCKETS - 1)];
}

/** Returns the team @p name of this PE, or NULL if this PE is no member of such a team. */
struct ski_team *ski_team_find(const struct ski_pe *self, uint64_t name);

/** Returns the team of an argument of public function @p call; ends the job if the caller is no
 *  member of it. */
struct ski_team *ski_team_of(const struct ski_pe *self, const char *call, skua_team team);

/** Finds the team of an argument of public function @p call, which returns a status; refuses it if
 * the caller is no member of it. */
skua_status ski_team_get(const struct ski_pe *self, const char *call, skua_team team,
                         struct ski_team **found);

/** Returns the PE with rank @p rank. */
static inline int ski_team_pe_at(const struct ski_team *team, int rank)
{
    return team->pe ? team->pe[rank] : rank;
}

/** Returns the rank of @p pe, or -1 if it is no member. */
int ski_team_rank_of(const struct ski_team *team, int pe);

#define SKI_TEAM_STR 48 /* bytes of a description */

/** Describes the team @p name for errors, in @p text. */
const char *ski_team_str(uint64_t name, char text[SKI_TEAM_STR]);

#endif
