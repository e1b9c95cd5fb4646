/* SPDX-License-Identifier: Apache-2.0 */
/* checker_test.c - the members that the checker fills in.  Errors are tested by
 * tests/skuac/errors. */
#include "check/checker.h"

#include <string.h>

#include "support/bump.h"
#include "support/source.h"
#include "support/text.h"
#include "syntax/parse_file.h"
#include "tests/tap.h"

static const char source_text[] = "mainmodule m {\n"
                                  "    readonly int size = 3;\n"
                                  "    readonly double w[size];\n"
                                  "    message Tile { int row; double x[row], y[]; };\n"
                                  "    struct point { double x, y; };\n"
                                  "    interface Common {\n"
                                  "        entry void ping(int a);\n"
                                  "        entry [expedited] void pong();\n"
                                  "        entry void common() { when ping[3](b) serial { } }\n"
                                  "    };\n"
                                  "    mainchare Main { entry Main(int argc, char *argv[]); };\n"
                                  "    array [3D] Block : Common {\n"
                                  "        entry Block();\n"
                                  "        entry void mine(int n);\n"
                                  "        entry void tile(Tile *tile);\n"
                                  "        entry void ghost(int step, int n, double x[n]);\n"
                                  "        entry void pong();\n"
                                  "        entry void run() {\n"
                                  "            when ghost, tile(Tile *t) run();\n"
                                  "        }\n"
                                  "        state { int n; double u[n][4], v[4]; struct point p; }\n"
                                  "    };\n"
                                  "}\n";

static struct ast_tree *checker_test_checked(const char *text)
{
    struct ast_tree *tree = parse_file(source_from_memory("test.ci", text, strlen(text)));

    OK(check_tree(tree), "a valid file has no errors");
    return tree;
}

/* Returns item number @p skip of the given kind. */
static struct ast_item *checker_test_item(const struct ast_tree *tree, enum ast_item_kind kind,
                                          unsigned skip)
{
    for (struct ast_module *m = tree->modules; m; m = m->next)
        for (struct ast_item *item = m->items; item; item = item->next)
            if (item->kind == kind && !skip--)
                return item;
    return NULL;
}

static struct ast_entry *checker_test_entry(const struct ast_class *class, const char *name)
{
    struct ast_entry *entry = class->entries;

    while (entry && !text_is(entry->name.text, name))
        entry = entry->next;
    return entry;
}

static void checker_test_data(const struct ast_tree *tree, const struct ast_class *block)
{
    const struct ast_field *row = checker_test_item(tree, ITEM_MESSAGE, 0)->is.message->fields;
    const struct ast_field *n   = block->state;

    OK(checker_test_item(tree, ITEM_READONLY, 1)->is.readonly->variable,
       "a readonly array is variable");
    OK(!row->variable && row->next->variable && row->next->next->variable,
       "both arrays of a message are variable");
    OK(!n->variable && n->next->variable && !n->next->next->variable,
       "of a state, the array with a field as its length is");
    OK(n->next->next->next->record == checker_test_item(tree, ITEM_RECORD, 0)->is.record,
       "a struct is found as the type of a field");
}

static void checker_test_inheritance(const struct ast_class *block, const struct ast_class *common)
{
    const struct ast_entry *ping   = checker_test_entry(block, "ping"),
                           *pong   = checker_test_entry(block, "pong");
    const struct ast_entry *body   = checker_test_entry(block, "common"),
                           *origin = checker_test_entry(common, "common");

    OK(block->bases->class == common, "the interface is found");
    OK(ping && ping->of == common && ping != checker_test_entry(common, "ping"),
       "an entry is inherited");
    OK(pong->of == block && pong->attributes == ATTRIBUTE_EXPEDITED && !pong->body,
       "one that is declared again is not, but has the attributes");
    OK(body && body->body != origin->body, "a body is copied");
    OK(body->body->body->when_entries->entry == ping &&
           origin->body->body->when_entries->entry == checker_test_entry(common, "ping"),
       "and each waits for an entry of its own class");
}

static void checker_test_when_entries(const struct ast_class *block)
{
    const struct ast_statement  *when  = checker_test_entry(block, "run")->body->body;
    const struct ast_when_entry *ghost = when->when_entries, *tile = ghost->next;
    const struct ast_parameter  *name =
        checker_test_entry(block, "common")->body->body->when_entries->parameters;

    OK(block->awaited_entries == 3 && !checker_test_entry(block, "mine")->awaited,
       "three when-entries");
    OK(checker_test_entry(block, "tile")->number == 0 &&
           checker_test_entry(block, "ghost")->number == 1 &&
           checker_test_entry(block, "ping")->number == 2,
       "are numbered in the order of their declaration");
    OK(text_is(ghost->parameters->next->next->name.text, "x") &&
           ghost->parameters->next->next->passing == PASS_ARRAY,
       "a bare when-entry has the parameters of its entry");
    OK(tile->parameters->passing == PASS_MESSAGE && tile->parameters->message,
       "a message is found");
    OK(text_is(name->name.text, "b") && text_is(name->type.text, "int"),
       "a name alone gets its type");
    OK(when->body->called == checker_test_entry(block, "run"), "a call is found");
}

int main(void)
{
    const struct ast_tree      *tree   = checker_test_checked(source_text);
    const struct ast_class     *common = checker_test_item(tree, ITEM_CLASS, 0)->is.class;
    const struct ast_class     *block  = checker_test_item(tree, ITEM_CLASS, 2)->is.class;
    const struct ast_parameter *argv =
        checker_test_item(tree, ITEM_CLASS, 1)->is.class->entries->parameters;

    checker_test_data(tree, block);
    checker_test_inheritance(block, common);
    checker_test_when_entries(block);
    OK(argv->next->stars == 2 && argv->next->passing == PASS_VALUE, "argv in its other spelling");
    bump_free_all();
    return tap_end();
}
