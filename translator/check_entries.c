/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_entries.c - parameters and attributes.
 *
 * What an entry takes must be able to travel: values, arrays with a length, strings, or one
 * message.  Attributes that contradict each other, or the rest of the entry, are refused with
 * the reason; the tables say which.
 */
#include "check.h"

#include "arena.h"
#include "diagnostic.h"
#include "words.h"

/* ---- parameters ----------------------------------------------------------------------------- */

static void refuse_pointer(const struct checker *checker, const struct parameter *parameter)
{
    struct text type = type_name(parameter->type);
    const char *near = nearest_symbol(checker, type, SYMBOL_MESSAGE);

    error_name(parameter->name, "pointers cannot travel");
    if (type_is(parameter->type, "char") && parameter->stars == 1)
        hint("text is a `string': `string %.*s'", TEXT(parameter->name.text));
    else if (parameter->stars == 1 && near)
        hint("did you mean the message `%s'?", near);
    else if (find_symbol(checker, type, SYMBOL_CLASS))
        hint("objects stay where they are; give a reference: `%.*s_element %.*s'", TEXT(type),
             TEXT(parameter->name.text));
    else
        hint("give a length, `%s %.*s[n]', or declare a message", type_spelling(parameter->type),
             TEXT(parameter->name.text));
}

struct length_check {
    const struct parameter *list, *array;
};

static void check_length_word(struct text word, void *arg)
{
    const struct length_check *check = arg;

    for (const struct parameter *p = check->list; p; p = p->next)
        if (text_equal(p->name.text, word) && p->passing != PASS_VALUE)
            error_name(check->array->name,
                       "`%.*s' is not an integer: it cannot be the length of `%.*s'", TEXT(word),
                       TEXT(check->array->name.text));
}

static void check_array(const struct checker *checker, const struct parameter *list,
                        const struct parameter *parameter)
{
    struct length_check check = {list, parameter};

    if (parameter->stars || type_is(parameter->type, "string")) {
        error_name(parameter->name, "arrays of pointers and strings cannot travel");
    } else if (!parameter->length.text.length) {
        error_name(parameter->name, "array `%.*s' needs a length", TEXT(parameter->name.text));
        hint("take it as well: `int n, %s %.*s[n]'", type_spelling(parameter->type),
             TEXT(parameter->name.text));
    } else {
        refuse_deep(checker, record_of(checker, parameter->type), parameter->name, "an argument");
        for_each_word(parameter->length, check_length_word, &check);
    }
}

static void check_value(const struct checker *checker, struct parameter *parameter)
{
    parameter->message = message_of(checker, parameter->type);
    if (type_is(parameter->type, "string") && !parameter->stars) {
        parameter->passing = PASS_STRING; /* `const string` */
        return;
    }
    if (parameter->message && parameter->stars == 1)
        parameter->passing = PASS_MESSAGE;
    else if (parameter->message && !parameter->stars)
        error_name(parameter->name, "a message is given as a pointer: `%s *%.*s'",
                   type_spelling(parameter->type), TEXT(parameter->name.text));
    else if (parameter->stars)
        refuse_pointer(checker, parameter);
    else if (type_is(parameter->type, "void"))
        error_name(parameter->name, "a parameter cannot be void");
    else
        refuse_deep(checker, record_of(checker, parameter->type), parameter->name, "an argument");
}

static void check_parameter(struct checker *checker, const struct parameter *list,
                            struct parameter *parameter)
{
    if (!parameter->name.text.length) {
        error_at(parameter->type.place, parameter->type.text.length, "a parameter needs a name");
        return;
    }
    check_variable_name(checker, parameter->name);
    if (!check_type_names(checker, parameter->type, parameter->stars))
        return;
    if (parameter->nocopy && parameter->passing != PASS_ARRAY)
        error_name(parameter->name, "`%s' is for arrays: what else there is gets copied",
                   parameter->post ? "nocopypost" : "nocopy");
    switch (parameter->passing) {
    case PASS_LANDING:
    case PASS_ARRAY: check_array(checker, list, parameter); break;
    case PASS_VALUE: check_value(checker, parameter); break;
    case PASS_STRING:
        if (parameter->stars)
            refuse_pointer(checker, parameter);
        break;
    case PASS_MESSAGE: break;
    }
}

static void check_twice(const struct parameter *list, const struct parameter *parameter)
{
    for (const struct parameter *p = list; p != parameter; p = p->next)
        if (p->name.text.length && text_equal(p->name.text, parameter->name.text)) {
            error_name(parameter->name, "there are two parameters `%.*s'",
                       TEXT(parameter->name.text));
            hint_at(p->name.place, "the other is here");
            return;
        }
}

