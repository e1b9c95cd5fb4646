/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_flow.c - bodies: what they wait for, what they call, which variables they have.
 *
 * One walk over the statements of a body, with the variables that are in scope as a list
 * whose head is the innermost; leaving a scope puts the old head back.  No name hides
 * another within a body: all of its variables become members of one C struct.
 *
 * Locals and messages are copied into C variables before a serial block and back after it;
 * a `return` in the block would skip that.
 */
#include "check.h"

#include "arena.h"
#include "copy.h"
#include "diagnostic.h"
#include "source.h"
#include "words.h"

struct variable {
    const struct variable *outer;
    struct name            name;
    bool                   copied_back;
};

struct flow {
    struct checker *checker;
    struct class *class;
    struct entry          *entry;
    struct map             methods; /* name -> struct entry */
    const struct variable *scope;
};

static void check_statements(struct flow *flow, struct statement *list);

/* ---- variables --------------------------------------------------------------------------------
 */

static const struct variable *find_variable(const struct flow *flow, struct text name)
{
    const struct variable *v = flow->scope;

    while (v && !text_equal(v->name.text, name))
        v = v->outer;
    return v;
}

static void push(struct flow *flow, struct name name, bool copied_back)
{
    struct variable *variable = ARENA_NEW(struct variable);

    *variable   = (struct variable){flow->scope, name, copied_back};
    flow->scope = variable;
}

static void declare(struct flow *flow, struct name name, bool copied_back)
{
    const struct variable *hidden = find_variable(flow, name.text);

    if (!name.text.length)
        return;
    if (hidden) {
        error_name(name, "`%.*s' would hide another variable of this body", TEXT(name.text));
        hint_at(hidden->name.place, "the other is here");
        return;
    }
    push(flow, name, copied_back);
}

static void declare_parameters(struct flow *flow, const struct parameter *list)
{
    for (const struct parameter *p = list; p; p = p->next)
        declare(flow, p->name, p->passing == PASS_MESSAGE);
}

static void declare_locals(struct flow *flow, struct field *list)
{
    for (struct field *field = list; field; field = field->next) {
        if (check_variable_name(flow->checker, field->name))
            check_local(flow->checker, field);
        declare(flow, field->name, true);
    }
}

struct returning {
    const struct flow *flow;
    struct text        word;   /* `return`             */
    struct text        copied; /* a variable, likewise */
};

static void look_for_return(struct text word, void *arg)
{
    struct returning      *returning = arg;
    const struct variable *variable  = find_variable(returning->flow, word);

    if (text_is(word, "return"))
        returning->word = word;
    else if (variable && variable->copied_back)
        returning->copied = word;
}

static void check_serial(const struct flow *flow, const struct statement *serial)
{
    struct returning returning = {.flow = flow};

    for_each_word(serial->code, look_for_return, &returning);
    if (!returning.word.at || !returning.copied.at)
        return;
    error_at(source_place(serial->code.place.source, returning.word.at), returning.word.length,
             "`return' would lose what happened to `%.*s', which is copied back at the end",
             TEXT(returning.copied));
    hint("use `if' and `else', or a variable of the class's state");
}

/* ---- parameters of triggers --------------------------------------------------------------------
 */

static const char *parameter_spelling(const struct parameter *p)
{
    const char *stars = p->stars > 1 ? " **" : p->stars ? " *" : "";

    return arena_print("%s%s%s", type_spelling(p->type), stars,
                       p->passing == PASS_ARRAY ? " []" : "");
}

/* The names of messages are not known to the parser, and bare names have no type at all. */
static bool fits(const struct parameter *own, const struct parameter *declared)
{
    enum passing passing = declared->passing == PASS_MESSAGE   ? PASS_VALUE
                           : declared->passing == PASS_LANDING ? PASS_ARRAY
                                                               : declared->passing;

    if (!own->type.text.at)
        return own->passing == PASS_VALUE || own->passing == passing;
    return own->passing == passing &&
           same_type(own->type, own->stars, declared->type, declared->stars);
}

static void bind_parameter(struct flow *flow, struct parameter *own,
                           const struct parameter *declared)
{
    if (!own->name.text.length) {
        if (own->type.text.at)
            error_at(own->type.place, own->type.text.length, "a parameter needs a name");
        return;
    }
    check_variable_name(flow->checker, own->name);
    if (declared->name.text.length && !fits(own, declared)) {
        error_name(own->name, "`%.*s' has type `%s' here, but `%s' in the declaration",
                   TEXT(own->name.text), parameter_spelling(own), parameter_spelling(declared));
        hint_at(declared->name.place, "declared here");
    }
    if (!own->type.text.at) {
        own->type  = declared->type;
        own->stars = declared->stars;
    }
    if (!own->length.text.at)
        own->length = declared->length;
    own->passing = declared->passing;
    own->message = declared->message;
}

