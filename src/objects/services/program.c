/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#include "objects/services/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/tree.h"
#include "objects/chare/creation.h"

#undef skua_program /* the functions behind the macros of the headers: the caller told its version \
                     */
#undef skua_main

/* Kinds of messages: see program.h. */
enum { PROGRAM_VALUES, PROGRAM_OPEN };

/* A read-only variable, at `memory`; or a block, at *pointer and of *length bytes. */
struct program_variable {
    const char *name;
    void       *memory;
    size_t      bytes;
    void      **pointer;
    size_t     *length;
};

struct program_gate {
    struct ski_list kept;      /* messages, in the order of arrival                            */
    struct ski_list creations; /* on PE 0, copies for the other PEs; elsewhere, its own        */
};

/* Of the process; written before its PEs begin. */
static struct program_variable *variables;
static size_t                   count;
static skua_start_fn            begin_fn;
static skua_handler_fn         *closed; /* the table of handlers of a gate */
static bool                     entered;
static char  *published; /* once `begin` has waited: the values that other PEs have */
static size_t published_bytes;

/* ---- registration ------------------------------------------------------------------- */

static void program_never_sent(skua_msg *msg)
{
    (void)msg;
    ski_fatal("a message was sent to a read-only variable");
}

static void program_check_registration(const char *call, const char *name)
{
    if (entered || ski_self)
        ski_misuse("%s(\"%s\"): variables are registered before skua_program()", call, name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(variables[i].name, name) == 0)
            ski_misuse("%s: there is a variable \"%s\" already", call, name);
}

/* A variable has a name among the handlers, on which all processes agree. */
static void program_add_variable(const char *what, struct program_variable variable)
{
    size_t room  = strlen(variable.name) + 80;
    char  *entry = ski_malloc(room);

    snprintf(entry, room, "read-only %s %s of %zu bytes", what, variable.name, variable.bytes);
    skua_handler_register(entry, program_never_sent);
    variables          = ski_realloc(variables, (count + 1) * sizeof *variables);
    variables[count++] = variable;
}

void skua_readonly_register(const char *name, void *variable, size_t bytes)
{
    program_check_registration(__func__, name);
    program_add_variable(
        "variable", (struct program_variable){.name = name, .memory = variable, .bytes = bytes});
}

void skua_readonly_block_register(const char *name, void **pointer, size_t *bytes)
{
    program_check_registration(__func__, name);
    program_add_variable(
        "block", (struct program_variable){
                     .name = name, .bytes = sizeof(size_t), .pointer = pointer, .length = bytes});
}

/* ---- values ------------------------------------------------------------------------- */

static size_t program_packed_bytes(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += variables[i].bytes + (variables[i].pointer ? *variables[i].length : 0);
    return bytes;
}

static char *program_write(char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return to + bytes;
}

static void program_pack(char *to)
{
    for (size_t i = 0; i < count; i++) {
        const struct program_variable *v = &variables[i];

        to = program_write(to, v->pointer ? v->length : v->memory, v->bytes);
        if (v->pointer)
            to = program_write(to, *v->pointer, *v->length);
    }
}

/* The unread rest of a message. */
struct program_reader {
    const char *at;
    size_t      bytes;
};

static void program_read(struct program_reader *rest, void *to, size_t bytes)
{
    if (bytes > rest->bytes)
        ski_fatal("the read-only variables of PE 0 are longer or shorter than those of PE %d",
                  ski_self->pe);
    if (bytes)
        memcpy(to, rest->at, bytes);
    rest->at += bytes;
    rest->bytes -= bytes;
}

static void program_read_block(struct program_reader *rest, const struct program_variable *v)
{
    program_read(rest, v->length, sizeof *v->length);
    *v->pointer = *v->length && *v->length <= rest->bytes ? ski_malloc(*v->length) : NULL;
    program_read(rest, *v->pointer, *v->length);
}

static void program_unpack(struct program_reader rest)
{
    for (size_t i = 0; i < count; i++)
        if (variables[i].pointer)
            program_read_block(&rest, &variables[i]);
        else
            program_read(&rest, variables[i].memory, variables[i].bytes);
}

/* Returns the bytes of the values that *rest begins with; SIZE_MAX: the values are longer than
 * that. */
static size_t program_valid_bytes(struct program_reader rest)
{
    size_t whole = rest.bytes;

    for (size_t i = 0; i < count; i++) {
        size_t bytes = variables[i].bytes, length = 0;

        if (bytes > rest.bytes)
            return SIZE_MAX;
        if (variables[i].pointer)
            memcpy(&length, rest.at, sizeof length);
        if (length > rest.bytes - bytes)
            return SIZE_MAX;
        rest.at += bytes + length;
        rest.bytes -= bytes + length;
    }
    return whole - rest.bytes;
}

