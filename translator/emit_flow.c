/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_flow.c - structured control flow: bodies of entries become strands.
 *
 * A strand (skua/flow.h) is a frame and a function that goes on from where the frame says.  The
 * body of an entry is one; so is each branch of an `overlap`, and the body of a `forall`, once
 * for each value.  In the function, loops and conditions are loops and conditions of C; each
 * place where the strand may wait has a number and a label, to which the function jumps when it
 * goes on:
 *
 *     for (Block__run_for_1(self, frame); Block__run_while_2(self, frame); ...) {
 *         skua_flow_want_reference(strand, 0, 0, 0, Block__run_reference_4(self, frame));
 *         if (!skua_flow_match(strand, 1, 1))
 *             return;
 *     at_1:
 *         ...
 *
 * Every piece of the user's C is a function of its own: see emit_fragment.c.
 */
#include "emit_flow.h"

#include "arena.h"

static void put_statements(struct flow *flow, struct strand *strand, struct binding *scope,
                           const struct statement *first, int indent);

/* ---- questions ------------------------------------------------------------------------------- */

bool has_flow(const struct class *class)
{
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->body || entry->trigger)
            return true;
    return false;
}

static bool waits(const struct statement *statement)
{
    if (!statement)
        return false;
    switch (statement->kind) {
    case STATEMENT_WHEN:
    case STATEMENT_CASE:
    case STATEMENT_OVERLAP:
    case STATEMENT_FORALL:
    case STATEMENT_CALL: return true;
    default:
        for (const struct statement *inner = statement->body; inner; inner = inner->next)
            if (waits(inner))
                return true;
        return waits(statement->otherwise);
    }
}

static bool refers(const struct statement *statement, const struct entry *entry)
{
    for (; statement; statement = statement->next) {
        for (const struct trigger *trigger = statement->triggers; trigger; trigger = trigger->next)
            if (trigger->entry == entry && trigger->reference.text.at)
                return true;
        if (refers(statement->body, entry) || refers(statement->otherwise, entry))
            return true;
    }
    return false;
}

bool is_referenced(const struct class *class, const struct entry *entry)
{
    for (const struct entry *other = class->entries; other; other = other->next)
        if (refers(other->body, entry))
            return true;
    return false;
}

/* ---- strands ------------------------------------------------------------------------------------
 */

static struct strand *new_strand(struct flow *flow, const struct strand *outer, const char *title)
{
    struct strand *strand = ARENA_NEW(struct strand);

    strand->outer = outer;
    strand->title = title;
    strand->name  = outer ? arena_print("%s_%u", flow->name, flow->strand_count) : flow->name;
    flow->strand_count++;
    return strand;
}

/* The function of a strand, with jumps to the places where it waits. */
static void put_function(struct flow *flow, const struct strand *strand)
{
    struct writer *to = &flow->functions;

    put(to,
        "static void %s_go(skua_strand *skua_this)\n{\n"
        "    struct %s_frame *skua_frame = (struct %s_frame *)(void *)skua_this;\n"
        "    %.*s *self = (%.*s *)skua_this->self;\n\n",
        strand->name, strand->name, strand->name, NAME(flow->class), NAME(flow->class));
    if (strand->places > 0) {
        put(to, "    switch (skua_this->at) {\n");
        for (unsigned place = 1; place <= strand->places; place++)
            put(to, "    case %u:\n        goto at_%u;\n", place, place);
        put(to, "    default:\n        break;\n    }\n");
    }
    put_all(to, &strand->go);
    put(to, "    (void)self, (void)skua_frame;\n    skua_flow_end(skua_this);\n}\n\n");
}

static void put_frame(struct flow *flow, const struct strand *strand)
{
    struct writer *to = &flow->frames;

    put(to, "struct %s_frame {\n    skua_strand strand;\n", strand->name);
    put_all(to, &strand->arrivals);
    if (strand->waits > 0)
        put(to, "    skua_wait wait[%u];\n", strand->waits);
    put_all(to, &strand->variables);
    put(to, "};\n\nstatic void %s_go(skua_strand *skua_this);\n", strand->name);
    put(to,
        "static const skua_strand_type %s_strand = {\"%s\", sizeof(struct %s_frame), %u, %u, "
        "%s_go};\n\n",
        strand->name, strand->title, strand->name, strand->arrival_count, strand->waits,
        strand->name);
}

