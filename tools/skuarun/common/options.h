/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of skuarun. */
#ifndef SKUARUN_OPTIONS_H
#define SKUARUN_OPTIONS_H

#include <stdbool.h>

struct run_options {
    int         pes;     /* of the job; 0: not given */
    int         threads; /* PEs of each process; 0: not given */
    bool        label, verbose;
    bool        survive; /* recover from the loss of a process */
    int         spare;   /* with survive: processes that may be replaced; -1: any number */
    const char *hosts;   /* the argument of --hosts, or NULL: this host alone */
    const char *exports; /* the argument of --export, or "" */
    char      **command; /* the program and its arguments, ended by NULL */
};

/** Parses the command line. --help and --version print and exit with 0; an error prints what is
 * wrong and exits with 2. --pin, --set, --launcher, --agent-path, --restart and --survive set
 * environment variables. */
struct run_options run_options_parse(int argc, char **argv);

#endif