size_t ski_program_saved_bytes(void)
{
    return program_packed_bytes();
}

void ski_program_save(void *to)
{
    program_pack(to);
}

bool ski_program_restore(const void *from, size_t bytes)
{
    struct program_reader rest = {from, bytes};

    if (program_valid_bytes(rest) != bytes)
        return false;
    program_unpack(rest);
    return true;
}

/* ---- creations ---------------------------------------------------------------------- */

static struct program_gate *program_gate_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_PROGRAM];
}

/* The program creates a collection on PE 0 before it has begun elsewhere: @p msg, of
 * SKI_HANDLER_COLLECTION_CREATE, is sent with the values. */
static void program_hold_creation(struct ski_pe *self, skua_msg *msg)
{
    ski_assert(self->pe == 0 && msg->bytes >= SKI_CREATE_MIN);
    ski_list_push(
        &program_gate_of(self)->creations,
        ski_msg_copy(self, SKI_HANDLER_COLLECTION_CREATE, skua_msg_data(msg), msg->bytes));
    skua_send(self->pe, (skua_handler){SKI_HANDLER_COLLECTION_CREATE}, msg);
}

/* Returns the bytes of the creations in a message of SKI_HANDLER_READONLY. */
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
        to = program_write(to, &(uint64_t){msg->bytes}, sizeof(uint64_t));
        to = program_write(to, skua_msg_data(msg), msg->bytes);
    }
    program_write(start, &n, sizeof n);
    return to;
}

static void program_read_creations(struct ski_pe *self, struct program_reader *rest)
{
    uint64_t n, bytes;

    for (program_read(rest, &n, sizeof n); n > 0; n--) {
        program_read(rest, &bytes, sizeof bytes);
        if (bytes < SKI_CREATE_MIN || bytes > rest->bytes)
            ski_fatal("PE %d received creations of collections from PE 0 that are not valid",
                      self->pe);
        ski_list_push(&program_gate_of(self)->creations,
                      ski_msg_copy(self, SKI_HANDLER_COLLECTION_CREATE, rest->at, bytes));
        rest->at += bytes;
        rest->bytes -= bytes;
    }
}

/* Queues the creations before all that has arrived by now.  On PE 0 they are copies of messages
 * that are queued, and are freed. */
static void program_queue_creations(struct ski_pe *self, struct ski_list *creations)
{
    struct ski_list  held;
    struct skua_msg *msg;

    ski_list_init(&held);
    while ((msg = ski_list_pop(creations)))
        if (self->pe == 0)
            skua_msg_free(msg);
        else
            ski_msg_hold_new(self, &held, msg);
    ski_msg_unhold(self, &held);
}

/* Returns a message with the creations and, of kind PROGRAM_VALUES, the values. */
static skua_msg *program_message(const struct ski_list *creations, uint64_t kind)
{
    size_t    values = kind == PROGRAM_VALUES ? program_packed_bytes() : 0;
    skua_msg *msg    = skua_msg_alloc(sizeof kind + program_creations_bytes(creations) + values);
    char     *at     = program_write(skua_msg_data(msg), &kind, sizeof kind);

    at = program_put_creations(at, creations);
    if (values)
        program_pack(at);
    return msg;
}

/* ---- gates -------------------------------------------------------------------------- */

static void program_keep(skua_msg *msg)
{
    ski_msg_hold(ski_self, &program_gate_of(ski_self)->kept, msg);
}

/* All handlers are registered by now, so one table serves all PEs of the process. */
static void program_make_closed_table(void)
{
    ski_handlers_init();
    /* An unknown number is reported after the gate. */
    closed = ski_handler_table_create(program_keep);
    for (uint32_t i = 0; i < SKI_HANDLERS; i++)
        if (!ski_builtin_runs_program[i])
            closed[i] = ski_builtin[i].fn;
}

static void program_close_gate(struct ski_pe *self)
{
    struct program_gate *gate = ski_malloc(sizeof *gate);

    ski_assert(!program_gate_of(self));
    ski_list_init(&gate->kept);
    ski_list_init(&gate->creations);
    self->objects->slot[SKI_SLOT_PROGRAM] = gate;
    self->objects->hold_creation          = program_hold_creation;
    self->handler                         = closed;
}

static void program_post(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    msg->handler = SKI_HANDLER_READONLY;
    msg->source  = self->pe;
    ski_msg_post(self, pe, SKI_HANDLER_READONLY, msg);
}

