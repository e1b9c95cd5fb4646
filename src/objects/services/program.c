/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#include "objects/services/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/tree.h"
#include "objects/chare/collection.h"
#include "objects/objects.h"

enum { VALUES, OPEN };

/* A variable at `memory`; or a block, which *pointer and *length say. */
struct variable {
    const char *name;
    void       *memory;
    size_t      bytes;
    void      **pointer;
    size_t     *length;
};

struct ski_gate {
    struct ski_list kept;      /* messages, in the order of coming                      */
    struct ski_list creations; /* on PE 0: copies of those for the others; else our own */
};

/* Of the process; written before there are PEs. */
static struct variable *variables;
static size_t           count;
static skua_start_fn    begin_fn;
static skua_handler_fn *closed; /* the table of a gate */
static bool             entered;
static char  *published; /* in `begin`, after it has waited: the values that others have */
static size_t published_bytes;

/* ---- registration ------------------------------------------------------------------ */

static void never_sent(skua_msg *msg)
{
    (void)msg;
    ski_fatal("a message was sent to a read-only variable");
}

static void check(const char *call, const char *name)
{
    if (entered || ski_self)
        ski_misuse("%s(\"%s\"): variables are registered before skua_program()", call, name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            ski_misuse("%s: there is a variable \"%s\" already", call, name);
}

/* Processes agree on variables along with the handlers: each has an entry there. */
static void add(const char *what, struct variable variable)
{
    size_t room  = strlen(variable.name) + 80;
    char  *entry = ski_malloc(room);

    snprintf(entry, room, "read-only %s %s of %zu bytes", what, variable.name, variable.bytes);
    skua_register(entry, never_sent);
    variables          = ski_realloc(variables, (count + 1) * sizeof *variables);
    variables[count++] = variable;
}

void skua_readonly(const char *name, void *variable, size_t bytes)
{
    check(__func__, name);
    add("variable", (struct variable){.name = name, .memory = variable, .bytes = bytes});
}

void skua_readonly_block(const char *name, void **pointer, size_t *bytes)
{
    check(__func__, name);
    add("block", (struct variable){
                     .name = name, .bytes = sizeof(size_t), .pointer = pointer, .length = bytes});
}

/* ---- values ------------------------------------------------------------------------ */

static size_t packed_bytes(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += variables[i].bytes + (variables[i].pointer ? *variables[i].length : 0);
    return bytes;
}

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return to + bytes;
}

static void pack(char *to)
{
    for (size_t i = 0; i < count; i++) {
        const struct variable *v = &variables[i];

        to = put(to, v->pointer ? v->length : v->memory, v->bytes);
        if (v->pointer)
            to = put(to, *v->pointer, *v->length);
    }
}

/* What a packed message has left to read. */
struct rest {
    const char *at;
    size_t      bytes;
};

static void get(struct rest *rest, void *to, size_t bytes)
{
    if (bytes > rest->bytes)
        ski_fatal("the read-only variables of PE 0 are not as long as ours");
    if (bytes)
        memcpy(to, rest->at, bytes);
    rest->at += bytes;
    rest->bytes -= bytes;
}

static void get_block(struct rest *rest, const struct variable *v)
{
    get(rest, v->length, sizeof *v->length);
    *v->pointer = *v->length && *v->length <= rest->bytes ? ski_malloc(*v->length) : NULL;
    get(rest, *v->pointer, *v->length);
}

static void unpack(struct rest rest)
{
    for (size_t i = 0; i < count; i++)
        if (variables[i].pointer)
            get_block(&rest, &variables[i]);
        else
            get(&rest, variables[i].memory, variables[i].bytes);
}

/* ---- creations ------------------------------------------------------------------------ */

void ski_program_creates(struct ski_pe *self, skua_msg *msg)
{
    ski_list_push(&self->objects->gate->creations,
                  ski_msg_copy(self, SKI_HANDLER_CREATE, skua_msg_data(msg), msg->bytes));
    skua_send(self->pe, (skua_handler){SKI_HANDLER_CREATE}, msg);
}

