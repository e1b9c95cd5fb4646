/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what the command line of skuac says. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

enum task { TASK_TRANSLATE, TASK_TREE, TASK_FORMAT, TASK_DEPS };

struct options {
    enum task   task;
    const char *directory; /* for what is written */
    bool        in_place;  /* TASK_FORMAT: over the file itself */
    char      **files;     /* ended by NULL, at least one */
    char      **folders;   /* to search for modules, ended by NULL */
};

/** Says what is wrong and exits with 2; exits with 0 after --help and --version.  What is in
 *  it points into @p argv, or lives until the program ends. */
struct options options_parse(int argc, char **argv);

#endif
