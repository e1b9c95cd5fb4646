/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - see model.h: strands, what they wait for, and the order in which they run.
 *
 * A strand has a stack of what it still has to do: lists of statements, and loops.  One step
 * looks at the top of it.  Where the strand has to wait it leaves the top as it is, or pushes
 * what is to be done then.
 */
#include "model_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define STACK 64
#define WANTS 16

struct letter {
    const struct entry *entry;
    struct value        argument[ARGUMENTS];
    bool                claimed;
};

/* One message that a strand waits for. */
struct want {
    const struct statement *when;
    const struct trigger   *trigger;
    long long               reference;
    struct letter          *got;
};

/* Something that a strand has still to do; the scope is put back when it is done. */
struct task {
    const struct statement *statement; /* the next of a list; or the loop                */
    const struct binding   *outside;
    bool                    loop, stepping;
};

struct strand {
    struct strand        *parent;
    unsigned              children;
    bool                  joining;
    const struct binding *scope;
    struct task           stack[STACK];
    unsigned              depth;
    struct want           want[WANTS];
    unsigned              wants;
};

/* ---- lists -------------------------------------------------------------------------------- */

static void *or_die(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void append(struct list *list, void *item)
{
    if (list->count == list->room) {
        list->room = list->room * 2 + 16;
        list->at   = or_die(realloc(list->at, list->room * sizeof *list->at));
    }
    list->at[list->count++] = item;
}

static void *remove_at(struct list *list, unsigned i)
{
    void *item = list->at[i];

    memmove(list->at + i, list->at + i + 1, (--list->count - i) * sizeof *list->at);
    return item;
}

void *model_alloc(struct model *model, size_t bytes)
{
    void *memory = or_die(calloc(1, bytes));

    append(&model->memory, memory);
    return memory;
}

/* ---- names -------------------------------------------------------------------------------- */

struct entry *find_entry(const struct class *class, struct text name)
{
    struct entry *entry = class->entries;

    while (entry && (entry->kind != ENTRY_METHOD || !text_equal(entry->name.text, name)))
        entry = entry->next;
    return entry;
}

struct entry *find_constructor(const struct class *class)
{
    struct entry *entry = class->entries;

    while (entry && entry->kind != ENTRY_CONSTRUCTOR)
        entry = entry->next;
    return entry;
}

unsigned entry_number(const struct class *class, const struct entry *entry)
{
    unsigned number = 0;

    for (const struct entry *e = class->entries; e != entry; e = e->next)
        number++;
    return number;
}

const struct binding *bind(struct model *model, const struct binding *outer, struct text name,
                           struct value value)
{
    struct binding *binding = model_alloc(model, sizeof *binding);

    binding->outer  = outer;
    binding->name   = name;
    binding->value  = model_alloc(model, sizeof value);
    *binding->value = value;
    return binding;
}

/* The arguments of a message, under the names that a `when` gives them, or the entry's. */
static const struct binding *bind_arguments(struct model *model, const struct binding *outer,
                                            const struct parameter *names,
                                            const struct value     *arguments)
{
    for (; names; names = names->next)
        outer = bind(model, outer, names->name.text, *arguments++);
    return outer;
}

struct value value_of(const struct parameter *parameter, unsigned position, int k, int v)
{
    bool         string = parameter->passing == PASS_STRING;
    struct value value  = {.number = position == 0 ? k : v, .k = k, .v = v, .n = 1 + v % 3};

    for (int i = 0; i < value.n; i++)
        value.x[i] = string ? (i == 0 ? '0' + v : 0) : v + i;
    if (text_is(parameter->name.text, "n"))
        value.number = value.n;
    return value;
}

/* ---- strands ------------------------------------------------------------------------------ */

static void push(struct strand *strand, const struct statement *statement, bool loop,
                 const struct binding *outside)
{
    if (strand->depth == STACK)
        abort();
    strand->stack[strand->depth++] = (struct task){statement, outside, loop, false};
}

static void push_list(struct strand *strand, const struct statement *first)
{
    push(strand, first, false, strand->scope);
}

static struct strand *start(struct model *model, struct strand *parent, const struct binding *scope,
                            const struct statement *body)
{
    struct strand *strand = model_alloc(model, sizeof *strand);

    strand->parent = parent;
    strand->scope  = scope;
    push_list(strand, body);
    if (parent)
        parent->children++;
    append(&model->ready, strand);
    return strand;
}

static void end(struct model *model, struct strand *strand)
{
    struct strand *parent = strand->parent;

    if (!parent || --parent->children > 0 || !parent->joining)
        return;
    parent->joining = false;
    append(&model->ready, parent);
}

/* ---- waiting ------------------------------------------------------------------------------ */

static bool fits(const struct want *want, const struct letter *message)
{
    const struct value *first = message->argument;
    const bool          tile  = message->entry->parameters && message->entry->parameters->stars;

    if (message->claimed || !text_equal(want->trigger->name.text, message->entry->name.text))
        return false;
    return !want->trigger->reference.text.at ||
           want->reference == (tile ? first->k : first->number);
}

static bool claim(struct model *model, struct want *want)
{
    for (unsigned i = 0; i < model->kept.count; i++) {
        struct letter *message = model->kept.at[i];

        if (!fits(want, message))
            continue;
        message->claimed = true;
        want->got        = message;
        return true;
    }
    return false;
}

/* Claims for those of a `when` that want a reference, or for those that do not. */
static bool claim_some(struct model *model, struct strand *strand, const struct statement *when,
                       bool referring)
{
    for (struct want *want = strand->want; want < strand->want + strand->wants; want++)
        if (want->when == when && (want->trigger->reference.text.at != NULL) == referring &&
            !claim(model, want))
            return false;
    return true;
}

/* Forget the claims, or take what was claimed. */
static void settle(struct model *model, bool take)
{
    for (unsigned i = 0; i < model->kept.count;) {
        struct letter *message = model->kept.at[i];

        if (message->claimed && take)
            remove_at(&model->kept, i);
        else
            i++;
        message->claimed = false;
    }
}

/* The body of a `when` is next, with the parameters. */
static void enter(struct model *model, struct strand *strand, const struct statement *when)
{
    push_list(strand, when->body);
    for (struct want *want = strand->want; want < strand->want + strand->wants; want++)
        if (want->when == when)
            strand->scope = bind_arguments(model, strand->scope,
                                           want->trigger->bare ? want->got->entry->parameters
                                                               : want->trigger->parameters,
                                           want->got->argument);
    strand->wants = 0;
}

/* Goes on with the first alternative that has all its messages, if there is one. */
static bool satisfy(struct model *model, struct strand *strand)
{
    const struct statement *tried = NULL;

    for (unsigned i = 0; i < strand->wants; i++) {
        const struct statement *when = strand->want[i].when;
        bool                    all;

        if (when == tried)
            continue;
        tried = when;
        all   = claim_some(model, strand, when, true) && claim_some(model, strand, when, false);
        settle(model, all);
        if (all) {
            enter(model, strand, when);
            return true;
        }
    }
    return false;
}

static void add_wants(struct model *model, struct strand *strand, const struct statement *when)
{
    for (const struct trigger *trigger = when->triggers; trigger; trigger = trigger->next) {
        struct want want = {.when = when, .trigger = trigger};

        if (trigger->reference.text.at)
            want.reference = evaluate(model, strand->scope, trigger->reference).number;
        if (strand->wants == WANTS)
            abort();
        strand->want[strand->wants++] = want;
    }
}

/* False: the strand waits now. */
static bool await(struct model *model, struct strand *strand, const struct statement *first)
{
    for (const struct statement *when = first; when; when = when->next)
        add_wants(model, strand, when);
    if (satisfy(model, strand))
        return true;
    append(&model->waiting, strand);
    return false;
}

static bool join(struct strand *strand)
{
    strand->joining = strand->children > 0;
    return !strand->joining;
}

/* ---- statements: false if the strand waits --------------------------------------------------- */

static void declare(struct model *model, struct strand *strand, const struct field *local)
{
    for (; local; local = local->next) {
        struct value value = {0};

        if (local->value.text.at)
            value = evaluate(model, strand->scope, local->value);
        strand->scope = bind(model, strand->scope, local->name.text, value);
    }
}

static void begin_for(struct model *model, struct strand *strand, const struct statement *loop)
{
    const struct binding *outside = strand->scope;

    if (loop->local)
        declare(model, strand, loop->local);
    else if (loop->first.text.at)
        execute(model, strand->scope, loop->first);
    push(strand, loop, true, outside);
}

static bool start_all(struct model *model, struct strand *strand, const struct statement *forall)
{
    long long first = evaluate(model, strand->scope, forall->first).number;
    long long last  = evaluate(model, strand->scope, forall->last).number;
    long long step  = 1;

    if (forall->step.text.at)
        step = evaluate(model, strand->scope, forall->step).number;
    for (long long i = first; step > 0 ? i <= last : i >= last; i += step)
        start(model, strand,
              bind(model, strand->scope, forall->name.text, (struct value){.number = i}),
              forall->body);
    return join(strand);
}

/* A branch is one statement: the rest of the list is not its. */
static bool start_branches(struct model *model, struct strand *strand,
                           const struct statement *overlap)
{
    for (const struct statement *branch = overlap->body; branch; branch = branch->next) {
        struct statement *alone = model_alloc(model, sizeof *alone);

        *alone      = *branch;
        alone->next = NULL;
        start(model, strand, strand->scope, alone);
    }
    return join(strand);
}

static bool call(struct model *model, struct strand *strand, const struct statement *statement)
{
    const struct entry *called = find_entry(model->class, statement->name.text);
    struct value        argument[ARGUMENTS];
    unsigned            count = 0;

    for (const struct argument *a = statement->arguments; a && count < ARGUMENTS; a = a->next)
        argument[count++] = evaluate(model, strand->scope, a->value);
    start(model, strand, bind_arguments(model, NULL, called->parameters, argument), called->body);
    return join(strand);
}

static bool run_statement(struct model *model, struct strand *strand, const struct statement *s)
{
    struct statement *alone;

    switch (s->kind) {
    case STATEMENT_BLOCK: push_list(strand, s->body); return true;
    case STATEMENT_SERIAL: execute(model, strand->scope, s->code); return true;
    case STATEMENT_LOCAL: declare(model, strand, s->local); return true;
    case STATEMENT_FOR: begin_for(model, strand, s); return true;
    case STATEMENT_WHILE: push(strand, s, true, strand->scope); return true;
    case STATEMENT_FORALL: return start_all(model, strand, s);
    case STATEMENT_OVERLAP: return start_branches(model, strand, s);
    case STATEMENT_CALL: return call(model, strand, s);
    case STATEMENT_CASE: return await(model, strand, s->body);
    case STATEMENT_IF:
        push_list(strand,
                  evaluate(model, strand->scope, s->condition).number ? s->body : s->otherwise);
        return true;
    case STATEMENT_WHEN:
        alone       = model_alloc(model, sizeof *alone);
        *alone      = *s;
        alone->next = NULL;
        return await(model, strand, alone);
    }
    abort();
}

/* ---- steps -------------------------------------------------------------------------------- */

static void leave(struct strand *strand)
{
    strand->scope = strand->stack[--strand->depth].outside;
}

static void step_loop(struct model *model, struct strand *strand, struct task *top)
{
    const struct statement *loop = top->statement;

    if (top->stepping && loop->kind == STATEMENT_FOR && loop->step.text.at)
        execute(model, strand->scope, loop->step);
    top->stepping = true;
    if (loop->condition.text.at && !evaluate(model, strand->scope, loop->condition).number)
        leave(strand);
    else
        push_list(strand, loop->body);
}

/* False: it waits. */
static bool step(struct model *model, struct strand *strand)
{
    struct task            *top       = &strand->stack[strand->depth - 1];
    const struct statement *statement = top->statement;

    model->steps++;
    if (top->loop) {
        step_loop(model, strand, top);
        return true;
    }
    if (!statement) {
        leave(strand);
        return true;
    }
    top->statement = statement->next;
    return run_statement(model, strand, statement);
}

static void run(struct model *model, struct strand *strand)
{
    while (strand->depth > 0 && model->steps < MODEL_STEPS)
        if (!step(model, strand))
            return;
    end(model, strand);
}

/* ---- arriving ----------------------------------------------------------------------------- */

/* To the one that has waited longest, if it then has all. */
static void deliver(struct model *model, struct letter *message)
{
    append(&model->kept, message);
    for (unsigned i = 0; i < model->waiting.count; i++) {
        struct strand *strand = model->waiting.at[i];

        if (satisfy(model, strand)) {
            append(&model->ready, remove_at(&model->waiting, i));
            return;
        }
    }
}

static void go_on(struct model *model)
{
    if (model->running)
        return;
    model->running = true;
    while ((model->ready.count || model->late.count) && model->steps < MODEL_STEPS)
        if (model->ready.count)
            run(model, remove_at(&model->ready, 0));
        else
            deliver(model, remove_at(&model->late, 0));
    model->running = false;
}

void model_arrive(struct model *model, const struct entry *entry, const struct value *arguments)
{
    struct letter *message;

    if (entry->body) {
        start(model, NULL, bind_arguments(model, NULL, entry->parameters, arguments), entry->body);
    } else {
        message        = model_alloc(model, sizeof *message);
        message->entry = entry;
        memcpy(message->argument, arguments, sizeof message->argument);
        append(&model->late, message);
    }
    go_on(model);
}

void model_send(struct model *model, const struct feed_message *message)
{
    struct value argument[ARGUMENTS] = {0};
    unsigned     count               = 0;

    for (const struct parameter *p = message->entry->parameters; p; p = p->next, count++)
        argument[count] = value_of(p, count, message->k, message->v);
    model_arrive(model, message->entry, argument);
}

/* ---- objects ------------------------------------------------------------------------------ */

struct model *model_new(const struct class *class)
{
    struct model       *model  = or_die(calloc(1, sizeof *model));
    struct feed_message create = {find_constructor(class), 1, 2};

    model->class = class;
    for (const struct field *field = class->state; field; field = field->next) {
        struct value value = {0};

        if (field->value.text.at)
            value = evaluate(model, model->state, field->value);
        model->state = bind(model, model->state, field->name.text, value);
    }
    if (create.entry && create.entry->body)
        model_send(model, &create);
    return model;
}

void model_free(struct model *model)
{
    for (unsigned i = 0; i < model->memory.count; i++)
        free(model->memory.at[i]);
    free(model->memory.at);
    free(model->ready.at);
    free(model->waiting.at);
    free(model->kept.at);
    free(model->late.at);
    free(model);
}

const struct trace *model_trace(const struct model *model)
{
    return &model->trace;
}

unsigned model_steps(const struct model *model)
{
    return model->steps;
}

unsigned model_kept(const struct model *model)
{
    return model->kept.count;
}

/* ---- feeds -------------------------------------------------------------------------------- */

struct feed feed_of(const struct class *class)
{
    struct feed feed = {0};
    const char *at   = class->comment.at ? strstr(class->comment.at, "feed:") : NULL;
    char        name[32];
    int         k, v, used;

    if (!at || at > text_end(class->comment))
        return feed;
    at += strlen("feed:");
    while (feed.count < FEED_MAX && sscanf(at, " %31[a-z] %d %d %n", name, &k, &v, &used) == 3) {
        struct entry *entry = find_entry(class, (struct text){name, strlen(name)});

        if (!entry) {
            fprintf(stderr, "%.*s has no entry %s\n", (int)class->name.text.length,
                    class->name.text.at, name);
            exit(2);
        }
        feed.message[feed.count++] = (struct feed_message){entry, k, v};
        at += used;
        at += *at == ',';
    }
    return feed;
}