/* The completion of `x' is called `x_done'. */
static void check_done_name(const struct parameter *list, const struct parameter *parameter)
{
    const char *done = arena_print("%.*s_done", TEXT(parameter->name.text));

    for (const struct parameter *p = list; parameter->nocopy && p; p = p->next)
        if (text_equal(p->name.text, text_of(done)))
            error_name(p->name, "`%s' is what the completion of `%.*s' is called", done,
                       TEXT(parameter->name.text));
}

static void check_parameters(struct checker *checker, struct parameter *list)
{
    for (struct parameter *p = list; p; p = p->next) {
        check_parameter(checker, list, p);
        check_twice(list, p);
        check_done_name(list, p);
    }
    for (struct parameter *p = list; p && list->next; p = p->next)
        if (p->passing == PASS_MESSAGE) {
            error_name(p->name, "a message must be the only argument");
            hint("make the others fields of message `%.*s'", TEXT(p->message->name.text));
            return;
        }
}

bool same_parameters(const struct parameter *a, const struct parameter *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->passing != b->passing || !same_type(a->type, a->stars, b->type, b->stars))
            return false;
    return !a && !b;
}

/* Nothing, or `int argc, char **argv` in one of its spellings. */
static void check_main_parameters(struct class *class, struct entry *entry)
{
    struct parameter *argc = entry->parameters;
    struct parameter *argv = argc ? argc->next : NULL;

    if (!argc)
        return;
    if (argv && !argv->next && type_is(argc->type, "int") && !argc->stars &&
        argc->passing == PASS_VALUE && type_is(argv->type, "char") &&
        argv->stars + (argv->passing == PASS_ARRAY) == 2 && argc->name.text.length &&
        argv->name.text.length) {
        argv->passing = PASS_VALUE;
        argv->stars   = 2;
        return;
    }
    error_name(entry->name, "mainchare `%.*s' is made with nothing, or the arguments of `main'",
               TEXT(class->name.text));
    hint("`entry %.*s();' or `entry %.*s(int argc, char **argv);'", TEXT(class->name.text),
         TEXT(class->name.text));
}

/* ---- shapes of parameter lists ----------------------------------------------------------------
 */

/* (int n, T x[n]) */
static bool is_counted_array(const struct checker *checker, const struct parameter *p)
{
    return p && p->next && !p->next->next && p->passing == PASS_VALUE &&
           may_be_integer(checker, p->type, p->stars) && p->next->passing == PASS_ARRAY &&
           text_equal(p->next->length.text, p->name.text);
}

/* Of those that can be gathered. */
static bool is_batch(const struct parameter *p)
{
    return p && p->next && p->next->passing == PASS_ARRAY;
}

static bool all_values(const struct parameter *p)
{
    while (p && p->passing == PASS_VALUE)
        p = p->next;
    return !p;
}

static bool is_reduction_shape(const struct checker *checker, const struct parameter *p)
{
    bool alone = p && !p->next && (p->passing == PASS_VALUE || p->passing == PASS_MESSAGE);

    return !p || alone || is_counted_array(checker, p);
}

/* ---- attributes -------------------------------------------------------------------------------
 */

static const char *attribute_name(unsigned attribute)
{
    static const char *const names[] = {"threaded",   "sync",   "expedited",       "immediate",
                                        "inline",     "local",  "reductiontarget", "createhere",
                                        "createhome", "nokeep", "notrace",         "aggregate"};

    return names[__builtin_ctz(attribute)];
}

static const struct {
    unsigned    one, other;
    const char *reason;
} contradictions[] = {
    {ATTRIBUTE_THREADED, ATTRIBUTE_INLINE, "one runs in a thread of its own, the other at once"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_THREADED, "a local entry is a function call"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_SYNC, "a local entry answers anyway"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_EXPEDITED, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_IMMEDIATE, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_REDUCTIONTARGET, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_CREATEHERE, "a local entry needs an object that is there"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_CREATEHOME, "a local entry needs an object that is there"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_AGGREGATE, "a local entry has no message"},
    {ATTRIBUTE_LOCAL, ATTRIBUTE_NOKEEP, "a local entry has no message"},
    {ATTRIBUTE_CREATEHERE, ATTRIBUTE_CREATEHOME, "an object is created in one place"},
    {ATTRIBUTE_SYNC, ATTRIBUTE_AGGREGATE, "what is gathered has no answer"},
    {ATTRIBUTE_SYNC, ATTRIBUTE_REDUCTIONTARGET, "a reduction takes no answer"},
    {ATTRIBUTE_REDUCTIONTARGET, ATTRIBUTE_AGGREGATE, "a reduction has one result"},
};

