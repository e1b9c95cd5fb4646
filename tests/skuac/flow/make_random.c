/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_random.c - generates random programs from a seed.
 *
 * usage: make_random SEED COUNT MODULE >MODULE.ci
 *
 * All programs terminate: loops count, and recursive calls decrement an argument.  The model
 * decides whether a program is useful: one that does little, or does not stop soon, is replaced.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "model.h"
#include "syntax/parse_file.h"
#include "program.h"
#include "support/source.h"

#define DEPTH 4
#define NOTES 16 /* notes; a program with this many is not nested deeper */

/* The entries that exist besides `run`. */
static bool calls, posts, in_sub, in_again;

static void put_list(struct program *p, unsigned depth);

/* ---- expressions -------------------------------------------------------------------------- */

struct words {
    char text[80];
};

static struct words words(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct words words(const char *format, ...)
{
    struct words words;
    va_list      args;

    va_start(args, format);
    vsnprintf(words.text, sizeof words.text, format, args);
    va_end(args);
    return words;
}

static const char *some_name(struct program *p)
{
    unsigned i = draw(p, p->body->names + 2);

    return i < p->body->names ? p->body->name[i] : i == p->body->names ? "self->x" : "self->y";
}

static struct words expression(struct program *p)
{
    switch (draw(p, 5)) {
    case 0: return words("%u", draw(p, 4));
    case 1: return words("%s + %u", some_name(p), draw(p, 3));
    case 2: return words("(%s + %s) %% 5", some_name(p), some_name(p));
    default: return words("%s", some_name(p));
    }
}

static struct words condition(struct program *p)
{
    static const char *const compare[] = {"==", "!=", "<", ">", "<=", ">="};
    struct words             left      = expression(p), right;

    if (draw(p, 2))
        return words("%s %s %u", left.text, compare[draw(p, 6)], draw(p, 4));
    right = words("%s %% 2 == %u", some_name(p), draw(p, 2));
    return words("%.40s > 1 %s %.30s", left.text, draw(p, 2) ? "&&" : "||", right.text);
}

static struct words reference(struct program *p)
{
    return draw(p, 2) ? words("%u", draw(p, 3)) : words("%s %% 3", some_name(p));
}

/* ---- statements --------------------------------------------------------------------------- */

/* Returns a writable variable: one declared as such, or a field. */
static const char *some_variable(struct program *p)
{
    for (unsigned tries = 0; tries < 4; tries++) {
        const char *name = some_name(p);

        if (name[0] == 'u' || name[0] == 's')
            return name;
    }
    return "self->y";
}

static void put_change(struct program *p)
{
    const char  *variable = some_variable(p);
    struct words value    = expression(p);

    line(p, "serial { %s = (%s + %s) %% 20; }", variable, variable, value.text);
}

/* Writes a message to the object itself: to an entry, or to a when-entry with two integers. */
static void put_post(struct program *p)
{
    struct words k = reference(p), v = words("%s %% 10", some_name(p));
    unsigned     when_entry = draw(p, p->when_entries);

    if (!p->inlined || in_again)
        return;
    if (p->when_entry[when_entry] == SHAPE_TWO && p->used[when_entry]) {
        line(p, "serial { %s_%c(%s_self(self), %s, %s); }", p->name, 'a' + (int)when_entry, p->name,
             k.text, v.text);
    } else {
        posts = true;
        line(p, "serial { %s_again(%s_self(self), %s, %s); }", p->name, p->name, k.text, v.text);
    }
}

static void put_serial(struct program *p)
{
    put_note(p);
    if (draw(p, 2))
        put_change(p);
    if (draw(p, 3) == 0)
        put_post(p);
}

static void put_local(struct program *p)
{
    unsigned     n     = new_variable(p);
    struct words value = expression(p);

    if (draw(p, 3))
        line(p, "int u%u = %s;", n, value.text);
    else
        line(p, "int u%u;", n);
    readable(p, "u%u", n);
}

/* Writes a `when` for one or several messages; reference numbers cannot use the parameters. */
static void put_when(struct program *p, unsigned depth)
{
    unsigned     names = p->body->names, count = 1 + draw(p, 10) / 6 + draw(p, 10) / 9;
    unsigned     when_entry[3];
    struct words wanted[3];

    for (unsigned i = 0; i < count; i++) {
        when_entry[i] = i > 0 && draw(p, 3) == 0 ? when_entry[0] : draw(p, p->when_entries);
        wanted[i]     = reference(p);
        if (!has_reference(p, when_entry[i]) || draw(p, 2))
            wanted[i].text[0] = 0;
    }
    for (unsigned i = 0; i < count; i++)
        line(p, "%s %s%s", i == 0 ? "when" : "    ",
             when_entry_text(p, when_entry[i], wanted[i].text[0] ? wanted[i].text : NULL),
             i + 1 < count ? "," : " {");
    put_list(p, depth + 1);
    line(p, "}");
    p->body->names = names;
}

/* Writes a `when` without a body. */
static void put_drop(struct program *p)
{
    unsigned names = p->body->names;

    line(p, "when %s;", when_entry_text(p, draw(p, p->when_entries), NULL));
    p->body->names = names;
}

static void put_case(struct program *p, unsigned depth)
{
    unsigned count = 1 + draw(p, 3);

    line(p, "case {");
    for (unsigned i = 0; i < count; i++)
        put_when(p, depth);
    line(p, "}");
}

static void put_if(struct program *p, unsigned depth)
{
    line(p, "if (%s) {", condition(p).text);
    put_list(p, depth + 1);
    if (draw(p, 2)) {
        line(p, "} else {");
        put_list(p, depth + 1);
    }
    line(p, "}");
}

static void put_for(struct program *p, unsigned depth)
{
    unsigned     names = p->body->names, n = new_variable(p);
    struct words last = draw(p, 2) ? words("%s %% 3", some_name(p)) : words("%u", draw(p, 3));

    line(p, "for (int i%u = 0; i%u <= %s; i%u++) {", n, n, last.text, n);
    readable(p, "i%u", n);
    put_list(p, depth + 1);
    line(p, "}");
    p->body->names = names;
}

static void put_while(struct program *p, unsigned depth)
{
    unsigned n = new_variable(p);

    line(p, "int i%u;", n);
    readable(p, "i%u", n);
    line(p, "while (i%u < %u) {", n, 1 + draw(p, 3));
    line(p, "serial { i%u++; }", n);
    put_list(p, depth + 1);
    line(p, "}");
}

static void put_forall(struct program *p, unsigned depth)
{
    unsigned     names = p->body->names, n = new_variable(p);
    struct words last = words("%s %% 3", some_name(p));

    if (draw(p, 3))
        line(p, "forall [f%u] (0 : %s) {", n, last.text);
    else
        line(p, "forall [f%u] (%u : %s, %s) {", n, 2 + draw(p, 2), last.text,
             draw(p, 2) ? "-1" : "-2");
    readable(p, "f%u", n);
    put_list(p, depth + 1);
    line(p, "}");
    p->body->names = names;
}

static void put_block(struct program *p, unsigned depth)
{
    line(p, "{");
    put_list(p, depth + 1);
    line(p, "}");
}

static void put_overlap(struct program *p, unsigned depth)
{
    unsigned count = 2 + draw(p, 2);

    line(p, "overlap {");
    for (unsigned i = 0; i < count; i++)
        if (draw(p, 2))
            put_block(p, depth);
        else
            put_when(p, depth);
    line(p, "}");
}

/* In `sub`, d is the first name. */
static void put_call(struct program *p)
{
    struct words value = words("%s %% 7", some_name(p));

    if (in_again)
        return;
    calls = true;
    if (in_sub)
        line(p, "if (%s > 0) sub(%s - 1, %s);", p->body->name[0], p->body->name[0], value.text);
    else
        line(p, "sub(%u, %s);", draw(p, 3), value.text);
}

static void put_statement(struct program *p, unsigned depth)
{
    unsigned kind = depth >= DEPTH || p->notes >= NOTES ? draw(p, 6) : draw(p, 22);

    switch (kind) {
    case 0:
    case 1:
    case 2: put_serial(p); break;
    case 3: put_local(p); break;
    case 4: put_call(p); break;
    case 5: put_drop(p); break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: put_when(p, depth); break;
    case 11:
    case 12: put_for(p, depth); break;
    case 13: put_while(p, depth); break;
    case 14: put_if(p, depth); break;
    case 15:
    case 16:
    case 17: put_forall(p, depth); break;
    case 18:
    case 19: put_overlap(p, depth); break;
    case 20: put_case(p, depth); break;
    default: put_block(p, depth); break;
    }
}

static void put_list(struct program *p, unsigned depth)
{
    unsigned names = p->body->names, count = 1 + draw(p, depth == 0 ? 3 : 2);

    for (unsigned i = 0; i < count; i++)
        put_statement(p, depth);
    put_note(p);
    p->body->names = names;
}

/* ---- programs ----------------------------------------------------------------------------- */

static void put_entry(struct program *p, const char *name)
{
    entry_begin(p, name);
    put_list(p, 0);
    if (draw(p, 2))
        put_list(p, 1);
    entry_end(p);
}

/* Writes the feed: `run`, the other entries, and messages for all when-entries. */
static void put_feed(struct program *p, FILE *to, bool go)
{
    unsigned count = 8 + draw(p, 10);

    fprintf(to, "run %u %u", draw(p, 3), draw(p, 10));
    if (draw(p, 2))
        fprintf(to, ", run %u %u", draw(p, 3), draw(p, 10));
    if (go)
        fprintf(to, ", go %u %u", draw(p, 3), draw(p, 10));
    if (calls && draw(p, 3) == 0)
        fprintf(to, ", sub %u %u", draw(p, 3), draw(p, 10));
    for (unsigned i = 0; i < count; i++) {
        unsigned when_entry = draw(p, p->when_entries);

        if (p->used[when_entry])
            fprintf(to, ", %c %u %u", 'a' + (int)when_entry, draw(p, 3), draw(p, 10));
    }
}

static void put_entries(struct program *p, bool go)
{
    calls = posts = false;
    put_entry(p, "run");
    if (go)
        put_entry(p, "go");
    in_sub = true;
    if (calls)
        put_entry(p, "sub");
    in_sub   = false;
    in_again = true;
    if (posts)
        put_entry(p, "again");
    in_again = false;
}

/* Returns a class as text, which the caller frees. */
static char *draw_class(uint64_t *random, const char *name, const char *message)
{
    struct program p    = {.name = name, .message = message, .random = *random};
    char          *text = NULL, *feed = NULL;
    size_t         bytes;
    FILE          *to = open_memstream(&text, &bytes), *feed_to = open_memstream(&feed, &bytes);
    bool           go = draw(&p, 2);

    if (!to || !feed_to)
        abort();
    p.inlined      = draw(&p, 4) == 0;
    p.when_entries = 2 + draw(&p, 3);
    for (unsigned i = 0; i < p.when_entries; i++)
        p.when_entry[i] = draw(&p, 2) ? SHAPE_TWO : (enum shape)draw(&p, SHAPES);
    program_begin(&p);
    put_entries(&p, go);
    put_feed(&p, feed_to, go);
    fclose(feed_to);
    program_end(&p, to, feed);
    fclose(to);
    free(feed);
    *random = p.random;
    return text;
}

/* ---- judgement ---------------------------------------------------------------------------- */

#define TRIALS 20

static void shuffle(struct feed *feed, struct program *p)
{
    for (unsigned i = 0; i + 1 < feed->count; i++) {
        unsigned            other = i + draw(p, feed->count - i);
        struct feed_message m     = feed->message[i];

        feed->message[i]     = feed->message[other];
        feed->message[other] = m;
    }
}

/* Returns true if the program reacts to its messages, but not too much, in some orders. */
static bool is_good(const struct ast_class *class)
{
    struct feed    feed = feed_of(class);
    struct program p    = {.random = 1};
    unsigned       most = 0, notes = 0, kept = 0;

    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct model *model = model_new(class);

        shuffle(&feed, &p);
        for (unsigned i = 0; i < feed.count; i++)
            model_send(model, &feed.message[i]);
        notes += model_trace(model)->count;
        kept += model_kept(model);
        most = model_steps(model) > most ? model_steps(model) : most;
        model_free(model);
    }
    return most < MODEL_STEPS / 5 && notes > TRIALS * 60 && kept < TRIALS * feed.count / 2;
}

static bool is_good_text(const char *text)
{
    const char      *module = bump_printf("module m {\n%s}\n", text);
    struct source   *source = source_from_memory("drawn", module, strlen(module));
    struct ast_tree *tree   = parse_file(source);

    if (diagnostic_error_count()) {
        fprintf(stderr, "%s", text);
        exit(2);
    }
    return is_good(tree->modules->items->is.class);
}

static void put_class(uint64_t *random, const char *name, const char *message)
{
    char *text = draw_class(random, name, message);

    while (!is_good_text(text)) {
        free(text);
        text = draw_class(random, name, message);
    }
    fputs(text, stdout);
    free(text);
}

int main(int argc, char **argv)
{
    uint64_t    random = argc > 1 ? strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15u | 1 : 1;
    unsigned    count  = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 10;
    const char *module = argc > 3 ? argv[3] : "random";

    file_begin(stdout, module, bump_printf("%s_tile", module));
    for (unsigned i = 0; i < count; i++)
        put_class(&random, bump_printf("%s_p%u", module, i), bump_printf("%s_tile", module));
    file_end(stdout);
    bump_free_all();
    return 0;
}
