/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_entries.c - parameters and attributes.
 *
 * The arguments of an entry must be transferable: values, arrays with a length, strings, structs
 * that a pup function packs, or a single message.  Attributes that exclude each other, or
 * contradict the rest of the entry, are rejected; the tables give the reasons.
 */
#include "check/check.h"

#include <assert.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/ident.h"

/* ---- parameters --------------------------------------------------------------------------- */

static void check_entry_reject_pointer(const struct checker       *checker,
                                       const struct ast_parameter *parameter)
{
    struct text type       = check_type_name(parameter->type);
    const char *suggestion = check_nearest_symbol(checker, type, SYMBOL_MESSAGE);

    diagnostic_error_name(parameter->name, "a pointer cannot be an argument");
    if (check_type_is(parameter->type, "char") && parameter->stars == 1)
        diagnostic_hint("for text use a `string': `string %.*s'", TEXT_ARGS(parameter->name.text));
    else if (parameter->stars == 1 && suggestion)
        diagnostic_hint("did you mean the message `%s'?", suggestion);
    else if (check_find_symbol(checker, type, SYMBOL_CLASS))
        diagnostic_hint("pass a reference to the object: `%.*s_element %.*s'", TEXT_ARGS(type),
                        TEXT_ARGS(parameter->name.text));
    else
        diagnostic_hint("pass an array with a length, `%s %.*s[n]', or declare a message",
                        check_type_spelling_of(parameter->type), TEXT_ARGS(parameter->name.text));
}

/* A struct that cannot be copied bytewise is packed by its pup function; only copies are packed. */
static void check_entry_packed(const struct checker *checker, struct ast_parameter *parameter)
{
    const struct ast_record *record = check_record_of(checker, parameter->type);

    if (!record || !record->deep)
        return;
    if (parameter->nocopy || parameter->passing == PASS_INPLACE) {
        check_reject_deep(checker, record, parameter->name,
                          parameter->nocopy ? "a `nocopy' argument" : "a `inplace' argument");
        return;
    }
    parameter->record  = record;
    parameter->passing = PASS_PACKED;
}

struct check_length_context {
    const struct checker       *checker;
    const struct ast_parameter *list, *array;
};

/* Returns whether @p p may be used in the length of @p array: alone only if it may be an integer.
 */
static bool check_entry_may_be_length(const struct checker *checker, const struct ast_parameter *p,
                                      const struct ast_parameter *array)
{
    return p->passing == PASS_VALUE && (!text_equal(array->length.text, p->name.text) ||
                                        check_may_be_integer(checker, p->type, p->stars));
}

static void check_entry_length_word(struct text word, void *arg)
{
    const struct check_length_context *check = arg;

    for (const struct ast_parameter *p = check->list; p; p = p->next)
        if (text_equal(p->name.text, word) &&
            !check_entry_may_be_length(check->checker, p, check->array))
            diagnostic_error_name(check->array->name,
                                  "`%.*s' is not an integer: it cannot be the length of `%.*s'",
                                  TEXT_ARGS(word), TEXT_ARGS(check->array->name.text));
}

static void check_entry_array(const struct checker *checker, const struct ast_parameter *list,
                              struct ast_parameter *parameter)
{
    struct check_length_context check = {checker, list, parameter};

    if (parameter->stars || check_type_is(parameter->type, "string")) {
        diagnostic_error_name(parameter->name,
                              "an array of pointers or strings cannot be an argument");
    } else if (!parameter->length.text.length) {
        diagnostic_error_name(parameter->name, "array `%.*s' needs a length",
                              TEXT_ARGS(parameter->name.text));
        diagnostic_hint("add a parameter for the length: `int n, %s %.*s[n]'",
                        check_type_spelling_of(parameter->type), TEXT_ARGS(parameter->name.text));
    } else if (!check_reject_class(checker, parameter->type, parameter->name)) {
        check_entry_packed(checker, parameter);
        ident_for_each(parameter->length, check_entry_length_word, &check);
    }
}

