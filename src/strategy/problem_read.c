/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_read.c - reads a problem from a file; see problem.h.
 *
 * A reader of JSON for this one schema.  It accepts what the schema has and nothing else: a field
 * that is unknown or comes twice, a number that does not fit, text after the end of a value, are
 * errors at a line and a column.  The text is the only input and is not trusted; memory grows with
 * it.  What concerns several fields is checked by ski_problem_check() at the end.
 */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategy/problem.h"

/* The longest name of a field, and text of a number, with a terminating 0. */
enum { READER_NAME = 32, READER_NUMBER = 64 };

struct reader {
    const char         *at, *begin, *end;
    char               *error;
    struct ski_problem *problem;
    size_t              pe_room, object_room, edge_room, hop_room, hop_count, hop_rows;
};

/* ---- tokens -------------------------------------------------------------------------------- */

static bool reader_fail(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool reader_fail(struct reader *r, const char *format, ...)
{
    size_t  line = 1, column = 1;
    int     used;
    va_list args;

    for (const char *c = r->begin; c < r->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    used = snprintf(r->error, SKI_PROBLEM_TEXT, "line %zu, column %zu: ", line, column);
    va_start(args, format);
    vsnprintf(r->error + used, SKI_PROBLEM_TEXT - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* Skips white space.  Returns the next character, or 0 at the end. */
static char reader_peek(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool reader_take(struct reader *r, char wanted)
{
    if (reader_peek(r) != wanted || r->at == r->end)
        return r->at == r->end ? reader_fail(r, "expected '%c', but the file ends", wanted)
                               : reader_fail(r, "expected '%c'", wanted);
    r->at++;
    return true;
}

/* Reads a string without escapes: names and words of the schema have none. */
static bool reader_string(struct reader *r, char name[READER_NAME])
{
    size_t n = 0;

    if (!reader_take(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"') {
        if (n == READER_NAME - 1 || *r->at == '\\' || !isprint((unsigned char)*r->at))
            return reader_fail(r, "no field of this format has such a name");
        name[n++] = *r->at++;
    }
    name[n] = '\0';
    return reader_take(r, '"');
}

/* Copies the text of a number, which has to be one of JSON: no sign +, no leading 0, no inf. */
static bool reader_number_text(struct reader *r, char text[READER_NUMBER])
{
    static const char *const chars = "+-.eE0123456789";
    size_t                   n     = 0;
    char                     first = reader_peek(r);
    const char              *digit = r->at + (first == '-');

    if (digit >= r->end || !isdigit((unsigned char)*digit))
        return reader_fail(r, "expected a number");
    if (*digit == '0' && digit + 1 < r->end && isdigit((unsigned char)digit[1]))
        return reader_fail(r, "a number does not begin with 0");
    while (r->at + n < r->end && r->at[n] && strchr(chars, r->at[n])) {
        if (n == READER_NUMBER - 1)
            return reader_fail(r, "the number is too long");
        text[n] = r->at[n];
        n++;
    }
    text[n] = '\0';
    return true;
}

static bool reader_double(struct reader *r, const char *name, double *value)
{
    char text[READER_NUMBER], *end;

    if (!reader_number_text(r, text))
        return false;
    *value = strtod(text, &end);
    if (*end || end[-1] == '.')
        return reader_fail(r, "'%s' is no number", text);
    if (!(*value >= -DBL_MAX && *value <= DBL_MAX))
        return reader_fail(r, "\"%s\": %s is too large", name, text);
    r->at += strlen(text);
    return true;
}

/* Reads a double that is a time, a load or a speed. */
static bool reader_amount(struct reader *r, const char *name, double *value)
{
    const char *from = r->at;

    if (!reader_double(r, name, value))
        return false;
    if (*value >= 0)
        return true;
    r->at = from;
    reader_peek(r);
    return reader_fail(r, "\"%s\" is negative", name);
}

static bool reader_count(struct reader *r, const char *name, uint64_t most, uint64_t *value)
{
    char               text[READER_NUMBER], *end;
    unsigned long long number;

    if (!reader_number_text(r, text))
        return false;
    errno  = 0;
    number = strtoull(text, &end, 10);
    if (text[0] == '-' || *end || errno || number > most)
        return reader_fail(r, "\"%s\" has to be a whole number from 0 to %" PRIu64 ", not %s", name,
                           most, text);
    r->at += strlen(text);
    *value = number;
    return true;
}

static bool reader_int(struct reader *r, const char *name, int32_t most, int32_t *value)
{
    uint64_t number;

    if (!reader_count(r, name, (uint64_t)most, &number))
        return false;
    *value = (int32_t)number;
    return true;
}

static bool reader_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* ---- objects and lists --------------------------------------------------------------------- */

/* Reads the value of field number @p field into @p to. */
typedef bool (*reader_field_fn)(struct reader *r, int field, void *to);

/* Reads the name of a field of a list of names.  Returns its index, or -1. */
static int reader_field(struct reader *r, const char *const *names, unsigned seen)
{
    const char *from;
    char        name[READER_NAME];
    int         k = 0;

    reader_peek(r);
    from = r->at;
    if (!reader_string(r, name))
        return -1;
    while (names[k] && strcmp(names[k], name) != 0)
        k++;
    if (names[k] && !(seen & 1u << k))
        return reader_take(r, ':') ? k : -1;
    r->at = from;
    reader_fail(r, names[k] ? "\"%s\" comes twice" : "\"%s\" is unknown here", name);
    return -1;
}

/* Reads an object whose fields have the given names, each at most once, and those of the mask
 * `required`. */
static bool reader_object(struct reader *r, const char *const *names, unsigned required,
                          reader_field_fn read, void *to)
{
    unsigned seen = 0;

    if (!reader_take(r, '{'))
        return false;
    while (reader_peek(r) != '}') {
        int k;

        if (seen && !reader_take(r, ','))
            return false;
        k = reader_field(r, names, seen);
        if (k < 0 || !read(r, k, to))
            return false;
        seen |= 1u << k;
    }
    for (int k = 0; names[k]; k++)
        if (required & ~seen & 1u << k)
            return reader_fail(r, "\"%s\" is missing", names[k]);
    return reader_take(r, '}');
}

/* Reads a list; @p read reads an item. */
static bool reader_list(struct reader *r, bool (*read)(struct reader *r))
{
    bool first = true;

    if (!reader_take(r, '['))
        return false;
    while (reader_peek(r) != ']') {
        if (!first && !reader_take(r, ','))
            return false;
        if (!read(r))
            return false;
        first = false;
    }
    return reader_take(r, ']');
}

/* Returns a list with room for one more item of @p bytes bytes. */
static void *reader_grow(void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 64;
    return ski_realloc(list, *room * bytes);
}

/* ---- the schema ---------------------------------------------------------------------------- */

static bool reader_pe_field(struct reader *r, int field, void *to)
{
    skua_strategy_pe *pe = to;

    switch (field) {
    case 0: return reader_int(r, "pe", INT32_MAX, &pe->pe);
    case 1: return reader_int(r, "host", SKI_PROBLEM_PES - 1, &pe->host);
    case 2: return reader_amount(r, "background", &pe->background);
    case 3: return reader_amount(r, "idle", &pe->idle);
    default: return reader_amount(r, "speed", &pe->speed);
    }
}

static bool reader_pe(struct reader *r)
{
    static const char *const names[] = {"pe", "host", "background", "idle", "speed", NULL};
    skua_strategy_problem   *p       = &r->problem->problem;
    skua_strategy_pe         pe      = {.pe = p->pes};

    if (p->pes == SKI_PROBLEM_PES)
        return reader_fail(r, "there are more than %d PEs", SKI_PROBLEM_PES);
    if (!reader_object(r, names, 0, reader_pe_field, &pe))
        return false;
    r->problem->pe           = reader_grow(r->problem->pe, (size_t)p->pes, &r->pe_room, sizeof pe);
    r->problem->pe[p->pes++] = pe;
    p->hosts                 = pe.host >= p->hosts ? pe.host + 1 : p->hosts;
    return true;
}

static bool reader_movable(struct reader *r, skua_strategy_object *object)
{
    reader_peek(r);
    if (reader_word(r, "false"))
        object->flags &= ~(unsigned)SKUA_OBJECT_MOVABLE;
    else if (!reader_word(r, "true"))
        return reader_fail(r, "\"movable\" has to be true or false");
    return true;
}

static bool reader_position(struct reader *r, skua_strategy_object *object)
{
    object->flags |= SKUA_OBJECT_POSITIONED;
    for (int k = 0; k < 3; k++)
        if (!reader_take(r, k ? ',' : '[') || !reader_double(r, "position", &object->position[k]))
            return false;
    return reader_take(r, ']');
}

static bool reader_object_field(struct reader *r, int field, void *to)
{
    skua_strategy_object *object = to;

    switch (field) {
    case 0:
        if (r->problem->problem.pes == 0)
            return reader_fail(r, "\"pes\" has to come before \"objects\"");
        return reader_int(r, "pe", r->problem->problem.pes - 1, &object->pe);
    case 1: return reader_amount(r, "load", &object->load);
    case 2: return reader_count(r, "bytes", UINT64_MAX >> 20, &object->bytes);
    case 3: return reader_movable(r, object);
    default: return reader_position(r, object);
    }
}

static bool reader_one_object(struct reader *r)
{
    static const char *const names[] = {"pe", "load", "bytes", "movable", "position", NULL};
    skua_strategy_problem   *p       = &r->problem->problem;
    skua_strategy_object     object  = {.flags = SKUA_OBJECT_MOVABLE};

    if (p->objects == INT32_MAX)
        return reader_fail(r, "there are too many objects");
    if (!reader_object(r, names, 3, reader_object_field, &object))
        return false;
    r->problem->object =
        reader_grow(r->problem->object, p->objects, &r->object_room, sizeof object);
    r->problem->object[p->objects++] = object;
    return true;
}

static bool reader_edge(struct reader *r)
{
    static const char *const names[] = {"from", "to", "messages", "bytes"};
    skua_strategy_problem   *p       = &r->problem->problem;
    uint64_t                 value[4];

    if (p->objects == 0)
        return reader_fail(r, "\"objects\" has to come before \"edges\"");
    if (p->edges == INT32_MAX)
        return reader_fail(r, "there are too many edges");
    for (int k = 0; k < 4; k++)
        if (!reader_take(r, k ? ',' : '[') ||
            !reader_count(r, names[k], k < 2 ? p->objects - 1 : UINT64_MAX >> 20, &value[k]))
            return false;
    r->problem->edge =
        reader_grow(r->problem->edge, p->edges, &r->edge_room, sizeof *r->problem->edge);
    r->problem->edge[p->edges++] =
        (skua_strategy_edge){(uint32_t)value[0], (uint32_t)value[1], value[2], value[3]};
    return reader_take(r, ']');
}

static bool reader_hop(struct reader *r)
{
    int32_t hops;

    if (!reader_int(r, "hops", INT16_MAX, &hops))
        return false;
    r->problem->hops = reader_grow(r->problem->hops, r->hop_count, &r->hop_room, sizeof hops);
    r->problem->hops[r->hop_count++] = hops;
    return true;
}

/* All rows have the length of the first one. */
static bool reader_hop_row(struct reader *r)
{
    size_t before = r->hop_count, length;

    if (!reader_list(r, reader_hop))
        return false;
    length = r->hop_count - before;
    r->hop_rows++;
    return length * r->hop_rows == r->hop_count ||
           reader_fail(r, "row %zu of \"hops\" has %zu numbers, the first one %zu", r->hop_rows,
                       length, before / (r->hop_rows - 1));
}

static bool reader_format(struct reader *r)
{
    char word[READER_NAME];

    if (!reader_string(r, word))
        return false;
    return strcmp(word, "skua-loads") == 0 ||
           reader_fail(r, "\"format\" has to be \"skua-loads\", not \"%s\"", word);
}

static bool reader_version(struct reader *r)
{
    int32_t version;

    if (!reader_int(r, "version", INT32_MAX, &version))
        return false;
    return version == SKI_PROBLEM_VERSION ||
           reader_fail(r, "version %d of the format; this program reads version %d", version,
                       SKI_PROBLEM_VERSION);
}

/* Reads the number of hosts, of which some may have no PE. */
static bool reader_hosts(struct reader *r)
{
    int32_t hosts, *known = &r->problem->problem.hosts;

    if (!reader_int(r, "hosts", SKI_PROBLEM_PES, &hosts))
        return false;
    if (hosts > *known)
        *known = hosts;
    return true;
}

enum { READER_FORMAT = 1, READER_VERSION = 2, READER_PES = 4, READER_OBJECTS = 8 };

static bool reader_problem_field(struct reader *r, int field, void *to)
{
    skua_strategy_problem *p = to;

    switch (field) {
    case 0: return reader_format(r);
    case 1: return reader_version(r);
    case 2: return reader_list(r, reader_pe);
    case 3: return reader_list(r, reader_one_object);
    case 4: return reader_list(r, reader_edge);
    case 5: return reader_list(r, reader_hop_row);
    case 6: return reader_hosts(r);
    case 7: return reader_count(r, "seed", UINT64_MAX, &p->seed);
    case 8: return reader_amount(r, "seconds_per_message", &p->seconds_per_message);
    default: return reader_amount(r, "seconds_per_byte", &p->seconds_per_byte);
    }
}

static int reader_hops_of(const void *arg, int a, int b)
{
    const struct ski_problem *problem = arg;

    return problem->hops[(int64_t)a * problem->problem.hosts + b];
}

/* Checks what concerns several fields. */
static bool reader_finish(struct reader *r)
{
    skua_strategy_problem *p = &r->problem->problem;
    char                   text[SKI_PROBLEM_TEXT];

    p->size   = sizeof *p;
    p->pe     = r->problem->pe;
    p->object = r->problem->object;
    p->edge   = r->problem->edge;
    if (r->hop_count &&
        (r->hop_rows != (size_t)p->hosts || r->hop_count != (size_t)p->hosts * (size_t)p->hosts))
        return reader_fail(r, "\"hops\" has %zu rows of %zu numbers, but there are %d hosts",
                           r->hop_rows, r->hop_count / r->hop_rows, p->hosts);
    if (r->hop_count) {
        p->hops     = reader_hops_of;
        p->hops_arg = r->problem;
    }
    return ski_problem_check(p, text) || reader_fail(r, "%.200s", text);
}

int ski_problem_read(const char *text, size_t bytes, size_t *at, struct ski_problem *problem,
                     char *error)
{
    static const char *const names[] = {"format",
                                        "version",
                                        "pes",
                                        "objects",
                                        "edges",
                                        "hops",
                                        "hosts",
                                        "seed",
                                        "seconds_per_message",
                                        "seconds_per_byte",
                                        NULL};
    struct reader            r       = {
                         .at = text + *at, .begin = text, .end = text + bytes, .error = error, .problem = problem};

    *problem = (struct ski_problem){0};
    reader_peek(&r);
    if (r.at == r.end)
        return 0;
    if (!reader_object(&r, names, READER_FORMAT | READER_VERSION | READER_PES | READER_OBJECTS,
                       reader_problem_field, &problem->problem) ||
        !reader_finish(&r)) {
        ski_problem_destroy(problem);
        return -1;
    }
    *at = (size_t)(r.at - text);
    return 1;
}

void ski_problem_destroy(struct ski_problem *problem)
{
    free(problem->pe);
    free(problem->object);
    free(problem->edge);
    free(problem->hops);
    *problem = (struct ski_problem){0};
}
