/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_flow.c - structured control flow: the bodies of entries become resumable functions.
 *
 * At run time a body has a frame (skua/skuac_flow.h) with its variables, and a function that
 * resumes where the frame says.  A branch of an `overlap`, and the body of a `forall` for each
 * value, have frames of their own.  In the function, loops and conditions are those of C.  Each
 * point where it may wait has a number and a label, to which the function jumps when it resumes:
 *
 *     for (Block__run_for_1(self, frame); Block__run_while_2(self, frame); ...) {
 *         skuac_flow_want_reference(this, 0, 0, 0, Block__run_reference_4(self, frame));
 *         if (!skuac_flow_match(this, 1, 1))
 *             return;
 *     at_1:
 *         ...
 *
 * Each piece of the user's C becomes a function of its own: see emit_fragment.c.
 */
#include "emit/emit_flow.h"

#include <assert.h>

#include "support/bump.h"

static void emit_flow_statements(struct emit_flow *flow, struct emit_frame *frame,
                                 struct emit_binding *scope, const struct ast_statement *first,
                                 int indent);

/* ---- queries ------------------------------------------------------------------------------ */

bool emit_has_flow(const struct ast_class *class)
{
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->body || entry->awaited)
            return true;
    return false;
}

static bool emit_flow_waits(const struct ast_statement *statement)
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
        for (const struct ast_statement *inner = statement->body; inner; inner = inner->next)
            if (emit_flow_waits(inner))
                return true;
        return emit_flow_waits(statement->otherwise);
    }
}

static const struct ast_when_entry *emit_flow_reference_in(const struct ast_statement *statement,
                                                           const struct ast_entry     *entry)
{
    const struct ast_when_entry *found = NULL;

    for (; statement && !found; statement = statement->next) {
        for (const struct ast_when_entry *w = statement->when_entries; w; w = w->next)
            if (w->entry == entry && w->reference.text.at)
                return w;
        found = emit_flow_reference_in(statement->body, entry);
        if (!found)
            found = emit_flow_reference_in(statement->otherwise, entry);
    }
    return found;
}

const struct ast_when_entry *emit_reference_to(const struct ast_class *class,
                                               const struct ast_entry *entry)
{
    const struct ast_when_entry *found = NULL;

    for (const struct ast_entry *other = class->entries; other && !found; other = other->next)
        found = emit_flow_reference_in(other->body, entry);
    return found;
}

/* ---- frames ------------------------------------------------------------------------------- */

static struct emit_frame *emit_flow_new_frame(struct emit_flow        *flow,
                                              const struct emit_frame *outer, const char *title)
{
    struct emit_frame *frame = BUMP_NEW(struct emit_frame);

    frame->outer = outer;
    frame->title = title;
    frame->name  = outer ? bump_printf("%s__%u", flow->name, flow->frame_count) : flow->name;
    flow->frame_count++;
    return frame;
}

/* Emits the function of a frame, with jumps to the points where it waits. */
static void emit_flow_function(struct emit_flow *flow, const struct emit_frame *frame)
{
    struct writer *to = &flow->functions;

    writer_put(to,
               "static void %s_go(skuac_frame *skua_this)\n{\n"
               "    struct %s__frame *skua_frame = (struct %s__frame *)(void *)skua_this;\n"
               "    %.*s *self = (%.*s *)skua_this->self;\n\n",
               frame->name, frame->name, frame->name, NAME_ARGS(flow->class),
               NAME_ARGS(flow->class));
    if (frame->resume_points > 0) {
        writer_put(to, "    switch (skua_this->at) {\n");
        for (unsigned point = 1; point <= frame->resume_points; point++)
            writer_put(to, "    case %u:\n        goto at_%u;\n", point, point);
        writer_put(to, "    default:\n        break;\n    }\n");
    }
    writer_append(to, &frame->go);
    writer_put(to, "    (void)self, (void)skua_frame;\n    skuac_flow_end(skua_this);\n}\n\n");
}

static void emit_flow_frame_struct(struct emit_flow *flow, const struct emit_frame *frame)
{
    struct writer *to = &flow->frames;

    writer_put(to, "struct %s__frame {\n    skuac_frame frame;\n", frame->name);
    writer_append(to, &frame->arrivals);
    if (frame->waits > 0)
        writer_put(to, "    skuac_wait wait[%u];\n", frame->waits);
    writer_append(to, &frame->variables);
    writer_put(to, "};\n\nstatic void %s_go(skuac_frame *skua_this);\n", frame->name);
    writer_put(to,
               "static const skuac_frame_type %s_type = {\"%s\", sizeof(struct %s__frame), %u, %u, "
               "%s_go};\n\n",
               frame->name, frame->title, frame->name, frame->arrival_count, frame->waits,
               frame->name);
}

