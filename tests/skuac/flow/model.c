/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - see model.h: frames, their waits, and the order in which they run.
 *
 * A frame has a stack of pending work: lists of statements, and loops.  One step executes the top
 * of the stack.  A frame that has to wait leaves the top as it is, or pushes the work that follows
 * the wait.
 */
#include "model_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define STACK 64
#define WANTS 16

struct letter {
    const struct ast_entry *entry;
    struct value            argument[ARGUMENTS];
    bool                    claimed;
};

/* One message that a frame waits for. */
struct want {
    const struct ast_statement  *when;
    const struct ast_when_entry *when_entry;
    long long                    reference;
    struct letter               *got;
};

/* Pending work of a frame; the scope is restored when it is done. */
struct task {
    const struct ast_statement *statement; /* the next statement of a list, or the loop */
    const struct binding       *outside;
    bool                        loop, stepping;
};

struct frame {
    struct frame         *parent;
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

struct ast_entry *find_entry(const struct ast_class *class, struct text name)
{
    struct ast_entry *entry = class->entries;

    while (entry && (entry->kind != ENTRY_METHOD || !text_equal(entry->name.text, name)))
        entry = entry->next;
    return entry;
}

struct ast_entry *find_constructor(const struct ast_class *class)
{
    struct ast_entry *entry = class->entries;

