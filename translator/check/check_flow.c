/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_flow.c - bodies: when-entries, calls and local variables.
 *
 * One pass visits the statements of a body.  The variables in scope form a list with the innermost
 * first; leaving a scope restores the old head.  A variable must not hide another one of the body,
 * because all of them become members of one C struct.
 *
 * Locals and messages are copied into C variables before a serial block and back after it.  A
 * `return` in the block would skip the copy back, and is rejected if it matters.
 */
#include "check/check.h"

#include <assert.h>

#include "ast/ast_copy.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "syntax/ident.h"

struct check_flow_variable {
    const struct check_flow_variable *outer;
    struct source_name                name;
    bool                              copied_back;
};

struct check_flow_context {
    struct checker *checker;
    struct ast_class *class;
    struct ast_entry                 *entry;
    struct strmap                     methods; /* name -> struct ast_entry */
    const struct check_flow_variable *scope;
};

static void check_flow_statements(struct check_flow_context *flow, struct ast_statement *list);

/* ---- variables ---------------------------------------------------------------------------- */

static const struct check_flow_variable *check_flow_find_variable(
    const struct check_flow_context *flow, struct text name)
{
    const struct check_flow_variable *v = flow->scope;

    while (v && !text_equal(v->name.text, name))
        v = v->outer;
    return v;
}

static void check_flow_push(struct check_flow_context *flow, struct source_name name,
                            bool copied_back)
{
    struct check_flow_variable *variable = BUMP_NEW(struct check_flow_variable);

    *variable   = (struct check_flow_variable){flow->scope, name, copied_back};
    flow->scope = variable;
}

static void check_flow_declare(struct check_flow_context *flow, struct source_name name,
                               bool copied_back)
{
    const struct check_flow_variable *hidden = check_flow_find_variable(flow, name.text);

    if (!name.text.length)
        return;
    if (hidden) {
        diagnostic_error_name(name, "`%.*s' hides another variable of this body",
                              TEXT_ARGS(name.text));
        diagnostic_note_at(hidden->name.location, "the first one is here");
        return;
    }
    check_flow_push(flow, name, copied_back);
}

static void check_flow_declare_parameters(struct check_flow_context  *flow,
                                          const struct ast_parameter *list)
{
    for (const struct ast_parameter *p = list; p; p = p->next)
        check_flow_declare(flow, p->name, p->passing == PASS_MESSAGE);
}

static void check_flow_declare_locals(struct check_flow_context *flow, struct ast_field *list)
{
    for (struct ast_field *field = list; field; field = field->next) {
        if (check_variable_name(flow->checker, field->name))
            check_local(flow->checker, field);
        check_flow_declare(flow, field->name, true);
    }
}

struct check_flow_return {
    const struct check_flow_context *flow;
    struct source_code               code;
    struct text                      word;   /* the keyword `return`, if present */
    struct text                      copied; /* a variable to be copied back, if present */
};

static void check_flow_look_for_return(struct text word, void *arg)
{
    struct check_flow_return         *returning = arg;
    const struct check_flow_variable *variable  = check_flow_find_variable(returning->flow, word);

    if (text_is(word, "return") && !ident_is_in_lambda(returning->code, word))
        returning->word = word;
    else if (variable && variable->copied_back)
        returning->copied = word;
}

static void check_flow_serial(const struct check_flow_context *flow,
                              const struct ast_statement      *serial)
{
    struct check_flow_return returning = {.flow = flow, .code = serial->code};

    ident_for_each(serial->code, check_flow_look_for_return, &returning);
    if (!returning.word.at || !returning.copied.at)
        return;
    diagnostic_error_at(
        source_locate(serial->code.location.source, returning.word.at), returning.word.length,
        "`return' would lose changes of `%.*s', which is copied back at the end of the block",
        TEXT_ARGS(returning.copied));
    diagnostic_hint("use `if' and `else', or a field of the class's `state'");
}

/* ---- parameters of when-entries ----------------------------------------------------------- */

static const char *check_flow_parameter_spelling(const struct ast_parameter *p)
{
    const char *stars = p->stars > 1 ? " **" : p->stars ? " *" : "";

    return bump_printf("%s%s%s", check_type_spelling_of(p->type), stars,
                       p->passing == PASS_ARRAY ? " []" : "");
}

/* Returns how the parser classifies the parameter: messages, packed structs and in-place arguments
 * are values or arrays to it. */
