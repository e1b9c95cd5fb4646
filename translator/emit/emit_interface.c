/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_interface.c - interfaces, and the classes that implement them.
 *
 * A class that implements an interface registers a table of its entries for it.  A reference to an
 * object by its interface has the number of that table, so a send finds the entry of the object's
 * class.
 */
#include "emit/emit_parts.h"

void emit_interface_types(struct writer *to, const struct ast_class *class)
{
    writer_put(to,
               "/** A reference to an object of any class that implements the interface %.*s. */\n"
               "typedef struct {\n    skua_ref ref; /* for the functions of skua/object.h */\n"
               "    uint32_t of;  /* index of its class */\n"
               "} %.*s_element;\n\n",
               NAME_ARGS(class), NAME_ARGS(class));
    writer_put(to, "struct %.*s__table {\n", NAME_ARGS(class));
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        writer_put(to, "    skua_entry %.*s;\n", NAME_ARGS(entry));
    if (!class->entries)
        writer_put(to, "    char skua_nothing;\n");
    writer_put(to,
               "};\n\n"
               "const struct %.*s__table *%.*s__table_of(%.*s_element skua_to);\n"
               "uint32_t %.*s__add(const struct %.*s__table *skua_table);\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
               NAME_ARGS(class));
}

void emit_interface(struct writer *to, const struct ast_class *class)
{
    writer_put(to,
               "#define %.*s__CLASSES 64\n\n"
               "static struct %.*s__table %.*s__tables[%.*s__CLASSES];\n"
               "static uint32_t %.*s__count;\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
               NAME_ARGS(class));
    writer_put(to,
               "uint32_t %.*s__add(const struct %.*s__table *skua_table)\n{\n"
               "    if (%.*s__count == %.*s__CLASSES)\n"
               "        skua_abort(\"more than %%d classes implement the interface %.*s\", "
               "%.*s__CLASSES);\n"
               "    %.*s__tables[%.*s__count] = *skua_table;\n"
               "    return %.*s__count++;\n}\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
               NAME_ARGS(class));
    writer_put(to,
               "const struct %.*s__table *%.*s__table_of(%.*s_element skua_to)\n{\n"
               "    if (skua_to.of >= %.*s__count)\n"
               "        skua_abort(\"no object of the interface %.*s: was its reference made by "
               "..._as_%.*s()?\");\n"
               "    return &%.*s__tables[skua_to.of];\n}\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
}

void emit_interface_casts(struct emit_files to, const struct ast_class *class)
{
    const char *element = emit_element_type(class);

    for (const struct ast_base *base = class->bases; base; base = base->next) {
        writer_put(to.header, "extern uint32_t %.*s__as_%.*s;\n\n", NAME_ARGS(class),
                   NAME_ARGS(base));
        writer_put(to.source, "uint32_t %.*s__as_%.*s;\n", NAME_ARGS(class), NAME_ARGS(base));
        writer_put(to.header,
                   "static inline %.*s_element %.*s_as_%.*s(%s skua_it)\n{\n"
                   "    %.*s_element skua_as = {skua_it.ref, %.*s__as_%.*s};\n\n    return "
                   "skua_as;\n}\n\n",
                   NAME_ARGS(base), NAME_ARGS(class), NAME_ARGS(base), element, NAME_ARGS(base),
                   NAME_ARGS(class), NAME_ARGS(base));
    }
}

void emit_interface_registration(struct writer         *to, const struct ast_class *class,
                                 const struct ast_base *base)
{
    writer_put(to, "    {\n        const struct %.*s__table skua_table = {", NAME_ARGS(base));
    for (const struct ast_entry *entry = base->class->entries; entry; entry = entry->next)
        writer_put(to, "%s%.*s__%.*s_entry", entry == base->class->entries ? "" : ", ",
                   NAME_ARGS(class), NAME_ARGS(entry));
    if (!base->class->entries)
        writer_put(to, "0");
    writer_put(to, "};\n\n        %.*s__as_%.*s = %.*s__add(&skua_table);\n    }\n",
               NAME_ARGS(class), NAME_ARGS(base), NAME_ARGS(base));
}
