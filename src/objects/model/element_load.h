/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_load.h - what is measured of an element, and its role in a balancing.
 *
 * The records of a collection are beside its list of elements, at the same positions, so that the
 * header of an object stays small and a program that neither measures nor balances has none.
 */
#ifndef SKI_ELEMENT_LOAD_H
#define SKI_ELEMENT_LOAD_H

#include <stdint.h>

/* The record of an element. */
struct ski_element_load {
    uint64_t ticks;    /* time that its entries have run since the last balancing      */
    uint64_t bytes;    /* data that it has sent to objects since then                  */
    uint64_t key;      /* in the graph of messages (comm_graph.h); 0: not computed yet */
    uint64_t messages; /* messages that it has sent to objects since the last balancing */
    uint32_t point;    /* the sync point that it waits at or has passed: balance/      */
    uint32_t listed;   /* its number in the snapshot of its PE, plus 1; 0: not in it   */
    int32_t  ordered;  /* the PE that a balancing sends it to, plus 1; 0: none         */
};

#endif
