/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_report.c - see wait_report.h.
 *
 * The name of the routine that waits and the place of its call are found on the stack, so that
 * waits cost nothing before they are long.
 */
#include "wait_report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collective.h"
#include "rma.h"

#define REPORT_TEXT   152 /* bytes of the text of a PE */
#define REPORT_FRAMES 32  /* of the stack */
#define REPORT_LINES  20  /* groups of PEs with one text */

/* The beats of a PE that show that it still waits, and their number in a period. */
#define REPORT_BEATS  2u
#define REPORT_EACH   4
#define REPORT_PERIOD 5.0 /* seconds, unless SKUA_IDLE_REPORT is set */

/* What PE 0 knows of a PE. A beat is the number of the wait, in the upper half, and that of the
 * beat; 0: the PE has not waited for long. */
struct report_entry {
    uint64_t beat;
    char     text[REPORT_TEXT];
};

static struct {
    struct report_entry *entry;             /* [n], in symmetric memory; those of PE 0 are used */
    uint64_t            *noted;             /* [n], on PE 0: the beats when all PEs waited */
    bool                 all;               /* `noted` are valid */
    uint64_t             period;            /* nanoseconds; 0: there are no reports */
    uint32_t             waits;             /* that were long */
    char                 text[REPORT_TEXT]; /* of this PE */
} report;

static uint64_t report_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns whether no other thread of the program ends a wait, and operations on a PE that computes
 * complete, so that a wait may complete its own. */
static bool report_is_possible(void)
{
    const char *progress = getenv("SKUA_PROGRESS_THREAD");

    return shmemi_job.thread_level == SHMEM_THREAD_SINGLE &&
           !(progress && strcmp(progress, "0") == 0);
}

static uint64_t report_period(void)
{
    const char *value   = getenv("SKUA_IDLE_REPORT");
    double      seconds = value && *value ? strtod(value, NULL) : REPORT_PERIOD;

    return seconds > 0 && seconds < 1e9 && report_is_possible() ? (uint64_t)(seconds * 1e9) : 0;
}

size_t shmemi_wait_report_bytes(int pes)
{
    return (size_t)pes * sizeof *report.entry;
}

bool shmemi_wait_report_open(char *memory)
{
    size_t n = (size_t)shmemi_job.pes;

    memset(memory, 0, shmemi_wait_report_bytes(shmemi_job.pes));
    memset(&report, 0, sizeof report);
    report.entry  = (struct report_entry *)(void *)memory;
    report.noted  = calloc(n, sizeof *report.noted);
    report.period = report_period();
    return report.noted != NULL;
}

void shmemi_wait_report_end(void)
{
    report.period = 0;
}

void shmemi_wait_report_close(void)
{
    free(report.noted);
    memset(&report, 0, sizeof report);
}

/* ---- each PE -------------------------------------------------------------- */

static bool report_is_routine(const char *name)
{
    return name && strncmp(*name == 'p' ? name + 1 : name, "shmem_", 6) == 0;
}

/* Describes the wait: the outermost routine of OpenSHMEM on the stack, and where it was called. */
static void report_describe(char *text)
{
    void   *frame[REPORT_FRAMES];
    int     frames = backtrace(frame, REPORT_FRAMES), found = -1;
    char    call[64];
    Dl_info at = {0};

    for (int i = 0; i + 1 < frames; i++)
        if (dladdr(frame[i], &at) && report_is_routine(at.dli_sname)) {
            found = i;
            snprintf(call, sizeof call, "%s", at.dli_sname + (at.dli_sname[0] == 'p'));
        }
    if (found < 0) /* the static library has no names */
        snprintf(text, REPORT_TEXT, "waits in a call of OpenSHMEM");
    else if (dladdr(frame[found + 1], &at) && at.dli_fname)
        snprintf(text, REPORT_TEXT, "waits in %s, called by %.40s+0x%tx", call,
                 strrchr(at.dli_fname, '/') ? strrchr(at.dli_fname, '/') + 1 : at.dli_fname,
                 (char *)frame[found + 1] - 1 - (char *)at.dli_fbase);
    else
        snprintf(text, REPORT_TEXT, "waits in %s", call);
}

