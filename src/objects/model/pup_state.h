/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup_state.h - the state of a skua_pup while a pup function runs, and how errors name its fields.
 *
 * A pup function is called to measure, to pack or to unpack.  A field that fits into the bytes that
 * are left is copied, and nothing else is looked at: `left` is 0 in all other cases (a size is
 * computed, fields are checked), so these take the slow path.  Packing does not need the size: a
 * message that is too small is replaced by a larger one.
 */
#ifndef SKI_PUP_STATE_H
#define SKI_PUP_STATE_H

#include <string.h>

#include <skua/message.h>
#include <skua/pup.h>

#include "base/arch.h"
#include "core/data/msg.h"
#include "objects/model/class.h"

/* The modes of a pup function. */
enum ski_pup_mode { SKI_PUP_MEASURE, SKI_PUP_PACK, SKI_PUP_UNPACK };

/* The kinds of fields: bytes in place; memory that the object owns, or its length; the begin or the
 * end of a part. */
enum ski_pup_kind {
    SKI_PUP_BYTES,
    SKI_PUP_MEMORY,
    SKI_PUP_LENGTH,
    SKI_PUP_BEGIN,
    SKI_PUP_END,
};

/* A field as an error names it. */
struct ski_pup_field {
    enum ski_pup_kind kind;
    size_t            bytes;
    const char       *name; /* NULL: none; not terminated */
    size_t            name_bytes;
};

#define SKI_PUP_DEPTH 8 /* nested parts that errors name */

/* The log of a checked run (pup_checked.h). */
struct ski_pup_log {
    struct ski_pup_field *measured; /* the fields, in the order in which they were measured */
    size_t                count, room;
    size_t                next; /* packing: the next of `measured` */
    size_t                left; /* packing, unpacking: bytes at skua_pup.at */
    const char           *part[SKI_PUP_DEPTH];
    unsigned              depth;
};

struct pup_within;

struct skua_pup {
    char                   *at;   /* packing, unpacking: the next byte */
    size_t                  left; /* bytes there; 0: see the head */
    enum ski_pup_mode       mode;
    bool                    shared;            /* measuring: owned memory must be in the arena */
    size_t                  bytes;             /* measured */
    void                   *self;              /* the object, or NULL: an argument */
    const struct ski_class *of;                /* or NULL: an argument */
    const char             *entry, *parameter; /* of an argument, or NULL: an object */
    skua_msg               *msg; /* packing: the message, or NULL: there is no room but `left` */
    int                     source;
    struct ski_pup_log     *log;    /* of a checked run, else NULL */
    struct pup_within      *within; /* the object moves with its memory, or may; else NULL */
};

/** Returns the bytes that are packed into the message of @p p. */
static inline size_t ski_pup_used(const skua_pup *p)
{
    return (size_t)(p->at - (char *)skua_msg_data(p->msg));
}

/** Returns the bytes that are left in the message that @p p packs into. */
static inline size_t ski_pup_room(const skua_pup *p)
{
    return p->msg->bytes - ski_pup_used(p);
}

/** Packs @p bytes at @p data, for which there is room. */
static inline void ski_pup_put(skua_pup *p, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(p->at, data, bytes);
    p->at += bytes;
}

/** Makes room for @p bytes more in the message that @p p packs into: a message that is too small is
 *  replaced by one that is at least twice as large. */
void ski_pup_reserve(skua_pup *p, size_t bytes);

/** Returns a field with its name as an error shows it: @p name is an expression of the program,
 *  and an operator that takes its address is left out. */
struct ski_pup_field ski_pup_field_of(enum ski_pup_kind kind, const char *name, size_t bytes);

#define SKI_PUP_TEXT 512 /* bytes that the text of a field needs at most */

/** Writes the text of @p field to @p text, such as "`b->inner: b->x' (8 bytes)" for a field in a
 *  part.  Returns @p text. */
const char *ski_pup_field_text(const skua_pup *p, const struct ski_pup_field *field,
                               char text[SKI_PUP_TEXT]);

/** Returns the text of the object or argument that @p p processes, valid until the next call on
 *  this thread. */
const char *ski_pup_object_text(const skua_pup *p);

/** Ends the job: @p field goes beyond the data. */
SKI_COLD _Noreturn void ski_pup_beyond(const skua_pup *p, const struct ski_pup_field *field);

#endif
