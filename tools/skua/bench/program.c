/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* Writes the directory of this executable. */
static bool program_own_directory(char path[PROGRAM_PATH_BYTES])
{
    ssize_t n = readlink("/proc/self/exe", path, PROGRAM_PATH_BYTES - 1);

    if (n <= 0)
        return false;
    path[n]             = '\0';
    *strrchr(path, '/') = '\0';
    return true;
}

bool program_find(const char *name, char path[PROGRAM_PATH_BYTES])
{
    static const char *const directories[] = {".", "../libexec/skua", "../bench", "../examples",
                                              "../apps"};
    char                     own[PROGRAM_PATH_BYTES];

    if (!program_own_directory(own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        int n = snprintf(path, PROGRAM_PATH_BYTES, "%s/%s/%s", own, directories[i], name);
        if (n > 0 && n < PROGRAM_PATH_BYTES && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool program_in_path(const char *name, char path[PROGRAM_PATH_BYTES])
{
    const char *folders = getenv("PATH");
    char       *copy = strdup(folders ? folders : "/usr/bin:/bin"), *rest = copy, *folder;
    bool        found = false;

    while (!found && (folder = strsep(&rest, ":")) != NULL) {
        int n = snprintf(path, PROGRAM_PATH_BYTES, "%s/%s", folder, name);
        found = n > 0 && n < PROGRAM_PATH_BYTES && access(path, X_OK) == 0;
    }
    free(copy);
    return found;
}

/* ---- variables of the environment --------------------------------------- */

/* A variable that has been set, and the user's value. */
struct replaced_variable {
    struct replaced_variable *next;
    char                     *name, *value; /* value NULL: it was not set */
    bool                      set;          /* else it has the user's value again */
};

static struct replaced_variable *program_variables;

/* Returns the link to a variable that has been set, or to NULL at the end of the list. */
static struct replaced_variable **program_find_variable(const char *name)
{
    struct replaced_variable **link = &program_variables;

    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static char *program_copy(const char *text)
{
    return text ? ski_memory_checked(strdup(text), strlen(text) + 1) : NULL;
}

/* Tells the user, on the first replacement, that a setting of the environment has no effect on some
 * rows.  On a terminal the line replaces what program_show() shows. */
static void program_say_replaced(const struct replaced_variable *replaced)
{
    if (replaced->value && strncmp(replaced->name, "SKUA_", 5) == 0)
        fprintf(stderr,
                "%sskua bench: rows that compare networks set %s themselves, and ignore its value "
                "in the environment\n",
                isatty(STDERR_FILENO) ? "\r" : "", replaced->name);
}

/* The user's value is copied: setenv() may free or overwrite what getenv() returned. */
void program_set_variable(const char *name, const char *value)
{
    struct replaced_variable **link = program_find_variable(name);

    if (!*link) {
        *link  = ski_realloc(NULL, sizeof **link);
        **link = (struct replaced_variable){.name  = program_copy(name),
                                            .value = program_copy(getenv(name))};
        program_say_replaced(*link);
    }
    (*link)->set = true;
    setenv(name, value, 1);
}

void program_restore_variable(const char *name)
{
    struct replaced_variable *restored = *program_find_variable(name);

    if (!restored || !restored->set)
        return;
    restored->set = false;
    if (restored->value)
        setenv(name, restored->value, 1);
    else
        unsetenv(name);
}

/* ---- progress ------------------------------------------------------------- */

static char program_announced[160]; /* shown when the next program starts; "": nothing */

void program_show(const char *what)
{
    static int width;

    if (!isatty(STDERR_FILENO)) {
        if (what)
            fprintf(stderr, "skua bench: %s\n", what);
        return;
    }
    fprintf(stderr, "\r%-*s", width, what ? what : "");
    width = what ? (int)strlen(what) : 0;
    if (!what)
        fprintf(stderr, "\r");
}

void program_announce(const char *what)
{
    snprintf(program_announced, sizeof program_announced, "%s", what);
}

/* Shows the announced line, once. */
static void program_show_announced(void)
{
    if (program_announced[0])
        program_show(program_announced);
    program_announced[0] = '\0';
}

/* ---- interrupts ----------------------------------------------------------- */

static volatile sig_atomic_t program_signal;  /* that was caught, or 0 */
static volatile pid_t        program_running; /* that program_run() waits for, or 0 */

static void program_on_signal(int number)
{
    program_signal = number;
    if (program_running > 0)
        kill(program_running, SIGTERM);
}

void program_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = program_on_signal, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int program_interrupted(void)
{
    return program_signal;
}

/* Tells the handler which program runs, or 0; it may have been called before. */
static void program_set_running(pid_t pid)
{
    program_running = pid;
    if (program_signal && pid > 0)
        kill(pid, SIGTERM);
}

/* ---- running -------------------------------------------------------------- */

/* Starts a program with one of its outputs at @p to; it gets SIGTERM when this process ends. */
static pid_t program_fork(char *const argv[], int to, bool of_stderr)
{
    pid_t parent = getpid(), pid;

    program_show_announced();
    pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    dup2(to, of_stderr ? STDERR_FILENO : STDOUT_FILENO);
    if (of_stderr)
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execv(argv[0], argv);
    _exit(127);
}

pid_t program_start(char *const argv[])
{
    int   nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid     = program_fork(argv, nothing, false);

    close(nothing);
    return pid;
}

void program_stop(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

int program_add_words(const char *argv[], int count, char *text)
{
    char *left, *word = strtok_r(text, " ", &left);

    for (; word; word = strtok_r(NULL, " ", &left))
        argv[count++] = word;
    return count;
}

int program_run(char *const argv[], bool of_stderr, void (*line)(const char *text, void *arg),
                void *arg)
{
    int    ends[2], status;
    pid_t  pid;
    FILE  *output;
    char  *text = NULL;
    size_t room = 0;

    if (program_signal || pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = program_fork(argv, ends[1], of_stderr);
    program_set_running(pid);
    close(ends[1]);
    output = fdopen(ends[0], "r");
    while (output && getline(&text, &room, output) > 0)
        if (line)
            line(text, arg);
    free(text);
    fclose(output);
    program_set_running(0);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}
