/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - structured control flow of an object: what skuac's output stands on.
 *
 * A structured entry runs as a *strand*: a frame with its variables and the place where it
 * goes on, no stack.  A strand runs until it waits for messages (`when`), or for strands it
 * has started (`overlap`, `forall`, a call), and then returns to the scheduler.
 *
 * A *trigger* is an entry that strands wait for.  A message to it goes to the strand that
 * has waited longest for it and has all else that it waits for, and else is kept until one
 * asks; of those kept, the one that came first is taken.  Where one `when` wants several
 * messages of the same trigger, those that it wants by reference choose first, as they are
 * written, and then those that may be any.
 *
 * Rules that make runs repeatable: strands become ready in the order in which they were
 * started or woken, and one runs until it waits before the next does.  A message that
 * arrives while a strand of the object runs (by an inline entry) has its turn when no
 * strand is ready any more; between runs, no strand waits for what is kept.
 *
 * Generated code calls this; people need not.  A flow lies behind the object's own struct,
 * in memory that is zeroed with it; all calls belong on the object's PE.
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

typedef struct skua_strand skua_strand;
typedef struct skua_flow   skua_flow;

/** A message that a strand has. */
typedef struct {
    const void *data;
    size_t      bytes;
    skua_msg   *msg; /* NULL: the data are another's, who will free them, or there is none */
} skua_arrival;

/** One message that a waiting strand wants. */
typedef struct skua_wait {
    struct skua_wait *next, *previous; /* of the same trigger */
    skua_strand      *strand;
    uint64_t          age; /* the older, the less */
    int64_t           reference;
    uint16_t          trigger;
    bool              any;         /* whatever the reference                            */
    uint8_t           alternative; /* of a `case`; all of one alternative must be there */
    skua_arrival      got;
} skua_wait;

/**
 * What strands of one kind have in common.  A frame begins with a skua_strand, then
 * `arrivals` of skua_arrival, then `waits` of skua_wait, then variables: plain data.
 */
typedef struct {
    const char *name; /* "Block.run" */
    size_t      bytes;
    uint16_t    arrivals, waits;
    void (*go)(skua_strand *strand); /* from `at` on, until it waits or ends */
} skua_strand_type;

/** The strands and triggers of a class. */
typedef struct {
    const char                    *name; /* of the class */
    size_t                         at;   /* bytes from the object to its flow */
    uint16_t                       types, triggers;
    const skua_strand_type *const *type;
    const char *const             *trigger; /* their names */
} skua_flow_class;

struct skua_strand {
    const skua_strand_type *type;
    void                   *self; /* the object            */
    skua_wait              *wait; /* the first of its waits */
    skua_flow              *flow;
    skua_strand            *parent;          /* which waits for us, or NULL           */
    skua_strand            *next, *previous; /* of the object, by age                 */
    skua_strand            *ready;           /* the next that is ready                */
    uint32_t                at;              /* where it goes on; 0: at the beginning */
    uint32_t                children;        /* that run                              */
    uint32_t                number;          /* while it is packed                    */
    uint16_t                waiting;         /* waits that are linked                 */
    uint8_t                 chosen;          /* the alternative that was taken        */
    bool                    joining;         /* waits for its children                */
};

/* A trigger.  Where one must look far for a reference there is an index: then `waits` are
 * only those for any. */
typedef struct {
    skua_msg               *first, *last;       /* kept, in the order of arrival */
    skua_wait              *waits, *waits_last; /* by age                        */
    struct skua_flow_index *index;              /* or NULL                       */
} skua_trigger;

/* What lies behind an object; its triggers follow. */
struct skua_flow {
    skua_strand *first, *last; /* all strands, by age   */
    skua_strand *ready, *ready_last;
    skua_msg    *late, *late_last; /* arrived while one ran */
    uint64_t     age;              /* of the youngest wait  */
    bool         running;
};