static void bind_parameters(struct flow *flow, struct trigger *trigger)
{
    struct parameter       *own      = trigger->parameters;
    const struct parameter *declared = trigger->entry->parameters;

    if (trigger->bare) {
        trigger->parameters = copy_parameters(declared);
        for (own = trigger->parameters; own; own = own->next)
            own->name.place = trigger->name.place; /* where errors about it belong */
        return;
    }
    for (; own && declared; own = own->next, declared = declared->next)
        bind_parameter(flow, own, declared);
    if (!own && !declared)
        return;
    error_name(trigger->name, "`%.*s' has %s parameters than here", TEXT(trigger->name.text),
               own ? "fewer" : "more");
    hint_at(trigger->entry->name.place, "declared here");
    if (!trigger->parameters)
        hint("without the parentheses they have the names of the declaration");
}

/* ---- triggers ----------------------------------------------------------------------------------
 */

static void check_reference(const struct flow *flow, const struct trigger *trigger)
{
    const struct parameter *first = trigger->entry->parameters;
    const struct field     *field = NULL;

    if (!trigger->reference.text.at)
        return;
    if (first && first->passing == PASS_MESSAGE && first->message) {
        field = first->message->fields;
        if (field && !field->dimensions && may_be_integer(flow->checker, field->type, field->stars))
            return;
    } else if (first && first->passing == PASS_VALUE &&
               may_be_integer(flow->checker, first->type, first->stars)) {
        return;
    }
    error_name(trigger->name,
               "`%.*s' has no reference number: its first %s would have to be an integer",
               TEXT(trigger->name.text), first && first->message ? "field" : "parameter");
    hint_at(trigger->entry->name.place, "declared here");
}

static void unknown_entry(const struct flow *flow, struct name name)
{
    const char *near = nearest_entry(flow->class, name.text);

    if (text_equal(name.text, flow->class->name.text)) {
        error_name(name, "the constructor can be neither waited for nor called");
        return;
    }
    error_name(name, "`%.*s' has no entry `%.*s'", TEXT(flow->class->name.text), TEXT(name.text));
    if (near)
        hint("did you mean `%s'?", near);
}

static const struct {
    unsigned    attribute;
    const char *what;
} no_triggers[] = {
    {ATTRIBUTE_THREADED, "runs in a thread of its own"},
    {ATTRIBUTE_SYNC, "answers its caller"},
    {ATTRIBUTE_LOCAL, "is a function call"},
    {ATTRIBUTE_AGGREGATE, "gets its messages in batches"},
};

/* Whether messages to an entry can be kept for a `when`. */
static bool can_be_trigger(const struct flow *flow, const struct entry *entry, struct name name)
{
    if (entry->body) {
        error_name(name,
                   entry == flow->entry ? "`%.*s' would wait for itself"
                                        : "`%.*s' has a body: it runs, and is not waited for",
                   TEXT(name.text));
        hint_at(entry->name.place, "declared here");
        return false;
    }
    for (size_t i = 0; i < sizeof no_triggers / sizeof *no_triggers; i++)
        if (entry->attributes & no_triggers[i].attribute) {
            error_name(name, "`%.*s' cannot be waited for: it %s", TEXT(name.text),
                       no_triggers[i].what);
            hint_at(entry->name.place, "declared here");
            return false;
        }
    return true;
}

static void check_trigger(struct flow *flow, struct trigger *trigger)
{
    struct entry *entry = map_find(&flow->methods, trigger->name.text);

    if (!trigger->name.text.length)
        return;
    if (!entry) {
        unknown_entry(flow, trigger->name);
    } else if (can_be_trigger(flow, entry, trigger->name)) {
        trigger->entry = entry;
        entry->trigger = true;
        check_reference(flow, trigger);
        bind_parameters(flow, trigger);
    }
    declare_parameters(flow, trigger->parameters);
}

/* ---- calls
 * --------------------------------------------------------------------------------------- */

static void refuse_call(const struct flow *flow, const struct entry *entry, struct name name)
{
    if (!entry) {
        unknown_entry(flow, name);
        hint("C stands in `serial { }'");
        return;
    }
    error_name(name, "`%.*s' has no body: it is a function of yours", TEXT(name.text));
    hint("call it in C: `serial { %.*s_on_%.*s(self); }'", TEXT(flow->class->name.text),
         TEXT(name.text));
    hint_at(entry->name.place, "declared here");
}