/* What a message of SKI_HANDLER_READONLY says besides the values. */
static size_t program_creations_bytes(const struct ski_list *creations)
{
    size_t bytes = sizeof(uint64_t);

    for (const struct skua_msg *msg = creations->first; msg; msg = msg->link)
        bytes += sizeof(uint64_t) + msg->bytes;
    return bytes;
}

static char *program_put_creations(char *to, const struct ski_list *creations)
{
    char    *start = to;
    uint64_t n     = 0;

    to += sizeof n;
    for (struct skua_msg *msg = creations->first; msg; msg = msg->link, n++) {
        to = put(to, &(uint64_t){msg->bytes}, sizeof(uint64_t));
        to = put(to, skua_msg_data(msg), msg->bytes);
    }
    put(start, &n, sizeof n);
    return to;
}

static void program_read_creations(struct ski_pe *self, struct rest *rest)
{
    uint64_t n, bytes;

    for (get(rest, &n, sizeof n); n > 0; n--) {
        get(rest, &bytes, sizeof bytes);
        if (bytes < SKI_CREATE_LEAST || bytes > rest->bytes)
            ski_fatal("the collections of PE 0 make no sense");
        ski_list_push(&self->objects->gate->creations,
                      ski_msg_copy(self, SKI_HANDLER_CREATE, rest->at, bytes));
        rest->at += bytes;
        rest->bytes -= bytes;
    }
}

/* Before all that has come by now.  PE 0 has its own in the queue, so these are copies there. */
static void program_queue_creations(struct ski_pe *self, struct ski_list *creations)
{
    struct ski_list  held;
    struct skua_msg *msg;

    ski_list_init(&held);
    while ((msg = ski_list_pop(creations)))
        if (self->pe == 0)
            skua_msg_free(msg);
        else
            ski_hold_new(self, &held, msg);
    ski_unhold(self, &held);
}

/* A message with the creations and, of kind VALUES, the values. */
static skua_msg *program_message(const struct ski_list *creations, uint64_t kind)
{
    size_t    values = kind == VALUES ? packed_bytes() : 0;
    skua_msg *msg    = skua_msg_alloc(sizeof kind + program_creations_bytes(creations) + values);
    char     *at     = put(skua_msg_data(msg), &kind, sizeof kind);

    at = program_put_creations(at, creations);
    if (values)
        pack(at);
    return msg;
}

/* ---- gates ------------------------------------------------------------------------- */

static void keep(skua_msg *msg)
{
    ski_hold(ski_self, &ski_self->objects->gate->kept, msg);
}

/* Handlers are registered before, so there is one table for all PEs of the process. */
static void make_closed_table(void)
{
    ski_handlers_init();
    closed = ski_malloc(SKI_HANDLERS_MOST * sizeof *closed);
    for (uint32_t i = 0; i < SKI_HANDLERS_MOST; i++)
        closed[i] = i < SKI_HANDLERS && !ski_builtin_runs_program[i]
                        ? ski_builtin[i].fn
                        : keep; /* an unknown number is said later */
}

static void close_gate(struct ski_pe *self)
{
    struct ski_gate *gate = ski_malloc(sizeof *gate);

    ski_list_init(&gate->kept);
    ski_list_init(&gate->creations);
    self->objects->gate = gate;
    self->handler       = closed;
}

static void say(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    msg->handler = SKI_HANDLER_READONLY;
    msg->source  = self->pe;
    ski_msg_post(self, pe, SKI_HANDLER_READONLY, msg);
}

void ski_gate_free(struct ski_gate *gate)
{
    struct skua_msg *msg;

    while (gate && (msg = ski_list_pop(&gate->creations)))
        skua_msg_free(msg);
    free(gate);
}