static enum ast_passing check_flow_parsed_passing(const struct ast_parameter *declared)
{
    switch (declared->passing) {
    case PASS_MESSAGE: return PASS_VALUE;
    case PASS_INPLACE: return PASS_ARRAY;
    case PASS_PACKED: return declared->length.text.at ? PASS_ARRAY : PASS_VALUE;
    case PASS_VALUE:
    case PASS_ARRAY:
    case PASS_STRING: break;
    }
    return declared->passing;
}

/* A bare name has no type. */
static bool check_flow_parameter_fits(const struct ast_parameter *own,
                                      const struct ast_parameter *declared)
{
    enum ast_passing passing = check_flow_parsed_passing(declared);

    if (!own->type.text.at)
        return own->passing == PASS_VALUE || own->passing == passing;
    return own->passing == passing &&
           check_same_type(own->type, own->stars, declared->type, declared->stars);
}

static void check_flow_bind_parameter(struct check_flow_context *flow, struct ast_parameter *own,
                                      const struct ast_parameter *declared)
{
    if (!own->name.text.length) {
        if (own->type.text.at)
            diagnostic_error_at(own->type.location, own->type.text.length,
                                "a parameter needs a name");
        return;
    }
    check_variable_name(flow->checker, own->name);
    if (declared->name.text.length && !check_flow_parameter_fits(own, declared)) {
        diagnostic_error_name(own->name, "`%.*s' has type `%s' here, but `%s' in the declaration",
                              TEXT_ARGS(own->name.text), check_flow_parameter_spelling(own),
                              check_flow_parameter_spelling(declared));
        diagnostic_note_at(declared->name.location, "declared here");
    }
    if (!own->type.text.at) {
        own->type  = declared->type;
        own->stars = declared->stars;
    }
    if (!own->length.text.at)
        own->length = declared->length;
    own->passing = declared->passing;
    own->message = declared->message;
    own->record  = declared->record;
}

static void check_flow_bind_parameters(struct check_flow_context *flow,
                                       struct ast_when_entry     *when_entry)
{
    struct ast_parameter       *own      = when_entry->parameters;
    const struct ast_parameter *declared = when_entry->entry->parameters;

    if (when_entry->bare) {
        when_entry->parameters = ast_copy_parameters(declared);
        for (own = when_entry->parameters; own; own = own->next)
            own->name.location =
                when_entry->name.location; /* errors about it point to the when-entry */
        return;
    }
    for (; own && declared; own = own->next, declared = declared->next)
        check_flow_bind_parameter(flow, own, declared);
    if (!own && !declared)
        return;
    diagnostic_error_name(when_entry->name, "entry `%.*s' is declared with %s parameters",
                          TEXT_ARGS(when_entry->name.text), own ? "fewer" : "more");
    diagnostic_note_at(when_entry->entry->name.location, "declared here");
    if (!when_entry->parameters)
        diagnostic_hint("omit the parentheses to use the names of the declaration");
}

/* ---- when-entries ------------------------------------------------------------------------- */

static void check_flow_reference(const struct check_flow_context *flow,
                                 const struct ast_when_entry     *when_entry)
{
    const struct ast_parameter *first = when_entry->entry->parameters;
    const struct ast_field     *field = NULL;

    if (!when_entry->reference.text.at)
        return;
    if (first && first->passing == PASS_MESSAGE && first->message) {
        field = first->message->fields;
        if (field && !field->dimensions &&
            check_may_be_integer(flow->checker, field->type, field->stars))
            return;
    } else if (first && first->passing == PASS_VALUE &&
               check_may_be_integer(flow->checker, first->type, first->stars)) {
        return;
    }
    diagnostic_error_name(
        when_entry->name, "`%.*s' has no reference number: its first %s must be an integer",
        TEXT_ARGS(when_entry->name.text), first && first->message ? "field" : "parameter");
    diagnostic_note_at(when_entry->entry->name.location, "declared here");
}

static void check_flow_unknown_entry(const struct check_flow_context *flow, struct source_name name)
{
    const char *suggestion = check_nearest_entry(flow->class, name.text);

    if (text_equal(name.text, flow->class->name.text)) {
        diagnostic_error_name(name, "the constructor cannot be awaited or called");
        return;
    }
    diagnostic_error_name(name, "`%.*s' has no entry `%.*s'", TEXT_ARGS(flow->class->name.text),
                          TEXT_ARGS(name.text));
    if (suggestion)
        diagnostic_hint("did you mean `%s'?", suggestion);
}

