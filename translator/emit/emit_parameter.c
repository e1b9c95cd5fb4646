/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_parameter.c - parameters and arguments of entries as C declares and passes them.
 *
 * The sender and the receiver of an entry have the same parameters, except that a packed struct is
 * a pointer to const for the sender, and to a copy of its own for the receiver.
 */
#include "emit/emit_parts.h"

void emit_type(struct writer *to, struct source_code type, unsigned stars)
{
    emit_bare_type(to, type, stars);
    if (stars == 0)
        writer_put(to, " ");
}

void emit_bare_type(struct writer *to, struct source_code type, unsigned stars)
{
    writer_put_flat(to, type.text);
    if (stars > 0)
        writer_put(to, " ");
    for (; stars > 0; stars--)
        writer_put(to, "*");
}

void emit_array_type(struct writer *to, const struct ast_parameter *p)
{
    writer_put(to, "const ");
    emit_type(to, p->type, p->stars);
    writer_put(to, "*");
}

void emit_parameter(struct writer *to, const struct ast_parameter *p)
{
    switch (p->passing) {
    case PASS_STRING: writer_put(to, "const char *"); break;
    case PASS_INPLACE: writer_put(to, "const skua_layout *"); break;
    case PASS_PACKED:
    case PASS_ARRAY: emit_array_type(to, p); break;
    case PASS_MESSAGE:
    case PASS_VALUE: emit_type(to, p->type, p->stars); break;
    }
    writer_put(to, "%.*s", NAME_ARGS(p));
}

/* Emits the declaration of a parameter of a function that gets received arguments: a packed struct
 * is not const. */
static void emit_received_parameter(struct writer *to, const struct ast_parameter *p)
{
    if (p->passing == PASS_PACKED)
        writer_put(to, "%.*s *%.*s", NAME_ARGS(p->record), NAME_ARGS(p));
    else
        emit_parameter(to, p);
}

void emit_const_parameter(struct writer *to, const struct ast_parameter *p)
{
    if (p->passing == PASS_VALUE) {
        emit_type(to, p->type, p->stars);
        writer_put(to, "const %.*s", NAME_ARGS(p));
    } else {
        emit_received_parameter(to, p);
    }
}

void emit_parameters(struct writer *to, const struct ast_entry *entry, bool first)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p != entry->parameters || !first)
            writer_put(to, ", ");
        emit_parameter(to, p);
    }
}

void emit_received_parameters(struct writer *to, const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        writer_put(to, ", ");
        emit_received_parameter(to, p);
    }
}

void emit_arguments(struct writer *to, const struct ast_entry *entry, bool first)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        writer_put(to, "%s%.*s", p == entry->parameters && first ? "" : ", ", NAME_ARGS(p));
}

void emit_send_parameters(struct writer *to, const struct ast_entry *entry, bool first)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p != entry->parameters || !first)
            writer_put(to, ", ");
        if (entry->attributes & ATTRIBUTE_LOCAL)
            emit_received_parameter(to, p);
        else
            emit_parameter(to, p);
        if (p->nocopy)
            writer_put(to, ", skua_completion %.*s_done", NAME_ARGS(p));
    }
}

void emit_send_arguments(struct writer *to, const struct ast_entry *entry, bool first)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        writer_put(to, "%s%.*s", p == entry->parameters && first ? "" : ", ", NAME_ARGS(p));
        if (p->nocopy)
            writer_put(to, ", %.*s_done", NAME_ARGS(p));
    }
}

void emit_post_head(struct writer *to, const struct ast_class *class, const struct ast_entry *entry)
{
    writer_put(to, "void %.*s_post_%.*s(%.*s *self", NAME_ARGS(class), NAME_ARGS(entry),
               NAME_ARGS(class));
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE) {
            writer_put(to, ", ");
            emit_parameter(to, p);
        } else if (p->post) {
            writer_put(to, ", ");
            emit_type(to, p->type, p->stars);
            writer_put(to, "**%.*s", NAME_ARGS(p));
        }
    }
    writer_put(to, ")");
}
