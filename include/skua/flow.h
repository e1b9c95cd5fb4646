/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - structured control flow of an object (structured dagger), as skuac's generated code uses
 * it.
 *
 * An active structured entry is a *frame* (skua_strand): heap memory that holds its variables and
 * its resume point, without a stack. A frame runs until it waits for messages (`when`) or for
 * frames that it has started (`overlap`, `forall`, a call); it then returns to the scheduler.
 *
 * A *when-entry* (skua_trigger) is an entry that frames wait for in a `when`. A message to a
 * when-entry goes to the longest-waiting frame that it makes runnable; if there is none, it is
 * buffered. Buffered messages are matched in the order of arrival. If one `when` waits for several
 * messages of the same when-entry, the waits with a reference number are matched first, in source
 * order, and then those that accept any message.
 *
 * These rules make runs reproducible: frames become ready in the order in which they are started or
 * woken, and each runs until it waits before the next one runs. A message that arrives while a
 * frame of the object runs (through an inline entry) is matched when no frame is ready. Between
 * runs, no frame waits for a buffered message.
 *
 * Only generated code calls these functions. A flow lies behind the object's own struct in zeroed
 * memory; all functions are called on the object's PE.
 */
#ifndef SKUA_FLOW_H
#define SKUA_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/message.h>
#include <skua/pup.h>

SKUA_BEGIN_DECLS

/** The frame of a structured entry that runs or waits. */
typedef struct skua_strand skua_strand;

/** The control-flow state of one object. */
typedef struct skua_flow skua_flow;

/** A message that a frame has received. */
typedef struct {
    const void *data;
    size_t      bytes;
    skua_msg   *msg; /* NULL: no message, or data that the caller owns */
} skua_arrival;

/** One message that a waiting frame waits for. */
typedef struct skua_wait {
    struct skua_wait *next, *previous; /* in the list of the when-entry */
    skua_strand      *strand;
    uint64_t          age; /* order of waiting: smaller is older */
    int64_t           reference;
    uint16_t          trigger;
    bool              any;         /* matches any reference number */
    uint8_t           alternative; /* of a `case`; all waits of one alternative must match */
    skua_arrival      got;
} skua_wait;

/** The type of a frame. A frame consists of a skua_strand, `arrivals` of skua_arrival, `waits` of
 *  skua_wait, and the variables, which are plain data. */
typedef struct {
    const char *name; /* for errors, such as "Block.run" */
    size_t      bytes;
    uint16_t    arrivals, waits;
    void (*go)(skua_strand *strand); /* resumes at `at`; returns when the frame waits or ends */
} skua_strand_type;

/** The frames and when-entries of a class. */
typedef struct {
    const char                    *name; /* of the class */
    size_t                         at;   /* offset of the flow from the object */
    uint16_t                       types, triggers;
    const skua_strand_type *const *type;
    const char *const             *trigger; /* names of the when-entries */
} skua_flow_class;

/** The head of a frame. */
struct skua_strand {
    const skua_strand_type *type;
    void                   *self; /* the object */
    skua_wait              *wait; /* its array of waits */
    skua_flow              *flow;
    skua_strand            *parent;          /* the frame that waits for this one, or NULL */
    skua_strand            *next, *previous; /* frames of the object, by age */
    skua_strand            *ready;           /* next in the queue of ready frames */
    uint32_t                at;              /* resume point; 0: the beginning */
    uint32_t                children;        /* children that have not ended */
    uint32_t                number;          /* position while packed */
    uint16_t                waiting;         /* number of linked waits */
    uint8_t                 chosen;          /* the alternative that matched */
    bool                    joining;         /* waits for its children */
};

/** A when-entry of an object. When the list of waits gets long, waits with a reference number move
 *  to a hash index; `waits` then holds only those that match any message. */
typedef struct {
    skua_msg               *first, *last;       /* buffered messages, in the order of arrival */
    skua_wait              *waits, *waits_last; /* by age */
    struct skua_flow_index *index;              /* or NULL */
} skua_trigger;

/** The control-flow state behind an object; its when-entries follow. */
struct skua_flow {
    skua_strand *first, *last; /* all frames, by age */
    skua_strand *ready, *ready_last;
    skua_msg    *late, *late_last; /* messages that arrived while a frame ran */
    uint64_t     age;              /* of the youngest wait */
    bool         running;
};

/** The offset of the flow behind an object of @p bytes. */
#define SKUA_FLOW_AT(bytes) (((bytes) + 15) / 16 * 16)

/** The size of an object of @p bytes with a flow of @p triggers when-entries behind it. */
#define SKUA_FLOW_BYTES(bytes, triggers)                                                           \
    (SKUA_FLOW_AT(bytes) + sizeof(skua_flow) + (triggers) * sizeof(skua_trigger))

/* ---- called outside frames --------------------------------------------------------------- */

/** Starts a frame, and runs it and every frame that becomes ready until all wait. @p arrival
 *  holds the arguments: a message in it is consumed, plain data are copied. It becomes the first
 *  arrival of the frame; a type without arrivals takes none. */
SKUA_API void skua_flow_begin(const skua_flow_class *of, void *self, const skua_strand_type *type,
                              skua_arrival arrival);

