/* SPDX-License-Identifier: Apache-2.0 */
/* interconnect.c - see interconnect.h; interconnect_read.c reads files. */
#include "base/interconnect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

/* ---- building ------------------------------------------------------------------------------ */

static char *interconnect_copy(const char *name, size_t bytes)
{
    char *copy = ski_malloc(bytes + 1);

    memcpy(copy, name, bytes);
    copy[bytes] = 0;
    return copy;
}

int ski_interconnect_add_switch(struct ski_interconnect *made, const char *name, size_t bytes,
                                int32_t line)
{
    int number = made->about.switches++;

    made->link = ski_grow(made->link, (size_t)number, &made->switch_room, sizeof *made->link);
    made->link[number] =
        (struct ski_switch){.name = interconnect_copy(name, bytes), .parent = -1, .line = line};
    return number;
}

struct ski_node *ski_interconnect_add_node(struct ski_interconnect *made, const char *name,
                                           int32_t leaf, int32_t line)
{
    int number = made->nodes++;

    made->node         = ski_grow(made->node, (size_t)number, &made->node_room, sizeof *made->node);
    made->node[number] = (struct ski_node){
        .name = interconnect_copy(name, strlen(name)), .leaf = leaf, .line = line};
    return &made->node[number];
}

/* Returns the switch of a name below @p parent, which is added if there is none. */
static int interconnect_find_below(struct ski_interconnect *made, int32_t parent, const char *name,
                                   size_t bytes)
{
    int number;

    for (int i = 0; i < made->about.switches; i++)
        if (made->link[i].parent == parent && strncmp(made->link[i].name, name, bytes) == 0 &&
            made->link[i].name[bytes] == 0)
            return i;
    number                    = ski_interconnect_add_switch(made, name, bytes, 0);
    made->link[number].parent = parent;
    return number;
}

bool ski_interconnect_add_address(struct ski_interconnect *made, const char *address)
{
    int32_t     leaf = -1;
    const char *dot;

    if (strlen(address) >= SKI_INTERCONNECT_TEXT || !*address || strstr(address, "..") ||
        address[0] == '.' || address[strlen(address) - 1] == '.' ||
        made->nodes >= SKI_INTERCONNECT_MAX)
        return false;
    for (; (dot = strchr(address, '.')) != NULL; address = dot + 1)
        leaf = interconnect_find_below(made, leaf, address, (size_t)(dot - address));
    ski_interconnect_add_node(made, address, leaf, 0);
    return true;
}

static int interconnect_compare_nodes(const void *a, const void *b)
{
    const struct ski_node *x = a, *y = b;
    int                    order = strcmp(x->name, y->name);

    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Keeps one of each node that was added several times: hosts that share a machine have one. */
static void interconnect_drop_repeated(struct ski_interconnect *made)
{
    int32_t n = 0;

    for (int32_t i = 0; i < made->nodes; i++) {
        if (n > 0 && strcmp(made->node[n - 1].name, made->node[i].name) == 0)
            free(made->node[i].name);
        else
            made->node[n++] = made->node[i];
    }
    made->nodes = n;
}

/* Records how many switches are above switch @p number, and above each on its way, so that all
 * together take time in proportion to their number.  Returns false if they form a circle. */
static bool interconnect_set_depth(struct ski_interconnect *made, int32_t number)
{
    int32_t top = number, depth = 0, known;

    while (made->link[top].depth < 0 && made->link[top].parent >= 0) {
        top = made->link[top].parent;
        if (++depth > made->about.switches)
            return false;
    }
    known = made->link[top].depth < 0 ? 0 : made->link[top].depth;
    for (depth += known; number != top; number = made->link[number].parent)
        made->link[number].depth = depth--;
    made->link[top].depth = known;
    return true;
}

int ski_interconnect_measure(struct ski_interconnect *made)
{
    for (int i = 0; i < made->about.switches; i++)
        made->link[i].depth = -1;
    for (int i = 0; i < made->about.switches; i++) {
        if (!interconnect_set_depth(made, i))
            return i;
        if (made->link[i].depth >= made->about.levels)
            made->about.levels = made->link[i].depth + 1;
    }
    if (made->about.switches > 0)
        made->about.kind = SKUA_INTERCONNECT_TREE;
    return -1;
}

void ski_interconnect_sort(struct ski_interconnect *made)
{
    if (made->nodes > 0)
        qsort(made->node, (size_t)made->nodes, sizeof *made->node, interconnect_compare_nodes);
}

void ski_interconnect_finish(struct ski_interconnect *made)
{
    int circle;

    ski_interconnect_sort(made);
    interconnect_drop_repeated(made);
    circle = ski_interconnect_measure(made);
    ski_assert(circle < 0); /* an address has its switches in order */
    (void)circle;
}

void ski_interconnect_destroy(struct ski_interconnect *of)
{
    for (int i = 0; i < of->about.switches; i++)
        free(of->link[i].name);
    for (int i = 0; i < of->nodes; i++)
        free(of->node[i].name);
    free(of->link);
    free(of->node);
    *of = (struct ski_interconnect){0};
}

/* ---- looking up ---------------------------------------------------------------------------- */

static int interconnect_compare_name(const void *name, const void *node)
{
    return strcmp(name, ((const struct ski_node *)node)->name);
}

static int interconnect_find_name(const struct ski_interconnect *of, const char *name)
{
    const struct ski_node *found = !of->nodes
                                       ? NULL
                                       : bsearch(name, of->node, (size_t)of->nodes,
                                                 sizeof *of->node, interconnect_compare_name);

    return found ? (int)(found - of->node) : -1;
}

int ski_interconnect_find(const struct ski_interconnect *of, int host, const char *name)
{
    char text[SKI_INTERCONNECT_TEXT];
    int  node;

    snprintf(text, sizeof text, "@%d", host);
    node = interconnect_find_name(of, text);
    if (node < 0)
        node = interconnect_find_name(of, name);
    if (node < 0 && strchr(name, '.')) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "."), name);
        node = interconnect_find_name(of, text);
    }
    return node;
}