static void check_contradictions(const struct entry *entry)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        unsigned both = contradictions[i].one | contradictions[i].other;

        if ((entry->attributes & both) == both)
            error_name(entry->name, "`%s' and `%s' do not go together: %s",
                       attribute_name(contradictions[i].one),
                       attribute_name(contradictions[i].other), contradictions[i].reason);
    }
}

static const struct {
    unsigned    attribute;
    const char *reason;
} against_body[] = {
    {ATTRIBUTE_SYNC, "it goes on after its caller should have an answer"},
    {ATTRIBUTE_THREADED, "a body waits without a thread"},
    {ATTRIBUTE_LOCAL, "it begins with a message"},
    {ATTRIBUTE_AGGREGATE, "items are given to a function of yours"},
};

static void check_against_body(const struct entry *entry)
{
    for (size_t i = 0; entry->body && i < sizeof against_body / sizeof *against_body; i++)
        if (entry->attributes & against_body[i].attribute)
            error_name(entry->name, "an entry with a body cannot be `%s': %s",
                       attribute_name(against_body[i].attribute), against_body[i].reason);
}

static void check_reductiontarget(const struct checker *checker, const struct entry *entry)
{
    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET) ||
        is_reduction_shape(checker, entry->parameters))
        return;
    error_name(entry->name, "a reduction does not have these parameters");
    hint("it has (), (T x), (int n, T x[n]), a struct or a message");
}

/* A result does not say how long arrays are; another operation may give a whole message. */
static void check_target_message(const struct entry *entry)
{
    const struct parameter *p = entry->parameters;

    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET) || !p || !p->message)
        return;
    for (const struct field *f = p->message->fields; f; f = f->next)
        if (f->variable) {
            warning_at(p->name.place, p->name.text.length,
                       "a reduction cannot fill `%.*s', whose length is not fixed",
                       TEXT(f->name.text));
            hint("take the array itself: `int n, %s %.*s[n]'", type_spelling(f->type),
                 TEXT(f->name.text));
            return;
        }
}

static void check_aggregate(const struct checker *checker, const struct entry *entry)
{
    if (!(entry->attributes & ATTRIBUTE_AGGREGATE))
        return;
    if (!entry->parameters)
        error_name(entry->name, "`aggregate': without parameters there is nothing to gather");
    else if (!all_values(entry->parameters) && !is_counted_array(checker, entry->parameters)) {
        error_name(entry->name, "`aggregate': these parameters cannot be gathered");
        hint("values of fixed size can, or (int n, T x[n])");
    }
}

static const struct {
    unsigned    attribute;
    const char *reason;
} against_nocopy[] = {
    {ATTRIBUTE_SYNC, "its answer may have to wait for its arguments"},
    {ATTRIBUTE_INLINE, "it may have to wait for its arguments"},
    {ATTRIBUTE_LOCAL, "a local entry copies nothing"},
    {ATTRIBUTE_REDUCTIONTARGET, "a reduction's result is in a message"},
    {ATTRIBUTE_AGGREGATE, "items are gathered by copying them"},
};

static void refuse_attributes(const struct entry *entry, const char *with)
{
    for (size_t i = 0; i < sizeof against_nocopy / sizeof *against_nocopy; i++)
        if (entry->attributes & against_nocopy[i].attribute)
            error_name(entry->name, "an entry with %s cannot be `%s': %s", with,
                       attribute_name(against_nocopy[i].attribute), against_nocopy[i].reason);
}

static void check_nocopy(const struct entry *entry)
{
    const struct parameter *p = entry->parameters;

    while (p && !p->nocopy)
        p = p->next;
    if (p && entry->kind != ENTRY_METHOD)
        error_name(p->name, "what an object is made with is copied");
    if (p)
        refuse_attributes(entry, "`nocopy' arguments");
}

/* The first argument is the number of the message, all others but the one that lands are values. */
static void check_landing_parameters(const struct parameter *first, const struct parameter *landing)
{
    if (first->passing != PASS_VALUE || first->stars) {
        error_name(landing->name, "before an argument that is `landing' comes the number of the "
                                  "message, an integer");
        hint(
            "`entry void ghost(int64_t step, landing double x[n])': arrays that are sent again and "
            "again are told apart by it");
    }
    for (const struct parameter *p = first; p; p = p->next)
        if (p != landing && p->passing != PASS_VALUE)
            error_name(p->name, "beside an argument that is `landing' there can be values only");
    if (landing->nocopy || !landing->length.text.at)
        error_name(landing->name, "`landing' is for arrays, and not with `nocopy'");
}