static void emit_flow_end_frame(struct emit_flow *flow, struct emit_frame *frame)
{
    emit_flow_frame_struct(flow, frame);
    emit_flow_function(flow, frame);
    writer_free(&frame->arrivals);
    writer_free(&frame->variables);
    writer_free(&frame->go);
}

/* ---- statements --------------------------------------------------------------------------- */

static void emit_flow_label(struct emit_frame *frame, unsigned point)
{
    assert(point >= 1 && point <= frame->resume_points);
    writer_put(&frame->go, "at_%u:;\n", point);
}

/* Emits the label of a serial block as a comment, which the label must not end. */
static void emit_flow_serial_label(struct writer *to, struct text label)
{
    writer_put(to, " /* ");
    for (size_t i = 0; i < label.length; i++)
        writer_put(to, i > 0 && label.at[i] == '/' && label.at[i - 1] == '*' ? " %c" : "%c",
                   label.at[i]);
    writer_put(to, " */");
}

static void emit_flow_serial(struct emit_flow *flow, struct emit_frame *frame,
                             struct emit_binding *scope, const struct ast_statement *statement,
                             int indent)
{
    const char *name = emit_fragment_statements(flow, frame, scope, "serial", statement->code,
                                                "    {\n", "    }\n");

    writer_put(&frame->go, "%*s%s(self, skua_frame);", indent, "", name);
    if (statement->label.at)
        emit_flow_serial_label(&frame->go, statement->label);
    writer_put(&frame->go, "\n");
}

/* Emits the requests for the messages of a `when`.  Returns the number of waits in use. */
static unsigned emit_flow_wants(struct emit_flow *flow, struct emit_frame *frame,
                                struct emit_binding *scope, const struct ast_statement *when,
                                unsigned wait, unsigned alternative, int indent)
{
    struct writer *to = &frame->go;

    for (const struct ast_when_entry *w = when->when_entries; w; w = w->next, wait++) {
        writer_put(to, "%*sskuac_flow_want%s(skua_this, %u, %u, %u", indent, "",
                   w->reference.text.at ? "_reference" : "", wait, w->entry->number, alternative);
        if (w->reference.text.at)
            writer_put(
                to, ", %s(self, skua_frame)",
                emit_fragment_value(flow, frame, scope, "reference", "int64_t ", w->reference));
        writer_put(to, "); /* %.*s */\n", NAME_ARGS(w));
    }
    return wait;
}

static void emit_flow_match(struct emit_frame *frame, unsigned waits, unsigned point, int indent)
{
    if (waits > frame->waits)
        frame->waits = waits;
    writer_put(&frame->go, "%*sif (!skuac_flow_match(skua_this, %u, %u))\n%*sreturn;\n", indent, "",
               waits, point, indent + 4, "");
    emit_flow_label(frame, point);
}

/* Emits the body of a `when`, during which the frame holds its messages. */
static unsigned emit_flow_taken(struct emit_flow *flow, struct emit_frame *frame,
                                struct emit_binding *scope, const struct ast_statement *when,
                                unsigned wait, int indent)
{
    struct writer    *to   = &frame->go;
    bool              keep = emit_flow_waits(when->body);
    struct emit_slot *held = NULL, **end = &held;

    for (const struct ast_when_entry *w = when->when_entries; w; w = w->next, wait++) {
        struct emit_slot *slot = *end = emit_add_slot(frame, w->entry);

        writer_put(to, "%*sskua_frame->%s = skuac_flow_got(skua_this, %u);\n", indent, "",
                   slot->name, wait);
        if (keep)
            writer_put(to, "%*sskuac_flow_keep(&skua_frame->%s);\n", indent, "", slot->name);
        scope = emit_bind_slot(scope, slot, w->parameters);
        end   = &slot->next;
    }
    emit_flow_statements(flow, frame, scope, when->body, indent);
    for (; held; held = held->next)
        writer_put(to, "%*sskuac_%s_drop(&skua_frame->%s);\n", indent, "",
                   emit_count_nocopy(held->entry) > 0 ? "nocopy" : "flow", held->name);
    return wait;
}

