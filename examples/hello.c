/* SPDX-License-Identifier: Apache-2.0 */
/* hello.c - every PE sends a greeting to PE 0, which counts them and ends the job. */
#include <skua/skua.h>
#include <stdio.h>

static skua_handler greeting;

static void on_greeting(skua_msg *msg)
{
    static int greetings; /* used on PE 0 only */

    printf("PE %d of %d says hello\n", skua_msg_source(msg), skua_pes());
    skua_msg_free(msg);
    if (++greetings == skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    skua_send_copy(0, greeting, NULL, 0);
}

int main(int argc, char **argv)
{
    greeting = skua_handler_register("greeting", on_greeting);
    return skua_main(argc, argv, start);
}
