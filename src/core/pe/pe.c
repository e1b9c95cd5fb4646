/* SPDX-License-Identifier: Apache-2.0 */
/* pe.c - what a PE knows of itself and of the job. */
#include "core/pe/pe.h"

#include <stdarg.h>
#include <stdio.h>

#include <skua/pe.h>

_Thread_local struct ski_pe *ski_self;

__attribute__((noinline)) struct ski_pe *ski_pe_now(void)
{
    __asm__ volatile("" ::: "memory"); /* not taken for a function without effect */
    return ski_self;
}

void ski_not_a_pe(const char *call)
{
    ski_misuse("%s: called by a thread that is not a PE, by a child of fork(), or outside of "
               "skua_main() and phases (skua_init())",
               call);
}

void skua_abort(const char *format, ...)
{
    char    text[SKI_CRASH_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ski_fatal("%s", text);
}

int skua_pe(void)
{
    return SKI_SELF()->pe;
}

int skua_pes(void)
{
    return SKI_SELF()->pes;
}

int skua_process(void)
{
    return SKI_SELF()->process;
}

int skua_processes(void)
{
    return SKI_SELF()->job->processes;
}

/* Returns the job; ends it if it has no PE of that number. */
static struct ski_job *pe_job_with_pe(const char *call, int pe)
{
    struct ski_pe *self = ski_pe_of_caller(call);

    if ((uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, pe, self->pes - 1);
    return self->job;
}

int skua_process_of(int pe)
{
    return ski_job_process_of(pe_job_with_pe(__func__, pe), pe);
}

bool skua_shares_memory(int pe)
{
    return ski_job_index(pe_job_with_pe(__func__, pe), pe) >= 0;
}

static struct ski_job *pe_job_with_process(const char *call, int process)
{
    struct ski_job *job = ski_pe_of_caller(call)->job;

    if ((uint32_t)process >= (uint32_t)job->processes)
        ski_misuse("%s: process %d does not exist; this job has processes 0 to %d", call, process,
                   job->processes - 1);
    return job;
}

int skua_process_first(int process)
{
    return ski_job_first_pe(pe_job_with_process(__func__, process), process);
}

int skua_process_pes(int process)
{
    return ski_job_pes_of(pe_job_with_process(__func__, process), process);
}
