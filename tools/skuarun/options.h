/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of skuarun. */
#ifndef SKUARUN_OPTIONS_H
#define SKUARUN_OPTIONS_H

#include <stdbool.h>

#define PES_MOST 65535

struct options {
    int         pes;     /* 0: not said */
    int         threads; /* PEs to a process */
    bool        label, verbose;
    const char *hosts;   /* as given, or NULL: this one */
    const char *exports; /* more variables for other hosts, or "" */
    char      **command; /* the program and its arguments, with a NULL */
};

/** Read the command line.  --help and --version print and exit; an error says
 *  what is wrong and exits with 2.  --pin, --set and the like change the
 *  environment. */
struct options options_parse(int argc, char **argv);

#endif
