/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_fragment.c - pieces of the user's C in structured entries, each a function of its own, a
 * *fragment*: so that `return`, `break` and declarations in it mean what they say.
 *
 * A fragment declares what its code mentions of the names in scope: parameters of entries, opened
 * anew from the messages that the frame holds, and variables of frames, which are copied in and
 * out.
 */
#include "emit_flow.h"

#include "arena.h"

/* ---- names ------------------------------------------------------------------------------------
 */

static struct binding *bind(struct binding *scope, struct text name)
{
    struct binding *binding = ARENA_NEW(struct binding);

    binding->next = scope;
    binding->name = name;
    return binding;
}

/* The parameters of an entry whose message the frame of @p strand holds, under the names that
 * @p parameters give them. */
struct binding *bind_slot(struct binding *scope, struct slot *slot,
                          const struct parameter *parameters)
{
    const struct parameter *own = slot->entry->parameters;

    for (; parameters && own; parameters = parameters->next, own = own->next) {
        scope            = bind(scope, parameters->name.text);
        scope->slot      = slot;
        scope->parameter = own;
    }
    return scope;
}

/* A variable in the frame of @p strand. */
struct binding *bind_variable(struct binding *scope, struct strand *strand,
                              const struct field *local, struct text name)
{
    scope           = bind(scope, name);
    scope->strand   = strand;
    scope->local    = local;
    scope->variable = arena_print("%.*s__%u", TEXT(name), ++strand->variable_count);
    put(&strand->variables, "    ");
    if (local)
        put_type(&strand->variables, local->type, local->stars);
    else
        put(&strand->variables, "int ");
    put(&strand->variables, "%s;\n", scope->variable);
    return scope;
}

struct slot *add_slot(struct strand *strand, const struct entry *entry)
{
    struct slot *slot = ARENA_NEW(struct slot);

    slot->strand = strand;
    slot->entry  = entry;
    slot->name   = arena_print("%.*s__m%u", NAME(entry), strand->arrival_count++);
    put(&strand->arrivals, "    skua_arrival %s;\n", slot->name);
    return slot;
}

/* ---- fragments ---------------------------------------------------------------------------------
 */

static bool is_mentioned(const struct fragment *fragment, struct text name)
{
    for (unsigned i = 0; i < fragment->codes; i++)
        if (fragment->code[i].text.at && mentions(fragment->code[i], name))
            return true;
    return false;
}

static const struct strand *strand_of(const struct binding *binding)
{
    return binding->slot ? binding->slot->strand : binding->strand;
}

/* How many frames further out a name's is. */
static unsigned depth_of(const struct fragment *fragment, const struct strand *of)
{
    unsigned depth = 0;

    for (const struct strand *strand = fragment->strand; strand != of; strand = strand->outer)
        depth++;
    return depth;
}

/* The frame of a name, as an expression. */
static const char *frame_of(const struct fragment *fragment, const struct binding *binding)
{
    unsigned depth = depth_of(fragment, strand_of(binding));

    return depth == 0 ? "skua_frame" : arena_print("skua_outer_%u", depth);
}

/* Pointers to the frames further out that are needed. */
static void put_outer_frames(const struct fragment *fragment)
{
    struct writer       *to     = &fragment->flow->fragments;
    const struct strand *strand = fragment->strand;
    unsigned             most   = 0;

    for (const struct binding *b = fragment->scope; b; b = b->next)
        if (is_mentioned(fragment, b->name) && depth_of(fragment, strand_of(b)) > most)
            most = depth_of(fragment, strand_of(b));
    for (unsigned depth = 1; depth <= most; depth++) {
        strand = strand->outer;
        put(to, "    struct %s_frame *skua_outer_%u = (struct %s_frame *)(void *)", strand->name,
            depth, strand->name);
        if (depth == 1)
            put(to, "skua_frame->strand.parent;\n");
        else
            put(to, "skua_outer_%u->strand.parent;\n", depth - 1);
    }
}