/* Begins the beats of a wait: completes the operations of this PE, tells PE 0 where it waits. */
static void report_begin(struct shmemi_wait *wait)
{
    wait->number = ++report.waits;
    shmemi_quiet();
    report_describe(report.text);
    shmemi_put("a wait", report.entry[shmemi_job.pe].text, report.text, REPORT_TEXT, 0);
}

/* ---- PE 0 ------------------------------------------------------------------ */

static uint64_t report_beat_of(int pe)
{
    /* Pairs with the release in shmemi_store(). */
    return __atomic_load_n(&report.entry[pe].beat, __ATOMIC_ACQUIRE);
}

static bool report_is_like(int pe, int other)
{
    return strcmp(report.entry[pe].text, report.entry[other].text) == 0;
}

/* Prints the PEs that wait like @p pe, which is the first of them. */
static void report_print_group(int pe)
{
    const char *separator = "";
    bool        many      = false;

    for (int other = pe + 1; other < shmemi_job.pes; other++)
        many |= report_is_like(pe, other);
    fprintf(stderr, "skua: PE 0: warn:   %s ", many ? "PEs" : "PE");
    for (int first = pe, last; first < shmemi_job.pes; first = last + 1) {
        last = first;
        if (!report_is_like(pe, first))
            continue;
        while (last + 1 < shmemi_job.pes && report_is_like(pe, last + 1))
            last++;
        fprintf(stderr, last > first ? "%s%d-%d" : "%s%d", separator, first, last);
        separator = ", ";
    }
    fprintf(stderr, ": %s\n", report.entry[pe].text);
}

static bool report_printed_before(int pe)
{
    for (int before = 0; before < pe; before++)
        if (report_is_like(before, pe))
            return true;
    return false;
}

static void report_print(void)
{
    const char *end    = getenv("SKUA_IDLE_EXIT");
    int         groups = 0;

    for (int pe = 0; pe < shmemi_job.pes; pe++)
        report.entry[pe].text[REPORT_TEXT - 1] = 0;
    fputs("skua: PE 0: warn: all PEs wait in calls of OpenSHMEM and nothing is in flight: the job "
          "waits forever\n",
          stderr);
    for (int pe = 0; pe < shmemi_job.pes && groups < REPORT_LINES; pe++)
        if (!report_printed_before(pe)) {
            report_print_group(pe);
            groups++;
        }
    report.period = 0; /* once in a job */
    if (end && strcmp(end, "1") == 0)
        shmem_global_exit(EXIT_FAILURE);
}

/* Notes the beats of all PEs. Returns false if one of them has not waited for long. */
static bool report_note(void)
{
    for (int pe = 0; pe < shmemi_job.pes; pe++) {
        report.noted[pe] = report_beat_of(pe);
        if (!report.noted[pe])
            return false;
    }
    return true;
}

static void report_look(void)
{
    bool proven = report.all;

    for (int pe = 0; pe < shmemi_job.pes && report.all; pe++) {
        uint64_t beat = report_beat_of(pe);

        if (beat >> 32 != report.noted[pe] >> 32)
            report.all = false; /* it has gone on */
        proven = proven && beat - report.noted[pe] >= REPORT_BEATS;
    }
    if (!report.all)
        report.all = report_note();
    else if (proven)
        report_print();
}

/* ---- waits ------------------------------------------------------------------ */

void shmemi_wait_report(struct shmemi_wait *wait)
{
    uint64_t now;

    if (report.period == 0 || !shmemi_on_pe())
        return;
    now = report_now();
    if (wait->beat_at == 0)
        wait->beat_at = now + report.period;
    if (now < wait->beat_at)
        return;
    wait->beat_at = now + report.period / REPORT_EACH;
    if (wait->number == 0)
        report_begin(wait);
    shmemi_store(&report.entry[shmemi_job.pe].beat, (uint64_t)wait->number << 32 | ++wait->beats,
                 0);
    if (shmemi_job.pe == 0)
        report_look();
}
