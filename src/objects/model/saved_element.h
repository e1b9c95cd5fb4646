/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_element.h - an element in a checkpoint: a record that is made without disturbing it.
 *
 * A record has the contents of a migrating element, but is made so that the element stays: its
 * class packs it (`pup`), and each module adds what it keeps of the element (struct ski_saved_part,
 * lifecycle.h).
 *
 *      struct ski_saved_element | index | parts of the modules, in order | bytes of the class
 *
 * and zeros up to a multiple of SKI_SAVED_ALIGN.  Records are contiguous.  They are read
 * from a file, perhaps in a job of another number of PEs, so all of a record is checked before it
 * is used.
 *
 * An element in a block of the isomalloc range is restored there, if the range is as it was:
 * threads that run in it have its address on their stacks, and another element cannot get its
 * block.
 */
#ifndef SKI_SAVED_ELEMENT_H
#define SKI_SAVED_ELEMENT_H

#include "objects/model/element.h"

#define SKI_SAVED_ALIGN 16

/* The header of the record of an element. */
struct ski_saved_element {
    _Alignas(SKI_SAVED_ALIGN) uint64_t id; /* of its collection                        */
    uint64_t bytes;                        /* of the whole record                      */
    uint64_t class_bytes;                  /* bytes that its class has packed          */
    uint64_t block; /* its block of the isomalloc range, which has threads of it; 0: none    */
    uint32_t moves; /* its number of migrations                 */
    uint32_t index_bytes;
    uint32_t part_bytes[SKI_SAVED_MAX]; /* of each module                           */
};

/** Fills @p head for an element that is not packed yet.  Returns the bytes of its record. */
size_t ski_saved_element_measure(struct ski_object *object, struct ski_saved_element *head);

/** Writes the record of an element, as it was measured, to head->bytes at @p to. */
void ski_saved_element_write(struct ski_object *object, const struct ski_saved_element *head,
                             void *to);

/** Reads the head and the index of the record at @p from, of which @p left bytes are there. Returns
 *  false if it is no record of an element. */
bool ski_saved_element_read(const void *from, size_t left, struct ski_saved_element *head,
                            skua_index *index);

/** Adds an element to @p all, under @p index, by the record at @p from, which was read.  Returns
 *  NULL if the record is not valid for this class or PE; the error is in *why. */
struct ski_object *ski_saved_element_restore(struct ski_collection *all, const skua_index *index,
                                             const void *from, const char **why);

#endif
