/* SPDX-License-Identifier: Apache-2.0 */
/* cmdline.c - see cmdline.h. */
#include "cmdline.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/bump.h"

static const char help[] =
    "usage: skuac [options] FILE.ci ...\n"
    "\n"
    "Translate interface files to C: FILE.ci becomes FILE.ci.h and FILE.ci.c.\n"
    "\n"
    "  -o, --output=DIR    write the generated files to DIR (default: the current folder)\n"
    "  -I, --include=DIR   search DIR for imported modules, after the folder of the file\n"
    "      --deps          print the dependencies as a make rule instead\n"
    "      --format        print the reformatted file instead\n"
    "      --in-place      with --format: replace the file\n"
    "      --tree          print the syntax tree instead\n"
    "  -h, --help          print this text\n"
    "  -V, --version       print the version\n"
    "\n"
    "Exit codes: 1 for errors in a file, 2 for wrong usage or a file that cannot be read or "
    "written.\n";

enum { OPTION_DEPS = 256, OPTION_FORMAT, OPTION_IN_PLACE, OPTION_TREE };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"include", required_argument, NULL, 'I'},
    {"deps", no_argument, NULL, OPTION_DEPS},
    {"format", no_argument, NULL, OPTION_FORMAT},
    {"in-place", no_argument, NULL, OPTION_IN_PLACE},
    {"tree", no_argument, NULL, OPTION_TREE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void cmdline_usage_error(const char *what)
{
    fprintf(stderr, "skuac: %s (skuac --help)\n", what);
    exit(2);
}

static void cmdline_set_task(struct cmdline *options, enum cmdline_task task)
{
    if (options->task != TASK_TRANSLATE && options->task != task)
        cmdline_usage_error("only one of --deps, --format and --tree is possible at a time");
    options->task = task;
}

/* Returns the name of a folder.  An empty one, of an unset variable, would be the root folder. */
static char *cmdline_folder(char *name)
{
    if (!name[0])
        cmdline_usage_error("the name of a directory is empty");
    return name;
}

static void cmdline_option(struct cmdline *options, int c, unsigned *folders)
{
    switch (c) {
    case 'o': options->directory = cmdline_folder(optarg); break;
    case 'I': options->folders[(*folders)++] = cmdline_folder(optarg); break;
    case OPTION_DEPS: cmdline_set_task(options, TASK_DEPS); break;
    case OPTION_FORMAT: cmdline_set_task(options, TASK_FORMAT); break;
    case OPTION_TREE: cmdline_set_task(options, TASK_TREE); break;
    case OPTION_IN_PLACE: options->in_place = true; break;
    case 'h': fputs(help, stdout); exit(0);
    case 'V': puts("skuac " SKUAC_VERSION); exit(0);
    default: fputs("(skuac --help)\n", stderr); exit(2);
    }
}

struct cmdline cmdline_parse(int argc, char **argv)
{
    struct cmdline options = {.directory = "."};
    unsigned       folders = 0;
    int            c;

    options.folders = bump_alloc((size_t)argc * sizeof *options.folders);
    while ((c = getopt_long(argc, argv, "o:I:hV", long_options, NULL)) != -1)
        cmdline_option(&options, c, &folders);
    if (options.in_place && options.task != TASK_FORMAT)
        cmdline_usage_error("--in-place requires --format");
    if (optind == argc)
        cmdline_usage_error("no input file");
    options.files = argv + optind;
    return options;
}
