/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - what a PE remembers of the collectives in flight.
 *
 * Broadcasts need nothing here: a node of one that is to be acknowledged lives
 * as long as its children work (broadcast.c).  Reductions are numbered by each
 * PE in the order of its calls, which is the same everywhere (reduction.c).
 */
#ifndef SKI_COLLECTIVE_H
#define SKI_COLLECTIVE_H

#include <stdint.h>

#include <skua/collective.h>

struct ski_reduction;

struct ski_collectives {
    uint64_t               calls; /* reductions and barriers this PE has called  */
    struct ski_reduction **slot;  /* those in flight: n is in slot n modulo slots */
    size_t                 slots; /* a power of two, or 0                        */
};

void ski_collectives_destroy(struct ski_collectives *collectives);

/** The function of an operator, or NULL if @p op is none for @p type. */
skua_op_fn ski_op_function(skua_op op, skua_type type);

/** Make a contribution what the operator works on: truth values are 0 or 1. */
void ski_op_prepare(skua_op op, void *data, size_t count, skua_type type);

const char *ski_op_name(skua_op op);
const char *ski_type_name(skua_type type);
size_t      ski_type_size(skua_type type);

#endif
