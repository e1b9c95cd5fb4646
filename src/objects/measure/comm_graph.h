/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_graph.h - the messages between objects: how many, and how many bytes, from which to which.
 *
 * A PE counts what its objects send.  An object is known by its *key*, a hash of its collection and
 * index: so the receiver need not be here, and what an object has sent stays counted when it
 * migrates.  The edges are a hash table with open addressing, which grows up to COMM_GRAPH_MOST
 * edges; messages between further pairs are not counted.
 */
#ifndef SKI_COMM_GRAPH_H
#define SKI_COMM_GRAPH_H

#include "objects/model/collection.h"
#include "objects/model/object.h"

/* The messages from one object to another; no messages: the slot is free. */
struct ski_comm_edge {
    uint64_t from, to; /* keys */
    uint64_t bytes;
    uint32_t messages;
    uint32_t unused;
};

/* The messages that the objects of a PE have sent. */
struct ski_comm_graph {
    struct ski_comm_edge *edge;
    uint64_t              mask;
    unsigned              shift;
    uint32_t              count; /* of edges */
};

/** Make an empty graph. */
struct ski_comm_graph *ski_comm_graph_create(void);

/** Free a graph; it may be NULL. */
void ski_comm_graph_destroy(struct ski_comm_graph *graph);

/** Remove all edges. */
void ski_comm_graph_clear(struct ski_comm_graph *graph);

/** The key of the object with this index in the collection @p id. */
uint64_t ski_comm_key(uint64_t id, const skua_index *index);

/** The key of an object that is here. */
uint64_t ski_comm_key_of(const struct ski_object *object);

/** Count a message of @p bytes. */
void ski_comm_graph_add(struct ski_comm_graph *graph, uint64_t from, uint64_t to, size_t bytes);

#endif