static void emit_flow_when(struct emit_flow *flow, struct emit_frame *frame,
                           struct emit_binding *scope, const struct ast_statement *when, int indent)
{
    unsigned point = ++frame->resume_points;
    unsigned count;

    if (when->at_sync)
        writer_put(&frame->go, "%*sskua_at_sync(self);\n", indent, "");
    count = emit_flow_wants(flow, frame, scope, when, 0, 0, indent);
    emit_flow_match(frame, count, point, indent);
    emit_flow_taken(flow, frame, scope, when, 0, indent);
}

static void emit_flow_case(struct emit_flow *flow, struct emit_frame *frame,
                           struct emit_binding *scope, const struct ast_statement *statement,
                           int indent)
{
    struct writer *to    = &frame->go;
    unsigned       point = ++frame->resume_points, wait = 0, alternative = 0;

    for (const struct ast_statement *when = statement->body; when; when = when->next)
        wait = emit_flow_wants(flow, frame, scope, when, wait, alternative++, indent);
    emit_flow_match(frame, wait, point, indent);
    writer_put(to, "%*sswitch (skua_this->chosen) {\n", indent, "");
    wait = alternative = 0;
    for (const struct ast_statement *when = statement->body; when; when = when->next) {
        writer_put(to, "%*scase %u:\n", indent, "", alternative++);
        wait = emit_flow_taken(flow, frame, scope, when, wait, indent + 4);
        writer_put(to, "%*sbreak;\n", indent + 4, "");
    }
    writer_put(to, "%*sdefault:\n%*sbreak;\n%*s}\n", indent, "", indent + 4, "", indent, "");
}

static void emit_flow_if(struct emit_flow *flow, struct emit_frame *frame,
                         struct emit_binding *scope, const struct ast_statement *statement,
                         int indent)
{
    const char *condition =
        emit_fragment_value(flow, frame, scope, "if", "bool ", statement->condition);

    writer_put(&frame->go, "%*sif (%s(self, skua_frame)) {\n", indent, "", condition);
    emit_flow_statements(flow, frame, scope, statement->body, indent + 4);
    if (statement->otherwise) {
        writer_put(&frame->go, "%*s} else {\n", indent, "");
        emit_flow_statements(flow, frame, scope, statement->otherwise, indent + 4);
    }
    writer_put(&frame->go, "%*s}\n", indent, "");
}

/* Emits a fragment that gives a variable its initial value. */
static const char *emit_flow_first_value(struct emit_flow *flow, struct emit_frame *frame,
                                         struct emit_binding *scope, const struct ast_field *local)
{
    struct emit_fragment fragment =
        emit_fragment_begin(flow, frame, scope->next, "first", "void ", &local->value, 1);

    emit_assignment(&flow->fragments, bump_printf("skua_frame->%s", scope->variable), local,
                    "skuac_state_string");
    return emit_fragment_end(&fragment, "");
}

static void emit_flow_for(struct emit_flow *flow, struct emit_frame *frame,
                          struct emit_binding *scope, const struct ast_statement *statement,
                          int indent)
{
    struct writer *to    = &frame->go;
    const char    *first = NULL, *condition = NULL, *step = NULL;

    if (statement->local) {
        scope = emit_bind_variable(scope, frame, statement->local, statement->local->name.text);
        first = emit_flow_first_value(flow, frame, scope, statement->local);
    } else if (statement->first.text.at) {
        first = emit_fragment_statements(flow, frame, scope, "for", statement->first,
                                         "    (void)(\n", "    );\n");
    }
    if (statement->condition.text.at)
        condition = emit_fragment_value(flow, frame, scope, "while", "bool ", statement->condition);
    if (statement->step.text.at)
        step = emit_fragment_statements(flow, frame, scope, "step", statement->step,
                                        "    (void)(\n", "    );\n");
    writer_put(to, "%*sfor (", indent, "");
    if (first)
        writer_put(to, "%s(self, skua_frame)", first);
    writer_put(to, "; ");
    if (condition)
        writer_put(to, "%s(self, skua_frame)", condition);
    writer_put(to, "; ");
    if (step)
        writer_put(to, "%s(self, skua_frame)", step);
    writer_put(to, ") {\n");
    emit_flow_statements(flow, frame, scope, statement->body, indent + 4);
    writer_put(to, "%*s}\n", indent, "");
}

