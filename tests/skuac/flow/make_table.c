/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_table.c - generates C that creates objects of the classes of interface files and sends to
 * them.
 *
 * usage: make_table file.ci... >table.c
 */
#include <stdio.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "model.h"
#include "syntax/parse_file.h"
#include "support/source.h"

#define NAME_ARGS(thing) (int)(thing)->name.text.length, (thing)->name.text.at

static bool is_struct(const struct ast_parameter *p)
{
    return p->type.text.length > 6 && memcmp(p->type.text.at, "struct", 6) == 0;
}

/* See model.h. */
static const char *argument(const struct ast_parameter *p, unsigned position)
{
    if (p->stars)
        return bump_printf("%.*s_of(k, v)", (int)p->type.text.length, p->type.text.at);
    if (p->passing == PASS_ARRAY)
        return "x";
    if (p->passing == PASS_STRING)
        return "s";
    if (is_struct(p))
        return "(struct pair){k, v}";
    if (text_is(p->name.text, "n"))
        return "n";
    return bump_printf("(%.*s)%c", (int)p->type.text.length, p->type.text.at,
                       position == 0 ? 'k' : 'v');
}

static void put_arguments(const struct ast_entry *entry, const char *between)
{
    unsigned position = 0;

    for (const struct ast_parameter *p = entry ? entry->parameters : NULL; p; p = p->next) {
        printf("%s%s", between, argument(p, position++));
        between = ", ";
    }
}

/* The constants that argument() mentions. */
static const char values[] = "    const int  n = 1 + v %% 3, x[] = {v, v + 1, v + 2};\n"
                             "    const char s[] = {(char)('0' + v), 0};\n\n"
                             "    (void)n, (void)x, (void)s;\n";

static void put_create(const struct ast_class *class)
{
    printf("static skua_ref %.*s_create(int pe)\n{\n    const int  k = 1, v = 2;\n",
           NAME_ARGS(class));
    printf(values);
    printf("    (void)k, (void)v;\n    return %.*s_new_on(pe", NAME_ARGS(class));
    put_arguments(find_constructor(class), ", ");
    printf(").ref;\n}\n\n");
}

static void put_send(const struct ast_class *class)
{
    printf("static void %.*s_send(skua_ref to, unsigned entry, int k, int v)\n{\n",
           NAME_ARGS(class));
    printf(values);
    printf("    switch (entry) {\n");
    for (const struct ast_entry *e = class->entries; e; e = e->next) {
        if (e->kind != ENTRY_METHOD || text_is(e->name.text, "next"))
            continue;
        printf("    case %u: %.*s_%.*s((%.*s_proxy){to}", entry_number(class, e), NAME_ARGS(class),
               NAME_ARGS(e), NAME_ARGS(class));
        put_arguments(e, ", ");
        printf("); break;\n");
    }
    printf("    default: break;\n    }\n}\n\n");
}

static void put_next(const struct ast_class *class)
{
    printf("static void %.*s_go_on(skua_ref to, struct turn turn)\n{\n"
           "    %.*s_next((%.*s_proxy){to}, turn);\n}\n\n",
           NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
    printf("void %.*s_on_next(%.*s *self, struct turn turn)\n{\n"
           "    next_turn(self, %.*s_self(self).ref, &self->trace, turn);\n}\n\n",
           NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
}

/* ---- files -------------------------------------------------------------------------------- */

static void each_class(const struct ast_tree *tree, void (*put)(const struct ast_class *class))
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        for (const struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_CLASS)
                put(item->is.class);
}

static void put_target(const struct ast_class *class)
{
    printf("    {%.*s_create, %.*s_send, %.*s_go_on},\n", NAME_ARGS(class), NAME_ARGS(class),
           NAME_ARGS(class));
}

static const struct ast_module *main_module(const struct ast_tree *tree)
{
    const struct ast_module *module = tree->modules;

    while (module && !module->name.text.length)
        module = module->next;
    return module;
}

static void put_message(const struct ast_message *message)
{
    printf("static inline %.*s *%.*s_of(int k, int v)\n{\n"
           "    %.*s *it = %.*s_new((size_t)(1 + v %% 3));\n\n"
           "    it->k = k;\n    it->v = v;\n    it->n = 1 + v %% 3;\n"
           "    for (int i = 0; i < it->n; i++)\n        it->x[i] = v + i;\n"
           "    return it;\n}\n\n",
           NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message));
}

static void put_file(const struct ast_tree *tree)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        for (const struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_MESSAGE)
                put_message(item->is.message);
    each_class(tree, put_create);
    each_class(tree, put_send);
    each_class(tree, put_next);
    printf("static const struct target %.*s_targets[] = {\n", NAME_ARGS(main_module(tree)));
    each_class(tree, put_target);
    printf("};\n\n");
}

int main(int argc, char **argv)
{
    struct ast_tree **tree = bump_alloc((size_t)argc * sizeof *tree);

    printf("/* Made by make_table. */\n#include \"run.h\"\n\n");
    for (int i = 1; i < argc; i++) {
        struct source *source = source_read(argv[i]);

        if (!source || (tree[i] = parse_file(source), diagnostic_error_count())) {
            fprintf(stderr, "make_table: %s cannot be read\n", argv[i]);
            return 2;
        }
        printf("#include \"%.*s.ci.h\"\n", NAME_ARGS(main_module(tree[i])));
    }
    for (int i = 1; i < argc; i++)
        put_file(tree[i]);
    printf("const struct program programs[] = {\n");
    for (int i = 1; i < argc; i++)
        printf("    {\"%s\", %.*s_register, %.*s_targets},\n", argv[i],
               NAME_ARGS(main_module(tree[i])), NAME_ARGS(main_module(tree[i])));
    printf("    {NULL, NULL, NULL}};\n");
    bump_free_all();
    return 0;
}
