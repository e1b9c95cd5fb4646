/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_cost.c - skua info --memory: the memory that a job takes before its program does anything.
 *
 * It is a Skua program that examines the job it runs in.  After a barrier every PE measures its own
 * memory, the first PE of a process also that of the process, and the first PE of a host that of
 * the host; all report to PE 0.  Pages are counted, not bytes: mincore() reports which pages of a
 * range are in memory, and /proc/self/smaps which pages are private to a process.
 */
#include <skua/skua.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"
#include "commands.h"
#include "core/pe/pe.h"
#include "transport/host/host.h"

#define COST_ROWS_MAX 32 /* of a table; with more processes or PEs their sums are printed */

/* The uses of memory. */
enum cost_use {
    COST_DESCRIPTORS, /* of a host: the head of the arena and the descriptors of its units */
    COST_TABLES,      /* of a host: tables of the layers, and large blocks                */
    COST_PRIVATE,     /* of a process: malloc() and other anonymous memory                */
    COST_LIBRARIES,   /* of a process: written data of the program and its libraries      */
    COST_PAGE_TABLES, /* of a process, in the kernel                                      */
    COST_INBOX,       /* of a PE, in the arena                                            */
    COST_BLOCKS,      /* of a PE: the slabs of its heap, in the arena                     */
    COST_STACK,       /* of a PE                                                          */
    COST_USES,
};

static const char *const cost_name[COST_USES] = {
    "descriptors of the arena",
    "tables that the PEs of a host share",
    "malloc and other private memory",
    "data of the program and its libraries",
    "page tables",
    "inboxes",
    "blocks of the heaps",
    "stacks of PEs",
};

/* The report of a PE.  Uses that other PEs report are 0. */
struct cost_report {
    int32_t  pe, process;
    uint64_t arena; /* bytes of the address range; 0: not the first PE of its host */
    uint64_t use[COST_USES];
    char     host[48];
};

static skua_handler        cost_handler;
static struct cost_report *cost_reports; /* on PE 0, by PE */
static int                 cost_missing;

/* ---- measuring ------------------------------------------------------------------------- */

/* Returns the bytes of the pages in [from, from + bytes) that are in memory. */
static size_t cost_touched(const void *from, size_t bytes)
{
    size_t        page = (size_t)sysconf(_SC_PAGESIZE), found = 0;
    uintptr_t     at = (uintptr_t)from & ~(page - 1), end = (uintptr_t)from + bytes;
    unsigned char in_memory[1024];

    while (at < end) {
        size_t pages = (end - at + page - 1) / page;

        pages = pages < sizeof in_memory ? pages : sizeof in_memory;
        if (mincore((void *)at, pages * page, in_memory) == 0)
            for (size_t i = 0; i < pages; i++)
                found += in_memory[i] & 1;
        at += pages * page;
    }
    return found * page;
}

/* Returns the bytes of the stack of the calling thread that are in memory.  Examines it page by
 * page from its top, because pages below those that were used may not be mapped. */
static size_t cost_stack(void)
{
    size_t         page = (size_t)sysconf(_SC_PAGESIZE), bytes = 0, found = 0;
    void          *bottom;
    pthread_attr_t attributes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    if (pthread_attr_getstack(&attributes, &bottom, &bytes) != 0)
        bytes = 0;
    pthread_attr_destroy(&attributes);
    for (size_t below = page; below <= bytes; below += page) {
        unsigned char in_memory;
        if (mincore((char *)bottom + bytes - below, page, &in_memory) != 0)
            break;
        found += in_memory & 1;
    }
    return found * page;
}

/* Returns the first unit after the descriptors. */
static uint32_t cost_first_unit(const struct ski_arena *arena)
{
    size_t head = sizeof *arena + (size_t)arena->units * sizeof *arena->unit;

    return (uint32_t)((head + SKI_UNIT_BYTES - 1) >> SKI_UNIT_SHIFT);
}