static void put_parameter_binding(const struct fragment *fragment, const struct binding *b)
{
    struct writer *to         = &fragment->flow->fragments;
    const struct class *class = fragment->flow->class;
    const struct entry *entry = b->slot->entry;
    struct parameter    named = *b->parameter;
    const char         *held  = arena_print("%s->%s", frame_of(fragment, b), b->slot->name);
    unsigned            depth = depth_of(fragment, b->slot->strand);
    const char         *args  = arena_print("skua_%s", b->slot->name);

    if (depth > 0) /* frames number their messages each for itself */
        args = arena_print("%s_%u", args, depth);
    named.name.text = b->name;
    if (b->parameter->passing == PASS_MESSAGE) {
        put(to, "    ");
        put_parameter(to, &named);
        put(to, " = %s.data ? %.*s__open(%s.data, %s.bytes, \"%s\") : NULL;\n", held,
            NAME(b->parameter->message), held, held, title_of(class, entry));
        return;
    }
    if (b->slot->opened != fragment->flow->fragment_count) {
        b->slot->opened = fragment->flow->fragment_count;
        put_open(to, class, entry, args, arena_print("%s.data", held),
                 arena_print("%s.bytes", held));
    }
    put(to, "    ");
    put_constant(to, &named);
    put(to, " = %s%s%.*s;\n", args, reach_of(entry), NAME(b->parameter));
}

static void put_variable_binding(const struct fragment *fragment, const struct binding *b)
{
    struct writer *to = &fragment->flow->fragments;

    put(to, "    ");
    if (b->local)
        put_type(to, b->local->type, b->local->stars);
    else
        put(to, "int ");
    put(to, "%.*s = %s->%s;\n", TEXT(b->name), frame_of(fragment, b), b->variable);
}

/* Variables that have been copied in are copied back; a message that the code has set to NULL
 * is not ours any more. */
static void put_copies_back(const struct fragment *fragment)
{
    struct writer *to = &fragment->flow->fragments;

    for (const struct binding *b = fragment->scope; b; b = b->next) {
        if (!is_mentioned(fragment, b->name))
            continue;
        if (!b->slot)
            put(to, "    %s->%s = %.*s;\n", frame_of(fragment, b), b->variable, TEXT(b->name));
        else if (b->parameter->passing == PASS_MESSAGE)
            put(to, "    if (!%.*s)\n        %s->%s = skua_arrival_none();\n", TEXT(b->name),
                frame_of(fragment, b), b->slot->name);
    }
}

/* Begins a function for pieces of code; what it does with them is written next, to
 * flow->fragments. */
struct fragment begin_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                               const char *what, const char *result, const struct code *code,
                               unsigned codes)
{
    struct writer  *to       = &flow->fragments;
    struct fragment fragment = {flow, strand, scope, code, codes, NULL};

    fragment.name = arena_print("%s_%s_%u", flow->name, what, ++flow->fragment_count);
    put(to, "static %s%s(%.*s *self, struct %s_frame *skua_frame)\n{\n", result, fragment.name,
        NAME(flow->class), strand->name);
    put_outer_frames(&fragment);
    for (const struct binding *b = scope; b; b = b->next) {
        if (!is_mentioned(&fragment, b->name))
            continue;
        if (b->slot)
            put_parameter_binding(&fragment, b);
        else
            put_variable_binding(&fragment, b);
    }
    return fragment;
}

const char *end_fragment(const struct fragment *fragment, const char *result)
{
    struct writer *to = &fragment->flow->fragments;

    put_copies_back(fragment);
    put(to, "    (void)self, (void)skua_frame;\n");
    if (*result)
        put(to, "    return %s;\n", result);
    put(to, "}\n\n");
    return fragment->name;
}

/* A fragment that is one piece of code: statements. */
const char *put_statements_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                                    const char *what, struct code code, const char *open,
                                    const char *close)
{
    struct fragment fragment = begin_fragment(flow, strand, scope, what, "void ", &code, 1);

    put(&flow->fragments, "%s", open);
    put_code(&flow->fragments, code);
    put(&flow->fragments, "%s", close);
    return end_fragment(&fragment, "");
}

/* ... or an expression with a value. */
const char *put_value_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                               const char *what, const char *type, struct code code)
{
    struct fragment fragment = begin_fragment(flow, strand, scope, what, type, &code, 1);

    put(&flow->fragments, "    %sskua_value = (\n", type);
    put_code(&flow->fragments, code);
    put(&flow->fragments, "    );\n");
    return end_fragment(&fragment, "skua_value");
}
