/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interconnect_read.c - reads the description of an interconnect; see interconnect.h.
 *
 * Each line is a list of Key=Value.  Nodes and switches are recorded as the lines come; which
 * switch is linked to which is resolved at the end, since a line may name a switch that a later one
 * declares.  Names are then sorted, so reading takes O(n log n), and what comes twice is adjacent.
 * The text is not trusted: every refusal has the file and the line.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "base/interconnect.h"
#include "base/memory.h"

#define CONF_FILE_MAX (64 << 20) /* bytes */

/* Errors quote so many bytes of the file at most, so that the reason fits in. */
#define CONF_QUOTED 80

/* The keys of a line; those that are ignored are the last. */
enum conf_key {
    CONF_SWITCH,
    CONF_BLOCK,
    CONF_NODES,
    CONF_SWITCHES,
    CONF_NODE,
    CONF_COORD,
    CONF_TORUS,
    CONF_MESH,
    CONF_SPEED,
    CONF_SIZES,
    CONF_KEYS
};

static const char *const conf_name[] = {"SwitchName", "BlockName",   "Nodes", "Switches",
                                        "NodeName",   "Coordinates", "Torus", "Mesh",
                                        "LinkSpeed",  "BlockSizes"};

/* A value of a line. */
struct conf_value {
    const char *text; /* NULL: the line has none */
    size_t      bytes;
};

/* A switch that a line links to another. */
struct conf_link {
    char   *name;
    int32_t parent, line;
};

struct conf_reader {
    struct ski_interconnect *made;
    const char              *path;
    char                    *error;
    int32_t                  line, owner; /* the line that is read, and its switch or -1 */
    struct conf_link        *link;
    size_t                   link_room;
    int32_t                  links, torus_line;
    int32_t                  coord[SKUA_TORUS_DIMS]; /* of the nodes of this line */
    struct conf_value        value[CONF_KEYS];
};