/* Returns the pages of all slabs of heap @p heap, or of all large blocks if that is negative. */
static size_t cost_spans(struct ski_arena *arena, int heap)
{
    size_t found = 0;

    ski_lock_acquire(&arena->lock);
    for (uint32_t at = cost_first_unit(arena); at < arena->units;) {
        struct ski_unit *span = &arena->unit[at];
        bool             mine = span->kind == SKI_UNIT_SLAB ? span->heap == heap
                                                            : span->kind == SKI_UNIT_LARGE && heap < 0;
        if (span->units == 0)
            break; /* not the first unit of a span: the next one cannot be found */
        if (mine)
            found +=
                cost_touched(ski_unit_memory(arena, span), (size_t)span->units << SKI_UNIT_SHIFT);
        at += span->units;
    }
    ski_lock_release(&arena->lock);
    return found;
}

static size_t cost_inbox(const struct ski_host *host, int index)
{
    return cost_touched(ski_host_inbox(host, index), host->stride);
}

/* Measures the shared memory of a host, without the inboxes that PEs report. */
static void cost_measure_host(struct cost_report *r, struct ski_job *job)
{
    struct ski_arena *arena   = job->arena;
    size_t            inboxes = 0, tables = cost_spans(arena, -1);

    for (int i = 0; i < job->local_pes; i++)
        inboxes += cost_inbox(job->host, i);
    r->arena = arena->bytes;
    r->use[COST_DESCRIPTORS] =
        cost_touched(arena, (size_t)cost_first_unit(arena) << SKI_UNIT_SHIFT);
    r->use[COST_TABLES] = tables > inboxes ? tables - inboxes : 0;
}

/* Adds the size in a line of smaps, such as "Private_Dirty:  12 kB", if it has that name. */
static void cost_add_line(const char *line, const char *name, uint64_t *bytes)
{
    size_t n = strlen(name);

    if (strncmp(line, name, n) == 0)
        *bytes += strtoull(line + n, NULL, 10) << 10;
}

/* Returns whether a line of smaps begins a mapping, which lines with sizes follow. */
static bool cost_is_mapping(const char *line)
{
    unsigned long from, to;

    return sscanf(line, "%lx-%lx ", &from, &to) == 2;
}

/* Measures the private memory of a process.  The stack of its first PE is reported by that PE. */
static void cost_measure_process(struct cost_report *r)
{
    FILE    *maps = fopen("/proc/self/smaps", "r"), *status = fopen("/proc/self/status", "r");
    uint64_t nothing = 0, *to = &nothing;
    char     line[4096];

    while (maps && fgets(line, sizeof line, maps)) {
        if (!cost_is_mapping(line))
            cost_add_line(line, "Private_Dirty:", to);
        else if (strstr(line, "memfd:skua-arena") || strstr(line, "[stack]"))
            to = &nothing;
        else
            to = &r->use[strchr(line, '/') ? COST_LIBRARIES : COST_PRIVATE];
    }
    while (status && fgets(line, sizeof line, status))
        cost_add_line(line, "VmPTE:", &r->use[COST_PAGE_TABLES]);
    if (maps)
        fclose(maps);
    if (status)
        fclose(status);
}

static void cost_measure(struct cost_report *r)
{
    struct ski_job *job   = ski_self->job;
    int             index = ski_self->index;

    *r = (struct cost_report){.pe = skua_pe(), .process = skua_process()};
    gethostname(r->host, sizeof r->host - 1);
    r->use[COST_INBOX]  = cost_inbox(job->host, index);
    r->use[COST_BLOCKS] = cost_spans(job->arena, index);
    r->use[COST_STACK]  = cost_stack();
    if (r->pe == skua_process_first(r->process))
        cost_measure_process(r);
    if (index == 0)
        cost_measure_host(r, job);
}

/* ---- printing ------------------------------------------------------------------------- */

static uint64_t cost_kib(uint64_t bytes)
{
    return bytes >> 10;
}

static uint64_t cost_sum(const struct cost_report *r)
{
    uint64_t sum = 0;

    for (int use = 0; use < COST_USES; use++)
        sum += r->use[use];
    return sum;
}

/* Prints the arena of each host. */
static void cost_print_hosts(void)
{
    printf("\nhost                  arena GiB   touched: descriptors   tables  KiB\n");
    for (int pe = 0; pe < skua_pes(); pe++) {
        const struct cost_report *r = &cost_reports[pe];

        if (r->arena)
            printf("%-20s %10.2f %22" PRIu64 " %8" PRIu64 "\n", r->host,
                   (double)r->arena / (1 << 30), cost_kib(r->use[COST_DESCRIPTORS]),
                   cost_kib(r->use[COST_TABLES]));
    }
}

