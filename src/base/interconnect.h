/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interconnect.h - the network between nodes: a tree of switches, or a torus, and hops in it.
 *
 * A description comes from a file, or from the addresses that Slurm gives to nodes.  A file has
 * lines of Slurm's topology.conf, and lines for tori:
 *
 *   SwitchName=leaf0 Nodes=n[0-3]            a switch that nodes are linked to
 *   SwitchName=top Switches=leaf[0-1]        a switch that switches are linked to
 *   BlockName=b0 Nodes=n[4-7]                a block counts as a switch
 *   Torus=4x4x2                              or Mesh=4x4x2, whose ends are not linked
 *   NodeName=n[0-1] Coordinates=0,1,1        nodes, and where they are in the torus
 *
 * Keys are the same in upper and lower case; LinkSpeed= and BlockSizes= are ignored; # begins a
 * comment; a line that ends in a backslash continues.  A list is n1,n[2-4,06-09]; r[0-1]n[0-3] has
 * eight names.  A node @N is host N of the job, whatever its name.
 *
 * The hops between two nodes are the switches on the path in a tree, and the links in a torus.
 * There is at least one hop, also if both nodes are at one router.  Trees that no switch joins
 * count as linked to one more switch.
 */
#ifndef SKI_INTERCONNECT_H
#define SKI_INTERCONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/topology.h>

/** The size of the texts that the functions below write. */
#define SKI_INTERCONNECT_TEXT 512

/** The largest number of nodes, and of switches, of a description. */
#define SKI_INTERCONNECT_MAX (1 << 20)

/* A switch, by its number. */
struct ski_switch {
    char   *name;
    int32_t parent; /* another switch, or -1                         */
    int32_t line;   /* the line that declares it; 0: no line has so far */
    int32_t depth;  /* switches above it, once the file has been read */
};

/* A node, by its number. */
struct ski_node {
    char   *name;
    int32_t leaf; /* the switch that it is linked to, or -1 */
    int32_t line; /* the line that names it */
    int32_t coord[SKUA_TORUS_DIMS];
};

/* An interconnect with memory of its own; all zero describes none. */
struct ski_interconnect {
    skua_interconnect  about;
    struct ski_switch *link; /* about.switches of them */
    struct ski_node   *node; /* sorted by name once they have been read */
    int32_t            nodes;
    size_t             node_room, switch_room;
};

/** Reads a description from @p text of @p bytes bytes.  Returns true, or false with @p error of
 *  SKI_INTERCONNECT_TEXT bytes written: "PATH:3: ...". */
bool ski_interconnect_parse(struct ski_interconnect *made, const char *path, const char *text,
                            size_t bytes, char *error);

/** Reads the file @p path as ski_interconnect_parse() does. */
bool ski_interconnect_read(struct ski_interconnect *made, const char *path, char *error);

/** Returns whether the value of SKUA_TOPOLOGY is the name of a file, not auto or none. */
bool ski_interconnect_is_file(const char *setting);

/** Adds a node by its address in Slurm, such as "top.leaf0.n3": its switches from the root on, and
 *  its name.  Returns false if the address is invalid.  ski_interconnect_finish() must follow. */
bool ski_interconnect_add_address(struct ski_interconnect *made, const char *address);

/** Ends a series of ski_interconnect_add_address(). */
void ski_interconnect_finish(struct ski_interconnect *made);

/** Frees the memory of an interconnect, which then describes none. */
void ski_interconnect_destroy(struct ski_interconnect *of);

/** Returns the node of host @p host of a job, whose name is @p name: that of @host, of the name, or
 *  of its part before the first dot.  Returns -1 if there is none. */
int ski_interconnect_find(const struct ski_interconnect *of, int host, const char *name);

/** Returns the hops between two nodes. */
int ski_interconnect_hops(const struct ski_interconnect *of, int a, int b);

/** Returns the @p level-th switch above @p node, 0 being its leaf; or -1. */
int ski_interconnect_switch(const struct ski_interconnect *of, int node, int level);

/** Writes where @p node is, as "switches leaf0, top" or "coordinates 0,1,1", to @p text of
 *  SKI_INTERCONNECT_TEXT bytes, and returns it. */
const char *ski_interconnect_describe(const struct ski_interconnect *of, int node, char *text);

/** Writes what an interconnect is, as "9 switches in 2 levels" or "a torus of 4x4x2", to @p text of
 *  SKI_INTERCONNECT_TEXT bytes, and returns it. */
const char *ski_interconnect_summary(const struct ski_interconnect *of, char *text);

/* ---- for interconnect_read.c ------------------------------------------------------------------
 */

/** Adds a switch without a parent, named by @p bytes bytes of @p name.  Returns its number. */
int ski_interconnect_add_switch(struct ski_interconnect *made, const char *name, size_t bytes,
                                int32_t line);

/** Adds a node that is linked to switch @p leaf, or to none (-1).  The result is valid until the
 *  next node is added. */
struct ski_node *ski_interconnect_add_node(struct ski_interconnect *made, const char *name,
                                           int32_t leaf, int32_t line);

/** Sorts the nodes by their names, and those of one name by their lines. */
void ski_interconnect_sort(struct ski_interconnect *made);

/** Counts the switches above each switch, and the levels, and sets the kind of a tree.  Returns -1,
 *  or a switch whose parents form a cycle. */
int ski_interconnect_measure(struct ski_interconnect *made);

#endif
