/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skuac_flow.h - structured control flow of an object (structured dagger), as skuac's generated
 * code uses it.
 *
 * An active structured entry is a *frame* (skuac_frame): heap memory that holds its variables and
 * its resume point, without a stack. A frame runs until it waits for messages (`when`) or for
 * frames that it has started (`overlap`, `forall`, a call); it then returns to the scheduler.
 *
 * A *when-entry* (skuac_when) is an entry that frames wait for in a `when`. A message to a
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
 * Only generated code calls these functions. A flow follows the object's own struct, in zeroed
 * memory; all functions are called on the object's PE.
 */
#ifndef SKUA_SKUAC_FLOW_H
#define SKUA_SKUAC_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/message.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/** The frame of a structured entry that runs or waits. */
typedef struct skuac_frame skuac_frame;

/** The control-flow state of one object. */
typedef struct skuac_flow skuac_flow;

/** A message that a frame has received. */
typedef struct {
    const void *data;
    size_t      bytes;
    skua_msg   *msg; /* NULL: no message, or data that the caller owns */
} skuac_arrival;

/** One message that a waiting frame waits for. */
typedef struct skuac_wait {
    struct skuac_wait *next, *previous; /* in the list of the when-entry */
    skuac_frame       *frame;
    uint64_t           age; /* order of waiting: smaller is older */
    int64_t            reference;
    uint16_t           when;
    bool               any;         /* matches any reference number */
    uint8_t            alternative; /* of a `case`; all waits of one alternative must match */
    skuac_arrival      got;
} skuac_wait;

/** The type of a frame. A frame consists of a skuac_frame, `arrivals` of skuac_arrival, `waits` of
 *  skuac_wait, and the variables, which are plain data. */
typedef struct {
    const char *name; /* for errors, such as "Block.run" */
    size_t      bytes;
    uint16_t    arrivals, waits;
    void (*go)(skuac_frame *frame); /* resumes at `at`; returns when the frame waits or ends */
} skuac_frame_type;

/** The frames and when-entries of a class. */
typedef struct {
    const char                    *name; /* of the class */
    size_t                         at;   /* offset of the flow from the object */
    uint16_t                       types, whens;
    const skuac_frame_type *const *type;
    const char *const             *when; /* names of the when-entries */
} skuac_flow_class;

/** The head of a frame. */
struct skuac_frame {
    const skuac_frame_type *type;
    void                   *self; /* the object */
    skuac_wait             *wait; /* its array of waits */
    skuac_flow             *flow;
    skuac_frame            *parent;          /* the frame that waits for this one, or NULL */
    skuac_frame            *next, *previous; /* frames of the object, by age */
    skuac_frame            *ready;           /* next in the queue of ready frames */
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
    skua_msg                *first, *last;       /* buffered messages, in the order of arrival */
    skuac_wait              *waits, *waits_last; /* by age */
    struct skuac_flow_index *index;              /* or NULL */
} skuac_when;

/** The control-flow state after an object; its when-entries follow. */
struct skuac_flow {
    skuac_frame *first, *last; /* all frames, by age */
    skuac_frame *ready, *ready_last;
    skua_msg    *late, *late_last; /* messages that arrived while a frame ran */
    uint64_t     age;              /* of the youngest wait */
    bool         running;
};

/** The offset of the flow after an object of @p bytes. */
#define SKUAC_FLOW_AT(bytes) (((bytes) + 15) / 16 * 16)

/** The size of an object of @p bytes with a flow of @p whens when-entries after it. */
#define SKUAC_FLOW_BYTES(bytes, whens)                                                             \
    (SKUAC_FLOW_AT(bytes) + sizeof(skuac_flow) + (whens) * sizeof(skuac_when))

/* ---- called outside frames --------------------------------------------------------------- */

/** Starts a frame, and runs it and every frame that becomes ready until all wait. @p arrival
 *  holds the arguments: a message in it is consumed, plain data are copied. It becomes the first
 *  arrival of the frame; a type without arrivals takes none. */
SKUA_API void skuac_flow_begin(const skuac_flow_class *of, void *self, const skuac_frame_type *type,
                               skuac_arrival arrival);

/** Delivers @p bytes at @p data to @p when. The data remain the caller's. */
SKUA_HOT_API void skuac_flow_arrive(const skuac_flow_class *of, void *self, unsigned when,
                                    int64_t reference, const void *data, size_t bytes);

/** Delivers @p msg to @p when and takes ownership of it. */
SKUA_HOT_API void skuac_flow_arrive_msg(const skuac_flow_class *of, void *self, unsigned when,
                                        int64_t reference, skua_msg *msg);

/** Packs or unpacks the waiting frames and the buffered messages of an object. Called after the
 *  object's own pup function. */
SKUA_API void skuac_flow_pup(const skuac_flow_class *of, skua_pup *p, void *self);

/** Declares that objects of the class @p which have flows: the report on a job that hangs names
 *  what they wait for, and a flow moves with an object that migrates by pointer. Called before
 *  skua_main(), after the class was registered. */
SKUA_API void skuac_flow_register(const skuac_flow_class *of, skua_class which);