static void check_entry_value(const struct checker *checker, struct ast_parameter *parameter)
{
    parameter->message = check_message_of(checker, parameter->type);
    if (check_type_is(parameter->type, "string") && !parameter->stars) {
        parameter->passing = PASS_STRING; /* `const string` */
        return;
    }
    if (parameter->message && parameter->stars == 1)
        parameter->passing = PASS_MESSAGE;
    else if (parameter->message && !parameter->stars)
        diagnostic_error_name(parameter->name, "a message must be passed as a pointer: `%s *%.*s'",
                              check_type_spelling_of(parameter->type),
                              TEXT_ARGS(parameter->name.text));
    else if (parameter->stars)
        check_entry_reject_pointer(checker, parameter);
    else if (check_type_is(parameter->type, "void"))
        diagnostic_error_name(parameter->name, "a parameter cannot be void");
    else if (!check_reject_class(checker, parameter->type, parameter->name))
        check_entry_packed(checker, parameter);
}

/* Arguments are copied, so a `const` of theirs has no meaning for the caller. */
static void check_entry_drop_const(struct ast_parameter *parameter)
{
    if (check_type_is_const(parameter->type))
        parameter->type.text = text_of(check_type_spelling_of(parameter->type));
}

static void check_entry_parameter(struct checker *checker, const struct ast_parameter *list,
                                  struct ast_parameter *parameter)
{
    const struct ast_assumed_type *assumed = checker->tree->assumed_types;

    if (!parameter->name.text.length) {
        diagnostic_error_at(parameter->type.location, parameter->type.text.length,
                            "a parameter needs a name");
        return;
    }
    check_variable_name(checker, parameter->name);
    if (!check_type_names(checker, parameter->type, parameter->stars))
        return;
    parameter->assumed = checker->tree->assumed_types != assumed;
    check_entry_drop_const(parameter);
    if (parameter->nocopy && parameter->passing != PASS_ARRAY)
        diagnostic_error_name(parameter->name, "`%s' applies only to arrays",
                              parameter->post ? "nocopypost" : "nocopy");
    switch (parameter->passing) {
    case PASS_INPLACE:
    case PASS_ARRAY: check_entry_array(checker, list, parameter); break;
    case PASS_VALUE: check_entry_value(checker, parameter); break;
    case PASS_STRING:
        if (parameter->stars)
            check_entry_reject_pointer(checker, parameter);
        break;
    case PASS_PACKED:
    case PASS_MESSAGE: break;
    }
}

static void check_entry_duplicate(const struct ast_parameter *list,
                                  const struct ast_parameter *parameter)
{
    for (const struct ast_parameter *p = list; p != parameter; p = p->next)
        if (p->name.text.length && text_equal(p->name.text, parameter->name.text)) {
            diagnostic_error_name(parameter->name, "duplicate parameter `%.*s'",
                                  TEXT_ARGS(parameter->name.text));
            diagnostic_note_at(p->name.location, "the first one is here");
            return;
        }
}

/* The completion of a nocopy argument `x' is the parameter `x_done'. */
static void check_entry_done_name(const struct ast_parameter *list,
                                  const struct ast_parameter *parameter)
{
    const char *done = bump_printf("%.*s_done", TEXT_ARGS(parameter->name.text));

    for (const struct ast_parameter *p = list; parameter->nocopy && p; p = p->next)
        if (text_equal(p->name.text, text_of(done)))
            diagnostic_error_name(p->name, "`%s' is reserved for the completion of `%.*s'", done,
                                  TEXT_ARGS(parameter->name.text));
}

static void check_entry_parameters(struct checker *checker, struct ast_parameter *list)
{
    for (struct ast_parameter *p = list; p; p = p->next) {
        check_entry_parameter(checker, list, p);
        check_entry_duplicate(list, p);
        check_entry_done_name(list, p);
    }
    for (struct ast_parameter *p = list; p && list->next; p = p->next)
        if (p->passing == PASS_MESSAGE) {
            diagnostic_error_name(p->name, "a message must be the only argument");
            diagnostic_hint("make the other arguments fields of message `%.*s'",
                            TEXT_ARGS(p->message->name.text));
            return;
        }
}

bool check_same_parameters(const struct ast_parameter *a, const struct ast_parameter *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->passing != b->passing || !check_same_type(a->type, a->stars, b->type, b->stars))
            return false;
    return !a && !b;
}

/* Accepts no parameters, or `int argc, char **argv` in one of its spellings. */
static void check_entry_main_parameters(const struct checker *checker, struct ast_class *class,
                                        struct ast_entry     *entry)
{
    struct ast_parameter *argc = entry->parameters;
    struct ast_parameter *argv = argc ? argc->next : NULL;

