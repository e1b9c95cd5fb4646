/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy_msg.h - the layout of a message with nocopy arguments.
 *
 *      head | argument, its data or buffer | argument, ... | struct ski_nocopy_trailer
 *
 * Arguments begin at multiples of 16.  One is followed by its data, or by a buffer that describes
 * the sender's memory, or where the data is now.  The completion in that buffer is performed when
 * the argument is no longer used: it notifies the sender, or frees memory, on any PE.  So a message
 * may be forwarded, or migrate with its element, and its arguments remain valid.
 *
 * An entry may get such messages and others, so a message that is discarded is recognised by its
 * mark, a random number of the job (boot/job.h): data that merely look alike are no arguments.
 *
 * A message may come from another host.  ski_nocopy_trailer(), through which all of it is read,
 * checks that the arguments are within the message.
 */
#ifndef SKI_NOCOPY_MSG_H
#define SKI_NOCOPY_MSG_H

#include <skua/nocopy.h>

#include "base/arch.h"
#include "core/data/msg.h"

/* What follows the header of an argument. */
enum ski_nocopy_kind { SKI_NOCOPY_DATA, SKI_NOCOPY_BUFFER };

/* The header of an argument. */
struct ski_nocopy_arg {
    uint64_t bytes;
    uint32_t kind; /* enum ski_nocopy_kind */
    uint32_t unused;
    void    *posted;     /* where the program wanted the data, and has it, or NULL ... */
    uint64_t posted_tag; /* ... on the PE that set it: core/message/addr_tag.h */
};

/* The end of a message with nocopy arguments. */
struct ski_nocopy_trailer {
    uint64_t magic;
    uint64_t first; /* bytes of the head: arguments begin there, aligned */
    uint32_t count;
    uint32_t posted; /* the program was asked where it wants the data */
    uint64_t made;   /* a tag: a message that may be sent in one packet (nocopy_net.h), or 0 */
    uint64_t mark;   /* the mark of the job */
    uint64_t unused; /* 0 */
};

_Static_assert(sizeof(struct ski_nocopy_trailer) % 16 == 0, "it ends at a multiple of 16");

#define SKI_NOCOPY_MAGIC UINT64_C(0x7061727473206f66)
#define SKI_NOCOPY_ALIGN ((size_t)16)

/** Returns @p bytes rounded up to where an argument may begin. */
static inline size_t ski_nocopy_align(size_t bytes)
{
    return (bytes + SKI_NOCOPY_ALIGN - 1) & ~(SKI_NOCOPY_ALIGN - 1);
}

/** Returns the bytes of an argument with what follows it. */
static inline size_t ski_nocopy_extent(uint32_t kind, uint64_t bytes)
{
    return sizeof(struct ski_nocopy_arg) +
           ski_nocopy_align(kind == SKI_NOCOPY_DATA ? bytes : sizeof(skua_buffer));
}

/** Returns the buffer that follows an argument of that kind. */
static inline skua_buffer *ski_nocopy_buffer(const struct ski_nocopy_arg *arg)
{
    return (skua_buffer *)(uintptr_t)(arg + 1);
}

/** Returns the argument after @p arg, or the trailer. */
static inline struct ski_nocopy_arg *ski_nocopy_next(const struct ski_nocopy_arg *arg)
{
    return (struct ski_nocopy_arg *)((uintptr_t)arg + ski_nocopy_extent(arg->kind, arg->bytes));
}

/** Returns where the trailer of @p bytes at @p data is. */
static inline struct ski_nocopy_trailer *ski_nocopy_trailer_at(const void *data, size_t bytes)
{
    return (struct ski_nocopy_trailer *)((uintptr_t)data + bytes) - 1;
}

/** Returns the trailer of @p bytes at @p data, which says where the arguments are; NULL: the
 *  message is not valid. */
struct ski_nocopy_trailer *ski_nocopy_trailer(const void *data, size_t bytes);

/** Returns whether the data of @p msg, of any kind, were laid out by this module. */
bool ski_nocopy_is_marked(const skua_msg *msg);

/** Returns the trailer of @p msg; the job ends if @p msg is not valid. */
struct ski_nocopy_trailer *ski_nocopy_trailer_of(const skua_msg *msg);

/** Returns argument @p i of @p msg; the job ends if there is none. */
struct ski_nocopy_arg *ski_nocopy_arg_at(const skua_msg *msg, unsigned i);

/** Returns a message with room for a head of @p first bytes and for @p count arguments, which take
 * @p extent bytes, after it; its trailer is written. */
skua_msg *ski_nocopy_new(size_t first, uint32_t count, size_t extent);

/* A walk over the arguments of a message. */
struct ski_nocopy_walk {
    struct ski_nocopy_arg *next;
    uint32_t               left;
};

/** Returns a walk over the arguments of @p data, which has a valid @p trailer. */
static inline struct ski_nocopy_walk ski_nocopy_walk_in(const void                      *data,
                                                        const struct ski_nocopy_trailer *trailer)
{
    return (struct ski_nocopy_walk){
        (struct ski_nocopy_arg *)((uintptr_t)data + ski_nocopy_align(trailer->first)),
        trailer->count};
}

/** Returns a walk over the arguments of @p msg; the job ends if @p msg is not valid. */
static inline struct ski_nocopy_walk ski_nocopy_walk(const skua_msg *msg)
{
    return ski_nocopy_walk_in(msg + 1, ski_nocopy_trailer_of(msg));
}

/** Returns the next argument; NULL: there is none. */
static inline struct ski_nocopy_arg *ski_nocopy_walk_next(struct ski_nocopy_walk *walk)
{
    struct ski_nocopy_arg *arg = walk->next;

    if (walk->left == 0)
        return NULL;
    walk->left--;
    walk->next = ski_nocopy_next(arg);
    return arg;
}

/** Returns the next argument that a buffer follows; NULL: there is none. */
static inline struct ski_nocopy_arg *ski_nocopy_walk_buffer(struct ski_nocopy_walk *walk)
{
    struct ski_nocopy_arg *arg;

    do
        arg = ski_nocopy_walk_next(walk);
    while (arg && arg->kind != SKI_NOCOPY_BUFFER);
    return arg;
}

#endif
