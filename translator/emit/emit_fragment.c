/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_fragment.c - fragments: the pieces of the user's C in structured entries, each in a
 * function of its own, so that `return`, `break` and declarations keep their meaning.
 *
 * A fragment declares the names in scope that its code mentions: parameters, unmarshalled from the
 * messages that frames hold, and variables of frames, which are copied in and out.  A packed
 * parameter is a copy of the fragment's own.
 */
#include "emit/emit_flow.h"

#include <assert.h>

#include "support/bump.h"
#include "syntax/ident.h"

/* ---- names -------------------------------------------------------------------------------- */

static struct emit_binding *emit_fragment_bind(struct emit_binding *scope, struct text name)
{
    struct emit_binding *binding = BUMP_NEW(struct emit_binding);

    binding->next = scope;
    binding->name = name;
    return binding;
}

struct emit_binding *emit_bind_slot(struct emit_binding *scope, struct emit_slot *slot,
                                    const struct ast_parameter *parameters)
{
    const struct ast_parameter *own = slot->entry->parameters;

    for (; parameters && own; parameters = parameters->next, own = own->next) {
        scope            = emit_fragment_bind(scope, parameters->name.text);
        scope->slot      = slot;
        scope->parameter = own;
    }
    return scope;
}

struct emit_binding *emit_bind_variable(struct emit_binding *scope, struct emit_frame *frame,
                                        const struct ast_field *local, struct text name)
{
    scope           = emit_fragment_bind(scope, name);
    scope->frame    = frame;
    scope->local    = local;
    scope->variable = bump_printf("%.*s__%u", TEXT_ARGS(name), ++frame->variable_count);
    writer_put(&frame->variables, "    ");
    if (local)
        emit_type(&frame->variables, local->type, local->stars);
    else
        writer_put(&frame->variables, "int ");
    writer_put(&frame->variables, "%s;\n", scope->variable);
    return scope;
}

struct emit_slot *emit_add_slot(struct emit_frame *frame, const struct ast_entry *entry)
{
    struct emit_slot *slot = BUMP_NEW(struct emit_slot);

    slot->frame = frame;
    slot->entry = entry;
    slot->name  = bump_printf("%.*s__m%u", NAME_ARGS(entry), frame->arrival_count++);
    writer_put(&frame->arrivals, "    skuac_arrival %s;\n", slot->name);
    return slot;
}

/* ---- fragments ---------------------------------------------------------------------------- */

static bool emit_fragment_mentions(const struct emit_fragment *fragment, struct text name)
{
    for (unsigned i = 0; i < fragment->codes; i++)
        if (fragment->code[i].text.at && ident_is_mentioned(fragment->code[i], name))
            return true;
    return false;
}

static const struct emit_frame *emit_fragment_frame_of(const struct emit_binding *binding)
{
    return binding->slot ? binding->slot->frame : binding->frame;
}

/* Returns how many frames further out @p of is. */
static unsigned emit_fragment_depth_of(const struct emit_fragment *fragment,
                                       const struct emit_frame    *of)
{
    unsigned depth = 0;

    for (const struct emit_frame *frame = fragment->frame; frame != of; frame = frame->outer) {
        assert(frame->outer); /* a name in scope belongs to an enclosing frame */
        depth++;
    }
    return depth;
}

/* Returns an expression for the frame of a name. */
static const char *emit_fragment_frame_expression(const struct emit_fragment *fragment,
                                                  const struct emit_binding  *binding)
{
    unsigned depth = emit_fragment_depth_of(fragment, emit_fragment_frame_of(binding));

    return depth == 0 ? "skua_frame" : bump_printf("skua_outer_%u", depth);
}

/* Emits pointers to the outer frames that the code needs. */
static void emit_fragment_outer_frames(const struct emit_fragment *fragment)
{
    struct writer           *to    = &fragment->flow->fragments;
    const struct emit_frame *frame = fragment->frame;
    unsigned                 most  = 0;

    for (const struct emit_binding *b = fragment->scope; b; b = b->next)
        if (emit_fragment_mentions(fragment, b->name) &&
            emit_fragment_depth_of(fragment, emit_fragment_frame_of(b)) > most)
            most = emit_fragment_depth_of(fragment, emit_fragment_frame_of(b));
    for (unsigned depth = 1; depth <= most; depth++) {
        frame = frame->outer;
        writer_put(to, "    struct %s__frame *skua_outer_%u = (struct %s__frame *)(void *)",
                   frame->name, depth, frame->name);
        if (depth == 1)
            writer_put(to, "skua_frame->frame.parent;\n");
        else
            writer_put(to, "skua_outer_%u->frame.parent;\n", depth - 1);
    }
}

