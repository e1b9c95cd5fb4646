/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_fields.c - messages, structs, states, readonly variables, locals.
 *
 * All of these are lists of fields; struct check_field_rules states what a field may be.  An array
 * is of variable length if its length mentions another field.  That field must be an integer
 * declared before it, so that it is unpacked first.
 */
#include "check/check.h"

#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "syntax/ident.h"

struct check_field_rules {
    const char *in;       /* as error texts name it: "a state" */
    bool        defaults; /* initial values are allowed */
    bool        strings;
    bool        open;    /* `x[]` is allowed: its length is given at allocation */
    bool        deep;    /* structs with deep fields are allowed */
    bool        globals; /* lengths are global variables, not members */
};

static const struct check_field_rules of_message = {.in = "a message", .open = true};
static const struct check_field_rules of_record = {.in = "a struct", .strings = true, .deep = true};
static const struct check_field_rules of_state  = {
     .in = "a state", .defaults = true, .strings = true, .deep = true};
static const struct check_field_rules of_readonly = {
    .in = "a readonly variable", .defaults = true, .strings = true, .globals = true};

/* A field being checked, and its context. */
struct check_field_context {
    struct checker                 *checker;
    const struct check_field_rules *rules;
    const struct strmap            *before; /* fields declared before it */
    struct ast_field               *field;
    struct source_code              length;   /* the length being checked */
    bool                            variable; /* the length depends on other fields */
};

/* ---- lengths ------------------------------------------------------------------------------ */

/* Returns whether @p word is the field itself or is declared after it. */
static bool check_field_comes_later(const struct check_field_context *view, struct text word)
{
    for (const struct ast_field *f = view->field; f; f = f->next)
        if (text_equal(f->name.text, word))
            return true;
    return view->rules->globals && check_find_symbol(view->checker, word, SYMBOL_READONLY);
}

static struct source_name check_field_name_in(struct source_code code, struct text word)
{
    return (struct source_name){word, source_locate(code.location.source, word.at)};
}

static void check_field_length_word(struct text word, void *arg)
{
    struct check_field_context *view   = arg;
    const struct ast_field     *length = strmap_find(view->before, word);

    if (!length && check_field_comes_later(view, word)) {
        diagnostic_error_name(check_field_name_in(view->length, word),
                              "the length of `%.*s' must be declared before it",
                              TEXT_ARGS(view->field->name.text));
    } else if (length) {
        view->variable = true;
        if (!length->dimensions && check_may_be_integer(view->checker, length->type, length->stars))
            return;
        diagnostic_error_name(check_field_name_in(view->length, word),
                              "`%.*s' is not an integer: it cannot be a length", TEXT_ARGS(word));
        diagnostic_note_at(length->name.location, "declared here");
    }
}

/* Rejects a readonly variable in a constant length. */
static void check_field_constant_word(struct text word, void *arg)
{
    const struct check_field_context *view  = arg;
    const struct ast_field           *field = view->field;
    struct source_name                name  = check_field_name_in(view->length, word);
    const struct check_symbol *readonly = check_find_symbol(view->checker, word, SYMBOL_READONLY);

    if (!readonly)
        return;
    if (view->length.text.at == field->dimensions->length.text.at)
        diagnostic_error_name(name,
                              "`%.*s' is a readonly variable, not a constant: copy it into a field "
                              "declared before `%.*s'",
                              TEXT_ARGS(word), TEXT_ARGS(field->name.text));
    else
        diagnostic_error_name(name, "`%.*s' is a readonly variable, not a constant",
                              TEXT_ARGS(word));
    diagnostic_note_at(readonly->name.location, "declared here");
}

static void check_field_open_array(struct check_field_context *view,
                                   const struct ast_dimension *dimension)
{
    view->variable = true;
    if (view->rules->open)
        return;
    diagnostic_error_at(dimension->location, 1, "array `%.*s' needs a length",
                        TEXT_ARGS(view->field->name.text));
    if (!view->rules->globals)
        diagnostic_hint("declare a field for the length first: `int n; double x[n];'");
}

/* Only the first dimension may be variable: C must know the others to address an element. */
static void check_field_dimensions(struct check_field_context *view)
{
    struct ast_field *field = view->field;

    for (const struct ast_dimension *d = field->dimensions; d; d = d->next) {
        view->length   = d->length;
        view->variable = false;
        if (d->length.text.length)
            ident_for_each(d->length, check_field_length_word, view);
        else
            check_field_open_array(view, d);
        if (!view->variable && !view->rules->globals && d->length.text.length)
            ident_for_each(d->length, check_field_constant_word, view);
        if (d == field->dimensions)
            field->variable = view->variable;
        else if (view->variable)
            diagnostic_error_at(d->location, 1,
                                "only the first dimension of `%.*s' can be variable",
                                TEXT_ARGS(field->name.text));
    }
}