static void end_strand(struct flow *flow, struct strand *strand)
{
    put_frame(flow, strand);
    put_function(flow, strand);
    writer_free(&strand->arrivals);
    writer_free(&strand->variables);
    writer_free(&strand->go);
}

/* ---- statements ---------------------------------------------------------------------------- */

static void put_label(struct strand *strand, unsigned place)
{
    put(&strand->go, "at_%u:;\n", place);
}

static void put_serial(struct flow *flow, struct strand *strand, struct binding *scope,
                       const struct statement *statement, int indent)
{
    const char *name = put_statements_fragment(flow, strand, scope, "serial", statement->code,
                                               "    {\n", "    }\n");

    put(&strand->go, "%*s%s(self, skua_frame);", indent, "", name);
    if (statement->label.at)
        put(&strand->go, " /* %.*s */", TEXT(statement->label));
    put(&strand->go, "\n");
}

/* Wishes for the messages of a `when`; how many waits are used then. */
static unsigned put_wants(struct flow *flow, struct strand *strand, struct binding *scope,
                          const struct statement *when, unsigned wait, unsigned alternative,
                          int indent)
{
    struct writer *to = &strand->go;

    for (const struct trigger *trigger = when->triggers; trigger; trigger = trigger->next, wait++) {
        put(to, "%*sskua_flow_want%s(skua_this, %u, %u, %u", indent, "",
            trigger->reference.text.at ? "_reference" : "", wait, trigger->entry->number,
            alternative);
        if (trigger->reference.text.at)
            put(to, ", %s(self, skua_frame)",
                put_value_fragment(flow, strand, scope, "reference", "int64_t ",
                                   trigger->reference));
        put(to, "); /* %.*s */\n", NAME(trigger));
    }
    return wait;
}

static void put_match(struct strand *strand, unsigned waits, unsigned place, int indent)
{
    if (waits > strand->waits)
        strand->waits = waits;
    put(&strand->go, "%*sif (!skua_flow_match(skua_this, %u, %u))\n%*sreturn;\n", indent, "", waits,
        place, indent + 4, "");
    put_label(strand, place);
}

/* The messages have come: the body, while they are held. */
static unsigned put_taken(struct flow *flow, struct strand *strand, struct binding *scope,
                          const struct statement *when, unsigned wait, int indent)
{
    struct writer *to   = &strand->go;
    bool           keep = waits(when->body);
    struct slot   *held = NULL, **end = &held;

    for (const struct trigger *trigger = when->triggers; trigger; trigger = trigger->next, wait++) {
        struct slot *slot = *end = add_slot(strand, trigger->entry);

        put(to, "%*sskua_frame->%s = skua_flow_got(skua_this, %u);\n", indent, "", slot->name,
            wait);
        if (keep)
            put(to, "%*sskua_flow_keep(&skua_frame->%s);\n", indent, "", slot->name);
        scope = bind_slot(scope, slot, trigger->parameters);
        end   = &slot->next;
    }
    put_statements(flow, strand, scope, when->body, indent);
    for (; held; held = held->next)
        put(to, "%*sskua_%s_drop(&skua_frame->%s);\n", indent, "",
            count_parts(held->entry) > 0 ? "parts" : "flow", held->name);
    return wait;
}

static void put_when(struct flow *flow, struct strand *strand, struct binding *scope,
                     const struct statement *when, int indent)
{
    unsigned place = ++strand->places;
    unsigned count = put_wants(flow, strand, scope, when, 0, 0, indent);

    put_match(strand, count, place, indent);
    put_taken(flow, strand, scope, when, 0, indent);
}

static void put_case(struct flow *flow, struct strand *strand, struct binding *scope,
                     const struct statement *statement, int indent)
{
    struct writer *to    = &strand->go;
    unsigned       place = ++strand->places, wait = 0, alternative = 0;

    for (const struct statement *when = statement->body; when; when = when->next)
        wait = put_wants(flow, strand, scope, when, wait, alternative++, indent);
    put_match(strand, wait, place, indent);
    put(to, "%*sswitch (skua_this->chosen) {\n", indent, "");
    wait = alternative = 0;
    for (const struct statement *when = statement->body; when; when = when->next) {
        put(to, "%*scase %u:\n", indent, "", alternative++);
        wait = put_taken(flow, strand, scope, when, wait, indent + 4);
        put(to, "%*sbreak;\n", indent + 4, "");
    }
    put(to, "%*sdefault:\n%*sbreak;\n%*s}\n", indent, "", indent + 4, "", indent, "");
}