/** Delivers @p bytes at @p data to @p trigger. The data remain the caller's. */
SKUA_HOT_API void skua_flow_arrive(const skua_flow_class *of, void *self, unsigned trigger,
                                   int64_t reference, const void *data, size_t bytes);

/** Delivers @p msg to @p trigger and takes ownership of it. */
SKUA_HOT_API void skua_flow_arrive_msg(const skua_flow_class *of, void *self, unsigned trigger,
                                       int64_t reference, skua_msg *msg);

/** Packs or unpacks the waiting frames and the buffered messages of an object. Called after the
 *  object's own pup function. */
SKUA_API void skua_flow_pup(const skua_flow_class *of, skua_pup *p, void *self);

/** Frees the frames and messages of an object, when it is deleted or after it was packed. */
SKUA_API void skua_flow_destroy(const skua_flow_class *of, void *self);

/* ---- called in frames --------------------------------------------------------------------- */

/** Returns the when-entries of a flow. */
static inline skua_trigger *skua_flow_triggers(skua_flow *flow)
{
    return (skua_trigger *)(void *)(flow + 1);
}

/** Sets wait number @p wait of the frame to accept any message of @p trigger. Waits and
 *  alternatives are numbered from 0 without gaps, and waits are grouped by alternative. */
static inline void skua_flow_want(skua_strand *strand, unsigned wait, unsigned trigger,
                                  unsigned alternative)
{
    skua_wait *wish = strand->wait + wait;

    wish->strand      = strand;
    wish->trigger     = (uint16_t)trigger;
    wish->any         = true;
    wish->alternative = (uint8_t)alternative;
}

/** Sets wait number @p wait of the frame to accept a message of @p trigger with the given reference
 *  number. Waits and alternatives are numbered as in skua_flow_want(). */
static inline void skua_flow_want_reference(skua_strand *strand, unsigned wait, unsigned trigger,
                                            unsigned alternative, int64_t reference)
{
    skua_wait *wish = strand->wait + wait;

    wish->strand      = strand;
    wish->trigger     = (uint16_t)trigger;
    wish->any         = false;
    wish->alternative = (uint8_t)alternative;
    wish->reference   = reference;
}

/** Appends a wait to the list of a when-entry that has no index. */
static inline void skua_flow_wait(skua_trigger *trigger, skua_wait *wait)
{
    wait->age      = ++wait->strand->flow->age;
    wait->next     = NULL;
    wait->previous = trigger->waits_last;
    if (trigger->waits)
        trigger->waits_last->next = wait;
    else
        trigger->waits = wait;
    trigger->waits_last = wait;
}

/** The general case of skua_flow_match(). */
SKUA_HOT_API bool skua_flow_match_slow(skua_strand *strand, unsigned waits, uint32_t at);

/** Matches the first @p waits waits of the frame against buffered messages. Returns true if all
 *  waits of an alternative match: `chosen` is the first such alternative, and skua_flow_got()
 *  returns its messages. Returns false otherwise: the frame must return, and resumes at @p at when
 *  an alternative matches. */
static inline bool skua_flow_match(skua_strand *strand, unsigned waits, uint32_t at)
{
    skua_wait    *wait    = strand->wait;
    skua_trigger *trigger = skua_flow_triggers(strand->flow) + wait->trigger;

    if (waits != 1 || trigger->first || trigger->index)
        return skua_flow_match_slow(strand, waits, at);
    skua_flow_wait(trigger, wait);
    strand->waiting = 1;
    strand->at      = at;
    return false;
}

/** Returns the message that matched a wait of the chosen alternative. Each is taken once, and
 *  dropped with skua_flow_drop() after use. If the frame may wait before that, it calls
 *  skua_flow_keep() first. */
static inline skua_arrival skua_flow_got(skua_strand *strand, unsigned wait)
{
    return strand->wait[wait].got;
}

/** Replaces the data of an arrival by a copy that the arrival owns. */
SKUA_API void skua_flow_own(skua_arrival *arrival);

/** Makes an arrival own its data, by a copy if necessary. */
static inline void skua_flow_keep(skua_arrival *arrival)
{
    if (!arrival->msg)
        skua_flow_own(arrival);
}

/** Frees the message of an arrival, if it has one. */
static inline void skua_flow_drop(skua_arrival *arrival)
{
    if (arrival->msg) {
        skua_msg_free_when(arrival->msg);
        arrival->msg = NULL;
    }
}

/** Starts a child frame, which runs when the parent waits. @p arrival is as in
 *  skua_flow_begin(); data NULL: none. The caller may set the variables of the frame, which are
 *  zero, before it waits. */
SKUA_API skua_strand *skua_flow_start(skua_strand *parent, const skua_strand_type *type,
                                      skua_arrival arrival);

/** Returns true if all children have ended. Otherwise the frame must return, and resumes at @p at
 *  when they have ended. */
static inline bool skua_flow_join(skua_strand *strand, uint32_t at)
{
    strand->at      = at;
    strand->joining = strand->children > 0;
    return !strand->joining;
}

/** Ends and frees a frame, including the arrivals that it still holds. */
SKUA_API void skua_flow_end(skua_strand *strand);

SKUA_END_DECLS

#endif
