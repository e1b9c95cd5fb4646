/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - functions that run on other PEs and return a result.
 *
 * A function is an entry in the table of handlers, so that processes agree on
 * it by name; its message carries the completion and then the arguments.
 */
#include <skua/onesided.h>

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "core/pe.h"

struct called {
    _Alignas(16) skua_completion done; /* what follows is aligned as well */
};

static skua_function_fn *functions; /* by handler */
static uint32_t          functions_room;

static void on_call(skua_msg *msg)
{
    struct called *called = skua_msg_data(msg);

    functions[msg->handler](called + 1, msg->bytes - sizeof *called, called->done);
    skua_msg_free(msg);
}

skua_function skua_function_register(const char *name, skua_function_fn fn)
{
    skua_handler handler = skua_register(name, on_call);

    if (handler.id >= functions_room) {
        functions_room = 2 * (handler.id + 1);
        functions      = ski_realloc(functions, functions_room * sizeof *functions);
    }
    functions[handler.id] = fn;
    return (skua_function){handler.id};
}

void skua_call(int pe, skua_function function, const void *args, size_t bytes, skua_completion done)
{
    struct {
        struct called called;
        char          args[SKUA_INLINE_MAX - sizeof(struct called)];
    } small;
    skua_msg *msg;

    if (bytes <= sizeof small.args) {
        small.called.done = done;
        if (bytes)
            memcpy(small.args, args, bytes);
        skua_send_copy(pe, (skua_handler){function.id}, &small, sizeof small.called + bytes);
        return;
    }
    msg                                         = skua_msg_alloc(sizeof(struct called) + bytes);
    ((struct called *)skua_msg_data(msg))->done = done;
    memcpy((struct called *)skua_msg_data(msg) + 1, args, bytes);
    skua_send(pe, (skua_handler){function.id}, msg);
}
