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
    "  -o, --output=DIR    where to write them (default: the current folder)\n"
    "  -I, --include=DIR   where to look for `extern module', beside the file itself\n"
    "      --deps          instead: a rule for make, of what they are made from\n"
    "      --format        instead: the file, laid out anew, to standard output\n"
    "      --in-place      with --format: over the file itself\n"
    "      --tree          instead: what was understood\n"
    "  -h, --help          this text\n"
    "  -V, --version       the version\n"
    "\n"
    "The exit code is 1 if there are errors in the files, 2 if something else is wrong.\n";

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
        cmdline_usage_error("one of --deps, --format and --tree is possible at a time");
    options->task = task;
}

static void cmdline_option(struct cmdline *options, int c, unsigned *folders)
{
    switch (c) {
    case 'o': options->directory = optarg; break;
    case 'I': options->folders[(*folders)++] = optarg; break;
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
        cmdline_usage_error("--in-place goes with --format");
    if (optind == argc)
        cmdline_usage_error("no file was named");
    options.files = argv + optind;
    return options;
}
