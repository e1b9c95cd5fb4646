/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - the sections that a PE knows, and their members.
 *
 * The creator of a section sorts the members by their last known PEs.  That PE is the *delegate* of
 * its members as long as the section exists: it delivers each multicast to them and combines their
 * contributions (section_multicast.h, section_reduction.h).  Delegates form a tree whose root is
 * the creator (section_tree.h).  A PE knows its parent, its children and its own members; only the
 * root, which was given them, knows the delegates of all members.
 *
 * A member that is not on the PE of its delegate, because it migrated or the creator's information
 * was outdated, is recorded on the PE where it is.  Its position in its sections migrates with it.
 * It sends its contributions to its delegate, which it learns from the first of its multicasts, an
 * order of the delegate; until then it sends to the root, which forwards contributions and detects
 * those of elements that are not members.
 *
 * A section whose members have moved away from their delegates rebuilds its tree
 * (section_rebuild.h): a PE then has a record of each *generation* of the section that it knows.
 *
 * This module keeps the records.  The modules above it act on them; the functions of those modules
 * that the end of a record calls are in a table that section_lifecycle.c sets (struct
 * ski_section_ops).
 */
#ifndef SKI_SECTION_H
#define SKI_SECTION_H

#include <skua/section.h>

#include "objects/model/element.h"
#include "objects/model/hash_table.h"

struct ski_reduction_partial;

/* The position of a member in a section: on the PE where it is; at its delegate and at the root
 * also while it is elsewhere.  Deliveries and contributions use what precedes the index. */
struct ski_section_member {
    struct ski_hash_link link;   /* first */
    struct ski_object   *object; /* NULL: the member is not on this PE */
    struct skua_msg     *early;  /* multicasts before their turn, by number */
    uint32_t             seen;   /* the last multicast that it had, or SKI_SECTION_UNSEEN */
    uint32_t             next;   /* its next reduction */
    int32_t              delegate;
    bool                 listed; /* it is in the list that created the section here */
    bool                 gone;   /* at its delegate: the member was destroyed */
    bool                 came;   /* at its delegate: a contribution came from another PE, or the
                                    member has contributed in the former job */
    bool joined;                 /* at its delegate in a later generation: it has named the first
                                    reduction that it contributes to */
    uint32_t   until;            /* if it is gone: the first reduction without it */
    int32_t    successor;        /* at its delegate: its delegate in the next generation, or -1 */
    skua_index index;
};

#define SKI_SECTION_UNSEEN UINT32_MAX /* the order that enrolls a member is number 0 */

/* The reductions of a section, at one delegate (section_reduction.h). */
struct ski_section_reduction {
    uint32_t                      first;        /* the first that is not reported */
    struct ski_reduction_partial *partials;     /* from `first` on, as far as known, by number */
    size_t                        contributors; /* own members and children */
    uint32_t                     *left_from;    /* for each contributor that has left: the first
                                                   reduction it does not contribute to */
    size_t left;                                /* contributors that have left */
    /* Of a later generation (section_rebuild.h). */
    size_t    unjoined;  /* own members whose first reduction is not known yet */
    uint32_t *late_from; /* for each contributor that begins after `first`: where */
    size_t    late;
};

/* The state of a delegate for the next generation of its section (section_rebuild.h). */
struct ski_section_rebuild {
    uint64_t  sent_after; /* messages to own members on other PEs, in this generation */
    uint32_t  reported;   /* own members on other PEs that were reported to the root */
    uint32_t  awaited;    /* children that have not reported where their members are */
    bool      asked;      /* this delegate is collecting the locations of its members */
    uint32_t *lists;      /* where members are (section_list.h), as far as known */
    size_t    words;
    uint32_t  lists_count;
    uint64_t  away;    /* at the root: members on other PEs than their delegates, as reported */
    uint64_t  members; /* at the root: members of this generation */
    bool      wanted;  /* at the root: the program has called for a rebuild */
    bool      called;  /* at the root: the rebuild in progress is one that the program wants */
};

/* States of a section on a PE: members are here, or messages of members, but the PE is not in its
 * tree; its creation is queued, or held until the collection exists; the PE is in its tree. */
enum { SKI_SECTION_VISITED, SKI_SECTION_CREATED, SKI_SECTION_JOINED };

/* A generation of a section, as one PE sees it. */
struct ski_section {
    struct ski_hash_link   link; /* first: by id; the generations of a section share it */
    uint64_t               id;
    uint32_t               generation; /* times that the tree was rebuilt before */
    struct ski_pe         *self;
    struct ski_collection *of;   /* NULL: not known here */
    struct ski_section    *next; /* of the same collection */
    struct ski_hash_table  members;
    uint32_t               forgotten; /* members whose records were freed, ever */
    uint8_t                state;
    bool                   over;    /* its collection was destroyed */
    uint32_t               walking; /* nested loops that deliver or report for the section */

    int32_t                     parent; /* -1: this PE is the root */
    int32_t                    *child;
    uint32_t                    children;
    struct ski_section_member **own; /* members whose delegate this PE is */
    size_t                      own_count;
    uint32_t                    number;   /* of the last multicast */
    skua_msg                   *end;      /* the order to end, which waits until no loop runs */
    skua_msg                   *fetching; /* the multicast whose nocopy arguments are being
                                             fetched, or NULL */
    struct ski_list              behind;  /* multicasts that came after that one */
    struct ski_section_reduction reduction;
    struct ski_list              held;     /* messages that came before the section was created */
    bool                         switched; /* the members have been sent to the next generation */
    struct ski_section_rebuild   rebuild;
};