    if (!argc)
        return;
    if (argv && !argv->next && check_type_is(argc->type, "int") && !argc->stars &&
        argc->passing == PASS_VALUE && check_type_is(argv->type, "char") &&
        argv->stars + (argv->passing == PASS_ARRAY) == 2 && argc->name.text.length &&
        argv->name.text.length) {
        argv->passing = PASS_VALUE;
        argv->stars   = 2;
        check_entry_drop_const(argc);
        check_variable_name(checker, argc->name);
        check_variable_name(checker, argv->name);
        check_entry_duplicate(argc, argv);
        return;
    }
    diagnostic_error_name(
        entry->name, "the constructor of mainchare `%.*s' takes no parameters, or those of `main'",
        TEXT_ARGS(class->name.text));
    diagnostic_hint("write `entry %.*s();' or `entry %.*s(int argc, char **argv);'",
                    TEXT_ARGS(class->name.text), TEXT_ARGS(class->name.text));
}

/* ---- shapes of parameter lists ------------------------------------------------------------ */

/* (int n, T x[n]) */
static bool check_entry_is_counted_array(const struct checker       *checker,
                                         const struct ast_parameter *p)
{
    return p && p->next && !p->next->next && p->passing == PASS_VALUE &&
           check_may_be_integer(checker, p->type, p->stars) && p->next->passing == PASS_ARRAY &&
           text_equal(p->next->length.text, p->name.text);
}

/* Returns whether an [aggregate] entry receives batches of items. */
static bool check_entry_is_batch(const struct ast_parameter *p)
{
    return p && p->next && p->next->passing == PASS_ARRAY;
}

static bool check_entry_all_values(const struct ast_parameter *p)
{
    while (p && p->passing == PASS_VALUE)
        p = p->next;
    return !p;
}

static bool check_entry_is_reduction_shape(const struct checker       *checker,
                                           const struct ast_parameter *p)
{
    bool alone = p && !p->next && (p->passing == PASS_VALUE || p->passing == PASS_MESSAGE);

    return !p || alone || check_entry_is_counted_array(checker, p);
}

/* ---- attributes --------------------------------------------------------------------------- */

static const char *check_entry_attribute_name(unsigned attribute)
{
    assert(attribute && attribute < ATTRIBUTE_LOAD << 1);
    return ast_attribute_names[__builtin_ctz(attribute)];
}

static const struct {
    unsigned    one, other;
    const char *reason;
} contradictions[] = {
    {ATTRIBUTE_THREADED, ATTRIBUTE_INLINE,
     "a threaded entry runs in its own thread, an inline entry in that of the caller"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_THREADED, "a local entry is a function call"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_SYNC, "a local entry always returns its result"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_EXPEDITED, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_IMMEDIATE, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_REDUCTIONTARGET, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_CREATEHERE, "a local entry requires an existing object"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_CREATEHOME, "a local entry requires an existing object"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_AGGREGATE, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_NOKEEP, "a local entry has no message"},
    {ATTRIBUTE_CREATEHERE, ATTRIBUTE_CREATEHOME, "an object is created on one PE"},
    {ATTRIBUTE_SYNC, ATTRIBUTE_AGGREGATE, "aggregated items have no result"},
    {ATTRIBUTE_SYNC, ATTRIBUTE_REDUCTIONTARGET, "a reduction ignores results"},
    {ATTRIBUTE_REDUCTIONTARGET, ATTRIBUTE_AGGREGATE, "a reduction has one result"},
    {ATTRIBUTE_EXPEDITED, ATTRIBUTE_AGGREGATE, "aggregated items wait in a buffer"},
    {ATTRIBUTE_IMMEDIATE, ATTRIBUTE_AGGREGATE, "aggregated items wait in a buffer"},
    {ATTRIBUTE_INLINE, ATTRIBUTE_AGGREGATE, "aggregated items wait in a buffer"},
};

static void check_entry_contradictions(const struct ast_entry *entry)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        unsigned both = contradictions[i].one | contradictions[i].other;

        if ((entry->attributes & both) == both)
            diagnostic_error_name(entry->name, "`%s' and `%s' exclude each other: %s",
                                  check_entry_attribute_name(contradictions[i].one),
                                  check_entry_attribute_name(contradictions[i].other),
                                  contradictions[i].reason);
    }
}