static bool conf_refuse(struct conf_reader *r, int32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool conf_refuse(struct conf_reader *r, int32_t line, const char *format, ...)
{
    int     used = snprintf(r->error, SKI_INTERCONNECT_TEXT, "%s:%d: ", r->path, line);
    va_list args;

    if (used < 0 || used >= SKI_INTERCONNECT_TEXT / 2)
        used = 0;
    va_start(args, format);
    vsnprintf(r->error + used, SKI_INTERCONNECT_TEXT - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* Returns how many of the @p bytes of a text an error quotes. */
static int conf_quoted(size_t bytes)
{
    return bytes < CONF_QUOTED ? (int)bytes : CONF_QUOTED;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool conf_has(const struct conf_reader *r, enum conf_key key)
{
    return r->value[key].text != NULL;
}

/* Calls @p each for the names of a list. */
static bool conf_expand(struct conf_reader *r, enum conf_key key,
                        bool (*each)(void *arg, const char *name))
{
    const char *why;

    if (ski_hostlist_expand(r->value[key].text, r->value[key].bytes, each, r, &why))
        return true;
    return why ? conf_refuse(r, r->line, "%s=%.*s: %s", conf_name[key],
                             conf_quoted(r->value[key].bytes), r->value[key].text, why)
               : false;
}

/* Reads numbers that @p between separates.  Returns how many, or 0 with an error. */
static int conf_numbers(struct conf_reader *r, enum conf_key key, char between,
                        int32_t number[SKUA_TORUS_DIMS])
{
    const char *at = r->value[key].text, *end = at + r->value[key].bytes;

    for (int n = 0; n < SKUA_TORUS_DIMS; at++) {
        int64_t     value = 0;
        const char *from  = at;

        for (; at < end && isdigit((unsigned char)*at) && value < INT16_MAX; at++)
            value = value * 10 + (*at - '0');
        if (at == from || value > INT16_MAX || (at < end && *at != between))
            break;
        number[n++] = (int32_t)value;
        if (at == end)
            return n;
    }
    conf_refuse(r, r->line, "%s=%.*s: it should be 1 to %d numbers with a \"%c\" between them",
                conf_name[key], conf_quoted(r->value[key].bytes), r->value[key].text,
                SKUA_TORUS_DIMS, between);
    return 0;
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool conf_add_node(void *arg, const char *name)
{
    struct conf_reader *r = arg;
    struct ski_node    *node;

    if (r->made->nodes >= SKI_INTERCONNECT_MAX)
        return conf_refuse(r, r->line, "there are more than %d nodes", SKI_INTERCONNECT_MAX);
    node = ski_interconnect_add_node(r->made, name, r->owner, r->line);
    memcpy(node->coord, r->coord, sizeof node->coord);
    return true;
}

static bool conf_add_link(void *arg, const char *name)
{
    struct conf_reader *r = arg;

    if (r->links >= SKI_INTERCONNECT_MAX)
        return conf_refuse(r, r->line, "there are more than %d links", SKI_INTERCONNECT_MAX);
    r->link                  = ski_grow(r->link, (size_t)r->links, &r->link_room, sizeof *r->link);
    r->link[r->links].name   = strcpy(ski_malloc(strlen(name) + 1), name);
    r->link[r->links].parent = r->owner;
    r->link[r->links++].line = r->line;
    return true;
}

static bool conf_read_switch(struct conf_reader *r, enum conf_key key)
{
    bool nodes = conf_has(r, CONF_NODES), switches = conf_has(r, CONF_SWITCHES);

    if (nodes == switches)
        return conf_refuse(r, r->line, "a switch has either Nodes= or Switches=");
    if (r->torus_line)
        return conf_refuse(r, r->line, "a switch, but line %d describes a torus or mesh",
                           r->torus_line);
    if (r->made->about.switches >= SKI_INTERCONNECT_MAX)
        return conf_refuse(r, r->line, "there are more than %d switches", SKI_INTERCONNECT_MAX);
    r->owner =
        ski_interconnect_add_switch(r->made, r->value[key].text, r->value[key].bytes, r->line);
    return nodes ? conf_expand(r, CONF_NODES, conf_add_node)
                 : conf_expand(r, CONF_SWITCHES, conf_add_link);
}

static bool conf_read_torus(struct conf_reader *r, enum conf_key key)
{
    skua_interconnect *about = &r->made->about;

    if (r->torus_line || about->switches > 0)
        return conf_refuse(r, r->line, "a torus or mesh, but line %d describes %s",
                           r->torus_line ? r->torus_line : r->made->link[0].line,
                           r->torus_line ? "another" : "a switch");
    r->torus_line = r->line;
    about->kind   = SKUA_INTERCONNECT_TORUS;
    about->wraps  = key == CONF_TORUS;
    about->dims   = conf_numbers(r, key, 'x', about->size);
    for (int d = 0; d < about->dims; d++)
        if (about->size[d] == 0)
            return conf_refuse(r, r->line, "dimension %d has size 0", d);
    return about->dims > 0;
}

static bool conf_read_nodes(struct conf_reader *r)
{
    const skua_interconnect *about = &r->made->about;
    int                      dims;

    if (!conf_has(r, CONF_COORD))
        return conf_refuse(r, r->line, "NodeName= needs Coordinates=");
    if (!r->torus_line)
        return conf_refuse(r, r->line, "Coordinates= before a line Torus= or Mesh=");
    dims = conf_numbers(r, CONF_COORD, ',', r->coord);
    if (dims > 0 && dims != about->dims)
        return conf_refuse(r, r->line, "%d coordinates, but line %d has %d dimensions", dims,
                           r->torus_line, about->dims);
    for (int d = 0; d < dims; d++)
        if (r->coord[d] >= about->size[d])
            return conf_refuse(r, r->line, "coordinate %d is %d, but line %d has size %d", d,
                               r->coord[d], r->torus_line, about->size[d]);
    r->owner = -1;
    return dims > 0 && conf_expand(r, CONF_NODE, conf_add_node);
}

/* Reads a line whose values are known. */
static bool conf_read_values(struct conf_reader *r)
{
    static const enum conf_key leading[] = {CONF_SWITCH, CONF_BLOCK, CONF_NODE,
                                            CONF_TORUS,  CONF_MESH,  CONF_SIZES};
    int                        n = 0, found = CONF_KEYS;

    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++)
        if (conf_has(r, leading[i]))
            n++, found = (int)leading[i];
    if (n != 1)
        return conf_refuse(r, r->line,
                           "a line has one of SwitchName=, BlockName=, Torus=, Mesh=, NodeName=");
    switch (found) {
    case CONF_SWITCH:
    case CONF_BLOCK: return conf_read_switch(r, (enum conf_key)found);
    case CONF_NODE: return conf_read_nodes(r);
    case CONF_SIZES: return true;
    default: return conf_read_torus(r, (enum conf_key)found);
    }
}

static bool conf_read_pair(struct conf_reader *r, const char *at, size_t bytes)
{
    const char *equals = memchr(at, '=', bytes);
    size_t      name   = equals ? (size_t)(equals - at) : 0;
    int         key    = 0;

    while (key < CONF_KEYS &&
           (strlen(conf_name[key]) != name || strncasecmp(conf_name[key], at, name) != 0))
        key++;
    if (key == CONF_KEYS)
        return conf_refuse(r, r->line, "\"%.*s\" is none of the keys of a topology",
                           conf_quoted(bytes), at);
    if (conf_has(r, (enum conf_key)key))
        return conf_refuse(r, r->line, "%s= comes twice", conf_name[key]);
    if (bytes == name + 1)
        return conf_refuse(r, r->line, "%s= has no value", conf_name[key]);
    r->value[key] = (struct conf_value){equals + 1, bytes - name - 1};
    return true;
}

/* Reads a line without its end; continued lines have blanks between them. */
static bool conf_read_line(struct conf_reader *r, const char *at, const char *end)
{
    bool any = false;

    memset(r->value, 0, sizeof r->value);
    for (;;) {
        const char *from;

        while (at < end && isspace((unsigned char)*at))
            at++;
        if (at == end || *at == '#')
            return !any || conf_read_values(r);
        for (from = at; at < end && !isspace((unsigned char)*at);)
            at++;
        any = true;
        if (!conf_read_pair(r, from, (size_t)(at - from)))
            return false;
    }
}

/* Reads all lines of @p text, which is a copy: ends of continued lines become blanks. */
static bool conf_read_lines(struct conf_reader *r, char *text, char *end)
{
    char   *at   = text;
    int32_t next = 1;

    while (at < end) {
        char *from = at;

        r->line = next;
        for (;; at++) {
            while (at < end && *at != '\n')
                at++;
            next++;
            if (at == end || at == from || at[-1] != '\\')
                break;
            at[-1] = *at = ' ';
        }
        if (!conf_read_line(r, from, at))
            return false;
        at++;
    }
    return true;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* A switch by its name; a sorted list finds those that links name. */
struct conf_named {
    const char *name;
    int32_t     number;
};

static int conf_compare_named(const void *a, const void *b)
{
    return strcmp(((const struct conf_named *)a)->name, ((const struct conf_named *)b)->name);
}

static bool conf_check_distinct(struct conf_reader *r, const struct conf_named *named,
                                int32_t count)
{
    for (int32_t i = 1; i < count; i++)
        if (strcmp(named[i - 1].name, named[i].name) == 0) {
            int32_t a = r->made->link[named[i - 1].number].line,
                    b = r->made->link[named[i].number].line;

            return conf_refuse(r, a > b ? a : b, "switch %.*s is declared on line %d, too",
                               CONF_QUOTED, named[i].name, a > b ? b : a);
        }
    return true;
}

static bool conf_resolve_link(struct conf_reader *r, const struct conf_link *link,
                              const struct conf_named *named)
{
    struct conf_named  want = {.name = link->name};
    struct conf_named *found =
        bsearch(&want, named, (size_t)r->made->about.switches, sizeof *named, conf_compare_named);
    struct ski_switch *below = found ? &r->made->link[found->number] : NULL;

    if (!below)
        return conf_refuse(r, link->line, "switch %.*s is not declared", CONF_QUOTED, link->name);
    if (below->parent >= 0)
        return conf_refuse(r, link->line,
                           "switch %.*s is linked to switch %.*s, too: a tree is needed",
                           CONF_QUOTED, link->name, CONF_QUOTED, r->made->link[below->parent].name);
    below->parent = link->parent;
    return true;
}

/* Links the switches, all of which are declared now. */
static bool conf_resolve_links(struct conf_reader *r)
{
    int32_t            count = r->made->about.switches;
    struct conf_named *named = ski_malloc(((size_t)count + 1) * sizeof *named);
    bool               ok;

    for (int32_t i = 0; i < count; i++)
        named[i] = (struct conf_named){r->made->link[i].name, i};
    qsort(named, (size_t)count, sizeof *named, conf_compare_named);
    ok = conf_check_distinct(r, named, count);
    for (int32_t i = 0; i < r->links && ok; i++)
        ok = conf_resolve_link(r, &r->link[i], named);
    free(named);
    return ok;
}

static bool conf_check_nodes(struct conf_reader *r)
{
    const struct ski_node *node = r->made->node;

    for (int32_t i = 1; i < r->made->nodes; i++)
        if (strcmp(node[i - 1].name, node[i].name) == 0)
            return conf_refuse(r, node[i].line, "node %.*s is on line %d, too", CONF_QUOTED,
                               node[i].name, node[i - 1].line);
    return true;
}

static bool conf_finish(struct conf_reader *r)
{
    int circle;

    if (r->made->about.kind == SKUA_INTERCONNECT_UNKNOWN && r->made->about.switches == 0)
        return conf_refuse(r, r->line, "the file describes neither switches nor a torus");
    if (!conf_resolve_links(r))
        return false;
    ski_interconnect_sort(r->made);
    if (!conf_check_nodes(r))
        return false;
    circle = ski_interconnect_measure(r->made);
    return circle < 0 || conf_refuse(r, r->made->link[circle].line,
                                     "switch %.*s is linked to itself through its switches",
                                     CONF_QUOTED, r->made->link[circle].name);
}

bool ski_interconnect_parse(struct ski_interconnect *made, const char *path, const char *text,
                            size_t bytes, char *error)
{
    struct conf_reader r    = {.made = made, .path = path, .error = error, .line = 1};
    char              *copy = ski_malloc(bytes + 1);
    bool               ok;

    *made = (struct ski_interconnect){0};
    if (bytes > 0)
        memcpy(copy, text, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (iscntrl((unsigned char)copy[i]) && !isspace((unsigned char)copy[i]))
            copy[i] = '?'; /* in no key; a zero would end a name, and a terminal obeys others */
    ok = conf_read_lines(&r, copy, copy + bytes) && conf_finish(&r);
    for (int32_t i = 0; i < r.links; i++)
        free(r.link[i].name);
    free(r.link);
    free(copy);
    if (!ok)
        ski_interconnect_destroy(made);
    return ok;
}

/* Reads an open file of @p bytes bytes. */
static bool conf_read_file(struct ski_interconnect *made, const char *path, int fd, size_t bytes,
                           char *error)
{
    char   *text = ski_malloc(bytes + 1);
    size_t  have = 0;
    ssize_t n    = 1;
    bool    ok;

    while (have < bytes && (n = read(fd, text + have, bytes - have)) > 0)
        have += (size_t)n;
    if (n < 0)
        snprintf(error, SKI_INTERCONNECT_TEXT, "%s: %s", path, strerror(errno));
    ok = n >= 0 && ski_interconnect_parse(made, path, text, have, error);
    free(text);
    return ok;
}

bool ski_interconnect_is_file(const char *setting)
{
    return strcmp(setting, "auto") != 0 && strcmp(setting, "none") != 0;
}

bool ski_interconnect_read(struct ski_interconnect *made, const char *path, char *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* which does not wait for a FIFO */
    struct stat about;
    bool        ok = false;

    *made = (struct ski_interconnect){0};
    if (fd < 0 || fstat(fd, &about) != 0)
        snprintf(error, SKI_INTERCONNECT_TEXT, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(about.st_mode) || about.st_size > CONF_FILE_MAX)
        snprintf(error, SKI_INTERCONNECT_TEXT, "%s: it is no file of at most %d MiB", path,
                 CONF_FILE_MAX >> 20);
    else
        ok = conf_read_file(made, path, fd, (size_t)about.st_size, error);
    if (fd >= 0)
        close(fd);
    return ok;
}
