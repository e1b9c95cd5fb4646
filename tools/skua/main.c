/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - skua: describes an installation of the runtime, measures it, tries load balancing
 * strategies, inspects checkpoints, and resizes running jobs. */
#include <stdio.h>
#include <string.h>

#include <skua/version.h>

#include "commands.h"
#include "output_check.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does;
} commands[] = {
    {"info", command_info, "print what this installation and this host provide"},
    {"bench", command_bench, "measure Skua, the hardware floor and peer libraries"},
    {"balance", command_balance, "run load balancing strategies on recorded loads"},
    {"checkpoint", command_checkpoint, "list and check the checkpoints of a program"},
    {"resize", command_resize, "change the number of PEs of a running job"},
    {"tour", command_tour, "run small programs that show what Skua does, in a minute"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static void skua_print_help(FILE *to)
{
    fprintf(to, "usage: skua COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].does);
    fprintf(to, "\n`skua COMMAND --help' lists its options; see also skua(1).\n"
                "skuarun(1) starts programs.\n");
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    const char *name   = argc > 1 ? argv[1] : "";
    char        both[32]; /* "skua COMMAND", with which getopt_long() begins its errors */

    output_check_at_exit("skua");
    if (strcmp(name, "help") == 0 && argc == 3) { /* `skua help info' */
        name    = argv[2];
        argv[2] = help;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0) {
            snprintf(both, sizeof both, "skua %s", commands[i].name);
            argv[1] = both;
            return commands[i].run(argc - 1, argv + 1);
        }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        skua_print_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("skua " SKUA_VERSION);
        return 0;
    }
    if (name[0])
        fprintf(stderr, "skua: unknown command '%s'\n", name);
    skua_print_help(stderr);
    return 2;
}
