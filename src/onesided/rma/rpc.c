/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.c - remote procedure calls: functions that run on other PEs and return a result.
 *
 * A function is an entry in the table of handlers, so that processes identify it by its name; its
 * message carries the completion and then the arguments.
 */
#include <skua/onesided.h>

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"

struct rpc_header {
    _Alignas(16) skua_completion done; /* the arguments that follow are aligned as well */
};

static skua_function_fn *functions; /* by handler */
static uint32_t          functions_room;

static void rpc_on_call(skua_msg *msg)
{
    struct rpc_header *called = skua_msg_data(msg);

    if (msg->bytes < sizeof *called)
        ski_fatal("the message of a remote call from PE %d is too short", msg->source);
    functions[msg->handler](called + 1, msg->bytes - sizeof *called, called->done);
    skua_msg_free(msg);
}

skua_function skua_function_register(const char *name, skua_function_fn fn)
{
    skua_handler handler = ski_handler_register(__func__, name, rpc_on_call);

    if (handler.id >= functions_room) {
        uint32_t room = 2 * (handler.id + 1);
        functions     = ski_realloc(functions, room * sizeof *functions);
        memset(functions + functions_room, 0, (room - functions_room) * sizeof *functions);
        functions_room = room;
    }
    ski_assert(handler.id < functions_room);
    functions[handler.id] = fn;
    return (skua_function){handler.id};
}

/* Sends a call of @p function, in a cell if it is small. */
static void rpc_send(int pe, uint32_t function, const void *args, size_t bytes,
                     skua_completion done)
{
    struct {
        struct rpc_header called;
        char              args[SKUA_INLINE_MAX - sizeof(struct rpc_header)];
    } small;
    skua_msg *msg;

    if (bytes <= sizeof small.args) {
        small.called.done = done;
        if (bytes)
            memcpy(small.args, args, bytes);
        skua_send_copy(pe, (skua_handler){function}, &small, sizeof small.called + bytes);
        return;
    }
    msg = skua_msg_alloc(sizeof(struct rpc_header) + bytes);
    ((struct rpc_header *)skua_msg_data(msg))->done = done;
    memcpy((struct rpc_header *)skua_msg_data(msg) + 1, args, bytes);
    skua_send(pe, (skua_handler){function}, msg);
}

void skua_call(int pe, skua_function function, const void *args, size_t bytes, skua_completion done)
{
    struct ski_caller caller;

    if (function.id >= functions_room || !functions[function.id])
        ski_misuse("skua_call: function %u was never registered", function.id);
    ski_onesided_check(__func__);
    if ((uint32_t)pe >= (uint32_t)ski_onesided_job()->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", __func__, pe,
                   ski_onesided_job()->pes - 1);
    if (!ski_fits_message(args, bytes))
        ski_misuse("%s: %zu bytes of arguments at %p are not valid data for a message", __func__,
                   bytes, args);
    if (!ski_caller_enter(&caller))
        return;
    rpc_send(pe, function.id, args, bytes, done);
    ski_caller_leave(&caller);
}
