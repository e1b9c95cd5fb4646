/* SPDX-License-Identifier: Apache-2.0 */
/* crash.c - see crash.h. */
#include "core/lifecycle/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "base/memory.h"
#include "boot/crash_report.h"
#include "core/isomalloc/isomalloc.h"
#include "core/pe/code_address.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"

#define SIGNAL_STACK ((size_t)64 << 10)
#define CRASH_NULL   4096 /* addresses below are members of what NULL points to */

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

#define FATAL_SIGNALS (sizeof fatal_signals / sizeof *fatal_signals)

static bool crash_installed[FATAL_SIGNALS]; /* whether the handler of a signal is ours */

/* Set once, before any PE runs. */
static struct ski_job *crash_job;
static int             crash_process;
static bool            crash_launched;

static _Thread_local bool crash_ours; /* this thread writes the record */

/* Returns the record to the first thread of this process that calls it.  Other threads wait until
 * it is written, at most two seconds, since their signals would end the process. */
static struct ski_crash *crash_take_record(void)
{
    struct ski_crash *crash = crash_job ? &ski_job_process(crash_job, crash_process)->crash : NULL;
    const struct timespec pause = {0, 1000000};

    if (!crash || crash_ours)
        return NULL;
    crash_ours = !atomic_exchange(&crash->taken, 1);
    if (crash_ours)
        return crash;
    for (int i = 0; i < 2000 && atomic_load(&crash->ready) != SKI_CRASH_REPORTED; i++)
        nanosleep(&pause, NULL);
    return NULL;
}

/* Records the frames from @p from on; those above belong to the handler. */
static void crash_note_frames(struct ski_crash *crash, const void *from)
{
    void *pc[SKI_CRASH_FRAMES];
    int   n = backtrace(pc, SKI_CRASH_FRAMES), first = 0;

    while (first < n && pc[first] != from)
        first++;
    if (first == n)
        first = 0;
    for (int i = first; i < n; i++)
        ski_code_frame(&crash->frame[i - first], pc[i]);
    crash->frames = n - first;
}

/* ---- records ------------------------------------------------------------------------ */

static bool crash_wants_frames(void)
{
    return ski_config.backtrace || ski_config.errors == SKI_ERRORS_FATAL;
}

/* Prints the record of this process, which has no launcher that does. */
static void crash_print(struct ski_crash *crash)
{
    char text[SKI_CRASH_LINE];

    atomic_store_explicit(&crash->ready, 1, memory_order_release);
    if (ski_crash_text(crash_job, crash_process, text))
        fprintf(stderr, "skua: %s\n", text);
}

static void crash_finish_record(struct ski_crash *crash, int sig, const void *from)
{
    crash->pe     = ski_self && !ski_pe_hidden(ski_self) ? ski_self->pe : -1;
    crash->signal = sig;
    if (crash_wants_frames())
        crash_note_frames(crash, from);
    if (!crash_launched)
        crash_print(crash);
    atomic_store_explicit(&crash->ready, SKI_CRASH_REPORTED, memory_order_release);
}

/* Returns whether @p pc is in the library of Skua, which is not part of the program itself. */
static bool crash_in_library(const void *pc)
{
    Dl_info here, there;

    return !ski_code_in_program(ski_code_address((const void *)(uintptr_t)crash_in_library)) &&
           dladdr((void *)(uintptr_t)crash_in_library, &here) && dladdr(pc, &there) &&
           here.dli_fbase == there.dli_fbase;
}

