/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_fields.c - messages, structs, states, readonly variables, locals.
 *
 * They are all lists of fields, and differ in what a field may be: see struct rules.  An array
 * is of variable length if its length mentions another field, which must be a number that is
 * declared before it, so that it is unpacked before it is needed.
 */
#include "check.h"

#include "arena.h"
#include "diagnostic.h"
#include "source.h"
#include "words.h"

struct rules {
    const char *in;       /* for messages: "a state"                          */
    bool        defaults; /* `= value`                                        */
    bool        strings;
    bool        open;    /* `x[]`: its length is given when it is made        */
    bool        deep;    /* structs may have parts that lie outside of them   */
    bool        globals; /* lengths are other variables, not members          */
};

static const struct rules of_message = {.in = "a message", .open = true};
static const struct rules of_record  = {.in = "a struct", .strings = true, .deep = true};
static const struct rules of_state   = {
      .in = "a state", .defaults = true, .strings = true, .deep = true};
static const struct rules of_readonly = {
    .in = "a readonly variable", .defaults = true, .strings = true, .deep = true, .globals = true};

/* A field that is looked at, among its siblings. */
struct view {
    struct checker     *checker;
    const struct rules *rules;
    const struct map   *before; /* fields that are declared before it */
    struct field       *field;
    struct code         length;   /* that is looked at                  */
    bool                variable; /* it is made of other fields       */
};

/* ---- lengths -------------------------------------------------------------------------------- */

/* Itself, or one that is declared after it. */
static bool comes_later(const struct view *view, struct text word)
{
    for (const struct field *f = view->field; f; f = f->next)
        if (text_equal(f->name.text, word))
            return true;
    return view->rules->globals && find_symbol(view->checker, word, SYMBOL_READONLY);
}

static struct name name_in(struct code code, struct text word)
{
    return (struct name){word, source_place(code.place.source, word.at)};
}

static void check_length_word(struct text word, void *arg)
{
    struct view        *view   = arg;
    const struct field *length = map_find(view->before, word);

    if (!length && comes_later(view, word)) {
        error_name(name_in(view->length, word), "the length of `%.*s' must be declared before it",
                   TEXT(view->field->name.text));
    } else if (length) {
        view->variable = true;
        if (!length->dimensions && may_be_integer(view->checker, length->type, length->stars))
            return;
        error_name(name_in(view->length, word), "`%.*s' is not an integer: it cannot be a length",
                   TEXT(word));
        hint_at(length->name.place, "declared here");
    }
}

static void check_open(struct view *view, const struct dimension *dimension)
{
    view->variable = true;
    if (view->rules->open)
        return;
    error_at(dimension->place, 1, "array `%.*s' needs a length", TEXT(view->field->name.text));
    if (!view->rules->globals)
        hint("declare a field for it, before it: `int n; double x[n];'");
}

/* The first may be variable; C must know the others to find an element. */
static void check_dimensions(struct view *view)
{
    struct field *field = view->field;

    for (const struct dimension *d = field->dimensions; d; d = d->next) {
        view->length   = d->length;
        view->variable = false;
        if (d->length.text.length)
            for_each_word(d->length, check_length_word, view);
        else
            check_open(view, d);
        if (d == field->dimensions)
            field->variable = view->variable;
        else if (view->variable)
            error_at(d->place, 1, "only the first dimension of `%.*s' may be variable",
                     TEXT(field->name.text));
    }
}

/* ---- types ---------------------------------------------------------------------------------- */

static void check_string(const struct view *view)
{
    const struct field *field = view->field;

    if (!view->rules->strings) {
        error_name(field->name, "%s cannot have a string", view->rules->in);
        hint("an array of characters: `char %.*s[];'", TEXT(field->name.text));
    } else if (field->dimensions || field->stars) {
        error_name(field->name, "arrays of strings and pointers to them are not known");
        hint("declare a struct with a string, and an array of it");
    }
}

static void refuse_pointer(const struct view *view)
{
    const struct field *field = view->field;

    error_name(field->name, "%s cannot %s a pointer: what `%.*s' points to would not be packed",
               view->rules->in, view->rules->globals ? "be" : "have", TEXT(field->name.text));
    if (type_is(field->type, "char") && view->rules->strings)
        hint("text is a `string': `string %.*s;'", TEXT(field->name.text));
    else if (view->rules == &of_state)
        hint("an array: `%s %.*s[n];', or leave it out of packing: `transient'",
             type_spelling(field->type), TEXT(field->name.text));
    else
        hint("an array: `%s %.*s[%s];'", type_spelling(field->type), TEXT(field->name.text),
             view->rules->open ? "" : "n");
}

/* A struct of an interface file, which C must know first. */
static void check_inner(const struct view *view)
{
    struct field  *field  = view->field;
    struct symbol *symbol = find_symbol(view->checker, type_name(field->type), SYMBOL_RECORD);

    if (!symbol)
        return;
    if (view->rules == &of_record && symbol->progress != PROGRESS_DONE) {
        error_name(field->name,
                   symbol->progress == PROGRESS_BEGUN ? "struct `%.*s' would contain itself"
                                                      : "struct `%.*s' is declared later",
                   TEXT(symbol->name.text));
        if (symbol->progress == PROGRESS_NONE)
            hint_at(symbol->name.place, "here; move it up");
        return;
    }
    field->record = symbol->is.record;
    if (!view->rules->deep)
        refuse_deep(view->checker, field->record, field->name,
                    arena_print("part of %s", view->rules->in));
}

