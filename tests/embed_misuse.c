/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_misuse.c - the program of embed.sh: misuse of phases, and processes that die during or
 * between phases.
 *
 * usage: embed_misuse CASE
 */
#include <signal.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static skua_handler handler;

static void say(const char *what, skua_status status)
{
    printf("%s: %s\n", what, skua_status_str(status));
    fflush(stdout);
}

static void empty_phase(void)
{
    if (skua_init(NULL) != SKUA_OK || skua_finalize() != 0)
        abort();
}

static bool first(void)
{
    return skua_pe() == 0;
}

static void twice(void)
{
    say("first", skua_init(NULL));
    say("second", skua_init(NULL));
    say("end", skua_finalize());
}

static void after_main_start(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("within", skua_init(NULL));
    skua_exit(0);
}

static void after_main(void)
{
    char *args[] = {(char[]){"x"}, NULL};

    skua_main(1, args, after_main_start);
    say("after", skua_init(NULL));
}

static void main_after(void)
{
    char *args[] = {(char[]){"x"}, NULL};

    empty_phase();
    say("main", skua_main(1, args, after_main_start));
}

static void no_init(void)
{
    skua_finalize();
}

static void on_message(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_finalize();
}

static void in_handler(void)
{
    skua_init(NULL);
    skua_send_copy(skua_pe(), handler, NULL, 0);
    skua_run();
}

static void in_thread_body(void *arg)
{
    (void)arg;
    skua_finalize();
}

static void in_thread(void)
{
    skua_init(NULL);
    skua_thread_detach(skua_thread_create(in_thread_body, NULL, 0));
    skua_run();
}

static void version(void)
{
    skua_version_expect(SKUA_VERSION_NUMBER + 1000000);
    say("version", (skua_init)(NULL));
    say("macro", skua_init(NULL));
    say("end", skua_finalize());
}

static void params(void)
{
    const char *const unknown[] = {"threads=1", "thread=2", NULL}, *const wrong[] = {"threads=x",
                                                                                     NULL};
    skua_init_params newer    = {.size = sizeof newer + 8};
    skua_init_params settings = {.settings = unknown};

    say("newer", skua_init(&newer));
    say("unknown", skua_init(&settings));
    settings.settings = wrong;
    say("wrong", skua_init(&settings));
    empty_phase(); /* no phase has begun */
    say("then", SKUA_OK);
}

static void outside_pe(void)
{
    empty_phase();
    skua_pe();
}

static void outside_flush(void)
{
    empty_phase();
    skua_flush_all();
}

static void register_within(void)
{
    skua_init(NULL);
    skua_handler_register("within", on_message);
}

static void die(void)
{
    raise(SIGKILL);
}

static void die_in_phase(void)
{
    empty_phase();
    skua_init(NULL);
    if (skua_pes() == 1 || !first())
        die();
    skua_finalize();
}

static void die_between(void)
{
    bool dies;

    skua_init(NULL);
    dies = !first();
    skua_finalize();
    if (dies)
        die();
    empty_phase();
}

static void exit_between(void)
{
    bool leaves;

    skua_init(NULL);
    leaves = !first();
    skua_finalize();
    if (leaves)
        exit(0);
    empty_phase();
}

/* Forgets skua_finalize(). */
static void exit_within(void)
{
    skua_init(NULL);
}

/* One process is in skua_finalize(), another waits for it in the phase. */
static void sync_within(void)
{
    skua_init(NULL);
    if (!first())
        skua_sync();
    skua_finalize();
}

/* The program continues for longer than SKUA_EXIT_GRACE after skua_exit() has ended its phase. */
static void long_after(void)
{
    skua_init(NULL);
    skua_exit(5);
    say("code", skua_finalize() == 5 ? SKUA_OK : SKUA_ERR_INVAL);
    nanosleep(&(struct timespec){2, 0}, NULL);
    empty_phase();
    say("end", SKUA_OK);
}

static void on_line(void *arg, const skua_log_line *line)
{
    printf("%s %d: PE %d: %s\n", (const char *)arg, line->level, line->pe, line->text);
    fflush(stdout);
}

static void log_callback(void)
{
    skua_log_set_callback(on_line, "logged");
    skua_init(NULL);
    skua_put(skua_at((skua_region){12345}, skua_pe(), 0), "x", 1);
    skua_finalize();
    skua_init(NULL); /* the callback stays registered */
    skua_put(skua_at((skua_region){12345}, skua_pe(), 0), "x", 1);
    skua_log_set_callback(NULL, NULL);
    skua_put(skua_at((skua_region){12345}, skua_pe(), 0), "x", 1);
    skua_log_set_callback(on_line, "last");
    skua_abort("the end");
}

/* Runs @p call in a child of fork(), and a phase in which all PEs send to all. */
static void fork_in_phase(void (*call)(void))
{
    int   status = 0;
    pid_t child;

    skua_init(NULL);
    child = fork();
    if (child == 0) {
        call();
        exit(0);
    }
    waitpid(child, &status, 0);
    if (first())
        say("child", WIFEXITED(status) ? SKUA_OK : SKUA_ERR_SYSTEM);
    skua_finalize();
    empty_phase();
    say("end", SKUA_OK);
}

static void child_nothing(void)
{
}

static void child_init(void)
{
    say("child initialized", skua_initialized() ? SKUA_OK : SKUA_ERR_INVAL);
    say("child's phase", skua_init(NULL));
}

static void child_send(void)
{
    skua_send_copy(0, handler, NULL, 0);
}

static void child_flush(void)
{
    skua_flush_all();
}

static void child_finalize(void)
{
    skua_finalize();
}

static void child_crash(void)
{
    raise(SIGSEGV);
}

static void fork_crash(void)
{
    fork_in_phase(child_crash);
    skua_init(NULL);
    skua_abort("the end of PE %d", skua_pe());
}

static void fork_nothing(void)
{
    fork_in_phase(child_nothing);
}

static void fork_init(void)
{
    fork_in_phase(child_init);
}

static void fork_send(void)
{
    fork_in_phase(child_send);
}

static void fork_flush(void)
{
    fork_in_phase(child_flush);
}

static void fork_finalize(void)
{
    fork_in_phase(child_finalize);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"twice", twice},
    {"after-main", after_main},
    {"main-after", main_after},
    {"no-init", no_init},
    {"in-handler", in_handler},
    {"in-thread", in_thread},
    {"version", version},
    {"params", params},
    {"outside-pe", outside_pe},
    {"outside-flush", outside_flush},
    {"register-within", register_within},
    {"die-in-phase", die_in_phase},
    {"die-between", die_between},
    {"exit-between", exit_between},
    {"exit-within", exit_within},
    {"sync-within", sync_within},
    {"long-after", long_after},
    {"log-callback", log_callback},
    {"fork-nothing", fork_nothing},
    {"fork-init", fork_init},
    {"fork-send", fork_send},
    {"fork-flush", fork_flush},
    {"fork-finalize", fork_finalize},
    {"fork-crash", fork_crash},
};

int main(int argc, char **argv)
{
    handler = skua_handler_register("message", on_message);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