/* ---- types -------------------------------------------------------------------------------- */

static void check_field_string(const struct check_field_context *view)
{
    const struct ast_field *field = view->field;

    if (!view->rules->strings) {
        diagnostic_error_name(field->name, "%s cannot have a string", view->rules->in);
        diagnostic_hint("use an array of characters: `char %.*s[];'", TEXT_ARGS(field->name.text));
    } else if (field->dimensions || field->stars) {
        diagnostic_error_name(field->name,
                              "arrays of strings and pointers to strings are not supported");
        diagnostic_hint("declare a struct that contains a string, and an array of that struct");
    }
}

static void check_field_reject_pointer(const struct check_field_context *view)
{
    const struct ast_field *field = view->field;

    diagnostic_error_name(
        field->name, "%s cannot %s a pointer: what `%.*s' points to would not be packed",
        view->rules->in, view->rules->globals ? "be" : "have", TEXT_ARGS(field->name.text));
    if (check_type_is(field->type, "char") && view->rules->strings)
        diagnostic_hint("for text use a `string': `string %.*s;'", TEXT_ARGS(field->name.text));
    else if (check_message_of(view->checker, field->type) && view->rules != &of_state)
        diagnostic_hint("declare a `struct' with what the message has");
    else if (check_message_of(view->checker, field->type))
        diagnostic_hint("exclude the field from packing: `transient'");
    else if (view->rules == &of_state)
        diagnostic_hint(
            "use an array: `%s %.*s[n];', or exclude the field from packing: `transient'",
            check_type_spelling_of(field->type), TEXT_ARGS(field->name.text));
    else
        diagnostic_hint("use an array: `%s %.*s[%s];'", check_type_spelling_of(field->type),
                        TEXT_ARGS(field->name.text), view->rules->open ? "" : "n");
}

/* A struct of an interface file must be declared before its use, as in C. */
static void check_field_inner_struct(const struct check_field_context *view)
{
    struct ast_field    *field = view->field;
    struct check_symbol *symbol =
        check_find_symbol(view->checker, check_type_name(field->type), SYMBOL_RECORD);

    if (!symbol)
        return;
    if (view->rules == &of_record && symbol->progress != PROGRESS_DONE) {
        diagnostic_error_name(field->name,
                              symbol->progress == PROGRESS_BEGUN
                                  ? "struct `%.*s' contains itself"
                                  : "struct `%.*s' must be declared before it is used",
                              TEXT_ARGS(symbol->name.text));
        if (symbol->progress == PROGRESS_NONE)
            diagnostic_note_at(symbol->name.location, "declared here: move it up");
        return;
    }
    field->record = symbol->is.record;
    if (!view->rules->deep)
        check_reject_deep(
            view->checker, field->record, field->name,
            bump_printf("%s%s", view->rules->globals ? "" : "part of ", view->rules->in));
}

static void check_field_type(const struct check_field_context *view)
{
    struct ast_field *field = view->field;

    if (check_type_is(field->type, "string")) {
        field->type.text = text_of("string"); /* drops a `const` */
        check_field_string(view);
    } else if (field->stars && !field->transient)
        check_field_reject_pointer(view);
    else if (check_type_is(field->type, "void") && !field->stars)
        diagnostic_error_name(field->name, "`%.*s' cannot be void", TEXT_ARGS(field->name.text));
    else if (check_message_of(view->checker, field->type) && !field->transient)
        diagnostic_error_name(field->name, "a message cannot be a field");
    else if (!field->stars && check_type_is_const(field->type))
        check_reject_const(field->name);
    else if (!field->stars && !check_reject_class(view->checker, field->type, field->name))
        check_field_inner_struct(view);
}

/* Returns whether @p value is certainly not text: a number, a character or a list. */
static bool check_field_is_not_text(struct text value)
{
    return value.length && !text_is(value, "0") &&
           (text_is_digit(*value.at) || memchr("+-.'{", *value.at, 5));
}

