/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - lists of things by their reference number, found without looking at others.
 *
 * Open addressing with linear probing, at most three quarters full; a list that is empty is
 * taken out at once, by moving what follows back, so references may go on for ever.
 */
#ifndef SKI_REFERENCE_H
#define SKI_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* The things of one reference: their owner chains them up. */
struct ski_reference {
    int64_t reference;
    void   *first, *last; /* first NULL: the slot is free */
};

struct ski_references {
    struct ski_reference *slot; /* NULL: there are none */
    uint32_t              mask, lists;
};

/** The list of a reference, or NULL. */
struct ski_reference *ski_reference_find(const struct ski_references *all, int64_t reference);

/** The same, made if there is none: the caller puts something into it at once.  Lists that
 *  were found before may have moved. */
struct ski_reference *ski_reference_add(struct ski_references *all, int64_t reference);

/** A list is empty now. */
void ski_reference_remove(struct ski_references *all, struct ski_reference *list);

void ski_references_destroy(struct ski_references *all);

#endif
