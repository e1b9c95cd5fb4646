/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_graph.h - the messages between objects: how many, and how many bytes, from which to which.
 *
 * A PE counts what its objects send.  An object is known by its *key*, a hash of its collection and
 * index: so the receiver need not be here, and what an object has sent stays counted when it
 * migrates.  The edges are a hash table with open addressing, which grows up to COMM_GRAPH_MAX
 * edges; messages between further pairs are not counted.
 *
 * A section has a key as well.  A multicast is an edge from its sender to the section, counted
 * where it is sent, and one from the section to each member, counted where the member gets it: the
 * sender does not know the members.  balance/decision.c joins the two.
 *
 * The most frequent case, an edge that is in the slot where the search begins, is inline.
 */
#ifndef SKI_COMM_GRAPH_H
#define SKI_COMM_GRAPH_H

#include <string.h>

#include "objects/model/collection.h"
#include "objects/model/object.h"

#define SKI_COMM_SECTION                                                                           \
    (UINT64_C(1) << 63) /* set in keys of sections, clear in those of objects */

/* The messages from one object to another; no messages, and keys that are 0: the slot is free. */
struct ski_comm_edge {
    uint64_t from, to; /* keys */
    uint64_t messages, bytes;
};

/* The messages that the objects of a PE have sent. */
struct ski_comm_graph {
    struct ski_comm_edge *edge;
    uint64_t golden; /* SKI_GOLDEN: a load takes fewer instructions than the constant */
    uint64_t shift;
    uint64_t mask;
    uint32_t count; /* of edges */
};

/** Makes an empty graph. */
struct ski_comm_graph *ski_comm_graph_create(void);

/** Frees a graph; it may be NULL. */
void ski_comm_graph_destroy(struct ski_comm_graph *graph);

/** Removes all edges. */
void ski_comm_graph_clear(struct ski_comm_graph *graph);

/** Returns the key of the object of the collection @p id whose index has @p bytes bytes, at most
 * eight; they are the first ones of @p word. */
static inline uint64_t ski_comm_key_short(uint64_t id, uint64_t word, uint32_t bytes)
{
    return ((bytes < 8 ? word & ((UINT64_C(1) << 8 * bytes) - 1) : word) ^ id * SKI_GOLDEN) &
           ~SKI_COMM_SECTION;
}

/** Returns the key of an object whose index has more than eight bytes; see ski_comm_key(). */
uint64_t ski_comm_key_long(uint64_t id, const skua_index *index);

/** Returns the key of the object with this index in the collection @p id. */
static inline uint64_t ski_comm_key(uint64_t id, const skua_index *index)
{
    uint64_t word;

    if (SKI_UNLIKELY(index->bytes > 8))
        return ski_comm_key_long(id, index);
    memcpy(&word, &index->at, sizeof word);
    return ski_comm_key_short(id, word, index->bytes);
}

/** Returns the key of the object of @p all whose index is at @p at; the directory of @p all has
 * indices as keys. */
static inline uint64_t ski_comm_key_exact(const struct ski_collection *all, const void *at)
{
    return (ski_directory_int_key(&all->directory, at) ^ all->id * all->directory.golden) &
           ~SKI_COMM_SECTION;
}

/** Returns the key of an object that is here. */
uint64_t ski_comm_key_of(const struct ski_object *object);

/** Returns the key of the section @p id. */
uint64_t ski_comm_key_section(uint64_t id);

/** Returns the slot where the search for an edge begins. */
static inline struct ski_comm_edge *ski_comm_graph_first(const struct ski_comm_graph *graph,
                                                         uint64_t from, uint64_t to)
{
    return &graph->edge[(from ^ (to << 1 | to >> 63)) * graph->golden >> graph->shift];
}

/** Counts a message of @p bytes of an edge that may be anywhere, or new. */
void ski_comm_graph_search(struct ski_comm_graph *graph, uint64_t from, uint64_t to, size_t bytes);

/** Counts a message of @p bytes.  Returns false if its edge is not where its search begins: nothing
 * was counted. */
static inline bool ski_comm_graph_try(const struct ski_comm_graph *graph, uint64_t from,
                                      uint64_t to, size_t bytes)
{
    struct ski_comm_edge *edge = ski_comm_graph_first(graph, from, to);

    __asm__("" : "+r"(edge)); /* keep one address: the compiler would compute it twice */
    if (SKI_UNLIKELY(((edge->from ^ from) | (edge->to ^ to)) != 0))
        return false; /* as of a free slot, whose keys are 0: no object has that key */
    edge->messages++;
    edge->bytes += bytes;
    return true;
}

#endif
