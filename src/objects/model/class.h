/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class.h - the classes of a program, and their entries.
 *
 * An entry is a handler too (core/pe/handler.h); the function of all these handlers is
 * ski_on_invoke().  So a message names its entry by the number of a handler, and the processes of a
 * job compare the names of classes and entries at start along with those of other handlers.
 */
#ifndef SKI_CLASS_H
#define SKI_CLASS_H

#include <skua/balance.h>
#include <skua/object.h>

#include "base/arch.h"

struct ski_baggage;
struct ski_object;
struct ski_text;

/* A class that was registered. */
struct ski_class {
    skua_class_def def;
    uint32_t       id;
    const char    *given;    /* the name that it was registered with; def.name is unique */
    bool           threaded; /* it has entries that run in threads */

    skua_balance_params *balance; /* NULL: its objects take no part in balancing */

    /* Of a class by pointer: the parts of its objects that do not migrate by pointer, since they
     * are outside of the arena; or NULL. */
    const struct ski_baggage *baggage;

    /* Of a class whose objects have structured control flow, else NULL: a skuac_flow_class, and the
     * function that appends what an object waits for, unless @text is NULL; it returns whether the
     * object waits. */
    const void *flow;
    size_t      frame_at; /* with a flow: where an object has the address of its oldest frame */
    bool (*flow_report)(const struct ski_object *object, struct ski_text *text);
};

/* Flags of entries whose messages create an element that does not exist. */
#define SKI_ENTRY_CREATES ((unsigned)(SKUA_ENTRY_CREATE_HOME | SKUA_ENTRY_CREATE_HERE))

/* The entry has operations of its own for its messages (struct ski_entry_ops). */
#define SKI_ENTRY_INPLACE 0x10000u

/* Running the entry charges its object (measure/measure.h); in no entry of ski_entries, but in the
 * copy of it that a PE which measures runs. */
#define SKI_ENTRY_MEASURED 0x20000u

/* The entry is of a class by pointer: its messages name their object by index, never by address
 * (chare/invoke.h). */
#define SKI_ENTRY_NAMED 0x40000u

struct ski_entry;

/* Operations on the messages of an entry whose data are delivered in place (zerocopy/inplace.h). */
struct ski_entry_ops {
    /* Run the entry; it consumes @msg. */
    void (*run)(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg);

    /* Return the message to forward when @msg leaves this PE undelivered: one with all its data in
     * it, which is @msg or takes its place. */
    skua_msg *(*to_forward)(skua_msg *msg);

    /* Return the message to send when its receiver sends @msg to another object, with all its data
     * in it. */
    skua_msg *(*to_resend)(skua_msg *msg);

    /* Free a message that will not be delivered. */
    void (*discard)(skua_msg *msg);
};

/* An entry that was registered. */
struct ski_entry {
    const struct ski_class *of;     /* NULL: the handler is no entry                */
    skua_method_fn          plain;  /* the method, if running the entry is calling it */
    skua_entry_fn           entry;  /* of entry and method */
    skua_method_fn          method; /* one is NULL         */
    const char             *name;
    skua_method_fn          shared; /* besides entry, for data that others get, too */
    _Alignas(16) unsigned flags;
    const struct ski_entry_ops *ops; /* of an entry that is SKI_ENTRY_INPLACE */
};

_Static_assert(sizeof(struct ski_entry) == 64, "an entry is found by a shift");

/* All entries, by the number of their handlers.  There is one for each number of 16 bits, so a
 * number need not be checked before it is used; pages that are never used cost nothing. */
extern struct ski_entry *ski_entries;

/* A copy of ski_entries in which each is SKI_ENTRY_MEASURED; NULL until a PE measures. */
extern struct ski_entry *ski_entries_measured;

/** Allocates ski_entries, once. */
void ski_entries_init(void);

/** Returns whether objects of a class can be packed: the class has a function for it, or no
 * memory. */
static inline bool ski_class_moves(const struct ski_class *class)
{
    return class->def.pup || class->def.bytes == 0;
}

/** Returns whether objects of a class always migrate by pointer to PEs that share the arena. */
static inline bool ski_class_by_pointer(const struct ski_class *class)
{
    return class->def.flags & SKUA_CLASS_BY_POINTER;
}

/** Returns whether objects of a class are in the arena: those that can migrate are.  Memory that an
 * element leaves behind on a PE is soon reused by another element there, without page faults. */
static inline bool ski_class_shared(const struct ski_class *class)
{
    return class->def.pup || ski_class_by_pointer(class);
}

/** Gives the class @p of structured control flow: see struct ski_class.  @p baggage migrates with
 *  the objects of a class by pointer. */
void ski_class_set_flow(skua_class of, const void *flow, size_t frame_at,
                        bool (*report)(const struct ski_object *object, struct ski_text *text),
                        const struct ski_baggage *baggage);

/** Returns whether objects of a class migrate with threads inside, so that they keep their
 * addresses (core/isomalloc/isomalloc.h). */
static inline bool ski_class_moves_threads(const struct ski_class *class)
{
    return class->threaded && ski_class_moves(class);
}

/** Returns whether there is a class of which ski_class_moves_threads() is true. */
bool ski_class_any_moves_threads(void);

/** Adds an entry to the class @p of, run by the handler function @p fn; ends the job if @p entry is
 * not valid.  @p call names the caller. */
skua_entry ski_entry_add(const char *call, skua_class of, const struct ski_entry *entry,
                         skua_handler_fn fn);

/** Includes the objects of a class in balancing; ends the job if @p params is not valid.  @p call
 * names the caller. */
void ski_class_set_balance(const char *call, skua_class of, const skua_balance_params *params);

/** Returns whether a class of this program was given to ski_class_set_balance(). */
bool ski_classes_balanced(void);

/** Returns whether such a class is without SKUA_BALANCE_AT_SYNC: its elements move at any time. */
bool ski_classes_balanced_async(void);

/** Returns a class by its number, or NULL. */
const struct ski_class *ski_class_find(uint32_t id);

/** Ends the job: @p call was given an entry that was never registered. */
SKI_COLD _Noreturn void ski_entry_unknown(const char *call, skua_entry entry);

/** Returns the entry that the program gave to @p call; ends the job if there is no such entry. */
static inline const struct ski_entry *ski_entry_find(const char *call, skua_entry entry)
{
    if (SKI_UNLIKELY(entry.id > UINT16_MAX || !ski_entries || !ski_entries[entry.id].of))
        ski_entry_unknown(call, entry);
    return &ski_entries[entry.id];
}

#endif