static const struct {
    unsigned    attribute;
    const char *reason;
} against_body[] = {
    {ATTRIBUTE_SYNC, "the body may continue after the caller has received its result"},
    {ATTRIBUTE_THREADED, "a body waits without a thread of its own"},
    {ATTRIBUTE_LOCAL, "a body is started by a message"},
    {ATTRIBUTE_AGGREGATE, "items are delivered to a C function"},
};

static void check_entry_against_body(const struct ast_entry *entry)
{
    for (size_t i = 0; entry->body && i < sizeof against_body / sizeof *against_body; i++)
        if (entry->attributes & against_body[i].attribute)
            diagnostic_error_name(entry->name, "an entry with a body cannot be `%s': %s",
                                  check_entry_attribute_name(against_body[i].attribute),
                                  against_body[i].reason);
}

static void check_entry_reductiontarget(const struct checker   *checker,
                                        const struct ast_entry *entry)
{
    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET) ||
        check_entry_is_reduction_shape(checker, entry->parameters))
        return;
    diagnostic_error_name(entry->name, "these parameters cannot receive the result of a reduction");
    diagnostic_hint("a reduction target takes (), (T x), (int n, T x[n]), a struct or a message");
}

/* The result of a built-in reduction does not contain the lengths of arrays; a user-defined one may
 * deliver a whole message, so this is a warning. */
static void check_entry_target_message(const struct ast_entry *entry)
{
    const struct ast_parameter *p = entry->parameters;

    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET) || !p || !p->message)
        return;
    for (const struct ast_field *f = p->message->fields; f; f = f->next)
        if (f->variable) {
            diagnostic_warning_at(p->name.location, p->name.text.length,
                                  "a reduction cannot fill `%.*s', which has a variable length",
                                  TEXT_ARGS(f->name.text));
            diagnostic_hint("take the array as a parameter: `int n, %s %.*s[n]'",
                            check_type_spelling_of(f->type), TEXT_ARGS(f->name.text));
            return;
        }
}

/* Returns whether @p number is certainly negative. */
static bool check_entry_is_negative(struct text number)
{
    size_t at = 1;

    while (at < number.length && text_is_space(number.at[at]))
        at++;
    while (at < number.length && text_is_digit(number.at[at]))
        at++;
    return number.length > 1 && *number.at == '-' && at == number.length;
}

static void check_entry_aggregate(const struct checker *checker, const struct ast_entry *entry)
{
    if (!(entry->attributes & ATTRIBUTE_AGGREGATE))
        return;
    if (check_entry_is_negative(entry->aggregate.text))
        diagnostic_error_at(entry->aggregate.location, (unsigned)entry->aggregate.text.length,
                            "a number of items cannot be negative");
    if (!entry->parameters)
        diagnostic_error_name(entry->name, "`aggregate' requires parameters");
    else if (!check_entry_all_values(entry->parameters) &&
             !check_entry_is_counted_array(checker, entry->parameters)) {
        diagnostic_error_name(entry->name, "`aggregate' is not possible with these parameters");
        diagnostic_hint("use values of fixed size, or (int n, T x[n])");
    }
}

/* Checks an entry that resumes elements after a sync point: it belongs to an array, has no data,
 * and is the only one of its class. */
static void check_entry_resume(const struct ast_class *class, const struct ast_entry *entry)
{
    if (!(entry->attributes & ATTRIBUTE_RESUME)) {
        if (entry->attributes & (ATTRIBUTE_POSITION | ATTRIBUTE_LOAD))
            diagnostic_error_name(entry->name,
                                  "`position' and `load' belong to the entry that is `resume'");
        return;
    }
    if (class->kind != CLASS_ARRAY)
        diagnostic_error_name(entry->name, "only elements of arrays wait at sync points");
    if (entry->kind != ENTRY_METHOD || entry->parameters || entry->result.text.at ||
        entry->attributes & (ATTRIBUTE_LOCAL | ATTRIBUTE_SYNC | ATTRIBUTE_AGGREGATE))
        diagnostic_error_name(entry->name,
                              "an entry that is `resume' has no parameters and no result");
    for (const struct ast_entry *e = class->entries; e != entry; e = e->next)
        if (e->attributes & ATTRIBUTE_RESUME) {
            diagnostic_error_name(entry->name, "a class has one entry that is `resume'");
            diagnostic_note_at(e->name.location, "declared here");
        }
}