static void check_landing(const struct entry *entry)
{
    const struct parameter *p = entry->parameters;

    while (p && p->passing != PASS_LANDING)
        p = p->next;
    if (!p)
        return;
    check_landing_parameters(entry->parameters, p);
    if (entry->kind != ENTRY_METHOD)
        error_name(p->name, "what an object is made with is copied");
    if (entry->attributes & ATTRIBUTE_THREADED)
        error_name(entry->name, "an entry with a `landing' argument cannot be `threaded'");
    refuse_attributes(entry, "a `landing' argument");
}

static void check_nokeep(const struct entry *entry)
{
    if (entry->attributes & ATTRIBUTE_NOKEEP &&
        !(entry->parameters && entry->parameters->passing == PASS_MESSAGE))
        error_name(entry->name, "`nokeep' is for entries that are given a message");
}

static void check_result(struct checker *checker, struct entry *entry)
{
    unsigned answers = entry->attributes & (ATTRIBUTE_SYNC | ATTRIBUTE_LOCAL);

    if (!entry->result_stars && type_is(entry->result, "void"))
        entry->result = (struct code){0};
    if (!entry->result.text.at)
        return;
    check_type_names(checker, entry->result, entry->result_stars);
    if (!answers) {
        error_name(entry->name, "`%.*s' has a result, for which nobody waits",
                   TEXT(entry->name.text));
        hint("make it `[sync]' or `[local]', or its result `void'");
    } else if (answers & ATTRIBUTE_SYNC &&
               (entry->result_stars || type_is(entry->result, "string"))) {
        error_name(entry->name, "pointers and strings cannot travel as a result");
    } else if (answers & ATTRIBUTE_SYNC) {
        refuse_deep(checker, record_of(checker, entry->result), entry->name, "a result");
    }
}

static void check_constructor_attributes(const struct entry *entry)
{
    const unsigned fine = ATTRIBUTE_NOTRACE | ATTRIBUTE_CREATEHERE | ATTRIBUTE_CREATEHOME;

    for (unsigned left = entry->attributes & ~fine; left; left &= left - 1)
        error_name(entry->name, "a %s cannot be `%s'",
                   entry->kind == ENTRY_CONSTRUCTOR ? "constructor" : "destructor",
                   attribute_name(left));
}

static void check_method(struct checker *checker, struct entry *entry)
{
    check_name(entry->name);
    check_parameters(checker, entry->parameters);
    check_result(checker, entry);
    check_contradictions(entry);
    check_against_body(entry);
    check_reductiontarget(checker, entry);
    check_target_message(entry);
    check_aggregate(checker, entry);
    check_nokeep(entry);
    check_nocopy(entry);
    check_landing(entry);
}

void check_entry(struct checker *checker, struct class *class, struct entry *entry)
{
    if (entry->kind == ENTRY_METHOD) {
        check_method(checker, entry);
        return;
    }
    check_constructor_attributes(entry);
    if (class->kind == CLASS_MAINCHARE && entry->kind == ENTRY_CONSTRUCTOR)
        check_main_parameters(class, entry);
    else
        check_parameters(checker, entry->parameters);
    check_nocopy(entry);
    check_landing(entry);
}

/* A reference to an interface does not say where the object is, or what it is. */
static void check_in_interface(const struct entry *entry)
{
    const unsigned direct = ATTRIBUTE_LOCAL | ATTRIBUTE_AGGREGATE;

    for (unsigned left = entry->attributes & direct; left; left &= left - 1)
        error_name(entry->name, "an entry of an interface cannot be `%s'", attribute_name(left));
}

static void check_gathering(const struct class *class, const struct entry *entry)
{
    if (class->kind != CLASS_GROUP && class->kind != CLASS_ARRAY)
        error_name(entry->name, "`aggregate' is for groups and arrays, and `%.*s' is none",
                   TEXT(class->name.text));
    else if (class->kind == CLASS_ARRAY && is_batch(entry->parameters))
        error_name(entry->name, "`aggregate': only groups can be given batches");
}

void check_entry_kind(const struct class *class, const struct entry *entry)
{
    unsigned demand = entry->attributes & (ATTRIBUTE_CREATEHERE | ATTRIBUTE_CREATEHOME);

    if (class->kind == CLASS_INTERFACE)
        check_in_interface(entry);
    else if (entry->attributes & ATTRIBUTE_AGGREGATE)
        check_gathering(class, entry);
    if (demand && class->kind != CLASS_ARRAY && class->kind != CLASS_INTERFACE)
        error_name(entry->name, "`%s' is for arrays, and `%.*s' is none", attribute_name(demand),
                   TEXT(class->name.text));
}