/* Returns the number of switches on the path between two nodes: up to the lowest common one, and
 * down. */
static int interconnect_tree_hops(const struct ski_interconnect *of, int a, int b)
{
    int32_t x = of->node[a].leaf, y = of->node[b].leaf;
    int     hops = 1;

    for (; x != y; hops++) {
        int32_t *deeper = y < 0 || (x >= 0 && of->link[x].depth >= of->link[y].depth) ? &x : &y;

        *deeper = of->link[*deeper].parent;
    }
    return hops;
}

static int interconnect_torus_hops(const struct ski_interconnect *of, int a, int b)
{
    int hops = 0;

    for (int d = 0; d < of->about.dims; d++) {
        int way = abs(of->node[a].coord[d] - of->node[b].coord[d]);

        hops += of->about.wraps && of->about.size[d] - way < way ? of->about.size[d] - way : way;
    }
    return hops > 0 ? hops : 1;
}

int ski_interconnect_hops(const struct ski_interconnect *of, int a, int b)
{
    ski_assert(a >= 0 && a < of->nodes && b >= 0 && b < of->nodes);
    switch (of->about.kind) {
    case SKUA_INTERCONNECT_TREE: return interconnect_tree_hops(of, a, b);
    case SKUA_INTERCONNECT_TORUS: return interconnect_torus_hops(of, a, b);
    default: return 1;
    }
}

int ski_interconnect_switch(const struct ski_interconnect *of, int node, int level)
{
    int32_t at = of->node[node].leaf;

    while (level-- > 0 && at >= 0)
        at = of->link[at].parent;
    return at;
}

/* ---- texts --------------------------------------------------------------------------------- */

/* Appends to @p text as far as there is room.  Returns its length. */
static size_t interconnect_append(char *text, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static size_t interconnect_append(char *text, size_t at, const char *format, ...)
{
    va_list args;
    int     n;

    va_start(args, format);
    n = vsnprintf(text + at, SKI_INTERCONNECT_TEXT - at, format, args);
    va_end(args);
    at += n > 0 ? (size_t)n : 0;
    return at < SKI_INTERCONNECT_TEXT ? at : SKI_INTERCONNECT_TEXT - 1;
}

const char *ski_interconnect_describe(const struct ski_interconnect *of, int node, char *text)
{
    const char *before = of->about.kind == SKUA_INTERCONNECT_TORUS ? "coordinates " : "switches ";
    size_t      at     = 0;

    snprintf(text, SKI_INTERCONNECT_TEXT, "no known switch");
    if (of->about.kind == SKUA_INTERCONNECT_TORUS)
        for (int d = 0; d < of->about.dims; d++, before = ",")
            at = interconnect_append(text, at, "%s%d", before, of->node[node].coord[d]);
    else
        for (int i = of->node[node].leaf; i >= 0; i = of->link[i].parent, before = ", ")
            at = interconnect_append(text, at, "%s%s", before, of->link[i].name);
    return text;
}

const char *ski_interconnect_summary(const struct ski_interconnect *of, char *text)
{
    const char *before = of->about.wraps ? "a torus of " : "a mesh of ";
    size_t      at     = 0;

    snprintf(text, SKI_INTERCONNECT_TEXT, "unknown");
    if (of->about.kind == SKUA_INTERCONNECT_TREE)
        interconnect_append(text, 0, "%d switch%s in %d level%s", of->about.switches,
                            of->about.switches == 1 ? "" : "es", of->about.levels,
                            of->about.levels == 1 ? "" : "s");
    for (int d = 0; d < of->about.dims; d++, before = "x")
        at = interconnect_append(text, at, "%s%d", before, of->about.size[d]);
    return text;
}
