/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_packed.c - arguments that the pup function of their type packs: `entry void take(graph g)`.
 *
 * The sender passes a `const graph *`; the message contains the packed struct.  The receiver
 * unpacks it into a variable `skua_got_g` that frees it at the end of its scope, so the user's code
 * may leave a fragment by `return`.  A frame keeps the packed form, which migrates: each fragment
 * that mentions the argument unpacks it.
 */
#include "emit/emit_parts.h"

#include "support/bump.h"

/* Emits the number of structs: 1, or the length of the array, with @p before each argument. */
static void emit_packed_count(struct writer *to, const char *stem, const struct ast_entry *entry,
                              const struct ast_parameter *p, const char *before)
{
    if (p->length.text.at)
        emit_length_call(to, stem, entry, p, before);
    else
        writer_put(to, "1");
}

void emit_packed_parameter(struct writer *to, const char *stem, const char *title,
                           const struct ast_parameter *p)
{
    writer_put(to,
               "static const skuac_packed_parameter %s__packed_%.*s = {&%.*s__packable, \"%s\", "
               "\"%.*s\"};\n\n",
               stem, NAME_ARGS(p), NAME_ARGS(p->record), title, NAME_ARGS(p));
}

void emit_packed_reserve(struct writer *to, const char *stem, const char *title,
                         const struct ast_entry *entry, const struct ast_parameter *p,
                         unsigned index)
{
    writer_put(to, "    skua_at[%u] = skuac_packed_bytes(&%s__packed_%.*s, %.*s, ", index + 1, stem,
               NAME_ARGS(p), NAME_ARGS(p));
    emit_packed_count(to, stem, entry, p, "");
    writer_put(to,
               ");\n    skua_at[%u] = skuac_reserve(&skua_end, (long long)skua_at[%u], 1, 1, "
               "\"%s\", \"%.*s\");\n",
               index, index + 1, title, NAME_ARGS(p));
}

void emit_packed_fill(struct writer *to, const char *stem, const struct ast_entry *entry,
                      const struct ast_parameter *p, unsigned index)
{
    writer_put(to, "    skuac_pack(&%s__packed_%.*s, %.*s, ", stem, NAME_ARGS(p), NAME_ARGS(p));
    emit_packed_count(to, stem, entry, p, "");
    writer_put(to, ", skua_data + skua_at[%u], skua_at[%u]);\n", index, index + 1);
}

void emit_packed_hold(struct writer          *to, const struct ast_class *class,
                      const struct ast_entry *entry, const struct ast_parameter *p,
                      const char *args, const char *held)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to, "    SKUAC_FREED skuac_unpacked %s = skuac_unpack(&%s__packed_%.*s, %s.%.*s, ",
               held, stem, NAME_ARGS(p), args, NAME_ARGS(p));
    emit_packed_count(to, stem, entry, p, bump_printf("%s.", args));
    writer_put(to, ");\n");
}

void emit_packed_hold_all(struct writer          *to, const struct ast_class *class,
                          const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->passing == PASS_PACKED)
            emit_packed_hold(to, class, entry, p, "skua_args",
                             bump_printf("skua_got_%.*s", NAME_ARGS(p)));
}

void emit_received_value(struct writer *to, const struct ast_entry *entry,
                         const struct ast_parameter *p)
{
    if (p->passing == PASS_PACKED)
        writer_put(to, "(%.*s *)skua_got_%.*s.items", NAME_ARGS(p->record), NAME_ARGS(p));
    else
        writer_put(to, "skua_args%s%.*s", emit_member_operator(entry), NAME_ARGS(p));
}

void emit_received_values(struct writer *to, const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        writer_put(to, ", ");
        emit_received_value(to, entry, p);
    }
}