/** Bytes of an object of @p bytes with a flow of @p triggers behind it, and where that is. */
#define SKUA_FLOW_AT(bytes) (((bytes) + 15) / 16 * 16)
#define SKUA_FLOW_BYTES(bytes, triggers)                                                           \
    (SKUA_FLOW_AT(bytes) + sizeof(skua_flow) + (triggers) * sizeof(skua_trigger))

/* ---- from outside of strands -------------------------------------------------------------- */

/** Start a strand and run it, and what becomes ready, until all wait.  @p arrival: what it
 *  was invoked with; its data are copied unless there is a message, which is used up.  It
 *  becomes the first arrival of the frame; a type without arrivals is given none. */
SKUA_API void skua_flow_begin(const skua_flow_class *of, void *self, const skua_strand_type *type,
                              skua_arrival arrival);

/** A message to @p trigger has come.  With data that stay the caller's; or given away. */
SKUA_HOT_API void skua_flow_arrive(const skua_flow_class *of, void *self, unsigned trigger,
                                   int64_t reference, const void *data, size_t bytes);
SKUA_HOT_API void skua_flow_arrive_msg(const skua_flow_class *of, void *self, unsigned trigger,
                                       int64_t reference, skua_msg *msg);

/** Pack, unpack: strands that wait, messages that are kept.  After the object's own. */
SKUA_API void skua_flow_pup(const skua_flow_class *of, skua_pup *p, void *self);

/** Give back strands and messages: at the end of the object, or after packing. */
SKUA_API void skua_flow_destroy(const skua_flow_class *of, void *self);

/* ---- in strands ---------------------------------------------------------------------------- */

/* The triggers of a flow. */
static inline skua_trigger *skua_flow_triggers(skua_flow *flow)
{
    return (skua_trigger *)(void *)(flow + 1);
}

/** Wish for a message, as the frame's @p wait: from 0 on without a gap, and by alternatives,
 *  which are numbered from 0 on. */
static inline void skua_flow_want(skua_strand *strand, unsigned wait, unsigned trigger,
                                  unsigned alternative)
{
    skua_wait *wish = strand->wait + wait;

    wish->strand      = strand;
    wish->trigger     = (uint16_t)trigger;
    wish->any         = true;
    wish->alternative = (uint8_t)alternative;
}

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

/* To the end of those that wait for a trigger that has no index. */
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

/* All cases of the next one. */
SKUA_HOT_API bool skua_flow_match_slow(skua_strand *strand, unsigned waits, uint32_t at);

/** Look whether all is there that some alternative wishes for; the first such is `chosen`.
 *  True: go on, with skua_flow_got().  False: return; the strand runs again, from @p at,
 *  when it is. */
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

/** What came for a wait of the chosen alternative: each is to be had once.  To be dropped when
 *  it is not needed any more; or, where the strand may wait before that, kept first: a copy
 *  is made of what is not ours. */
static inline skua_arrival skua_flow_got(skua_strand *strand, unsigned wait)
{
    return strand->wait[wait].got;
}

/* Copies it. */
SKUA_API void skua_flow_own(skua_arrival *arrival);

static inline void skua_flow_keep(skua_arrival *arrival)
{
    if (!arrival->msg)
        skua_flow_own(arrival);
}

static inline void skua_flow_drop(skua_arrival *arrival)
{
    if (arrival->msg) {
        skua_msg_free_when(arrival->msg);
        arrival->msg = NULL;
    }
}

/** Start a child; it runs when we wait.  @p arrival as with skua_flow_begin(); data NULL:
 *  none.  The frame's variables, zero at first, may be set at once. */
SKUA_API skua_strand *skua_flow_start(skua_strand *parent, const skua_strand_type *type,
                                      skua_arrival arrival);

/** Whether all children have ended.  If not: return, and go on from @p at when they have. */
static inline bool skua_flow_join(skua_strand *strand, uint32_t at)
{
    strand->at      = at;
    strand->joining = strand->children > 0;
    return !strand->joining;
}

/** The strand has ended; its frame, with the arrivals that it still has, is gone. */
SKUA_API void skua_flow_end(skua_strand *strand);

SKUA_END_DECLS

#endif