static const struct {
    unsigned    attribute;
    const char *what;
} not_awaitable[] = {
    {ATTRIBUTE_THREADED, "it runs in its own thread"},
    {ATTRIBUTE_SYNC, "its caller waits for a result"},
    {ATTRIBUTE_LOCAL, "it is a function call"},
    {ATTRIBUTE_AGGREGATE, "it takes its items in batches"},
};

/* Returns whether messages to an entry can be buffered for a `when`. */
static bool check_flow_can_be_awaited(const struct check_flow_context *flow,
                                      const struct ast_entry *entry, struct source_name name)
{
    if (entry->body) {
        diagnostic_error_name(name,
                              entry == flow->entry ? "`%.*s' waits for itself"
                                                   : "`%.*s' has a body, so it cannot be awaited",
                              TEXT_ARGS(name.text));
        diagnostic_note_at(entry->name.location, "declared here");
        return false;
    }
    for (size_t i = 0; i < sizeof not_awaitable / sizeof *not_awaitable; i++)
        if (entry->attributes & not_awaitable[i].attribute) {
            diagnostic_error_name(name, "`%.*s' cannot be awaited: %s", TEXT_ARGS(name.text),
                                  not_awaitable[i].what);
            diagnostic_note_at(entry->name.location, "declared here");
            return false;
        }
    return true;
}

static void check_flow_when_entry(struct check_flow_context *flow,
                                  struct ast_when_entry     *when_entry)
{
    struct ast_entry *entry = strmap_find(&flow->methods, when_entry->name.text);

    if (!when_entry->name.text.length)
        return;
    if (!entry) {
        check_flow_unknown_entry(flow, when_entry->name);
    } else if (check_flow_can_be_awaited(flow, entry, when_entry->name)) {
        when_entry->entry = entry;
        entry->awaited    = true;
        check_flow_reference(flow, when_entry);
        check_flow_bind_parameters(flow, when_entry);
    }
    check_flow_declare_parameters(flow, when_entry->parameters);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void check_flow_reject_call(const struct check_flow_context *flow,
                                   const struct ast_entry *entry, struct source_name name)
{
    if (!entry) {
        check_flow_unknown_entry(flow, name);
        diagnostic_hint("C belongs in `serial { }'");
        return;
    }
    diagnostic_error_name(name, "`%.*s' has no body, so it cannot be called here",
                          TEXT_ARGS(name.text));
    diagnostic_hint("send it a message, `serial { %.*s_%.*s(%.*s_self(self)); }', or, unless a "
                    "`when' waits for it, call its C function, `serial { %.*s_on_%.*s(self); }'",
                    TEXT_ARGS(flow->class->name.text), TEXT_ARGS(name.text),
                    TEXT_ARGS(flow->class->name.text), TEXT_ARGS(flow->class->name.text),
                    TEXT_ARGS(name.text));
    diagnostic_note_at(entry->name.location, "declared here");
}

static void check_flow_call(const struct check_flow_context *flow, struct ast_statement *call)
{
    struct ast_entry *entry = strmap_find(&flow->methods, call->name.text);
    unsigned          given = 0, wanted = 0;

    if (!call->name.text.length)
        return;
    if (!entry || !entry->body) {
        check_flow_reject_call(flow, entry, call->name);
        return;
    }
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->nocopy || p->passing == PASS_INPLACE) {
            diagnostic_error_name(
                call->name,
                "`%.*s' has `nocopy' or `inplace' arguments: it can be sent to, but not called",
                TEXT_ARGS(call->name.text));
            return;
        }
    call->called = entry;
    for (const struct ast_argument *a = call->arguments; a; a = a->next)
        given++;
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        wanted++;
    if (given == wanted)
        return;
    diagnostic_error_name(call->name, "`%.*s' takes %u argument%s, not %u",
                          TEXT_ARGS(call->name.text), wanted, wanted == 1 ? "" : "s", given);
    diagnostic_note_at(entry->name.location, "declared here");
}

/* ---- statements --------------------------------------------------------------------------- */

/* Names the entry that `at_sync;` waits for. */
static void check_flow_at_sync(const struct check_flow_context *flow, struct ast_statement *when)
{
    for (const struct ast_entry *entry = flow->class->entries; entry; entry = entry->next)
        if (entry->attributes & ATTRIBUTE_RESUME) {
            when->when_entries->name.text     = entry->name.text;
            when->when_entries->name.location = when->location;
            return;
        }
    diagnostic_error_at(when->location, 7, "`%.*s' has no entry that resumes it after a sync point",
                        TEXT_ARGS(flow->class->name.text));
    diagnostic_hint("declare one: `entry [resume] void resumed();'");
}

