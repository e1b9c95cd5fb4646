/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the programs that belong to Skua, and running them.
 *
 * They lie beside the tools: in an installation in ../libexec/skua, in a build
 * tree in ../bench, ../examples and ../apps.
 */
#ifndef SKUA_PROGRAM_H
#define SKUA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_PATH 512

/** Where @p name is; false if it is not there. */
bool program_find(const char *name, char path[PROGRAM_PATH]);

/** Where a command of the PATH is; false if there is none. */
bool program_in_path(const char *name, char path[PROGRAM_PATH]);

/** Run @p argv and call @p line for each line of its output (of stdout, or of
 *  stderr); its exit code, or -1 if it could not be run or died. */
int program_run(char *const argv[], bool of_stderr, void (*line)(const char *text, void *arg),
                void *arg);

/** Start @p argv without output, and go on; its process, or -1.  program_stop() ends it
 *  and waits until it is gone. */
pid_t program_start(char *const argv[]);
void  program_stop(pid_t pid);

#endif