static void put_if(struct flow *flow, struct strand *strand, struct binding *scope,
                   const struct statement *statement, int indent)
{
    const char *condition =
        put_value_fragment(flow, strand, scope, "if", "bool ", statement->condition);

    put(&strand->go, "%*sif (%s(self, skua_frame)) {\n", indent, "", condition);
    put_statements(flow, strand, scope, statement->body, indent + 4);
    if (statement->otherwise) {
        put(&strand->go, "%*s} else {\n", indent, "");
        put_statements(flow, strand, scope, statement->otherwise, indent + 4);
    }
    put(&strand->go, "%*s}\n", indent, "");
}

/* A variable gets the value that its declaration says. */
static const char *put_first_value(struct flow *flow, struct strand *strand, struct binding *scope,
                                   const struct field *local)
{
    struct fragment fragment =
        begin_fragment(flow, strand, scope->next, "first", "void ", &local->value, 1);

    put_assignment(&flow->fragments, arena_print("skua_frame->%s", scope->variable), local);
    return end_fragment(&fragment, "");
}

static void put_for(struct flow *flow, struct strand *strand, struct binding *scope,
                    const struct statement *statement, int indent)
{
    struct writer *to    = &strand->go;
    const char    *first = NULL, *condition = NULL, *step = NULL;

    if (statement->local) {
        scope = bind_variable(scope, strand, statement->local, statement->local->name.text);
        first = put_first_value(flow, strand, scope, statement->local);
    } else if (statement->first.text.at) {
        first = put_statements_fragment(flow, strand, scope, "for", statement->first,
                                        "    (void)(\n", "    );\n");
    }
    if (statement->condition.text.at)
        condition = put_value_fragment(flow, strand, scope, "while", "bool ", statement->condition);
    if (statement->step.text.at)
        step = put_statements_fragment(flow, strand, scope, "step", statement->step,
                                       "    (void)(\n", "    );\n");
    put(to, "%*sfor (", indent, "");
    if (first)
        put(to, "%s(self, skua_frame)", first);
    put(to, "; ");
    if (condition)
        put(to, "%s(self, skua_frame)", condition);
    put(to, "; ");
    if (step)
        put(to, "%s(self, skua_frame)", step);
    put(to, ") {\n");
    put_statements(flow, strand, scope, statement->body, indent + 4);
    put(to, "%*s}\n", indent, "");
}

static void put_while(struct flow *flow, struct strand *strand, struct binding *scope,
                      const struct statement *statement, int indent)
{
    const char *condition =
        put_value_fragment(flow, strand, scope, "while", "bool ", statement->condition);

    put(&strand->go, "%*swhile (%s(self, skua_frame)) {\n", indent, "", condition);
    put_statements(flow, strand, scope, statement->body, indent + 4);
    put(&strand->go, "%*s}\n", indent, "");
}

static void put_join(struct strand *strand, int indent)
{
    unsigned place = ++strand->places;

    put(&strand->go, "%*sif (!skua_flow_join(skua_this, %u))\n%*sreturn;\n", indent, "", place,
        indent + 4, "");
    put_label(strand, place);
}

static void put_overlap(struct flow *flow, struct strand *strand, struct binding *scope,
                        const struct statement *statement, int indent)
{
    for (const struct statement *branch = statement->body; branch; branch = branch->next) {
        struct strand   *inner = new_strand(flow, strand, strand->title);
        struct statement alone = *branch;

        alone.next = NULL;
        put_statements(flow, inner, scope, &alone, 4);
        end_strand(flow, inner);
        put(&strand->go, "%*sskua_flow_start(skua_this, &%s_strand, skua_arrival_none());\n",
            indent, "", inner->name);
    }
    put_join(strand, indent);
}

