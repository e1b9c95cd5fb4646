/* SPDX-License-Identifier: Apache-2.0 */
/* parser_test.c - see parser.h: what tests/skuac/ cannot show.  Every beginning of a file, and
 * every file with a byte changed, must be read to its end. */
#include "parser.h"

#include <string.h>

#include "arena.h"
#include "diagnostic.h"
#include "source.h"
#include "tests/tap.h"
#include "text.h"

static const char whole[] =
    "# include <a.h>\n"
    "include \"b.h\";\n"
    "mainmodule m {\n"
    "    readonly int n = f(1, \"a\"), *m[3];\n"
    "    message M { int n; double x[n]; };\n"
    "    code { /* } */ int x; }\n"
    "    [migratable] array [2D] A : B, C {\n"
    "        state { int n = 3; transient string s; }\n"
    "        entry A(int n, double x[n], string s, M *m);\n"
    "        entry ~A();\n"
    "        entry [sync, aggregate(3)] int get();\n"
    "        entry void run() {\n"
    "            int i = 0, j;\n"
    "            for (int k = 0; k < 3; k++) when a[k](n), b serial \"s\" { f('}'); }\n"
    "            forall [q] (0 : n ? 1 : 2, 3) run(1, (2));\n"
    "            overlap { while (x) { } if (y) ; else run(); }\n"
    "            case { when a(); when b(int n) { } }\n"
    "        }\n"
    "    };\n"
    "}\n";

static struct tree *parse_text(const char *text, size_t length)
{
    diagnostic_begin(NULL);
    return parse(source_of("a.ci", text, length));
}

static const struct class *only_class(const struct tree *tree)
{
    const struct module *module = tree->modules;

    while (module && !module->name.text.at)
        module = module->next;
    for (const struct item *item = module ? module->items : NULL; item; item = item->next)
        if (item->kind == ITEM_CLASS)
            return item->is.class;
    return NULL;
}

static void test_whole(void)
{
    struct tree *tree             = parse_text(whole, strlen(whole));
    const struct class *class     = only_class(tree);
    const struct entry     *run   = class->entries->next->next->next;
    const struct statement *local = run->body->body;

    OK(!error_count(), "no errors");
    OK(class->migratable && class->dims == 2 && class->bases->next && class->has_state, "a class");
    OK(class->entries->kind == ENTRY_CONSTRUCTOR && class->entries->next->kind == ENTRY_DESTRUCTOR,
       "constructor, destructor");
    OK(run->kind == ENTRY_METHOD && !run->result.text.at && !run->next, "an entry");
    OK(local->kind == STATEMENT_LOCAL && local->local->next && !local->local->next->next, "locals");
    OK(text_is(local->next->body->body->code.text, " f('}'); "), "C is without its braces");
    OK(local->next->body->body->code.place.line == 14, "and knows its place");
    OK(text_is(local->next->next->last.text, "n ? 1 : 2"), "a range with a question");
    arena_free();
}

/* Cut off anywhere: an error, unless something whole is left, and nothing worse. */
static void test_beginnings(void)
{
    unsigned wrong = 0;

    for (size_t length = 0; length < strlen(whole); length++) {
        char *copy = malloc(length + 1); /* exactly as long, for sanitizers */

        memcpy(copy, whole, length);
        copy[length] = 0;
        parse_text(copy, length);
        wrong += error_count() != 0;
        arena_free();
        free(copy);
    }
    OK(wrong > strlen(whole) - 60, "of all beginnings nearly all have errors");
}

/* Any byte as another one. */
static void test_changes(void)
{
    uint64_t seed = tap_seed();
    char     copy[sizeof whole];

    for (int i = 0; i < 20000; i++) {
        memcpy(copy, whole, sizeof whole);
        for (uint64_t n = 1 + tap_random(&seed) % 4; n; n--)
            copy[tap_random(&seed) % strlen(whole)] = (char)(tap_random(&seed) % 256);
        parse_text(copy, strlen(whole));
        arena_free();
    }
    OK(true, "files with other bytes are read to their ends");
}

int main(void)
{
    test_whole();
    test_beginnings();
    test_changes();
    return tap_end();
}