static void check_flow_when(struct check_flow_context *flow, struct ast_statement *when)
{
    if (when->at_sync)
        check_flow_at_sync(flow, when);
    for (struct ast_when_entry *w = when->when_entries; w; w = w->next)
        check_flow_when_entry(flow, w);
    check_flow_statements(flow, when->body);
}

static void check_flow_case(struct check_flow_context *flow, struct ast_statement *alternatives)
{
    unsigned count = 0;

    for (struct ast_statement *s = alternatives->body; s; s = s->next)
        count += s->kind == STATEMENT_WHEN;
    if (!count)
        diagnostic_error_at(alternatives->location, 4, "a `case' must contain a `when'");
    else if (count > 255)
        diagnostic_error_at(alternatives->location, 4,
                            "a `case' can have at most 255 alternatives");
    check_flow_statements(flow, alternatives->body);
}

static void check_flow_overlap(struct check_flow_context *flow, struct ast_statement *overlap)
{
    for (struct ast_statement *s = overlap->body; s; s = s->next)
        if (s->kind == STATEMENT_LOCAL) {
            diagnostic_error_at(s->location, 1,
                                "a variable in an `overlap' is not visible in its branches");
            diagnostic_hint("declare it before the `overlap', or in a block `{ }' inside");
        }
    check_flow_statements(flow, overlap->body);
}

static void check_flow_statement(struct check_flow_context *flow, struct ast_statement *s)
{
    switch (s->kind) {
    case STATEMENT_SERIAL: check_flow_serial(flow, s); break;
    case STATEMENT_WHEN: check_flow_when(flow, s); break;
    case STATEMENT_CASE: check_flow_case(flow, s); break;
    case STATEMENT_OVERLAP: check_flow_overlap(flow, s); break;
    case STATEMENT_CALL: check_flow_call(flow, s); break;
    case STATEMENT_LOCAL: check_flow_declare_locals(flow, s->local); break;
    case STATEMENT_FORALL:
        check_variable_name(flow->checker, s->name);
        check_flow_declare(flow, s->name, true);
        check_flow_statements(flow, s->body);
        break;
    case STATEMENT_FOR:
        check_flow_declare_locals(flow, s->local);
        check_flow_statements(flow, s->body);
        break;
    case STATEMENT_BLOCK:
    case STATEMENT_IF:
    case STATEMENT_WHILE:
        check_flow_statements(flow, s->body);
        check_flow_statements(flow, s->otherwise);
        break;
    }
}

/* A declaration is in scope up to the end of its list; declarations of inner statements are not. */
static void check_flow_statements(struct check_flow_context *flow, struct ast_statement *list)
{
    const struct check_flow_variable *outside = flow->scope;

    for (struct ast_statement *s = list; s; s = s->next) {
        const struct check_flow_variable *before = flow->scope;

        check_flow_statement(flow, s);
        if (s->kind != STATEMENT_LOCAL)
            flow->scope = before;
    }
    flow->scope = outside;
}

/* ---- classes ------------------------------------------------------------------------------ */

/* Bodies of an interface are checked where they are declared.  A class that inherits a body with
 * errors does not repeat them. */
static bool check_flow_is_checked_elsewhere(const struct check_flow_context *flow,
                                            const struct ast_entry          *entry)
{
    const struct check_symbol *of = NULL;

    if (entry->of == flow->class || !entry->of)
        return false;
    of = check_find_symbol(flow->checker, entry->of->name.text, SYMBOL_CLASS);
    return flow->class->kind == CLASS_INTERFACE || (of && of->broken);
}

static void check_flow_number_entries(struct ast_class *class)
{
    assert(class->awaited_entries == 0);
    for (struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->awaited)
            entry->number = class->awaited_entries++;
}

void check_flow(struct checker *checker, struct check_symbol *symbol)
{
    struct check_flow_context flow   = {.checker = checker, .class = symbol->is.class};
    unsigned                  errors = diagnostic_error_count();

    checker->unit = symbol->is.class;
    for (struct ast_entry *entry = flow.class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            strmap_put(&flow.methods, entry->name.text, entry);
    for (struct ast_entry *entry = flow.class->entries; entry; entry = entry->next) {
        if (!entry->body || check_flow_is_checked_elsewhere(&flow, entry))
            continue;
        flow.entry = entry;
        flow.scope = NULL;
        for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
            check_flow_push(&flow, p->name, p->passing == PASS_MESSAGE);
        check_flow_statements(&flow, entry->body);
    }
    check_flow_number_entries(flow.class);
    symbol->broken = diagnostic_error_count() > errors;
}
