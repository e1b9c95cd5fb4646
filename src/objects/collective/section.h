/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - what a PE knows of the sections that concern it, and who is in them.
 *
 * The creator sorts the members by the PEs where it believes them to be.  The PE of a
 * member's section is its *station*, for as long as the section lives: it hands the
 * member each multicast, and takes its contributions in (section_multicast.h, section_reduction.h).
 * Stations make a tree with the creator as its root (section_tree.h).  A PE knows its parent, its
 * children and its own members; only the root, which was given them, knows the stations of all.
 *
 * An object that is elsewhere, because it moved or was never where it was believed to be,
 * is *enrolled* where it is: it takes along how far it is in its sections, and sends what
 * it contributes to its station.  It learns which that is by an order that its station
 * sends after it, the first of its multicasts; until then it sends to the root, which
 * passes it on and notices who is no member.
 */
#ifndef SKI_SECTION_H
#define SKI_SECTION_H

#include <skua/section.h>

#include "objects/model/hash_table.h"
#include "objects/collective/section_reduction.h"
#include "objects/model/element.h"

/* How far a member is, where it is; at its station and at the root also if it is not. */
struct ski_enrolled {
    struct ski_hash_link link; /* first */
    skua_index           index;
    struct ski_object   *object; /* NULL: it is not here                    */
    int32_t              station;
    uint32_t             seen;   /* last multicast it had, or SKI_UNSEEN   */
    uint32_t             next;   /* its next reduction                     */
    bool                 listed; /* in the creation, as it came here        */
    bool                 gone;   /* at its station: it was deleted,        */
    uint32_t             until;  /* and has no part in reductions from here */
    bool                 came;   /* at its station: a contribution has     */
    struct skua_msg     *early;  /* multicasts before their turn, in order */
};

#define SKI_UNSEEN UINT32_MAX /* the order that enrols it is number 0 */

/* Objects are here that are members; at the root: its creation is queued; in its tree. */
enum { SKI_VISITED, SKI_CREATED, SKI_JOINED };

struct ski_section {
    struct ski_hash_link   link; /* first: by id */
    uint64_t               id;
    struct ski_pe         *self;
    struct ski_collection *of;   /* NULL: not known here           */
    struct ski_section    *next; /* of the same collection         */
    struct ski_hash_table  enrolled;
    uint8_t                state;
    bool                   over;    /* its collection was deleted     */
    uint32_t               walking; /* entries run that it has called */

    int32_t               parent; /* -1: this is the root */
    int32_t              *child;
    uint32_t              children;
    struct ski_enrolled **roster; /* those whose station this is */
    size_t                rosters;
    uint32_t              number;   /* of the last multicast       */
    skua_msg             *end;      /* the order to end, which waits until nobody walks */
    skua_msg             *fetching; /* the one whose parts are on their way, or NULL ... */
    struct ski_list       behind;   /* ... and those that came behind it                 */
    struct ski_gather     gather;
    struct ski_list       held; /* messages that came before its creation */
};

struct ski_sections {
    struct ski_hash_table table;
    struct ski_section   *last;    /* found, or NULL         */
    uint32_t              created; /* by this PE             */
    uint64_t             *ended;   /* the last that ended here, in a ring */
    uint64_t              ends;
};

static inline struct ski_sections *ski_sections_of(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_SECTIONS];
}

extern const struct ski_lifecycle ski_section_lifecycle;

/** Room for the name of a section in lines to people: "section 3 of PE 0". */
#define SKI_SECTION_TEXT 48
const char *ski_section_text(char text[SKI_SECTION_TEXT], uint64_t id);

static inline int ski_section_root(uint64_t id)
{
    return (int)(id >> 32);
}

/** One that objects here or messages for them name: known from now on. */
struct ski_section *ski_section_get(struct ski_objects *objects, uint64_t id);

/** One this PE knows, or NULL. */
struct ski_section *ski_section_find(const struct ski_objects *objects, uint64_t id);

/** For a call of the program: ends the job if there was never such a section.  Whether it
 *  was deleted, as far as is known here. */
bool ski_section_ended(const struct ski_objects *objects, const char *call, uint64_t id);

/** The section of a message for its tree.  NULL: it was deleted, *ended; or @p msg is kept
 *  until it is created. */
struct ski_section *ski_section_awaited(skua_msg *msg, uint64_t id, bool *ended);

/** Somebody here is in it: it is one of @p all. */
void ski_section_of(struct ski_section *section, struct ski_collection *all);

/** Who has this index, or NULL; the same, made if there is none. */
struct ski_enrolled *ski_enrolled_find(const struct ski_section *section, const skua_index *index);
struct ski_enrolled *ski_enrolled_get(struct ski_section *section, const skua_index *index);

/** Whether it is known here wherever it is: at its station, and at the root. */
bool ski_enrolled_known(const struct ski_section *section, const struct ski_enrolled *member);

/** Its object is here. */
void ski_enrolled_here(struct ski_enrolled *member, struct ski_object *object);

/** Its object is not, or no more. */
void ski_enrolled_away(struct ski_section *section, struct ski_enrolled *member);

/** It is no more in the section, or nobody's concern here. */
void ski_enrolled_forget(struct ski_section *section, struct ski_enrolled *member);

/** While entries run that a section has called. */
void ski_section_enter(struct ski_section *section);
void ski_section_leave(struct ski_section *section);

/** This PE is no more in its tree; members here may still have to hear of it. */
void ski_section_quit(struct ski_section *section);

#endif
