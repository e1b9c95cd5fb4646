/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy_back.c - a message with a nocopy argument comes back to where it was made, after another
 * PE has fetched the argument: its data are those of that PE.
 *
 * PE 0 makes the message for the last PE, which is on another host.  A message that goes elsewhere
 * first, and returns to the same address, is rare, so the test does to its argument what the PE on
 * its way does: from then on it describes memory of the PE before the last.
 */
#include <skua/skua.h>
#include <string.h>

#include "objects/zerocopy/nocopy_msg.h"
#include "pattern.h"
#include "tap.h"

#define BYTES ((size_t)20000)

static skua_handler on_hello, on_go, on_owner, on_message;

static void exit_now(void *arg, const void *data, size_t bytes)
{
    const skua_buffer *buffer = data;

    CHECK(bytes == sizeof *buffer && buffer->at == arg);
    skua_exit(0);
}

/* On the last PE. */
static void take_message(skua_msg *msg)
{
    if (!skua_nocopy_ready(msg, NULL))
        return;
    CHECK(is_filled(skua_nocopy_data(msg, 0), BYTES, 2));
    skua_nocopy_free(msg);
}

/* On PE 0: the owner's memory takes the place of the argument. */
static void take_owner(skua_msg *msg)
{
    static char          own[BYTES];
    skua_nocopy_argument arg  = {own, BYTES, skua_done_nothing(), 0};
    int                  last = skua_pes() - 1;
    skua_msg            *made = skua_nocopy_alloc(last, 0, &arg, 1);
    skua_buffer         *to   = ski_nocopy_buffer(ski_nocopy_arg_at(made, 0));

    CHECK(skua_msg_size(made) < BYTES); /* the argument is not in the message */
    memcpy(to, skua_msg_data(msg), sizeof *to);
    skua_msg_free(msg);
    skua_send(last, on_message, made);
}

/* On the last PE: it is connected with PE 0 now. */
static void take_hello(skua_msg *msg)
{
    skua_send(skua_pes() - 2, on_go, msg);
}

/* On the PE before the last. */
static void take_go(skua_msg *msg)
{
    char       *memory = skua_buffer_alloc(BYTES);
    skua_buffer buffer =
        skua_buffer_make(memory, BYTES, SKUA_REGISTER_LATER, skua_done_call(exit_now, memory), 0);

    fill(memory, BYTES, 2);
    skua_send_copy(0, on_owner, &buffer, sizeof buffer);
    skua_msg_free(msg);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(skua_pes() >= 3);
    if (skua_pe() == 0)
        skua_send_copy(skua_pes() - 1, on_hello, NULL, 0);
}

int main(int argc, char **argv)
{
    on_hello   = skua_handler_register("hello", take_hello);
    on_go      = skua_handler_register("go", take_go);
    on_owner   = skua_handler_register("owner", take_owner);
    on_message = skua_handler_register("message", take_message);
    return skua_main(argc, argv, start);
}