static void emit_flow_while(struct emit_flow *flow, struct emit_frame *frame,
                            struct emit_binding *scope, const struct ast_statement *statement,
                            int indent)
{
    const char *condition =
        emit_fragment_value(flow, frame, scope, "while", "bool ", statement->condition);

    writer_put(&frame->go, "%*swhile (%s(self, skua_frame)) {\n", indent, "", condition);
    emit_flow_statements(flow, frame, scope, statement->body, indent + 4);
    writer_put(&frame->go, "%*s}\n", indent, "");
}

static void emit_flow_join(struct emit_frame *frame, int indent)
{
    unsigned point = ++frame->resume_points;

    writer_put(&frame->go, "%*sif (!skuac_flow_join(skua_this, %u))\n%*sreturn;\n", indent, "",
               point, indent + 4, "");
    emit_flow_label(frame, point);
}

static void emit_flow_overlap(struct emit_flow *flow, struct emit_frame *frame,
                              struct emit_binding *scope, const struct ast_statement *statement,
                              int indent)
{
    for (const struct ast_statement *branch = statement->body; branch; branch = branch->next) {
        struct emit_frame   *inner = emit_flow_new_frame(flow, frame, frame->title);
        struct ast_statement alone = *branch;

        alone.next = NULL;
        emit_flow_statements(flow, inner, scope, &alone, 4);
        emit_flow_end_frame(flow, inner);
        writer_put(&frame->go, "%*sskuac_flow_start(skua_this, &%s_type, skuac_arrival_none());\n",
                   indent, "", inner->name);
    }
    emit_flow_join(frame, indent);
}

static void emit_flow_forall(struct emit_flow *flow, struct emit_frame *frame,
                             struct emit_binding *scope, const struct ast_statement *statement,
                             int indent)
{
    struct writer       *to    = &frame->go;
    struct emit_frame   *inner = emit_flow_new_frame(flow, frame, frame->title);
    struct emit_binding *bound = emit_bind_variable(scope, inner, NULL, statement->name.text);
    const char          *first =
        emit_fragment_value(flow, frame, scope, "first", "long long ", statement->first);
    const char *last =
        emit_fragment_value(flow, frame, scope, "last", "long long ", statement->last);
    const char *step = "1";

    if (statement->step.text.at)
        step =
            bump_printf("%s(self, skua_frame)", emit_fragment_value(flow, frame, scope, "step",
                                                                    "long long ", statement->step));
    emit_flow_statements(flow, inner, bound, statement->body, 4);
    emit_flow_end_frame(flow, inner);
    writer_put(
        to,
        "%*s{\n"
        "%*slong long skua_last = %s(self, skua_frame), skua_step = %s;\n\n"
        "%*sif (skua_step == 0)\n%*sskua_abort(\"%s: a forall in line %u has a step of 0\");\n",
        indent, "", indent + 4, "", last, step, indent + 4, "", indent + 8, "", frame->title,
        statement->location.line);
    writer_put(
        to,
        "%*sfor (long long skua_i = %s(self, skua_frame);\n"
        "%*s     skua_step > 0 ? skua_i <= skua_last : skua_i >= skua_last; skua_i += skua_step)\n"
        "%*s((struct %s__frame *)(void *)skuac_flow_start(skua_this, &%s_type, "
        "skuac_arrival_none()))->%s = (int)skua_i;\n%*s}\n",
        indent + 4, "", first, indent + 4, "", indent + 8, "", inner->name, inner->name,
        bound->variable, indent, "");
    emit_flow_join(frame, indent);
}

/* Emits the arguments of fixed size: each is assigned, and so converted, to its member. */
static void emit_flow_call_struct(struct writer *to, const char *stem,
                                  const struct ast_entry *called, const struct source_code *code)
{
    writer_put(to,
               "    skua_msg *skua_packed = skua_msg_alloc(sizeof(struct %s));\n"
               "    struct %s skua_args;\n\n",
               stem, stem);
    for (const struct ast_parameter *p = called->parameters; p; p = p->next) {
        writer_put(to, "    skua_args.%.*s =\n", NAME_ARGS(p));
        writer_put_code(to, *code++);
        writer_put(to, "    ;\n");
    }
    writer_put(to, "    memcpy(skua_msg_data(skua_packed), &skua_args, sizeof skua_args);\n");
}

