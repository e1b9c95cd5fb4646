/* SPDX-License-Identifier: Apache-2.0 */
/* cmdline.h - the command line of skuac. */
#ifndef CMDLINE_H
#define CMDLINE_H

#include <stdbool.h>

/** The task of skuac for the files. */
enum cmdline_task { TASK_TRANSLATE, TASK_TREE, TASK_FORMAT, TASK_DEPS };

/** The parsed command line. */
struct cmdline {
    enum cmdline_task task;
    const char       *directory; /* directory of the generated files             */
    bool              in_place;  /* TASK_FORMAT: replace the file                */
    char            **files;     /* input files, at least one, ended by NULL     */
    char            **folders;   /* searched for imported modules, ended by NULL */
};

/** Parses the command line.  Exits with 2 after reporting a usage error, and with 0 after --help
 * and
 *  --version.  The result refers to @p argv and to memory that lives until the program ends. */
struct cmdline cmdline_parse(int argc, char **argv);

#endif
