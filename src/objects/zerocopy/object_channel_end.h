/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_channel_end.h - the records of the ends of object channels (object_channel.h) on a PE.
 *
 * An end is found by the id of its channel and its side, and by its object.  The part of a record
 * that migrates with the object is a struct of its own.
 */
#ifndef SKI_OBJECT_CHANNEL_END_H
#define SKI_OBJECT_CHANNEL_END_H

#include <skua/channel.h>
#include <skua/object_channel.h>

#include "objects/model/element.h"
#include "objects/model/hash_table.h"

/* The part of an end that migrates with its object. */
struct ski_object_end_state {
    uint64_t id, tag;
    uint32_t kind;       /* of skua_channel_end_register() */
    uint32_t sends;      /* 1: the sending end */
    uint32_t epoch;      /* of this end */
    uint32_t peer_epoch; /* of the other end, as far as known */
    uint32_t least;      /* sending: the first epoch of the receiver that was not stopped */
    uint8_t  bound;      /* the other end is known */
    uint8_t  over;       /* the other end is closed */
    uint8_t  held;       /* sending: a put waits for an offer */
    uint8_t  zero;
    uint64_t puts;     /* made, or arrived, ever */
    uint64_t expected; /* receiving: puts that the sender has said to have made */
    skua_ref peer;     /* the object at the other end */
};

/* What the local completion of a put refers to: the end may be gone when it happens. */
struct ski_object_end_due {
    struct ski_object_end *end; /* NULL: it is gone */
};

/* An end of a channel, on this PE. */
struct ski_object_end {
    struct ski_hash_link        link; /* first: by id and side */
    struct ski_object_ends     *of;
    struct ski_object_end      *next; /* of the same object */
    const skua_channel_end_def *kind;
    struct ski_object_end_state state;
    size_t                      bytes;    /* of the buffer */
    bool                        stopping; /* the object is to leave */
    skua_channel                channel;  /* receiving; key 0: none */
    bool                        offered;  /* receiving: a sender may be live */
    bool                        asked;    /* receiving: an answer to DRAIN is due */
    skua_sender                *sender;   /* sending, or NULL */
    bool                        live;     /* sending: puts need not wait */
    bool                        drained;  /* sending: all puts have arrived */
    bool                        sending;  /* sending: a put is not locally complete */
    struct ski_object_end_due  *due;      /* sending: what its completion refers to, or NULL */
    skua_channel                kept; /* sending: an offer that arrived meanwhile; key 0: none */
    uint32_t                    kept_epoch;
};

/* The ends of an object. */
struct ski_object_ends {
    struct ski_hash_link   link; /* first: by the object's address */
    struct ski_object     *object;
    struct ski_object_end *first;
    size_t                 count;
    bool                   draining; /* the object is entered until its ends are drained */
};

/* The ends of a PE. */
struct ski_object_channels {
    struct ski_hash_table by_id, by_object;
    uint32_t              created; /* channels, by this PE */
};

/** Returns the ends of a PE. */
static inline struct ski_object_channels *ski_object_channels_of(const struct ski_objects *objects)
{
    return objects->slot[SKI_SLOT_OBJECT_CHANNELS];
}

/** Returns the registered kind of end @p id, or NULL. */
const skua_channel_end_def *ski_channel_end_find(uint32_t id);

/** Returns the ends of @p object in a table that is not empty, or NULL. */
struct ski_object_ends *ski_object_ends_search(const struct ski_hash_table *table,
                                               const struct ski_object     *object);

/** Returns the ends of @p object, or NULL. */
static inline struct ski_object_ends *ski_object_ends_find(const struct ski_object *object)
{
    const struct ski_hash_table *table =
        &ski_object_channels_of(object->of->self->objects)->by_object;

    return SKI_LIKELY(table->count == 0) ? NULL : ski_object_ends_search(table, object);
}

/** Returns one side of channel @p id if it is on this PE, or NULL. */
struct ski_object_end *ski_object_end_find(const struct ski_objects *objects, uint64_t id,
                                           bool sends);

/** Adds an end to @p object and returns its record. */
struct ski_object_end *ski_object_end_add(struct ski_object                 *object,
                                          const struct ski_object_end_state *state);

/** Frees the record of an end. */
void ski_object_end_remove(struct ski_object_end *end);

/** Frees the list of ends of an object if it is empty and the object does not wait for it. */
void ski_object_ends_release(struct ski_object_ends *ends);

/** Frees the records of all ends of @p object. */
void ski_object_ends_remove(const struct ski_object *object);

/** Initialises the ends of a PE. */
void ski_object_channels_begin(struct ski_objects *objects);

/** Frees all records of a PE. */
void ski_object_channels_end(struct ski_objects *objects);

/** The part of its ends that migrates with an object. */
extern const struct ski_baggage ski_object_end_baggage;

/** The part of its ends that a checkpoint keeps of an object: the part that migrates. */
extern const struct ski_saved_part ski_object_end_saved;

/** Returns the name of an end of @p object whose put is not locally complete, or NULL. */
const char *ski_object_ends_unsent(const struct ski_object *object);

#endif