static const struct {
    unsigned    attribute;
    const char *reason;
} against_nocopy[] = {
    {ATTRIBUTE_SYNC, "its result might have to wait for its arguments"},
    {ATTRIBUTE_INLINE, "it might have to wait for its arguments"},
    {ATTRIBUTE_LOCAL, "a local entry never copies its arguments"},
    {ATTRIBUTE_REDUCTIONTARGET, "the result of a reduction arrives in a message"},
    {ATTRIBUTE_AGGREGATE, "aggregation copies the items"},
};

static void check_entry_reject_attributes(const struct ast_entry *entry, const char *with)
{
    for (size_t i = 0; i < sizeof against_nocopy / sizeof *against_nocopy; i++)
        if (entry->attributes & against_nocopy[i].attribute)
            diagnostic_error_name(entry->name, "an entry with %s cannot be `%s': %s", with,
                                  check_entry_attribute_name(against_nocopy[i].attribute),
                                  against_nocopy[i].reason);
}

static void check_entry_nocopy(const struct ast_entry *entry)
{
    const struct ast_parameter *p = entry->parameters;

    while (p && !p->nocopy)
        p = p->next;
    if (p && entry->kind != ENTRY_METHOD)
        diagnostic_error_name(p->name, "arguments of a constructor are always copied");
    if (p)
        check_entry_reject_attributes(entry, "`nocopy' arguments");
}

/* The first argument is the reference number of the message; all others but the inplace one are
 * values. */
static void check_entry_inplace_parameters(const struct ast_parameter *first,
                                           const struct ast_parameter *inplace)
{
    if (first->passing != PASS_VALUE || first->stars) {
        diagnostic_error_name(
            inplace->name,
            "an `inplace' argument must follow the reference number of the message, an integer");
        diagnostic_hint("such as `entry void ghost(int64_t step, inplace double x[n])': the number "
                        "identifies each transfer");
    }
    for (const struct ast_parameter *p = first; p; p = p->next)
        if (p != inplace && p->passing != PASS_VALUE)
            diagnostic_error_name(p->name,
                                  "all arguments other than the `inplace' one must be values");
    if (inplace->nocopy || !inplace->length.text.at)
        diagnostic_error_name(inplace->name,
                              "`inplace' applies only to arrays, and excludes `nocopy'");
}

static void check_entry_inplace(const struct ast_entry *entry)
{
    const struct ast_parameter *p = entry->parameters;

    while (p && p->passing != PASS_INPLACE)
        p = p->next;
    if (!p)
        return;
    check_entry_inplace_parameters(entry->parameters, p);
    if (entry->kind != ENTRY_METHOD)
        diagnostic_error_name(p->name, "arguments of a constructor are always copied");
    if (entry->attributes & ATTRIBUTE_THREADED)
        diagnostic_error_name(entry->name,
                              "an entry with an `inplace' argument cannot be `threaded'");
    check_entry_reject_attributes(entry, "a `inplace' argument");
}

static void check_entry_nokeep(const struct ast_entry *entry)
{
    if (entry->attributes & ATTRIBUTE_NOKEEP &&
        !(entry->parameters && entry->parameters->passing == PASS_MESSAGE))
        diagnostic_error_name(entry->name, "`nokeep' applies only to entries that take a message");
}

static void check_entry_result(struct checker *checker, struct ast_entry *entry)
{
    unsigned answers = entry->attributes & (ATTRIBUTE_SYNC | ATTRIBUTE_LOCAL);

    if (!entry->result_stars && check_type_is(entry->result, "void"))
        entry->result = (struct source_code){0};
    if (!entry->result.text.at)
        return;
    if (answers & ATTRIBUTE_SYNC)
        check_stored_type(checker, entry->result, entry->result_stars,
                          bump_printf("the result of `%.*s'", TEXT_ARGS(entry->name.text)), true,
                          false);
    else
        check_type_names(checker, entry->result, entry->result_stars);
    if (!answers) {
        diagnostic_error_name(entry->name,
                              "`%.*s' has a result, but its callers do not wait for it",
                              TEXT_ARGS(entry->name.text));
        diagnostic_hint("make the entry `[sync]' or `[local]', or its result `void'");
    } else if (answers & ATTRIBUTE_LOCAL && check_type_is(entry->result, "string")) {
        diagnostic_error_name(entry->name, "a `string' is an argument or a field, not a result");
        diagnostic_hint("declare a pointer: `const char *%.*s(...)'", TEXT_ARGS(entry->name.text));
    } else if (answers & ATTRIBUTE_SYNC &&
               (entry->result_stars || check_type_is(entry->result, "string"))) {
        diagnostic_error_name(entry->name, "a pointer or a string cannot be a result");
    } else if (answers & ATTRIBUTE_SYNC) {
        check_reject_deep(checker, check_record_of(checker, entry->result), entry->name,
                          "a result");
    }
}

