/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - a token passes through all PEs a hundred times and is never copied. */
#include <skua/skua.h>
#include <stdio.h>

static skua_handler token;

static void on_token(skua_msg *msg) /* runs on the PE that the message was sent to */
{
    int *hops = skua_msg_data(msg);

    if (++*hops < 100 * skua_pes()) {
        skua_send((skua_pe() + 1) % skua_pes(), token, msg); /* transfers ownership */
        return;
    }
    printf("PE %d has the token after %d hops\n", skua_pe(), *hops);
    skua_msg_free(msg);
    skua_exit(0);
}

static void start(int argc, char **argv) /* runs once on every PE */
{
    (void)argc, (void)argv;
    if (skua_pe() == 0) {
        skua_msg *msg              = skua_msg_alloc(sizeof(int));
        *(int *)skua_msg_data(msg) = 0;
        skua_send(1 % skua_pes(), token, msg);
    }
}

int main(int argc, char **argv)
{
    token = skua_handler_register("token", on_token);
    return skua_main(argc, argv, start);
}