static void check_type(const struct view *view)
{
    struct field *field = view->field;

    if (type_is(field->type, "string")) {
        field->type.text = text_of("string"); /* whatever `const` was with it */
        check_string(view);
    } else if (field->stars && !field->transient)
        refuse_pointer(view);
    else if (type_is(field->type, "void") && !field->stars)
        error_name(field->name, "`%.*s' cannot be void", TEXT(field->name.text));
    else if (message_of(view->checker, field->type) && !field->transient)
        error_name(field->name, "a message cannot be part of something else");
    else if (!field->stars)
        check_inner(view);
}

static void check_default(const struct view *view)
{
    const struct field *field = view->field;

    if (!field->value.text.at)
        return;
    if (!view->rules->defaults) {
        error_name(field->name, "the fields of %s have no values at first", view->rules->in);
        hint("only those of a `state' have, and readonly variables");
    } else if (field->variable) {
        error_name(field->name, "array `%.*s' has a variable length, and no value at first",
                   TEXT(field->name.text));
        hint("%s can fill it", view->rules->globals ? "the mainchare" : "the constructor");
    }
}

static void check_field(struct view *view)
{
    if (check_type_names(view->checker, view->field->type, view->field->stars))
        check_type(view);
    check_dimensions(view);
    check_default(view);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void check_fields(struct checker *checker, const struct rules *rules, struct field *fields)
{
    struct map before = {0};

    for (struct field *field = fields; field; field = field->next) {
        struct view view = {.checker = checker, .rules = rules, .before = &before, .field = field};
        struct field *earlier = NULL;

        check_name(field->name);
        check_field(&view);
        if (field->name.text.length)
            earlier = map_put(&before, field->name.text, field);
        if (earlier) {
            error_name(field->name, "there are two fields `%.*s'", TEXT(field->name.text));
            hint_at(earlier->name.place, "the other is here");
        }
    }
}

void check_record(struct checker *checker, struct record *record)
{
    checker->unit = record;
    check_fields(checker, &of_record, record->fields);
    note_deep_field(checker, record);
}

/* `x[]` brings a field x_count with it. */
static void check_count(const struct message *message, const struct field *open)
{
    const char *suffix = "_count";

    for (const struct field *f = message->fields; f; f = f->next) {
        struct text stem = {f->name.text.at, open->name.text.length};
        struct text rest = {f->name.text.at + stem.length, f->name.text.length - stem.length};

        if (f->name.text.length <= stem.length || !text_equal(stem, open->name.text) ||
            !text_is(rest, suffix))
            continue;
        error_name(f->name, "`%.*s' is the length of `%.*s', and generated", TEXT(f->name.text),
                   TEXT(open->name.text));
        hint_at(open->name.place, "declared here");
    }
}

void check_message(struct checker *checker, struct message *message)
{
    const struct field *variable = NULL;

    checker->unit = message;
    check_fields(checker, &of_message, message->fields);
    for (const struct field *f = message->fields; f; f = f->next) {
        if (f->variable && !f->dimensions->length.text.length)
            check_count(message, f);
        if (variable && !f->variable) {
            error_name(f->name, "`%.*s' must stand before the arrays of variable length",
                       TEXT(f->name.text));
            hint_at(variable->name.place, "which begin here");
        }
        if (f->variable && !variable)
            variable = f;
    }
}

/* False if C would not let one be assigned to the other, as far as that is known. */
static bool takes(const struct checker *checker, const struct field *field,
                  const struct parameter *parameter)
{
    if (field->dimensions)
        return !field->variable || parameter->passing == PASS_ARRAY;
    if (type_is(field->type, "string"))
        return parameter->passing == PASS_STRING;
    return parameter->passing == PASS_VALUE && field->stars == parameter->stars &&
           field->record == record_of(checker, parameter->type);
}

/* A field without a value gets that of the constructor's parameter that has its name. */
static void check_namesakes(const struct checker *checker, const struct class *class,
                            const struct entry   *constructor)
{
    for (const struct parameter *p = constructor->parameters; p; p = p->next)
        for (const struct field *f = class->state; f; f = f->next) {
            if (f->value.text.at || !p->name.text.length ||
                !text_equal(p->name.text, f->name.text) || takes(checker, f, p))
                continue;
            error_name(p->name,
                       "`%.*s' is the value of the field of that name, which has another "
                       "type",
                       TEXT(p->name.text));
            hint_at(f->name.place, "declared here; one of them needs another name");
        }
}

void check_state(struct checker *checker, struct class *class)
{
    check_fields(checker, &of_state, class->state);
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_CONSTRUCTOR)
            check_namesakes(checker, class, entry);
}

/* All readonly variables of a program are one list: lengths may be those of another module. */
void check_readonly(struct checker *checker, struct field *fields)
{
    checker->unit = fields;
    for (struct field *field = fields; field; field = field->next) {
        struct view view = {.checker = checker,
                            .rules   = &of_readonly,
                            .before  = &checker->readonlys,
                            .field   = field};

        check_field(&view);
        if (field->name.text.length)
            map_put(&checker->readonlys, field->name.text, field);
    }
}

/* The parser has refused arrays. */
void check_local(struct checker *checker, struct field *local)
{
    local->record = record_of(checker, local->type);
    if (!check_type_names(checker, local->type, local->stars)) {
        return;
    } else if (local->stars || type_is(local->type, "string")) {
        error_name(local->name, "a variable of a body cannot be a pointer or a string: the "
                                "object may migrate");
        hint("declare it in `state { }': a pointer as `transient'");
    } else if (type_is(local->type, "void")) {
        error_name(local->name, "`%.*s' cannot be void", TEXT(local->name.text));
    } else if (message_of(checker, local->type)) {
        error_name(local->name, "a variable of a body cannot be a message");
    } else {
        refuse_deep(checker, local->record, local->name, "a variable of a body");
    }
}