/* The functions of the modules above this one that the end of a record calls. */
struct ski_section_ops {
    void (*multicast_free)(skua_msg *msg);              /* a multicast that waits */
    void (*multicast_end)(struct ski_section *section); /* carry out the order to end */
    void (*reduction_free)(struct ski_section_reduction *reduction); /* all that is combined */
    /* A multicast found @away own members on other PEs. */
    void (*members_away)(struct ski_section *section, size_t away);
    /* At the root: create the next generation from @lists, the data of the order to switch. */
    bool (*succeed)(struct ski_section *section, const void *lists, size_t bytes);
    /* Returns whether no further message can arrive for a generation whose members have been sent
     * to the next one. */
    bool (*superseded)(const struct ski_section *section);
    /* This PE has left the tree of a generation; the next one is @next, or NULL. */
    void (*succeeded)(struct ski_section *next);
};

/* The sections of a PE. */
struct ski_sections {
    const struct ski_section_ops *ops;
    struct ski_hash_table         table;
    struct ski_section           *last;     /* found, or NULL */
    struct ski_section           *running;  /* the one whose multicast runs an entry, ... */
    struct ski_section_member    *receiver; /* ... and of which member; NULL: none does */
    uint32_t                      created;  /* by this PE */
    uint64_t                     *ended;    /* ids of the last that ended here, in a ring */
    uint64_t                      ends;
};

/** Returns the sections of a PE. */
static inline struct ski_sections *ski_sections_of(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_SECTIONS];
}

/** Begins the sections of a PE; @p ops are functions of the modules above. */
void ski_sections_begin(struct ski_objects *objects, const struct ski_section_ops *ops);

/** Frees the sections of a PE. */
void ski_sections_end(struct ski_objects *objects);

#define SKI_SECTION_TEXT 48 /* bytes of a section's name at most */

/** Writes the name of a section for error texts, "section 3 of PE 0", to @p text; returns that. */
const char *ski_section_text(char text[SKI_SECTION_TEXT], uint64_t id);

/** Returns the PE that created section @p id, or that stands for it in a job that was restarted. */
static inline int ski_section_root(uint64_t id)
{
    return ski_id_root(ski_self, id);
}

/** Returns the record of a generation of section @p id, which is added if this PE has none. */
struct ski_section *ski_section_get(struct ski_objects *objects, uint64_t id, uint32_t generation);

/** Returns the record of a generation of section @p id, or NULL. */
struct ski_section *ski_section_find(const struct ski_objects *objects, uint64_t id,
                                     uint32_t generation);

/** Returns the record of some generation of section @p id, or NULL; ski_section_sibling() has the
 * others. */
struct ski_section *ski_section_first(const struct ski_objects *objects, uint64_t id);

/** Returns the record of another generation after @p section in this PE's table, or NULL. */
struct ski_section *ski_section_sibling(const struct ski_section *section);

/** Returns, at the root, the generation that multicasts go to. */
uint32_t ski_section_latest(const struct ski_objects *objects, uint64_t id);

/** Returns whether section @p id was destroyed, as far as this PE knows.  Ends the job, naming @p
 * call, if there has never been such a section. */
bool ski_section_ended(const struct ski_objects *objects, const char *call, uint64_t id);

/** Returns whether section @p id was destroyed here by skua_section_destroy(), as far as this PE
 * remembers: not by the end of its collection. */
bool ski_section_destroyed(const struct ski_objects *objects, uint64_t id);

/** Returns the generation of section @p id that @p msg, for its tree, names.  NULL: it has ended,
 * or its collection has, and *ended is true; or it is not created yet, and @p msg is held until it
 * is. */
struct ski_section *ski_section_awaited(skua_msg *msg, uint64_t id, uint32_t generation,
                                        bool *ended);

/** Records that @p section is one of collection @p all. */
void ski_section_set_collection(struct ski_section *section, struct ski_collection *all);

/** Returns the record of the member of index @p index, or NULL. */
struct ski_section_member *ski_section_member_find(const struct ski_section *section,
                                                   const skua_index         *index);

/** Returns the record of the member of index @p index, which is added if this PE has none. */
struct ski_section_member *ski_section_member_get(struct ski_section *section,
                                                  const skua_index   *index);

/** Returns whether this PE keeps the record of a member wherever the member is: its delegate and
 * the root do. */
bool ski_section_member_tracked(const struct ski_section        *section,
                                const struct ski_section_member *member);

/** Records that @p object, on this PE, is the member. */
void ski_section_member_here(struct ski_section_member *member, struct ski_object *object);

/** Records that a member is no longer on this PE. */
void ski_section_member_absent(struct ski_section *section, struct ski_section_member *member);

/** Frees the record of a member. */
void ski_section_member_forget(struct ski_section *section, struct ski_section_member *member);

/** The type of the function that ski_section_each_of() calls. */
typedef void ski_section_visit_fn(struct ski_section *section, struct ski_section_member *member,
                                  void *arg);

/** Calls @p fn for each section that @p object is recorded to be in. */
void ski_section_each_of(struct ski_object *object, ski_section_visit_fn *fn, void *arg);

/** Begins a loop that delivers or reports for @p section: the record stays until it ends. */
void ski_section_enter(struct ski_section *section);

/** Ends a loop.  The last one carries out an order to end that has arrived meanwhile, and leaves
 * the tree of a generation that has been superseded. */
void ski_section_leave(struct ski_section *section);

/** Frees the record if neither a member nor a message needs it and no loop runs. */
void ski_section_release(struct ski_section *section);

/** Makes this PE leave the tree of @p section; the record stays while members are here. */
void ski_section_leave_tree(struct ski_section *section);

/** Frees the record of @p section when no loop runs: its collection is destroyed. */
void ski_section_collection_deleted(struct ski_section *section);

#endif
