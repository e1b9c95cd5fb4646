/* SPDX-License-Identifier: Apache-2.0 */
/* teams.c - teams: a placeholder until the test is written. */
#include <skua/skua.h>
static void start(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    skua_exit(0);
}
int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