/* Emits the message that a call passes.  The called body owns it from now on: a name of the caller
 * that refers to it becomes NULL, so that the caller does not free it too. */
static void emit_flow_call_message(const struct emit_fragment *fragment,
                                   const struct ast_entry     *called)
{
    struct writer            *to      = &fragment->flow->fragments;
    const struct ast_message *message = called->parameters->message;

    writer_put(to, "    %.*s *skua_passed = (\n", NAME_ARGS(message));
    writer_put_code(to, *fragment->code);
    writer_put(
        to,
        "    );\n    skua_msg *skua_packed;\n\n    if (!skua_passed)\n"
        "        skua_abort(\"%s is called with a message that is NULL: it has been passed on "
        "or kept\");\n"
        "    skua_packed = %.*s__message(skua_passed);\n",
        emit_title_of(fragment->flow->class, called), NAME_ARGS(message));
    emit_fragment_give_up(fragment, message, "skua_passed");
}

/* Emits the declaration of `skua_packed`, a message with the arguments of a call. */
static void emit_flow_call_value(const struct emit_fragment *fragment,
                                 const struct ast_entry     *called)
{
    struct writer           *to     = &fragment->flow->fragments;
    enum emit_marshal_format format = emit_marshal_format_of(called);
    const char              *stem   = emit_stem_of(fragment->flow->class, called);

    if (format == MARSHAL_FIXED) {
        emit_flow_call_struct(to, stem, called, fragment->code);
        return;
    }
    if (format == MARSHAL_MESSAGE) {
        emit_flow_call_message(fragment, called);
        return;
    }
    writer_put(to, "    skua_msg *skua_packed = %s_pack(\n", stem);
    for (unsigned i = 0; i < fragment->codes; i++) {
        writer_put_code(to, fragment->code[i]);
        writer_put(to, i + 1 < fragment->codes ? "    ,\n" : "");
    }
    writer_put(to, "    );\n");
}

/* Emits a fragment that marshals the arguments of a call. */
static const char *emit_flow_call_arguments(struct emit_flow *flow, struct emit_frame *frame,
                                            struct emit_binding        *scope,
                                            const struct ast_statement *call)
{
    unsigned             count = 0, i = 0;
    struct source_code  *code;
    struct emit_fragment fragment;

    for (const struct ast_argument *argument = call->arguments; argument; argument = argument->next)
        count++;
    code = bump_alloc((count + 1) * sizeof *code);
    for (const struct ast_argument *argument = call->arguments; argument; argument = argument->next)
        code[i++] = argument->value;
    fragment = emit_fragment_begin(flow, frame, scope, "call", "skua_msg *", code, count);
    emit_flow_call_value(&fragment, call->called);
    return emit_fragment_end(&fragment, "skua_packed");
}

static void emit_flow_call(struct emit_flow *flow, struct emit_frame *frame,
                           struct emit_binding *scope, const struct ast_statement *statement,
                           int indent)
{
    const char *stem = emit_stem_of(flow->class, statement->called);

    assert(statement->called->body);
    writer_put(&frame->go, "%*sskuac_flow_start(skua_this, &%s_type, ", indent, "", stem);
    if (statement->arguments)
        writer_put(&frame->go, "skuac_arrival_of(%s(self, skua_frame)));\n",
                   emit_flow_call_arguments(flow, frame, scope, statement));
    else
        writer_put(&frame->go, "skuac_arrival_none());\n");
    emit_flow_join(frame, indent);
}

static struct emit_binding *emit_flow_local(struct emit_flow *flow, struct emit_frame *frame,
                                            struct emit_binding        *scope,
                                            const struct ast_statement *statement, int indent)
{
    for (const struct ast_field *local = statement->local; local; local = local->next) {
        scope = emit_bind_variable(scope, frame, local, local->name.text);
        if (local->value.text.at)
            writer_put(&frame->go, "%*s%s(self, skua_frame);\n", indent, "",
                       emit_flow_first_value(flow, frame, scope, local));
        else
            writer_put(&frame->go, "%*smemset(&skua_frame->%s, 0, sizeof skua_frame->%s);\n",
                       indent, "", scope->variable, scope->variable);
    }
    return scope;
}