static void put_forall(struct flow *flow, struct strand *strand, struct binding *scope,
                       const struct statement *statement, int indent)
{
    struct writer  *to    = &strand->go;
    struct strand  *inner = new_strand(flow, strand, strand->title);
    struct binding *bound = bind_variable(scope, inner, NULL, statement->name.text);
    const char     *first =
        put_value_fragment(flow, strand, scope, "first", "long long ", statement->first);
    const char *last =
        put_value_fragment(flow, strand, scope, "last", "long long ", statement->last);
    const char *step = "1";

    if (statement->step.text.at)
        step =
            arena_print("%s(self, skua_frame)", put_value_fragment(flow, strand, scope, "step",
                                                                   "long long ", statement->step));
    put_statements(flow, inner, bound, statement->body, 4);
    end_strand(flow, inner);
    put(to,
        "%*s{\n"
        "%*slong long skua_last = %s(self, skua_frame), skua_step = %s;\n\n"
        "%*sif (skua_step == 0)\n%*sskua_abort(\"%s: a forall in line %u has a step of 0\");\n",
        indent, "", indent + 4, "", last, step, indent + 4, "", indent + 8, "", strand->title,
        statement->place.line);
    put(to,
        "%*sfor (long long skua_i = %s(self, skua_frame);\n"
        "%*s     skua_step > 0 ? skua_i <= skua_last : skua_i >= skua_last; skua_i += skua_step)\n"
        "%*s((struct %s_frame *)(void *)skua_flow_start(skua_this, &%s_strand, "
        "skua_arrival_none()))->%s = (int)skua_i;\n%*s}\n",
        indent + 4, "", first, indent + 4, "", indent + 8, "", inner->name, inner->name,
        bound->variable, indent, "");
    put_join(strand, indent);
}

/* Arguments of fixed size: each is assigned, and so converted, to its member. */
static void put_call_struct(struct writer *to, const char *stem, const struct entry *called,
                            const struct code *code)
{
    put(to,
        "    skua_msg *skua_packed = skua_msg_alloc(sizeof(struct %s));\n"
        "    struct %s skua_args;\n\n",
        stem, stem);
    for (const struct parameter *p = called->parameters; p; p = p->next) {
        put(to, "    skua_args.%.*s =\n", NAME(p));
        put_code(to, *code++);
        put(to, "    ;\n");
    }
    put(to, "    memcpy(skua_msg_data(skua_packed), &skua_args, sizeof skua_args);\n");
}

/* Declares `skua_packed`, a message with the arguments of a call. */
static void put_call_value(struct writer *to, const struct class *class, const struct entry *called,
                           const struct code *code, unsigned count)
{
    enum wire   wire = wire_of(called);
    const char *stem = stem_of(class, called);

    if (wire == WIRE_FIXED) {
        put_call_struct(to, stem, called, code);
        return;
    }
    if (wire == WIRE_MESSAGE)
        put(to, "    skua_msg *skua_packed = %.*s__message(\n", NAME(called->parameters->message));
    else
        put(to, "    skua_msg *skua_packed = %s_pack(\n", stem);
    for (unsigned i = 0; i < count; i++) {
        put_code(to, code[i]);
        put(to, i + 1 < count ? "    ,\n" : "");
    }
    put(to, "    );\n");
}

/* The arguments of a call, packed as if they had been sent. */
static const char *put_call_arguments(struct flow *flow, struct strand *strand,
                                      struct binding *scope, const struct statement *call)
{
    struct writer  *to    = &flow->fragments;
    unsigned        count = 0, i = 0;
    struct code    *code;
    struct fragment fragment;

    for (const struct argument *argument = call->arguments; argument; argument = argument->next)
        count++;
    code = arena_alloc((count + 1) * sizeof *code);
    for (const struct argument *argument = call->arguments; argument; argument = argument->next)
        code[i++] = argument->value;
    fragment = begin_fragment(flow, strand, scope, "call", "skua_msg *", code, count);
    put_call_value(to, flow->class, call->called, code, count);
    return end_fragment(&fragment, "skua_packed");
}

static void put_call(struct flow *flow, struct strand *strand, struct binding *scope,
                     const struct statement *statement, int indent)
{
    const char *stem = stem_of(flow->class, statement->called);

    put(&strand->go, "%*sskua_flow_start(skua_this, &%s_strand, ", indent, "", stem);
    if (statement->arguments)
        put(&strand->go, "skua_arrival_of(%s(self, skua_frame)));\n",
            put_call_arguments(flow, strand, scope, statement));
    else
        put(&strand->go, "skua_arrival_none());\n");
    put_join(strand, indent);
}

static struct binding *put_local(struct flow *flow, struct strand *strand, struct binding *scope,
                                 const struct statement *statement, int indent)
{
    for (const struct field *local = statement->local; local; local = local->next) {
        scope = bind_variable(scope, strand, local, local->name.text);
        if (local->value.text.at)
            put(&strand->go, "%*s%s(self, skua_frame);\n", indent, "",
                put_first_value(flow, strand, scope, local));
        else
            put(&strand->go, "%*smemset(&skua_frame->%s, 0, sizeof skua_frame->%s);\n", indent, "",
                scope->variable, scope->variable);
    }
    return scope;
}