static void check_call(const struct flow *flow, struct statement *call)
{
    struct entry *entry = map_find(&flow->methods, call->name.text);
    unsigned      given = 0, wanted = 0;

    if (!call->name.text.length)
        return;
    if (!entry || !entry->body) {
        refuse_call(flow, entry, call->name);
        return;
    }
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->nocopy || p->passing == PASS_LANDING) {
            error_name(call->name,
                       "`%.*s' has arguments that are not copied: it can be sent to, "
                       "but not called",
                       TEXT(call->name.text));
            return;
        }
    call->called = entry;
    for (const struct argument *a = call->arguments; a; a = a->next)
        given++;
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        wanted++;
    if (given == wanted)
        return;
    error_name(call->name, "`%.*s' takes %u argument%s, not %u", TEXT(call->name.text), wanted,
               wanted == 1 ? "" : "s", given);
    hint_at(entry->name.place, "declared here");
}

/* ---- statements
 * ---------------------------------------------------------------------------------- */

static void check_when(struct flow *flow, struct statement *when)
{
    for (struct trigger *trigger = when->triggers; trigger; trigger = trigger->next)
        check_trigger(flow, trigger);
    check_statements(flow, when->body);
}

static void check_case(struct flow *flow, struct statement *alternatives)
{
    unsigned count = 0;

    for (struct statement *s = alternatives->body; s; s = s->next)
        count += s->kind == STATEMENT_WHEN;
    if (!count)
        error_at(alternatives->place, 4, "a `case' needs a `when'");
    else if (count > 255)
        error_at(alternatives->place, 4, "a `case' has at most 255 alternatives");
    check_statements(flow, alternatives->body);
}

static void check_overlap(struct flow *flow, struct statement *overlap)
{
    for (struct statement *s = overlap->body; s; s = s->next)
        if (s->kind == STATEMENT_LOCAL) {
            error_at(s->place, 1, "in an `overlap' a variable would be of use to nobody");
            hint("declare it before the `overlap', or in a block { }");
        }
    check_statements(flow, overlap->body);
}

static void check_statement(struct flow *flow, struct statement *s)
{
    switch (s->kind) {
    case STATEMENT_SERIAL: check_serial(flow, s); break;
    case STATEMENT_WHEN: check_when(flow, s); break;
    case STATEMENT_CASE: check_case(flow, s); break;
    case STATEMENT_OVERLAP: check_overlap(flow, s); break;
    case STATEMENT_CALL: check_call(flow, s); break;
    case STATEMENT_LOCAL: declare_locals(flow, s->local); break;
    case STATEMENT_FORALL:
        check_variable_name(flow->checker, s->name);
        declare(flow, s->name, true);
        check_statements(flow, s->body);
        break;
    case STATEMENT_FOR:
        declare_locals(flow, s->local);
        check_statements(flow, s->body);
        break;
    case STATEMENT_BLOCK:
    case STATEMENT_IF:
    case STATEMENT_WHILE:
        check_statements(flow, s->body);
        check_statements(flow, s->otherwise);
        break;
    }
}

/* A declaration is good to the end of its list; what others declare is their own. */
static void check_statements(struct flow *flow, struct statement *list)
{
    const struct variable *outside = flow->scope;

    for (struct statement *s = list; s; s = s->next) {
        const struct variable *before = flow->scope;

        check_statement(flow, s);
        if (s->kind != STATEMENT_LOCAL)
            flow->scope = before;
    }
    flow->scope = outside;
}

/* ---- classes
 * ------------------------------------------------------------------------------------- */

/* Bodies that an interface inherits are looked at where they were declared; wrong ones that
 * a class inherits likewise. */
static bool is_others(const struct flow *flow, const struct entry *entry)
{
    const struct symbol *of = NULL;

    if (entry->of == flow->class || !entry->of)
        return false;
    of = find_symbol(flow->checker, entry->of->name.text, SYMBOL_CLASS);
    return flow->class->kind == CLASS_INTERFACE || (of && of->broken);
}

static void number_triggers(struct class *class)
{
    for (struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->trigger)
            entry->number = class->triggers++;
}

void check_flow(struct checker *checker, struct symbol *symbol)
{
    struct flow flow   = {.checker = checker, .class = symbol->is.class};
    unsigned    errors = error_count();

    checker->unit = symbol->is.class;
    for (struct entry *entry = flow.class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            map_put(&flow.methods, entry->name.text, entry);
    for (struct entry *entry = flow.class->entries; entry; entry = entry->next) {
        if (!entry->body || is_others(&flow, entry))
            continue;
        flow.entry = entry;
        flow.scope = NULL;
        for (const struct parameter *p = entry->parameters; p; p = p->next)
            push(&flow, p->name, p->passing == PASS_MESSAGE);
        check_statements(&flow, entry->body);
    }
    number_triggers(flow.class);
    symbol->broken = error_count() > errors;
}