static void check_field_default(const struct check_field_context *view)
{
    const struct ast_field *field = view->field;

    if (!field->value.text.at)
        return;
    if (view->rules->globals && check_type_is(field->type, "string") &&
        check_field_is_not_text(field->value.text))
        diagnostic_error_name(field->name, "the initial value of the string `%.*s' is not text",
                              TEXT_ARGS(field->name.text));
    if (!view->rules->defaults) {
        diagnostic_error_name(field->name, "a field of %s cannot have an initial value",
                              view->rules->in);
        diagnostic_hint("only fields of a `state' and readonly variables can");
    } else if (field->variable) {
        diagnostic_error_name(
            field->name, "array `%.*s' has a variable length, so it cannot have an initial value",
            TEXT_ARGS(field->name.text));
        diagnostic_hint("assign its elements in %s",
                        view->rules->globals ? "the mainchare" : "the constructor");
    }
}

static void check_field_one(struct check_field_context *view)
{
    const struct ast_field *field = view->field;
    const char             *what  = bump_printf("`%.*s'", TEXT_ARGS(field->name.text));

    if (check_stored_type(view->checker, field->type, field->stars, what, !field->transient,
                          !view->rules->globals || field->dimensions))
        check_field_type(view);
    check_field_dimensions(view);
    check_field_default(view);
}

/* ---- lists of fields ---------------------------------------------------------------------- */

static void check_field_list(struct checker *checker, const struct check_field_rules *rules,
                             struct ast_field *fields)
{
    struct strmap before = {0};

    for (struct ast_field *field = fields; field; field = field->next) {
        struct check_field_context view = {
            .checker = checker, .rules = rules, .before = &before, .field = field};
        struct ast_field *earlier = NULL;

        if (check_name(field->name) && rules == &of_message) /* parameters of Tile_new() */
            check_reject_type_name(checker, field->name);
        check_field_one(&view);
        if (field->name.text.length)
            earlier = strmap_put(&before, field->name.text, field);
        if (earlier) {
            diagnostic_error_name(field->name, "duplicate field `%.*s'",
                                  TEXT_ARGS(field->name.text));
            diagnostic_note_at(earlier->name.location, "the first one is here");
        }
    }
}

void check_record(struct checker *checker, struct ast_record *record)
{
    checker->unit = record;
    if (record->external)
        check_external_record(checker, record);
    check_field_list(checker, &of_record, record->fields);
    check_note_deep_field(checker, record);
}

/* An array `x[]` implies a generated field x_count. */
static void check_field_count_name(const struct ast_message *message, const struct ast_field *open)
{
    const char *suffix = "_count";

    for (const struct ast_field *f = message->fields; f; f = f->next) {
        struct text stem = {f->name.text.at, open->name.text.length};
        struct text rest = {f->name.text.at + stem.length, f->name.text.length - stem.length};

        if (f->name.text.length <= stem.length || !text_equal(stem, open->name.text) ||
            !text_is(rest, suffix))
            continue;
        diagnostic_error_name(f->name, "`%.*s' is reserved for the length of `%.*s'",
                              TEXT_ARGS(f->name.text), TEXT_ARGS(open->name.text));
        diagnostic_note_at(open->name.location, "declared here");
    }
}

void check_message(struct checker *checker, struct ast_message *message)
{
    const struct ast_field *variable = NULL;

    checker->unit = message;
    check_field_list(checker, &of_message, message->fields);
    for (const struct ast_field *f = message->fields; f; f = f->next) {
        if (f->variable && !f->dimensions->length.text.length)
            check_field_count_name(message, f);
        if (variable && !f->variable) {
            diagnostic_error_name(f->name,
                                  "`%.*s' must be declared before the arrays of variable length",
                                  TEXT_ARGS(f->name.text));
            diagnostic_note_at(variable->name.location, "the first of them is here");
        }
        if (f->variable && !variable)
            variable = f;
    }
}

static bool check_field_is_real(struct source_code type)
{
    return check_type_is(type, "double") || check_type_is(type, "float");
}

/* Returns false if the elements of an array argument are certainly of another type than those of
 * the field. The C compiler rejects the others: an unknown name may be a typedef. */
static bool check_field_accepts_elements(const struct checker       *checker,
                                         const struct ast_field     *field,
                                         const struct ast_parameter *parameter)
{
    bool known = ident_is_type_keyword(check_type_name(field->type)) &&
                 ident_is_type_keyword(check_type_name(parameter->type));

    if (parameter->passing != PASS_ARRAY || field->stars || field->dimensions->next ||
        field->record != check_record_of(checker, parameter->type))
        return false;
    return !known || (!check_field_is_real(field->type) && !check_field_is_real(parameter->type)) ||
           check_same_type(field->type, 0, parameter->type, 0);
}