    while (entry && entry->kind != ENTRY_CONSTRUCTOR)
        entry = entry->next;
    return entry;
}

unsigned entry_number(const struct ast_class *class, const struct ast_entry *entry)
{
    unsigned number = 0;

    for (const struct ast_entry *e = class->entries; e != entry; e = e->next)
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

/* Binds the arguments of a message to the names in the `when`, or to those of the entry. */
static const struct binding *bind_arguments(struct model *model, const struct binding *outer,
                                            const struct ast_parameter *names,
                                            const struct value         *arguments)
{
    for (; names; names = names->next)
        outer = bind(model, outer, names->name.text, *arguments++);
    return outer;
}

struct value value_of(const struct ast_parameter *parameter, unsigned position, int k, int v)
{
    bool         string = parameter->passing == PASS_STRING;
    struct value value  = {.number = position == 0 ? k : v, .k = k, .v = v, .n = 1 + v % 3};

    for (int i = 0; i < value.n; i++)
        value.x[i] = string ? (i == 0 ? '0' + v : 0) : v + i;
    if (text_is(parameter->name.text, "n"))
        value.number = value.n;
    return value;
}

/* ---- frames ------------------------------------------------------------------------------ */

static void push(struct frame *frame, const struct ast_statement *statement, bool loop,
                 const struct binding *outside)
{
    if (frame->depth == STACK)
        abort();
    frame->stack[frame->depth++] = (struct task){statement, outside, loop, false};
}

static void push_list(struct frame *frame, const struct ast_statement *first)
{
    push(frame, first, false, frame->scope);
}

static struct frame *start(struct model *model, struct frame *parent, const struct binding *scope,
                           const struct ast_statement *body)
{
    struct frame *frame = model_alloc(model, sizeof *frame);

    frame->parent = parent;
    frame->scope  = scope;
    push_list(frame, body);
    if (parent)
        parent->children++;
    append(&model->ready, frame);
    return frame;
}

static void end(struct model *model, struct frame *frame)
{
    struct frame *parent = frame->parent;

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

    if (message->claimed || !text_equal(want->when_entry->name.text, message->entry->name.text))
        return false;
    return !want->when_entry->reference.text.at ||
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

/* Claims messages for the waits of a `when` with a reference number, or for those without. */
static bool claim_some(struct model *model, struct frame *frame, const struct ast_statement *when,
                       bool referring)
{
    for (struct want *want = frame->want; want < frame->want + frame->wants; want++)
        if (want->when == when && (want->when_entry->reference.text.at != NULL) == referring &&
            !claim(model, want))
            return false;
    return true;
}

/* Drops the claims, or takes the claimed messages. */
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

/* Pushes the body of a `when`, with the parameters in scope. */
static void enter(struct model *model, struct frame *frame, const struct ast_statement *when)
{
    push_list(frame, when->body);
    for (struct want *want = frame->want; want < frame->want + frame->wants; want++)
        if (want->when == when)
            frame->scope = bind_arguments(model, frame->scope,
                                          want->when_entry->bare ? want->got->entry->parameters
                                                                 : want->when_entry->parameters,
                                          want->got->argument);
    frame->wants = 0;
}

/* Continues with the first alternative that is complete, if there is one. */
static bool satisfy(struct model *model, struct frame *frame)
{
    const struct ast_statement *tried = NULL;

    for (unsigned i = 0; i < frame->wants; i++) {
        const struct ast_statement *when = frame->want[i].when;
        bool                        all;

        if (when == tried)
            continue;
        tried = when;
        all   = claim_some(model, frame, when, true) && claim_some(model, frame, when, false);
        settle(model, all);
        if (all) {
            enter(model, frame, when);
            return true;
        }
    }
    return false;
}

static void add_wants(struct model *model, struct frame *frame, const struct ast_statement *when)
{
    for (const struct ast_when_entry *when_entry = when->when_entries; when_entry;
         when_entry                              = when_entry->next) {
        struct want want = {.when = when, .when_entry = when_entry};

        if (when_entry->reference.text.at)
            want.reference = evaluate(model, frame->scope, when_entry->reference).number;
        if (frame->wants == WANTS)
            abort();
        frame->want[frame->wants++] = want;
    }
}

/* Returns false if the frame has to wait. */
static bool await(struct model *model, struct frame *frame, const struct ast_statement *first)
{
    for (const struct ast_statement *when = first; when; when = when->next)
        add_wants(model, frame, when);
    if (satisfy(model, frame))
        return true;
    append(&model->waiting, frame);
    return false;
}

static bool join(struct frame *frame)
{
    frame->joining = frame->children > 0;
    return !frame->joining;
}

/* ---- statements: false if the frame waits ------------------------------------------------- */

static void declare(struct model *model, struct frame *frame, const struct ast_field *local)
{
    for (; local; local = local->next) {
        struct value value = {0};

        if (local->value.text.at)
            value = evaluate(model, frame->scope, local->value);
        frame->scope = bind(model, frame->scope, local->name.text, value);
    }
}

static void begin_for(struct model *model, struct frame *frame, const struct ast_statement *loop)
{
    const struct binding *outside = frame->scope;

    if (loop->local)
        declare(model, frame, loop->local);
    else if (loop->first.text.at)
        execute(model, frame->scope, loop->first);
    push(frame, loop, true, outside);
}

static bool start_all(struct model *model, struct frame *frame, const struct ast_statement *forall)
{
    long long first = evaluate(model, frame->scope, forall->first).number;
    long long last  = evaluate(model, frame->scope, forall->last).number;
    long long step  = 1;

    if (forall->step.text.at)
        step = evaluate(model, frame->scope, forall->step).number;
    for (long long i = first; step > 0 ? i <= last : i >= last; i += step)
        start(model, frame,
              bind(model, frame->scope, forall->name.text, (struct value){.number = i}),
              forall->body);
    return join(frame);
}

/* A branch is a single statement, without the statements that follow it in the list. */
static bool start_branches(struct model *model, struct frame *frame,
                           const struct ast_statement *overlap)
{
    for (const struct ast_statement *branch = overlap->body; branch; branch = branch->next) {
        struct ast_statement *alone = model_alloc(model, sizeof *alone);

        *alone      = *branch;
        alone->next = NULL;
        start(model, frame, frame->scope, alone);
    }
    return join(frame);
}

static bool call(struct model *model, struct frame *frame, const struct ast_statement *statement)
{
    const struct ast_entry *called = find_entry(model->class, statement->name.text);
    struct value            argument[ARGUMENTS];
    unsigned                count = 0;

    for (const struct ast_argument *a = statement->arguments; a && count < ARGUMENTS; a = a->next)
        argument[count++] = evaluate(model, frame->scope, a->value);
    start(model, frame, bind_arguments(model, NULL, called->parameters, argument), called->body);
    return join(frame);
}

static bool run_statement(struct model *model, struct frame *frame, const struct ast_statement *s)
{
    struct ast_statement *alone;

    switch (s->kind) {
    case STATEMENT_BLOCK: push_list(frame, s->body); return true;
    case STATEMENT_SERIAL: execute(model, frame->scope, s->code); return true;
    case STATEMENT_LOCAL: declare(model, frame, s->local); return true;
    case STATEMENT_FOR: begin_for(model, frame, s); return true;
    case STATEMENT_WHILE: push(frame, s, true, frame->scope); return true;
    case STATEMENT_FORALL: return start_all(model, frame, s);
    case STATEMENT_OVERLAP: return start_branches(model, frame, s);
    case STATEMENT_CALL: return call(model, frame, s);
    case STATEMENT_CASE: return await(model, frame, s->body);
    case STATEMENT_IF:
        push_list(frame,
                  evaluate(model, frame->scope, s->condition).number ? s->body : s->otherwise);
        return true;
    case STATEMENT_WHEN:
        alone       = model_alloc(model, sizeof *alone);
        *alone      = *s;
        alone->next = NULL;
        return await(model, frame, alone);
    }
    abort();
}

/* ---- steps -------------------------------------------------------------------------------- */

static void leave(struct frame *frame)
{
    frame->scope = frame->stack[--frame->depth].outside;
}

static void step_loop(struct model *model, struct frame *frame, struct task *top)
{
    const struct ast_statement *loop = top->statement;

    if (top->stepping && loop->kind == STATEMENT_FOR && loop->step.text.at)
        execute(model, frame->scope, loop->step);
    top->stepping = true;
    if (loop->condition.text.at && !evaluate(model, frame->scope, loop->condition).number)
        leave(frame);
    else
        push_list(frame, loop->body);
}

/* Returns false if the frame waits. */
static bool step(struct model *model, struct frame *frame)
{
    struct task                *top       = &frame->stack[frame->depth - 1];
    const struct ast_statement *statement = top->statement;

    model->steps++;
    if (top->loop) {
        step_loop(model, frame, top);
        return true;
    }
    if (!statement) {
        leave(frame);
        return true;
    }
    top->statement = statement->next;
    return run_statement(model, frame, statement);
}

static void run(struct model *model, struct frame *frame)
{
    while (frame->depth > 0 && model->steps < MODEL_STEPS)
        if (!step(model, frame))
            return;
    end(model, frame);
}

/* ---- arriving ----------------------------------------------------------------------------- */

/* Delivers to the longest-waiting frame that the message completes. */
static void deliver(struct model *model, struct letter *message)
{
    append(&model->kept, message);
    for (unsigned i = 0; i < model->waiting.count; i++) {
        struct frame *frame = model->waiting.at[i];

        if (satisfy(model, frame)) {
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

void model_arrive(struct model *model, const struct ast_entry *entry, const struct value *arguments)
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

    for (const struct ast_parameter *p = message->entry->parameters; p; p = p->next, count++)
        argument[count] = value_of(p, count, message->k, message->v);
    model_arrive(model, message->entry, argument);
}

/* ---- objects ------------------------------------------------------------------------------ */

struct model *model_new(const struct ast_class *class)
{
    struct model       *model  = or_die(calloc(1, sizeof *model));
    struct feed_message create = {find_constructor(class), 1, 2};

    model->class = class;
    for (const struct ast_field *field = class->state; field; field = field->next) {
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

struct feed feed_of(const struct ast_class *class)
{
    struct feed feed = {0};
    const char *at   = class->comment.at ? strstr(class->comment.at, "feed:") : NULL;
    char        name[32];
    int         k, v, used;

    if (!at || at > text_end(class->comment))
        return feed;
    at += strlen("feed:");
    while (feed.count < FEED_MAX && sscanf(at, " %31[a-z] %d %d %n", name, &k, &v, &used) == 3) {
        struct ast_entry *entry = find_entry(class, (struct text){name, strlen(name)});

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
