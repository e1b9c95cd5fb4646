/* SPDX-License-Identifier: Apache-2.0 */
/* checker_test.c - what the checker completes.  What it refuses: tests/skuac/errors. */
#include "checker.h"

#include <string.h>

#include "arena.h"
#include "diagnostic.h"
#include "parser.h"
#include "source.h"
#include "tests/tap.h"
#include "text.h"

static const char source_text[] =
    "mainmodule m {\n"
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

static struct tree *checked(const char *text)
{
    struct tree *tree = parse(source_of("test.ci", text, strlen(text)));

    OK(check(tree), "a file that is right");
    return tree;
}

/* The items of the only module with a name, by kind. */
static struct item *item_of(const struct tree *tree, enum item_kind kind, unsigned skip)
{
    for (struct module *m = tree->modules; m; m = m->next)
        for (struct item *item = m->items; item; item = item->next)
            if (item->kind == kind && !skip--)
                return item;
    return NULL;
}

static struct entry *entry_of(const struct class *class, const char *name)
{
    struct entry *entry = class->entries;

    while (entry && !text_is(entry->name.text, name))
        entry = entry->next;
    return entry;
}

static void test_data(const struct tree *tree, const struct class *block)
{
    const struct field *row = item_of(tree, ITEM_MESSAGE, 0)->is.message->fields;
    const struct field *n   = block->state;

    OK(item_of(tree, ITEM_READONLY, 1)->is.readonly->variable, "a readonly array is variable");
    OK(!row->variable && row->next->variable && row->next->next->variable,
       "both arrays of a message are variable");
    OK(!n->variable && n->next->variable && !n->next->next->variable,
       "of a state, the array with a field as its length is");
    OK(n->next->next->next->record == item_of(tree, ITEM_RECORD, 0)->is.record,
       "a struct is found as the type of a field");
}

static void test_inheritance(const struct class *block, const struct class *common)
{
    const struct entry *ping = entry_of(block, "ping"), *pong = entry_of(block, "pong");
    const struct entry *body = entry_of(block, "common"), *origin = entry_of(common, "common");

    OK(block->bases->class == common, "the interface is found");
    OK(ping && ping->of == common && ping != entry_of(common, "ping"), "an entry is inherited");
    OK(pong->of == block && pong->attributes == ATTRIBUTE_EXPEDITED && !pong->body,
       "one that is declared again is not, but has the attributes");
    OK(body && body->body != origin->body, "a body is copied");
    OK(body->body->body->triggers->entry == ping &&
           origin->body->body->triggers->entry == entry_of(common, "ping"),
       "and each waits for an entry of its own class");
}

static void test_triggers(const struct class *block)
{
    const struct statement *when  = entry_of(block, "run")->body->body;
    const struct trigger   *ghost = when->triggers, *tile = ghost->next;
    const struct parameter *name  = entry_of(block, "common")->body->body->triggers->parameters;

    OK(block->triggers == 3 && !entry_of(block, "mine")->trigger, "three triggers");
    OK(entry_of(block, "tile")->number == 0 && entry_of(block, "ghost")->number == 1 &&
           entry_of(block, "ping")->number == 2,
       "are numbered in the order of their declaration");
    OK(text_is(ghost->parameters->next->next->name.text, "x") &&
           ghost->parameters->next->next->passing == PASS_ARRAY,
       "a bare trigger has the parameters of its entry");
    OK(tile->parameters->passing == PASS_MESSAGE && tile->parameters->message,
       "a message is found");
    OK(text_is(name->name.text, "b") && text_is(name->type.text, "int"),
       "a name alone gets its type");
    OK(when->body->called == entry_of(block, "run"), "a call is found");
}

int main(void)
{
    const struct tree      *tree   = checked(source_text);
    const struct class     *common = item_of(tree, ITEM_CLASS, 0)->is.class;
    const struct class     *block  = item_of(tree, ITEM_CLASS, 2)->is.class;
    const struct parameter *argv   = item_of(tree, ITEM_CLASS, 1)->is.class->entries->parameters;

    test_data(tree, block);
    test_inheritance(block, common);
    test_triggers(block);
    OK(argv->next->stars == 2 && argv->next->passing == PASS_VALUE, "argv in its other spelling");
    arena_free();
    return tap_end();
}