/* Returns false if C certainly does not allow the assignment of the parameter to the field. */
static bool check_field_accepts(const struct checker *checker, const struct ast_field *field,
                                const struct ast_parameter *parameter)
{
    if (field->dimensions)
        return check_field_accepts_elements(checker, field, parameter);
    if (check_type_is(field->type, "string"))
        return parameter->passing == PASS_STRING;
    return (parameter->passing == PASS_VALUE ||
            (parameter->passing == PASS_PACKED && !parameter->length.text.at)) &&
           field->stars == parameter->stars &&
           field->record == check_record_of(checker, parameter->type);
}

/* A field without an initial value gets that of the constructor's parameter of the same name. */
static void check_field_namesakes(const struct checker   *checker, const struct ast_class *class,
                                  const struct ast_entry *constructor)
{
    for (const struct ast_parameter *p = constructor->parameters; p; p = p->next)
        for (const struct ast_field *f = class->state; f; f = f->next) {
            if (f->value.text.at || !p->name.text.length ||
                !text_equal(p->name.text, f->name.text) || check_field_accepts(checker, f, p))
                continue;
            diagnostic_error_name(
                p->name,
                "`%.*s' initialises the field of the same name, which has a different type",
                TEXT_ARGS(p->name.text));
            diagnostic_note_at(f->name.location, "declared here: rename one of them");
        }
}

/* Returns whether a struct owns memory: its release function frees what malloc() allocated. */
static bool check_record_owns_memory(const struct ast_record *record)
{
    if (record->external)
        return true;
    for (const struct ast_field *f = record->fields; f; f = f->next)
        if (f->variable || text_is(f->type.text, "string") ||
            (f->record && !f->stars && check_record_owns_memory(f->record)))
            return true;
    return false;
}

/* The memory of objects of a `bypointer' class is in the arena. */
static void check_state_by_pointer(const struct ast_class *class)
{
    for (const struct ast_field *f = class->state; f; f = f->next)
        if (f->record && !f->stars && check_record_owns_memory(f->record)) {
            diagnostic_error_name(f->name,
                                  "`%.*s' is a struct that owns memory outside of the arena, which "
                                  "objects of a `bypointer' class cannot have",
                                  TEXT_ARGS(f->name.text));
            diagnostic_hint("move its arrays and strings to the state of the class");
        }
}

void check_state(struct checker *checker, struct ast_class *class)
{
    check_field_list(checker, &of_state, class->state);
    if (class->attributes & CLASS_BY_POINTER)
        check_state_by_pointer(class);
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_CONSTRUCTOR)
            check_field_namesakes(checker, class, entry);
}

/* The readonly variables of all modules form one list: a length may be a variable of another
 * module. */
void check_readonly(struct checker *checker, struct ast_field *fields)
{
    checker->unit = fields;
    for (struct ast_field *field = fields; field; field = field->next) {
        struct check_field_context view = {.checker = checker,
                                           .rules   = &of_readonly,
                                           .before  = &checker->readonlys,
                                           .field   = field};

        check_field_one(&view);
        if (field->name.text.length)
            strmap_put(&checker->readonlys, field->name.text, field);
    }
}

/* The parser has rejected arrays. */
void check_local(struct checker *checker, struct ast_field *local)
{
    local->record = check_record_of(checker, local->type);
    if (!check_stored_type(checker, local->type, local->stars,
                           bump_printf("`%.*s'", TEXT_ARGS(local->name.text)), true, true)) {
        return;
    } else if (local->stars || check_type_is(local->type, "string")) {
        diagnostic_error_name(
            local->name,
            "a local variable of a body cannot be a pointer or a string: the object may migrate");
        diagnostic_hint("declare it in `state { }', a pointer as `transient'");
    } else if (check_type_is(local->type, "void")) {
        diagnostic_error_name(local->name, "`%.*s' cannot be void", TEXT_ARGS(local->name.text));
    } else if (check_message_of(checker, local->type)) {
        diagnostic_error_name(local->name, "a local variable of a body cannot be a message");
    } else if (check_type_is_const(local->type)) {
        check_reject_const(local->name);
    } else if (!check_reject_class(checker, local->type, local->name)) {
        check_reject_deep(checker, local->record, local->name, "a local variable of a body");
    }
}