/* Describes a signal that the program has caused, and what may explain it. */
static void crash_explain_program(struct ski_crash *crash, int sig, const siginfo_t *info,
                                  const void *pc)
{
    size_t length = 0;

    if (sig == SIGSEGV || sig == SIGBUS)
        length =
            (size_t)snprintf(crash->text, sizeof crash->text, " at address %p%s", info->si_addr,
                             (uintptr_t)info->si_addr < CRASH_NULL && crash_in_library(pc)
                                 ? ", inside of a call of Skua that was given NULL"
                                 : "");

    if (ski_job_exiting(crash_job))
        length += (size_t)snprintf(
            crash->text + length, sizeof crash->text - length,
            " (PE %d had called skua_exit(%d): from then on waits return NULL or false)",
            ski_job_exit_pe(crash_job), ski_job_exit_code(crash_job));
    if (!crash_wants_frames())
        snprintf(crash->text + length, sizeof crash->text - length, " (%s shows where)",
                 crash_launched ? "-s backtrace=1" : "SKUA_BACKTRACE=1");
}

static void crash_explain(struct ski_crash *crash, int sig, const siginfo_t *info, const void *pc)
{
    const struct skua_thread *thread = ski_self ? ski_self->thread : NULL;

    if (sig == SIGSEGV && ski_self && ski_thread_guards(ski_self, info->si_addr))
        snprintf(crash->text, sizeof crash->text,
                 ": user thread %s overran its stack of %zu bytes; ask for a larger one or raise "
                 "SKUA_STACK_SIZE",
                 ski_thread_name(thread), thread->stack.bytes);
    else if (sig == SIGBUS && (ski_arena_contains(crash_job->arena, info->si_addr) ||
                               ski_isomalloc_contains(info->si_addr)))
        snprintf(crash->text, sizeof crash->text, ": the host has no memory left for the arena");
    else if (sig != SIGABRT) /* abort() after ski_fatal() has its text already */
        crash_explain_program(crash, sig, info, pc);
}

static void crash_on_signal(int sig, siginfo_t *info, void *context)
{
    struct ski_crash *crash = crash_take_record();

    if (crash) {
        crash_explain(crash, sig, info, ski_context_pc(context));
        crash_finish_record(crash, sig, ski_context_pc(context));
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Records the line of ski_fatal(), which then calls abort(). */
static bool crash_on_fatal(const char *line, const void *caller)
{
    struct ski_crash *crash = crash_take_record();

    if (!crash)
        return crash_job != NULL; /* another thread has said why */
    snprintf(crash->text, sizeof crash->text, "%s", line);
    crash_finish_record(crash, SIGABRT, caller);
    return true;
}

void ski_crash_install(const struct ski_boot *boot)
{
    struct sigaction action = {.sa_sigaction = crash_on_signal,
                               .sa_flags     = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction old;

    crash_job      = boot->job;
    crash_process  = boot->process;
    crash_launched = boot->mode == SKI_BOOT_LAUNCHED;
    ski_log_set_fatal_hook(crash_on_fatal);
    ski_code_open();
    if (crash_wants_frames()) {
        void *pc[1];
        backtrace(pc, 1); /* loads the unwinder now, not in a signal handler */
    }
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        crash_installed[i] = sigaction(fatal_signals[i], NULL, &old) == 0 &&
                             !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL &&
                             sigaction(fatal_signals[i], &action, NULL) == 0;
}

/* Restores the default of a signal, unless the program has installed a handler meanwhile. */
static void crash_restore_signal(int sig)
{
    struct sigaction now;

    if (sigaction(sig, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == crash_on_signal)
        signal(sig, SIG_DFL);
}

void ski_crash_uninstall(void)
{
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        if (crash_installed[i])
            crash_restore_signal(fatal_signals[i]);
    ski_log_set_fatal_hook(NULL);
    crash_job = NULL;
}

void *ski_crash_thread_begin(void)
{
    stack_t stack = {.ss_sp = ski_malloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK}, old;

    if (sigaltstack(NULL, &old) == 0 && !(old.ss_flags & SS_DISABLE)) {
        free(stack.ss_sp); /* a sanitizer has given the thread one */
        return NULL;
    }
    sigaltstack(&stack, NULL);
    return stack.ss_sp;
}

void ski_crash_thread_end(void *stack)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    if (!stack)
        return;
    sigaltstack(&none, NULL);
    free(stack);
}
