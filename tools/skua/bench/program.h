/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - finds and runs programs.
 *
 * The programs of Skua are found relative to this tool: in an installation in ../libexec/skua, in a
 * build tree in ../bench, ../examples and ../apps.
 */
#ifndef SKUA_PROGRAM_H
#define SKUA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Size of a buffer for a path. */
#define PROGRAM_PATH_BYTES 512

/** Finds a program of Skua.  Returns false if it is not installed. */
bool program_find(const char *name, char path[PROGRAM_PATH_BYTES]);

/** Finds a command in PATH.  Returns false if it is not installed. */
bool program_in_path(const char *name, char path[PROGRAM_PATH_BYTES]);

/** Sets a variable of the environment for the programs that are run from now on.  The value that it
 * had is kept for program_restore_variable(). */
void program_set_variable(const char *name, const char *value);

/** Gives a variable the value that it had before program_set_variable(), or removes it if it had
 * none. */
void program_restore_variable(const char *name);

/** Shows what is being measured: on a terminal in one line, which NULL clears, else as lines of
 * standard error. */
void program_show(const char *what);

/** Sets the line that program_show() shows when the next program starts: a step that starts none,
 * such as that of a library that is not installed, shows nothing. */
void program_announce(const char *what);

/** From now on SIGINT and SIGTERM stop the program that runs, and no other one is started, so that
 * a benchmark soon ends and what it has measured is not lost. */
void program_catch_interrupts(void);

/** Returns the signal that was caught, or 0. */
int program_interrupted(void);

/** Appends the words of @p text, which spaces separate, to @p argv, which has room for them, as
 * pointers into the text.  Returns the new length. */
int program_add_words(const char *argv[], int count, char *text);

/** Runs @p argv, calls @p line, unless it is NULL, for each line of its stdout or, if @p of_stderr,
 * of its stderr, and waits for its end.  Returns its exit code, or -1 if it could not be run or was
 * killed, or after a caught signal. */
int program_run(char *const argv[], bool of_stderr, void (*line)(const char *text, void *arg),
                void *arg);

/** Starts @p argv in the background, without output.  Returns its pid, or -1. */
pid_t program_start(char *const argv[]);

/** Sends SIGTERM to a program that program_start() returned and waits for its end; -1 is
 * ignored. */
void program_stop(pid_t pid);

#endif