/** Registers an entry as skua_entry_register() does. Where other receivers share the data, as in a
 *  multicast, @p shared gets the data instead of a message with a copy of them; they are valid
 *  during the call. An entry that is SKUA_ENTRY_THREADED always gets a message. */
SKUA_API skua_entry skuac_entry_register(skua_class of, const char *name, skua_entry_fn fn,
                                         skua_method_fn shared, unsigned flags);

/** Frees the frames and messages of an object, when it is destroyed or after it was packed. */
SKUA_API void skuac_flow_destroy(const skuac_flow_class *of, void *self);

/* ---- called in frames --------------------------------------------------------------------- */

/** Returns the when-entries of a flow. */
static inline skuac_when *skuac_flow_whens(skuac_flow *flow)
{
    return (skuac_when *)(void *)(flow + 1);
}

/** Sets wait number @p wait of the frame to accept any message of @p when. Waits and
 *  alternatives are numbered from 0 without gaps, and waits are grouped by alternative. */
static inline void skuac_flow_want(skuac_frame *frame, unsigned wait, unsigned when,
                                   unsigned alternative)
{
    skuac_wait *wish = frame->wait + wait;

    wish->frame       = frame;
    wish->when        = (uint16_t)when;
    wish->any         = true;
    wish->alternative = (uint8_t)alternative;
}

/** Sets wait number @p wait of the frame to accept a message of @p when with the given reference
 *  number. Waits and alternatives are numbered as in skuac_flow_want(). */
static inline void skuac_flow_want_reference(skuac_frame *frame, unsigned wait, unsigned when,
                                             unsigned alternative, int64_t reference)
{
    skuac_wait *wish = frame->wait + wait;

    wish->frame       = frame;
    wish->when        = (uint16_t)when;
    wish->any         = false;
    wish->alternative = (uint8_t)alternative;
    wish->reference   = reference;
}

/** Appends a wait to the list of a when-entry that has no index. */
static inline void skuac_flow_wait(skuac_when *when, skuac_wait *wait)
{
    wait->age      = ++wait->frame->flow->age;
    wait->next     = NULL;
    wait->previous = when->waits_last;
    if (when->waits)
        when->waits_last->next = wait;
    else
        when->waits = wait;
    when->waits_last = wait;
}

/** The general case of skuac_flow_match(). */
SKUA_HOT_API bool skuac_flow_match_slow(skuac_frame *frame, unsigned waits, uint32_t at);

/** Matches the first @p waits waits of the frame against buffered messages. Returns true if all
 *  waits of an alternative match: `chosen` is the first such alternative, and skuac_flow_got()
 *  returns its messages. Returns false otherwise: the frame must return, and resumes at @p at when
 *  an alternative matches. */
static inline bool skuac_flow_match(skuac_frame *frame, unsigned waits, uint32_t at)
{
    skuac_wait *wait = frame->wait;
    skuac_when *when = skuac_flow_whens(frame->flow) + wait->when;

    if (waits != 1 || when->first || when->index)
        return skuac_flow_match_slow(frame, waits, at);
    skuac_flow_wait(when, wait);
    frame->waiting = 1;
    frame->at      = at;
    return false;
}

/** Returns the message that matched a wait of the chosen alternative. Each is taken once, and
 *  dropped with skuac_flow_drop() after use. If the frame may wait before that, it calls
 *  skuac_flow_keep() first. */
static inline skuac_arrival skuac_flow_got(skuac_frame *frame, unsigned wait)
{
    return frame->wait[wait].got;
}

/** Lets an arrival share the message that its data are in, if that is possible; otherwise replaces
 *  the data by a copy that the arrival owns. */
SKUA_API void skuac_flow_own(skuac_arrival *arrival);

/** Makes an arrival own or share its data, by a copy if necessary. */
static inline void skuac_flow_keep(skuac_arrival *arrival)
{
    if (!arrival->msg)
        skuac_flow_own(arrival);
}

/** Frees a message at the end of the `when` that received it. */
SKUA_API void skuac_msg_free_when(skua_msg *msg);

/** Frees the message of an arrival, if it has one. */
static inline void skuac_flow_drop(skuac_arrival *arrival)
{
    if (arrival->msg) {
        skuac_msg_free_when(arrival->msg);
        arrival->msg = NULL;
    }
}

/** Starts a child frame, which runs when the parent waits. @p arrival is as in
 *  skuac_flow_begin(); data NULL: none. The caller may set the variables of the frame, which are
 *  zero, before it waits. */
SKUA_API skuac_frame *skuac_flow_start(skuac_frame *parent, const skuac_frame_type *type,
                                       skuac_arrival arrival);

/** Returns true if all children have ended. Otherwise the frame must return, and resumes at @p at
 *  when they have ended. */
static inline bool skuac_flow_join(skuac_frame *frame, uint32_t at)
{
    frame->at      = at;
    frame->joining = frame->children > 0;
    return !frame->joining;
}

/** Ends and frees a frame, including the arrivals that it still holds. */
SKUA_API void skuac_flow_end(skuac_frame *frame);

SKUA_END_DECLS

#endif
