/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.h - packing and unpacking an object by the function of its class.
 *
 * One function of a class (`pup`) measures, packs and unpacks its objects, by what it is called
 * for.  The packed data are the bytes of the fields, one after the other.  Checked data
 * (SKUA_CHECKED_PUP) have a record in front of each field:
 *
 *      struct pup_record | name | bytes of the field
 *
 * The data do not show whether they are checked; their container says so (migration.c).
 */
#ifndef SKI_PUP_H
#define SKI_PUP_H

#include <skua/message.h>

#include "objects/model/class.h"

/** Returns the bytes that the object @p self packs into, unchecked. */
size_t ski_pup_measure(const struct ski_class *of, void *self);

/** Packs the object @p self into @p msg, after the first @p used bytes of its data.  Returns the
 * message, which ends after the packed data, or a larger one in its place. */
skua_msg *ski_pup_pack(const struct ski_class *of, void *self, skua_msg *msg, size_t used);

/** Packs the object @p self as ski_pup_pack() does, checked; ends the job if its class packs other
 *  fields than it measures. */
skua_msg *ski_pup_pack_checked(const struct ski_class *of, void *self, skua_msg *msg, size_t used);

/* Packed data that PE `source` has sent. */
struct ski_pup_packed {
    const void *data;
    size_t      bytes;
    int         source;
    bool        checked;
};

/** Unpacks the object @p self; ends the job if its class unpacks other fields than were packed, or
 *  more or fewer bytes. */
void ski_pup_unpack(const struct ski_class *of, void *self, const struct ski_pup_packed *from);

/** Ends the job if a pointer that the class of the object @p self packs as memory, an array or a
 *  string leads to memory outside of the arena: other processes of the host do not reach it. */
void ski_pup_check_shared(const struct ski_class *of, void *self);

#define SKI_PUP_GAPS 8

/* Bytes of an object that its class does not pack. */
struct ski_pup_gap {
    uint32_t at, bytes;
};

/* All gaps of an object whose fields are in its own memory. */
struct ski_pup_gaps {
    uint32_t           packed; /* the bytes of all fields */
    uint32_t           count;
    struct ski_pup_gap gap[SKI_PUP_GAPS];
};

/** Returns whether the object @p self can move with its memory: all that its class packs is
 *  there, in ascending order and with few gaps, and the class does not ask whether it packs.
 *  *@p gaps is then set. */
bool ski_pup_within(const struct ski_class *of, void *self, struct ski_pup_gaps *gaps);

/** Sets `packed` of @p gaps, at most SKI_PUP_GAPS that another PE has sent, to the bytes of the
 *  fields: those of an object of the class @p of that no gap has.  Returns false if the gaps are
 * not within the object in ascending order. */
bool ski_pup_gaps_set(const struct ski_class *of, struct ski_pup_gaps *gaps);

/** Zeroes the gaps of an object that has moved with its memory from PE @p source, and runs the
 *  function of its class as if it unpacked it; ends the job if that processes other bytes than it
 *  did on @p source. */
void ski_pup_unpack_within(const struct ski_class *of, void *self, const struct ski_pup_gaps *gaps,
                           int source);

/* A function of the runtime that packs, unpacks or measures a part of the object `self`. */
typedef void ski_pup_part_fn(skua_pup *p, void *self);

/** Returns the bytes that a part of the object @p self packs into. */
size_t ski_pup_part_measure(ski_pup_part_fn *part, void *self);

/** Packs a part of the object @p self into the @p bytes at @p to that it was measured to have. */
void ski_pup_part_pack(ski_pup_part_fn *part, void *self, void *to, size_t bytes);

/** Unpacks a part of the object @p self, unchecked; ends the job if it has not @p bytes. */
void ski_pup_part_unpack(ski_pup_part_fn *part, void *self, const void *from, size_t bytes);

/* Structs that are an argument of an entry, and how errors name them; no object. */
struct ski_pup_argument {
    ski_pup_part_fn *pup; /* of one struct */
    void            *items;
    size_t           count, each;
    const char      *entry, *parameter;
};

/** Returns the bytes that the structs pack into. */
size_t ski_pup_argument_measure(const struct ski_pup_argument *argument);

/** Packs the structs into the @p bytes at @p to; ends the job if they pack into another number. */
void ski_pup_argument_pack(const struct ski_pup_argument *argument, void *to, size_t bytes);

/** Unpacks the structs; ends the job if they unpack other than @p bytes. */
void ski_pup_argument_unpack(const struct ski_pup_argument *argument, const void *from,
                             size_t bytes);

/** Returns an upper bound of the bytes that are left to unpack. */
size_t ski_pup_left(const skua_pup *p);

#endif