/* Frees a gate, which may never have opened; NULL: there is none. */
static void program_gate_free(struct program_gate *gate)
{
    struct skua_msg *msg;

    while (gate && (msg = ski_list_pop(&gate->creations)))
        skua_msg_free(msg);
    free(gate);
}

/* The variables of this process have their values: opens the gate of this PE, after notifying its
 * children in the tree of the process. */
static void program_open_gate(struct ski_pe *self)
{
    int             first = ski_job_first_pe(self->job, self->process);
    struct ski_tree tree  = ski_tree_at(self->pe - first, ski_job_pes_of(self->job, self->process),
                                        0, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        program_post(self, first + ski_tree_child(&tree, i),
                     program_message(&program_gate_of(self)->creations, PROGRAM_OPEN));
    ski_assert(self->handler == closed);
    self->handler = self->objects->handlers;
    ski_msg_unhold(self, &program_gate_of(self)->kept);
    program_queue_creations(self, &program_gate_of(self)->creations);
    program_gate_free(program_gate_of(self));
    self->objects->slot[SKI_SLOT_PROGRAM] = NULL;
    self->objects->hold_creation          = NULL;
}

/* On the first PE of a process: sends the values to the processes below it in the tree. */
static void program_forward_values(struct ski_pe *self, struct skua_msg *msg)
{
    struct ski_tree tree =
        ski_tree_at(self->process, self->job->processes, 0, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        program_post(self, ski_job_first_pe(self->job, ski_tree_child(&tree, i)),
                     ski_msg_copy(self, SKI_HANDLER_READONLY, skua_msg_data(msg), msg->bytes));
}

void ski_on_readonly(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    uint64_t              kind = *(uint64_t *)skua_msg_data(msg);
    struct program_reader rest = {(char *)skua_msg_data(msg) + sizeof kind,
                                  msg->bytes - sizeof kind};

    if (kind > PROGRAM_OPEN || ski_pe_hidden(self) || !program_gate_of(self))
        ski_fatal("PE %d sent read-only variables to PE %d, which does not wait for them",
                  msg->source, self->pe);
    if (kind == PROGRAM_VALUES)
        program_forward_values(self, msg);
    program_read_creations(self, &rest);
    if (kind == PROGRAM_VALUES)
        program_unpack(rest);
    skua_msg_free(msg);
    program_open_gate(self);
}

/* ---- begin -------------------------------------------------------------------------- */

static void program_send_values(struct ski_pe *self)
{
    struct skua_msg *msg = program_message(&program_gate_of(self)->creations, PROGRAM_VALUES);

    program_forward_values(self, msg);
    skua_msg_free(msg);
}

/* The values are final: they go to all processes, then this gate opens. */
static void program_publish(struct ski_pe *self)
{
    ski_assert(self->pe == 0 && program_gate_of(self));
    self->before_wait = false;
    program_send_values(self);
    program_open_gate(self);
}

void ski_program_before_wait(struct ski_pe *self)
{
    published_bytes = program_packed_bytes();
    published       = ski_malloc(published_bytes + 1);
    program_pack(published);
    program_publish(self);
}

/* Returns the variable whose packed value differs between @p one and @p other. */
static const char *program_changed_variable(const char *one, const char *other)
{
    const struct program_variable *v = variables;

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

/* Ends the job if `begin` wrote a variable after it had waited: other PEs have the value before. */
static void program_check_unchanged(void)
{
    char *now = ski_malloc(program_packed_bytes() + 1);

    program_pack(now);
    if (program_packed_bytes() != published_bytes || memcmp(now, published, published_bytes) != 0)
        ski_misuse("skua_program: read-only variable %s was written after `begin` had waited; "
                   "other PEs have its value before that",
                   program_changed_variable(published, now));
    free(now);
    free(published);
    published = NULL;
}

static void program_begin(int argc, char **argv)
{
    struct ski_pe *self = ski_self;

    program_close_gate(self);
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

    if (skua_initialized())
        ski_misuse("%s: called in a phase; skua_finalize() ends it", __func__);
    entered  = true;
    begin_fn = begin;
    program_make_closed_table();
    code = skua_main(argc, argv, program_begin);
    ski_handler_table_destroy(closed);
    closed = NULL;
    return code;
}

static void program_pe_end(struct ski_objects *objects)
{
    program_gate_free(objects->slot[SKI_SLOT_PROGRAM]);
}

const struct ski_lifecycle ski_program_lifecycle = {.pe_end = program_pe_end};