static void check_entry_special_attributes(const struct ast_entry *entry)
{
    const unsigned fine = ATTRIBUTE_NOTRACE | ATTRIBUTE_CREATEHERE | ATTRIBUTE_CREATEHOME;

    for (unsigned left = entry->attributes & ~fine; left; left &= left - 1)
        diagnostic_error_name(entry->name, "a %s cannot be `%s'",
                              entry->kind == ENTRY_CONSTRUCTOR ? "constructor" : "destructor",
                              check_entry_attribute_name(left));
}

static void check_entry_method(struct checker *checker, struct ast_entry *entry)
{
    check_name(entry->name);
    check_entry_parameters(checker, entry->parameters);
    check_entry_result(checker, entry);
    check_entry_contradictions(entry);
    check_entry_against_body(entry);
    check_entry_reductiontarget(checker, entry);
    check_entry_target_message(entry);
    check_entry_aggregate(checker, entry);
    check_entry_nokeep(entry);
    check_entry_nocopy(entry);
    check_entry_inplace(entry);
}

void check_entry(struct checker *checker, struct ast_class *class, struct ast_entry *entry)
{
    if (entry->kind == ENTRY_METHOD) {
        check_entry_method(checker, entry);
        check_entry_resume(class, entry);
        return;
    }
    check_entry_special_attributes(entry);
    if (class->kind == CLASS_MAINCHARE && entry->kind == ENTRY_CONSTRUCTOR)
        check_entry_main_parameters(checker, class, entry);
    else
        check_entry_parameters(checker, entry->parameters);
    check_entry_nocopy(entry);
    check_entry_inplace(entry);
}

/* A reference to an interface contains neither the PE of the object nor its class. */
static void check_entry_in_interface(const struct ast_entry *entry)
{
    const unsigned direct = ATTRIBUTE_LOCAL | ATTRIBUTE_AGGREGATE;

    for (unsigned left = entry->attributes & direct; left; left &= left - 1)
        diagnostic_error_name(entry->name, "an entry of an interface cannot be `%s'",
                              check_entry_attribute_name(left));
}

static void check_entry_aggregate_class(const struct ast_class *class,
                                        const struct ast_entry *entry)
{
    if (class->kind != CLASS_GROUP && class->kind != CLASS_ARRAY)
        diagnostic_error_name(
            entry->name, "`aggregate' applies only to groups and arrays, and `%.*s' is neither",
            TEXT_ARGS(class->name.text));
    else if (class->kind == CLASS_ARRAY && check_entry_is_batch(entry->parameters))
        diagnostic_error_name(entry->name, "`aggregate': only entries of groups can take batches");
    else if (class->kind == CLASS_GROUP && entry->attributes & ATTRIBUTE_THREADED)
        diagnostic_error_name(entry->name,
                              "an `aggregate' entry of a group cannot be `threaded': it runs for "
                              "each item of a packet in turn");
}

void check_entry_kind(const struct ast_class *class, const struct ast_entry *entry)
{
    unsigned demand = entry->attributes & (ATTRIBUTE_CREATEHERE | ATTRIBUTE_CREATEHOME);

    if (class->kind == CLASS_INTERFACE)
        check_entry_in_interface(entry);
    else if (entry->attributes & ATTRIBUTE_AGGREGATE)
        check_entry_aggregate_class(class, entry);
    if (demand && class->kind != CLASS_ARRAY && class->kind != CLASS_INTERFACE)
        diagnostic_error_name(entry->name,
                              "`%s' applies only to arrays, and `%.*s' is not an array",
                              check_entry_attribute_name(demand), TEXT_ARGS(class->name.text));
}
