/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifecycle.h - modules observe the life cycle of PEs, collections and elements.
 *
 * The modules that create, destroy, migrate and insert elements know nothing of those that count
 * them in reductions, deliver broadcasts to them or keep sections.  A module that has to act on an
 * event (lifecycle_defs.h) defines one `const struct ski_lifecycle`, which objects.c lists.  Each
 * PE has a table of the observers of each event, filled when it begins, so that an event costs a
 * call for each observer and nothing for the other modules.
 *
 * Sending to, finding and running an element is no event: those paths are short, and call no table.
 */
#ifndef SKI_LIFECYCLE_H
#define SKI_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/message.h>

#include "core/pe/handler.h"

struct ski_absent;
struct ski_account;
struct ski_collection;
struct ski_object;
struct ski_objects;
struct ski_text;

/* The data of one module that migrate with an element. */
struct ski_baggage {
    /* The bytes that each element has at least.  0: an element may have none, which is valid, and
     * is not unpacked. */
    size_t least;

    /* The bytes that pack() writes for an element; NULL: `least`. */
    size_t (*bytes)(const struct ski_object *object);

    /* Write the data that migrate with the element, also when it moves by pointer. */
    void (*pack)(struct ski_object *object, void *to);

    /* Whether @from, which came from another PE, may be unpacked. */
    bool (*valid)(const struct ski_collection *all, const void *from, size_t bytes);

    /* Read it on the PE where the element arrives, before the element itself is unpacked. */
    void (*unpack)(struct ski_object *object, const void *from, size_t bytes);
};

/* The data of one module that a checkpoint keeps of an element. */
struct ski_saved_part {
    /* The bytes that save() writes for an element. */
    size_t (*bytes)(const struct ski_object *object);

    /* Write what is kept.  The element stays, and continues as if nothing had happened. */
    void (*save)(const struct ski_object *object, void *to);

    /* Read it in the job that restarts, which may have another number of PEs, after the element was
     * added and before it is unpacked.  Returns NULL, or what is wrong with @from, which was read
     * from a file. */
    const char *(*restore)(struct ski_object *object, const void *from, size_t bytes);

    /* The element has been unpacked; NULL: that does not concern the module. */
    void (*restored)(struct ski_object *object);
};

/* An observer.  A member that is NULL does not concern the module. */
struct ski_lifecycle {
    /* A PE begins, or ends.  A module keeps its state of the PE in objects->slot[its id].  When a
     * PE ends its collections have been freed, and modules are called in reverse order. */
    void (*pe_begin)(struct ski_objects *objects);
    void (*pe_end)(struct ski_objects *objects);

#define EVENT(name, arguments, ...) void (*name)(__VA_ARGS__);
#include "objects/model/lifecycle_defs.h"
#undef EVENT

    /* The data of this module that migrate with an element; NULL: none. */
    const struct ski_baggage *baggage;

    /* The data of this module that a checkpoint keeps of an element; NULL: none. */
    const struct ski_saved_part *saved;

    /* Whether an account of an insertion that came from another PE is valid. */
    bool (*account_valid)(const struct ski_collection *all, const struct ski_account *account);

    /* Frees a message that will not be delivered. Returns false if it is none of this module's. */
    bool (*discard)(skua_msg *msg);

    /* Handlers whose messages may reach a PE after their collection was destroyed, with no mistake
     * of the program; 0 ends the list. */
    const uint32_t *late;
};

#define SKI_OBSERVERS_MAX 8 /* of one event */
#define SKI_MODULES_MAX   24
#define SKI_BAGGAGES_MAX  7
#define SKI_SAVED_MAX     6 /* modules with a part of an element in a checkpoint */

/* The observers of a PE, by event, in order; NULL ends each list. */
struct ski_lifecycle_table {
#define EVENT(name, arguments, ...) void (*name[SKI_OBSERVERS_MAX + 1])(__VA_ARGS__);
#include "objects/model/lifecycle_defs.h"
#undef EVENT
    const struct ski_lifecycle  *module[SKI_MODULES_MAX + 1]; /* all observers */
    const struct ski_baggage    *baggage[SKI_BAGGAGES_MAX + 1];
    uint32_t                     baggages;         /* their number                       */
    uint32_t                     baggage_required; /* bit i: each element has baggage[i] */
    const struct ski_saved_part *saved[SKI_SAVED_MAX + 1];
    bool                         late[SKI_HANDLERS];
};

/** Adds an observer after those that are in @p table. */
void ski_lifecycle_add(struct ski_lifecycle_table *table, const struct ski_lifecycle *observer);

/* ski_notify_NAME(table, ...): notifies the observers of event NAME. */
#define EVENT(name, arguments, ...)                                                                \
    void ski_notify_##name(const struct ski_lifecycle_table *table, __VA_ARGS__);
#include "objects/model/lifecycle_defs.h"
#undef EVENT

#endif
