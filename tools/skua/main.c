/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - skua: tells about the runtime and measures it. */
#include <stdio.h>
#include <string.h>

#include <skua/version.h>

#include "commands.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does;
} commands[] = {
    {"info", command_info, "what this installation and this host have"},
    {"bench", command_bench, "measure it beside the floor and its peers"},
    {"tour", command_tour, "see on this machine what Skua does, in a minute"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *to)
{
    fprintf(to, "usage: skua COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].does);
    fprintf(to, "\n`skua COMMAND --help' tells its options; skua(1) has more.\n"
                "Programs are started with skuarun(1).\n");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("skua " SKUA_VERSION);
        return 0;
    }
    if (name[0])
        fprintf(stderr, "skua: there is no command '%s'\n", name);
    print_help(stderr);
    return 2;
}