static void emit_fragment_parameter(const struct emit_fragment *fragment,
                                    const struct emit_binding  *b)
{
    struct writer *to             = &fragment->flow->fragments;
    const struct ast_class *class = fragment->flow->class;
    const struct ast_entry *entry = b->slot->entry;
    struct ast_parameter    named = *b->parameter;
    const char             *held =
        bump_printf("%s->%s", emit_fragment_frame_expression(fragment, b), b->slot->name);
    unsigned    depth = emit_fragment_depth_of(fragment, b->slot->frame);
    const char *args  = bump_printf("skua_%s", b->slot->name);

    if (depth > 0) /* message numbers are unique only within a frame */
        args = bump_printf("%s_%u", args, depth);
    named.name.text = b->name;
    if (b->parameter->passing == PASS_MESSAGE) {
        writer_put(to, "    ");
        emit_parameter(to, &named);
        writer_put(to, " = %s.data ? %.*s__open(%s.data, %s.bytes, \"%s\") : NULL;\n", held,
                   NAME_ARGS(b->parameter->message), held, held, emit_title_of(class, entry));
        return;
    }
    if (b->slot->opened != fragment->flow->fragment_count) {
        b->slot->opened = fragment->flow->fragment_count;
        emit_open_call(to, class, entry, args, bump_printf("%s.data", held),
                       bump_printf("%s.bytes", held));
    }
    if (named.passing == PASS_PACKED) {
        const char *unpacked = bump_printf("%s_%.*s", args, NAME_ARGS(b->parameter));

        emit_packed_hold(to, class, entry, b->parameter, args, unpacked);
        writer_put(to, "    %.*s *%.*s = (%.*s *)%s.items;\n", NAME_ARGS(named.record),
                   NAME_ARGS(&named), NAME_ARGS(named.record), unpacked);
        return;
    }
    writer_put(to, "    ");
    emit_const_parameter(to, &named);
    writer_put(to, " = %s%s%.*s;\n", args, emit_member_operator(entry), NAME_ARGS(b->parameter));
}

static void emit_fragment_variable(const struct emit_fragment *fragment,
                                   const struct emit_binding  *b)
{
    struct writer *to = &fragment->flow->fragments;

    writer_put(to, "    ");
    if (b->local)
        emit_type(to, b->local->type, b->local->stars);
    else
        writer_put(to, "int ");
    writer_put(to, "%.*s = %s->%s;\n", TEXT_ARGS(b->name),
               emit_fragment_frame_expression(fragment, b), b->variable);
}

/* Emits the copy back of variables.  A message that the code has set to NULL is no longer the
 * frame's. */
static void emit_fragment_copy_back(const struct emit_fragment *fragment)
{
    struct writer *to = &fragment->flow->fragments;

    for (const struct emit_binding *b = fragment->scope; b; b = b->next) {
        if (!emit_fragment_mentions(fragment, b->name))
            continue;
        if (!b->slot)
            writer_put(to, "    %s->%s = %.*s;\n", emit_fragment_frame_expression(fragment, b),
                       b->variable, TEXT_ARGS(b->name));
        else if (b->parameter->passing == PASS_MESSAGE)
            writer_put(to, "    if (!%.*s)\n        %s->%s = skuac_arrival_none();\n",
                       TEXT_ARGS(b->name), emit_fragment_frame_expression(fragment, b),
                       b->slot->name);
    }
}

void emit_fragment_give_up(const struct emit_fragment *fragment, const struct ast_message *message,
                           const char *value)
{
    for (const struct emit_binding *b = fragment->scope; b; b = b->next)
        if (b->slot && b->parameter->passing == PASS_MESSAGE && b->parameter->message == message &&
            emit_fragment_mentions(fragment, b->name))
            writer_put(&fragment->flow->fragments, "    if (%.*s == %s)\n        %.*s = NULL;\n",
                       TEXT_ARGS(b->name), value, TEXT_ARGS(b->name));
}

struct emit_fragment emit_fragment_begin(struct emit_flow *flow, struct emit_frame *frame,
                                         struct emit_binding *scope, const char *what,
                                         const char *result, const struct source_code *code,
                                         unsigned codes)
{
    struct writer       *to       = &flow->fragments;
    struct emit_fragment fragment = {flow, frame, scope, code, codes, NULL};

    fragment.name = bump_printf("%s_%s_%u", flow->name, what, ++flow->fragment_count);
    writer_put(to, "static %s%s(%.*s *self, struct %s__frame *skua_frame)\n{\n", result,
               fragment.name, NAME_ARGS(flow->class), frame->name);
    emit_fragment_outer_frames(&fragment);
    for (const struct emit_binding *b = scope; b; b = b->next) {
        if (!emit_fragment_mentions(&fragment, b->name))
            continue;
        if (b->slot)
            emit_fragment_parameter(&fragment, b);
        else
            emit_fragment_variable(&fragment, b);
    }
    return fragment;
}

const char *emit_fragment_end(const struct emit_fragment *fragment, const char *result)
{
    struct writer *to = &fragment->flow->fragments;

    emit_fragment_copy_back(fragment);
    writer_put(to, "    (void)self, (void)skua_frame;\n");
    if (*result)
        writer_put(to, "    return %s;\n", result);
    writer_put(to, "}\n\n");
    return fragment->name;
}

const char *emit_fragment_statements(struct emit_flow *flow, struct emit_frame *frame,
                                     struct emit_binding *scope, const char *what,
                                     struct source_code code, const char *open, const char *close)
{
    struct emit_fragment fragment =
        emit_fragment_begin(flow, frame, scope, what, "void ", &code, 1);

    writer_put(&flow->fragments, "%s", open);
    writer_put_code(&flow->fragments, code);
    writer_put(&flow->fragments, "%s", close);
    return emit_fragment_end(&fragment, "");
}

const char *emit_fragment_value(struct emit_flow *flow, struct emit_frame *frame,
                                struct emit_binding *scope, const char *what, const char *type,
                                struct source_code code)
{
    struct emit_fragment fragment = emit_fragment_begin(flow, frame, scope, what, type, &code, 1);

    writer_put(&flow->fragments, "    %sskua_value = (\n", type);
    writer_put_code(&flow->fragments, code);
    writer_put(&flow->fragments, "    );\n");
    return emit_fragment_end(&fragment, "skua_value");
}