static void emit_flow_statement(struct emit_flow *flow, struct emit_frame *frame,
                                struct emit_binding *scope, const struct ast_statement *statement,
                                int indent)
{
    switch (statement->kind) {
    case STATEMENT_BLOCK: emit_flow_statements(flow, frame, scope, statement->body, indent); break;
    case STATEMENT_SERIAL: emit_flow_serial(flow, frame, scope, statement, indent); break;
    case STATEMENT_WHEN: emit_flow_when(flow, frame, scope, statement, indent); break;
    case STATEMENT_IF: emit_flow_if(flow, frame, scope, statement, indent); break;
    case STATEMENT_FOR: emit_flow_for(flow, frame, scope, statement, indent); break;
    case STATEMENT_WHILE: emit_flow_while(flow, frame, scope, statement, indent); break;
    case STATEMENT_FORALL: emit_flow_forall(flow, frame, scope, statement, indent); break;
    case STATEMENT_OVERLAP: emit_flow_overlap(flow, frame, scope, statement, indent); break;
    case STATEMENT_CASE: emit_flow_case(flow, frame, scope, statement, indent); break;
    case STATEMENT_CALL: emit_flow_call(flow, frame, scope, statement, indent); break;
    case STATEMENT_LOCAL: break; /* see emit_flow_statements() */
    }
}

static void emit_flow_statements(struct emit_flow *flow, struct emit_frame *frame,
                                 struct emit_binding *scope, const struct ast_statement *first,
                                 int indent)
{
    for (const struct ast_statement *statement = first; statement; statement = statement->next)
        if (statement->kind == STATEMENT_LOCAL)
            scope = emit_flow_local(flow, frame, scope, statement, indent);
        else
            emit_flow_statement(flow, frame, scope, statement, indent);
}

/* ---- classes ------------------------------------------------------------------------------ */

/* Emits the frames of one entry. */
static void emit_flow_entry(struct emit_flow *flow, const struct ast_entry *entry)
{
    struct emit_frame   *frame;
    struct emit_binding *scope = NULL;

    flow->name           = emit_stem_of(flow->class, entry);
    flow->frame_count    = 0;
    flow->fragment_count = 0;
    frame                = emit_flow_new_frame(flow, NULL, emit_title_of(flow->class, entry));
    if (entry->parameters)
        scope = emit_bind_slot(scope, emit_add_slot(frame, entry), entry->parameters);
    emit_flow_statement(flow, frame, scope, entry->body, 4);
    if (emit_count_nocopy(entry) > 0)
        writer_put(&frame->go, "    skuac_nocopy_drop(&skua_frame->%s);\n", scope->slot->name);
    emit_flow_end_frame(flow, frame);
}

/* Emits the tables of frame types and of awaited entries. */
static void emit_flow_tables(struct writer       *to, const struct ast_class *class,
                             const struct writer *names, unsigned types)
{
    writer_put(to, "static const skuac_frame_type *const %.*s__types[] = {%.*sNULL};\n\n",
               NAME_ARGS(class), (int)names->length, names->length ? names->at : "");
    writer_put(to, "static const char *const %.*s__whens[] = {", NAME_ARGS(class));
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->awaited)
            writer_put(to, "\"%.*s\", ", NAME_ARGS(entry));
    writer_put(to,
               "NULL};\n\nstatic const skuac_flow_class %.*s__flow = {\"%.*s\", "
               "SKUAC_FLOW_AT(sizeof(%.*s)), %u, "
               "%u, %.*s__types, %.*s__whens};\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), types, class->awaited_entries,
               NAME_ARGS(class), NAME_ARGS(class));
}

void emit_class_flow(struct emit_files to, const struct ast_class *class)
{
    struct emit_flow flow  = {.class = class};
    struct writer    names = {NULL, 0, 0};
    unsigned         types = 0;

    if (!emit_has_flow(class))
        return;
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        if (!entry->body)
            continue;
        emit_flow_entry(&flow, entry);
        for (unsigned i = 0; i < flow.frame_count; i++, types++)
            writer_put(&names, i == 0 ? "&%s_type, " : "&%s__%u_type, ", flow.name, i);
    }
    writer_append(to.source, &flow.frames);
    writer_append(to.source, &flow.fragments);
    writer_append(to.source, &flow.functions);
    emit_flow_tables(to.source, class, &names, types);
    writer_free(&flow.frames);
    writer_free(&flow.fragments);
    writer_free(&flow.functions);
    writer_free(&names);
}