/* The values are in this process: on with the other PEs of it, and with ours. */
static void open_gate(struct ski_pe *self)
{
    int             first = ski_job_first_pe(self->job, self->process);
    struct ski_tree tree  = ski_tree_at(self->pe - first, ski_job_pes_of(self->job, self->process),
                                        0, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        say(self, first + ski_tree_child(&tree, i),
            program_message(&self->objects->gate->creations, OPEN));
    self->handler = ski_handlers.fn;
    ski_unhold(self, &self->objects->gate->kept);
    program_queue_creations(self, &self->objects->gate->creations);
    ski_gate_free(self->objects->gate);
    self->objects->gate = NULL;
}

/* On the first PE of a process: to the processes below. */
static void pass_values_on(struct ski_pe *self, struct skua_msg *msg)
{
    struct ski_tree tree =
        ski_tree_at(self->process, self->job->processes, 0, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        say(self, ski_job_first_pe(self->job, ski_tree_child(&tree, i)),
            ski_msg_copy(self, SKI_HANDLER_READONLY, skua_msg_data(msg), msg->bytes));
}

void ski_on_readonly(skua_msg *msg)
{
    struct ski_pe *self = ski_self;
    uint64_t       kind = *(uint64_t *)skua_msg_data(msg);
    struct rest    rest = {(char *)skua_msg_data(msg) + sizeof kind, msg->bytes - sizeof kind};

    if (kind > OPEN || ski_pe_hidden(self) || !self->objects->gate)
        ski_fatal("PE %d sent read-only variables that nobody waits for", msg->source);
    if (kind == VALUES)
        pass_values_on(self, msg);
    program_read_creations(self, &rest);
    if (kind == VALUES)
        unpack(rest);
    skua_msg_free(msg);
    open_gate(self);
}

/* ---- begin ------------------------------------------------------------------------- */

static void send_values(struct ski_pe *self)
{
    struct skua_msg *msg = program_message(&self->objects->gate->creations, VALUES);

    pass_values_on(self, msg);
    skua_msg_free(msg);
}

/* The values are final: to all processes, then what was sent may be delivered. */
static void program_publish(struct ski_pe *self)
{
    self->before_wait = false;
    send_values(self);
    open_gate(self);
}

void ski_program_before_wait(struct ski_pe *self)
{
    published_bytes = packed_bytes();
    published       = ski_malloc(published_bytes + 1);
    pack(published);
    program_publish(self);
}

/* The variable whose packed value differs between @p one and @p other. */
static const char *program_changed_variable(const char *one, const char *other)
{
    const struct variable *v = variables;

    for (; v < variables + count - 1; v++) {
        size_t length = 0, bytes = v->bytes;

        if (v->pointer)
            memcpy(&length, one, sizeof length);
        if (memcmp(one, other, bytes) != 0 || memcmp(one + bytes, other + bytes, length) != 0)
            break;
        one += bytes + length;
        other += bytes + length;
    }
    return v->name;
}

/* What `begin` wrote after it had waited is not what others have. */
static void program_check_unchanged(void)
{
    char *now = ski_malloc(packed_bytes() + 1);

    pack(now);
    if (packed_bytes() != published_bytes || memcmp(now, published, published_bytes) != 0)
        ski_misuse("skua_program: read-only variable %s was written after `begin` had waited; "
                   "other PEs have what it was then",
                   program_changed_variable(published, now));
    free(now);
    free(published);
}

static void start(int argc, char **argv)
{
    struct ski_pe *self = ski_self;

    close_gate(self);
    if (self->pe != 0)
        return;
    self->before_wait = true;
    begin_fn(argc, argv);
    if (self->before_wait)
        program_publish(self);
    else
        program_check_unchanged();
}

int skua_program(int argc, char **argv, skua_start_fn begin)
{
    int code;

    entered  = true;
    begin_fn = begin;
    make_closed_table();
    code = skua_main(argc, argv, start);
    free(closed);
    closed = NULL;
    return code;
}
