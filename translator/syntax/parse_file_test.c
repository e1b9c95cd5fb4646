/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_file_test.c - properties that tests/skuac/ cannot show.
 *
 * The parser terminates on every prefix of a file, and on files with random bytes changed.
 */
#include "syntax/parse_file.h"

#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"
#include "tests/tap.h"

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

static struct ast_tree *parse_file_test_parse(const char *text, size_t length)
{
    diagnostic_begin(NULL);
    return parse_file(source_from_memory("a.ci", text, length));
}

static const struct ast_class *parse_file_test_class(const struct ast_tree *tree)
{
    const struct ast_module *module = tree->modules;

    while (module && !module->name.text.at)
        module = module->next;
    for (const struct ast_item *item = module ? module->items : NULL; item; item = item->next)
        if (item->kind == ITEM_CLASS)
            return item->is.class;
    return NULL;
}

static void parse_file_test_whole(void)
{
    struct ast_tree *tree             = parse_file_test_parse(whole, strlen(whole));
    const struct ast_class *class     = parse_file_test_class(tree);
    const struct ast_entry     *run   = class->entries->next->next->next;
    const struct ast_statement *local = run->body->body;

    OK(!diagnostic_error_count(), "no errors");
    OK(class->attributes == CLASS_MIGRATABLE && class->dims == 2 && class->bases->next &&
           class->has_state,
       "a class");
    OK(class->entries->kind == ENTRY_CONSTRUCTOR && class->entries->next->kind == ENTRY_DESTRUCTOR,
       "constructor, destructor");
    OK(run->kind == ENTRY_METHOD && !run->result.text.at && !run->next, "an entry");
    OK(local->kind == STATEMENT_LOCAL && local->local->next && !local->local->next->next, "locals");
    OK(text_is(local->next->body->body->code.text, " f('}'); "), "embedded C excludes its braces");
    OK(local->next->body->body->code.location.line == 14, "and has a location");
    OK(text_is(local->next->next->last.text, "n ? 1 : 2"), "a range with a question");
    bump_free_all();
}

/* A truncated file has an error unless a whole prefix is left; the parser never fails otherwise. */
static void parse_file_test_truncated(void)
{
    unsigned wrong = 0;

    for (size_t length = 0; length < strlen(whole); length++) {
        char *copy = malloc(length + 1); /* exactly as long, so that sanitizers detect an overrun */

        memcpy(copy, whole, length);
        copy[length] = 0;
        parse_file_test_parse(copy, length);
        wrong += diagnostic_error_count() != 0;
        bump_free_all();
        free(copy);
    }
    OK(wrong > strlen(whole) - 60, "nearly all prefixes of a file have errors");
}

/* Replaces random bytes by random ones. */
static void parse_file_test_mutated(void)
{
    uint64_t seed = tap_seed();
    char     copy[sizeof whole];

    for (int i = 0; i < 20000; i++) {
        memcpy(copy, whole, sizeof whole);
        for (uint64_t n = 1 + tap_random(&seed) % 4; n; n--)
            copy[tap_random(&seed) % strlen(whole)] = (char)(tap_random(&seed) % 256);
        parse_file_test_parse(copy, strlen(whole));
        bump_free_all();
    }
    OK(true, "the parser reaches the end of files with changed bytes");
}

int main(void)
{
    parse_file_test_whole();
    parse_file_test_truncated();
    parse_file_test_mutated();
    return tap_end();
}