static void cost_print_processes(void)
{
    if (skua_processes() > COST_ROWS_MAX)
        return;
    printf("\nprocess  PEs          private  libraries  page tables  KiB\n");
    for (int i = 0; i < skua_processes(); i++) {
        int                       first = skua_process_first(i);
        const struct cost_report *r     = &cost_reports[first];

        printf("%7d  %4d-%-4d %10" PRIu64 " %10" PRIu64 " %12" PRIu64 "\n", i, first,
               first + skua_process_pes(i) - 1, cost_kib(r->use[COST_PRIVATE]),
               cost_kib(r->use[COST_LIBRARIES]), cost_kib(r->use[COST_PAGE_TABLES]));
    }
}

static void cost_print_pes(void)
{
    if (skua_pes() > COST_ROWS_MAX)
        return;
    printf("\n     PE    inbox   blocks    stack  KiB\n");
    for (int pe = 0; pe < skua_pes(); pe++) {
        const uint64_t *use = cost_reports[pe].use;

        printf("%7d %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", pe, cost_kib(use[COST_INBOX]),
               cost_kib(use[COST_BLOCKS]), cost_kib(use[COST_STACK]));
    }
}

/* Prints the uses in the whole job, the largest first. */
static void cost_print_uses(void)
{
    uint64_t sum[COST_USES] = {0}, all = 0;

    for (int pe = 0; pe < skua_pes(); pe++)
        for (int use = 0; use < COST_USES; use++)
            sum[use] += cost_reports[pe].use[use];
    for (int pe = 0; pe < skua_pes(); pe++)
        all += cost_sum(&cost_reports[pe]);
    printf("\nuses of memory, the largest first\n");
    for (int i = 0; i < COST_USES; i++) {
        int most = 0;

        for (int use = 1; use < COST_USES; use++)
            if (sum[use] > sum[most])
                most = use;
        if (sum[most] == 0)
            break;
        printf("%8" PRIu64 " KiB %5.1f %%  %s\n", cost_kib(sum[most]),
               100.0 * (double)sum[most] / (double)(all ? all : 1), cost_name[most]);
        sum[most] = 0;
    }
}

/* Takes the stacks of PEs that are threads out of the private memory of their processes. */
static void cost_separate_stacks(void)
{
    for (int pe = 0; pe < skua_pes(); pe++) {
        int       first = skua_process_first(cost_reports[pe].process);
        uint64_t *from  = &cost_reports[first].use[COST_PRIVATE];
        uint64_t  stack = cost_reports[pe].use[COST_STACK];

        if (pe != first)
            *from -= stack < *from ? stack : *from;
    }
}

static void cost_print(void)
{
    uint64_t all = 0;

    for (int pe = 0; pe < skua_pes(); pe++)
        all += cost_sum(&cost_reports[pe]);
    printf("PEs %d, processes %d, hosts %d: %" PRIu64 " KiB, %" PRIu64 " for each PE\n", skua_pes(),
           skua_processes(), skua_hosts(), cost_kib(all), cost_kib(all) / (uint64_t)skua_pes());
    cost_print_hosts();
    cost_print_processes();
    cost_print_pes();
    cost_print_uses();
}

static void cost_on_report(skua_msg *msg)
{
    const struct cost_report *r = skua_msg_data(msg);

    if (!cost_reports) {
        cost_reports = ski_calloc((size_t)skua_pes(), sizeof *cost_reports);
        cost_missing = skua_pes();
    }
    cost_reports[r->pe] = *r;
    skua_msg_free(msg);
    if (--cost_missing > 0)
        return;
    cost_separate_stacks();
    cost_print();
    free(cost_reports);
    skua_exit(0);
}

static void cost_start(int argc, char **argv)
{
    struct cost_report r;
    skua_msg          *msg;

    (void)argc, (void)argv;
    skua_sync(); /* every PE has begun, and none has sent a report */
    cost_measure(&r);
    skua_sync();
    msg = skua_msg_alloc(sizeof r);
    memcpy(skua_msg_data(msg), &r, sizeof r);
    skua_send(0, cost_handler, msg);
}

int memory_cost_main(int argc, char **argv)
{
    cost_handler = skua_handler_register("memory_cost", cost_on_report);
    return skua_main(argc, argv, cost_start);
}
