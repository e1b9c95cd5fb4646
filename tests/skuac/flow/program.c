/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

unsigned draw(struct program *p, unsigned n)
{
    p->random ^= p->random >> 12;
    p->random ^= p->random << 25;
    p->random ^= p->random >> 27;
    return (unsigned)(p->random * UINT64_C(2685821657736338717) >> 33) % n;
}

/* ---- text --------------------------------------------------------------------------------- */

void line(struct program *p, const char *format, ...)
{
    char    text[600];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (text[0] == '}')
        p->body->indent -= 4;
    fprintf(p->body->to, "%*s%s\n", p->body->indent, "", text);
    if (text[strlen(text) - 1] == '{')
        p->body->indent += 4;
}

unsigned new_variable(struct program *p)
{
    return ++p->variables;
}

void readable(struct program *p, const char *format, ...)
{
    struct body *body = p->body;
    va_list      args;

    if (body->names == NAMES)
        abort();
    va_start(args, format);
    vsnprintf(body->name[body->names++], sizeof body->name[0], format, args);
    va_end(args);
}

void put_note(struct program *p)
{
    const struct body *body  = p->body;
    unsigned           first = body->names > 7 ? body->names - 7 : 0;
    char               text[300];
    int                at = snprintf(text, sizeof text, "serial { note(self, %u", 100 + p->notes++);

    for (unsigned i = first; i < body->names; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, ", %s", body->name[i]);
    line(p, "%s); }", text);
}

/* ---- triggers ----------------------------------------------------------------------------- */

bool has_reference(const struct program *p, unsigned when_entry)
{
    enum shape shape = p->when_entry[when_entry];

    return shape != SHAPE_NONE && shape != SHAPE_PAIR;
}

/* Returns the parameters of a when-entry, with names that end in @p n; NULL: those of the
 * declaration. */
static const char *parameters(const struct program *p, enum shape shape, const char *n)
{
    static char text[100];

    switch (shape) {
    case SHAPE_TWO: snprintf(text, sizeof text, "int k%s, int v%s", n, n); break;
    case SHAPE_ARRAY:
        snprintf(text, sizeof text, "int k%s, int n%s, int x%s[n%s]", n, n, n, n);
        break;
    case SHAPE_SMALL: snprintf(text, sizeof text, "short k%s", n); break;
    case SHAPE_MESSAGE: snprintf(text, sizeof text, "%s *t%s", p->message, n); break;
    case SHAPE_NONE: return "";
    case SHAPE_PAIR: snprintf(text, sizeof text, "struct pair r%s", n); break;
    case SHAPE_TEXT: snprintf(text, sizeof text, "int k%s, string s%s", n, n); break;
    }
    return text;
}

/* Makes the parameters readable. */
static void add_readable(struct program *p, enum shape shape, unsigned n)
{
    if (shape == SHAPE_TWO || shape == SHAPE_ARRAY || shape == SHAPE_SMALL || shape == SHAPE_TEXT)
        readable(p, "k%u", n);
    if (shape == SHAPE_TWO)
        readable(p, "v%u", n);
    if (shape == SHAPE_ARRAY)
        readable(p, "x%u[n%u - 1]", n, n);
    if (shape == SHAPE_PAIR)
        readable(p, "r%u.v", n);
    if (shape == SHAPE_TEXT)
        readable(p, "(s%u[0] - 48)", n);
    if (shape == SHAPE_MESSAGE)
        readable(p, "t%u->k", n), readable(p, "t%u->x[t%u->n - 1]", n, n);
}

const char *when_entry_text(struct program *p, unsigned when_entry, const char *reference)
{
    static char text[200];
    unsigned    n    = new_variable(p);
    enum shape  what = p->when_entry[when_entry];
    char        ending[12];

    snprintf(ending, sizeof ending, "%u", n);
    p->used[when_entry] = true;
    if (reference)
        snprintf(text, sizeof text, "%c[%s](%s)", 'a' + (int)when_entry, reference,
                 parameters(p, what, ending));
    else
        snprintf(text, sizeof text, "%c(%s)", 'a' + (int)when_entry, parameters(p, what, ending));
    add_readable(p, what, n);
    return text;
}

/* ---- entries ------------------------------------------------------------------------------ */

void entry_begin(struct program *p, const char *name)
{
    struct body *body = calloc(1, sizeof *body);
    unsigned     n    = new_variable(p);

    if (!body || !(body->to = open_memstream(&body->text, &body->bytes)))
        abort();
    body->outer  = p->body;
    body->indent = 8;
    p->body      = body;
    line(p, "entry %svoid %s(int d%u, int w%u) {", p->inlined ? "[inline] " : "", name, n, n);
    readable(p, "d%u", n);
    readable(p, "w%u", n);
}

void entry_end(struct program *p)
{
    struct body *body = p->body;

    line(p, "}");
    fclose(body->to);
    fputs(body->text, p->to);
    p->body = body->outer;
    free(body->text);
    free(body);
}

/* ---- classes ------------------------------------------------------------------------------ */

void program_begin(struct program *p)
{
    p->to = open_memstream(&p->text, &p->bytes);
    if (!p->to)
        abort();
}

void program_end(struct program *p, FILE *to, const char *feed)
{
    fclose(p->to);
    fprintf(to,
            "    /* feed: %s */\n    chare %s {\n        state {\n            struct trace trace;\n"
            "            int x, y = 1;\n        }\n\n%s",
            feed, p->name, p->text);
    for (unsigned i = 0; i < p->when_entries; i++)
        if (p->used[i])
            fprintf(to, "        entry %svoid %c(%s);\n", p->inlined ? "[inline] " : "",
                    'a' + (int)i, parameters(p, p->when_entry[i], ""));
    fprintf(to, "        entry void next(struct turn turn);\n    }\n\n");
    free(p->text);
}

void file_begin(FILE *to, const char *module, const char *message)
{
    fprintf(to,
            "module %s {\n    include \"support.h\";\n\n    message %s {\n        int k, v, n;\n"
            "        int x[];\n    }\n\n",
            module, message);
}

void file_end(FILE *to)
{
    fprintf(to, "}\n");
}