static void put_statement(struct flow *flow, struct strand *strand, struct binding *scope,
                          const struct statement *statement, int indent)
{
    switch (statement->kind) {
    case STATEMENT_BLOCK: put_statements(flow, strand, scope, statement->body, indent); break;
    case STATEMENT_SERIAL: put_serial(flow, strand, scope, statement, indent); break;
    case STATEMENT_WHEN: put_when(flow, strand, scope, statement, indent); break;
    case STATEMENT_IF: put_if(flow, strand, scope, statement, indent); break;
    case STATEMENT_FOR: put_for(flow, strand, scope, statement, indent); break;
    case STATEMENT_WHILE: put_while(flow, strand, scope, statement, indent); break;
    case STATEMENT_FORALL: put_forall(flow, strand, scope, statement, indent); break;
    case STATEMENT_OVERLAP: put_overlap(flow, strand, scope, statement, indent); break;
    case STATEMENT_CASE: put_case(flow, strand, scope, statement, indent); break;
    case STATEMENT_CALL: put_call(flow, strand, scope, statement, indent); break;
    case STATEMENT_LOCAL: break; /* put_statements() */
    }
}

static void put_statements(struct flow *flow, struct strand *strand, struct binding *scope,
                           const struct statement *first, int indent)
{
    for (const struct statement *statement = first; statement; statement = statement->next)
        if (statement->kind == STATEMENT_LOCAL)
            scope = put_local(flow, strand, scope, statement, indent);
        else
            put_statement(flow, strand, scope, statement, indent);
}

/* ---- classes ------------------------------------------------------------------------------- */

/* The strands of one entry; their names are added to the table. */
static void put_entry_flow(struct flow *flow, const struct entry *entry)
{
    struct strand  *strand;
    struct binding *scope = NULL;

    flow->name           = stem_of(flow->class, entry);
    flow->strand_count   = 0;
    flow->fragment_count = 0;
    strand               = new_strand(flow, NULL, title_of(flow->class, entry));
    if (entry->parameters)
        scope = bind_slot(scope, add_slot(strand, entry), entry->parameters);
    put_statement(flow, strand, scope, entry->body, 4);
    if (count_parts(entry) > 0)
        put(&strand->go, "    skua_parts_drop(&skua_frame->%s);\n", scope->slot->name);
    end_strand(flow, strand);
}

/* All kinds of strands, and what is waited for: as the runtime needs it. */
static void put_tables(struct writer *to, const struct class *class, const struct writer *names,
                       unsigned types)
{
    put(to, "static const skua_strand_type *const %.*s__strands[] = {%.*sNULL};\n\n", NAME(class),
        (int)names->length, names->length ? names->at : "");
    put(to, "static const char *const %.*s__triggers[] = {", NAME(class));
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->trigger)
            put(to, "\"%.*s\", ", NAME(entry));
    put(to,
        "NULL};\n\nstatic const skua_flow_class %.*s__flow = {\"%.*s\", "
        "SKUA_FLOW_AT(sizeof(%.*s)), %u, "
        "%u, %.*s__strands, %.*s__triggers};\n\n",
        NAME(class), NAME(class), NAME(class), types, class->triggers, NAME(class), NAME(class));
}

void emit_flow(struct files to, const struct class *class)
{
    struct flow   flow  = {.class = class};
    struct writer names = {NULL, 0, 0};
    unsigned      types = 0;

    if (!has_flow(class))
        return;
    for (const struct entry *entry = class->entries; entry; entry = entry->next) {
        if (!entry->body)
            continue;
        put_entry_flow(&flow, entry);
        for (unsigned i = 0; i < flow.strand_count; i++, types++)
            put(&names, i == 0 ? "&%s_strand, " : "&%s_%u_strand, ", flow.name, i);
    }
    put_all(to.source, &flow.frames);
    put_all(to.source, &flow.fragments);
    put_all(to.source, &flow.functions);
    put_tables(to.source, class, &names, types);
    writer_free(&flow.frames);
    writer_free(&flow.fragments);
    writer_free(&flow.functions);
    writer_free(&names);
}
