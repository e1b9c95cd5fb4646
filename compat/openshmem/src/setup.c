/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup.c - the start and the end of OpenSHMEM.
 *
 * shmem_init() begins a phase of Skua with one PE in this process, creates the heap as a symmetric
 * region and the data segment as a region of its own, and exchanges a record of both segments with
 * every PE. Records with different sizes show that PEs run different programs or have different
 * environments.
 *
 * If a program exits without shmem_finalize(), as one that calls start_pes() does, an exit handler
 * finalises OpenSHMEM if the exit code is 0; with another code the launcher ends the job.
 */
#include <errno.h>
#include <math.h>
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collective.h"
#include "data_segment.h"
#include "job_exit.h"
#include "rma.h"
#include "wait.h"
#include "wait_report.h"

#define SETUP_HEAP_DEFAULT ((size_t)64 << 20)

#define EXIT_PATIENCE 5u /* seconds in which another thread waits for that of the PE to end */

/* Where the segments of a PE are, as PEs exchange it. */
struct setup_segments {
    skua_region data;
    int32_t     thread_level;
    uint64_t    data_offset;
    uint64_t    data_bytes;
    uint64_t    heap_offset;
    uint64_t    heap_bytes;
};

static struct shmemi_data_segment setup_data;
static skua_region                setup_heap;
static size_t setup_heap_offset; /* offset of the heap in the region, for its alignment */

uint64_t *shmemi_exit_word;

/* ---- the environment ---------------------------------------------------- */

/* Returns the value of SHMEM_name or, if it is not set, of the deprecated SMA_name. */
static const char *setup_variable(const char *name)
{
    char        full[64];
    const char *value;

    snprintf(full, sizeof full, "SHMEM_%s", name);
    value = getenv(full);
    if (value)
        return value;
    snprintf(full, sizeof full, "SMA_%s", name);
    return getenv(full);
}

static double setup_scale(char suffix)
{
    switch (suffix) {
    case 'k':
    case 'K': return 1024.0;
    case 'm':
    case 'M': return 1024.0 * 1024;
    case 'g':
    case 'G': return 1024.0 * 1024 * 1024;
    case 't':
    case 'T': return 1024.0 * 1024 * 1024 * 1024;
    case 0: return 1;
    default: return 0;
    }
}

/* Returns the size of the heap, rounded up to whole pages. */
static size_t setup_heap_bytes(void)
{
    const char *value = setup_variable("SYMMETRIC_SIZE");
    char       *end;
    double      number, scale;

    if (!value || !*value)
        return SETUP_HEAP_DEFAULT;
    number = strtod(value, &end);
    scale  = end == value ? 0 : setup_scale(*end);
    if (!(number >= 0) || scale <= 0 || number * scale > 9e18)
        skua_abort(
            "shmem_init: SHMEM_SYMMETRIC_SIZE=%s is not a size; write a number and k, m, g or "
            "t, such as 512m",
            value);
    return ((size_t)ceil(number * scale) + 4095) & ~(size_t)4095;
}

static void setup_print_info(void)
{
    if (shmemi_job.pe != 0)
        return;
    if (setup_variable("VERSION"))
        printf("%s: OpenSHMEM %d.%d, Skua %d.%d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION,
               SHMEM_MINOR_VERSION, SKUA_VERSION_MAJOR, SKUA_VERSION_MINOR, SKUA_VERSION_PATCH);
    if (setup_variable("INFO"))
        printf(
            "SHMEM_VERSION         if set, print the version at the start\n"
            "SHMEM_INFO            if set, print this text\n"
            "SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap of a PE, such as 512m (now %zu)\n"
            "SHMEM_DEBUG           if set, check every access against the allocations (now %s)\n",
            shmemi_job.heap_bytes, shmemi_job.debug ? "on" : "off");
    fflush(stdout);
}

/* ---- segments ----------------------------------------------------------- */

static void *setup_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        skua_abort("shmem_init: PE %d has no memory for its tables", shmemi_job.pe);
    return memory;
}

static void setup_segment(enum shmemi_segment_kind kind, void *base, size_t bytes)
{
    struct shmemi_segment *s = &shmemi_job.segment[kind];
    size_t                 n = (size_t)shmemi_job.pes;

    s->base  = (uintptr_t)base;
    s->bytes = bytes;
    s->open  = 0;
    s->peer  = setup_alloc(n * sizeof *s->peer);
    s->at    = setup_alloc(n * sizeof *s->at);
}

/* Records the addresses of the segment of @p pe. */
static void setup_peer(enum shmemi_segment_kind kind, int pe, skua_gaddr at)
{
    struct shmemi_segment *s = &shmemi_job.segment[kind];

    s->at[pe]   = at;
    s->peer[pe] = s->bytes ? skua_gaddr_local(at) : NULL;
    /* All PEs, including this one, access variables that are not shared through Skua, since atomics
     * of the CPU and of Skua exclude each other only in shared memory. */
    if (pe == shmemi_job.pe)
        s->peer[pe] = kind == SHMEMI_HEAP || setup_data.shared ? (char *)s->base : NULL;
    if (s->bytes && !s->peer[pe])
        shmemi_job.net = true;
}

static void setup_create_heap(void)
{
    size_t    heap = setup_heap_bytes(), words = shmemi_words_bytes(shmemi_job.pes);
    uintptr_t piece, base;

    shmemi_job.heap_bytes = heap;
    if (heap > SIZE_MAX / 2 ||
        skua_region_create(heap + words + SHMEMI_HEAP_BASE_ALIGN, &setup_heap) != SKUA_OK)
        skua_abort("shmem_init: PE %d cannot create a symmetric heap of %zu bytes; lower "
                   "SHMEM_SYMMETRIC_SIZE, or raise SKUA_ARENA_SIZE",
                   shmemi_job.pe, heap);
    skua_region_set_name(setup_heap, "the symmetric heap");
    piece             = (uintptr_t)skua_region_local(setup_heap);
    base              = (piece + SHMEMI_HEAP_BASE_ALIGN - 1) & ~(SHMEMI_HEAP_BASE_ALIGN - 1);
    setup_heap_offset = base - piece;
    setup_segment(SHMEMI_HEAP, (void *)base, heap + words);
    shmemi_exit_word = (uint64_t *)(base + heap);
    if (!shmemi_heap_open(&shmemi_job.heap, heap) || !shmemi_words_open((char *)shmemi_exit_word))
        skua_abort("shmem_init: PE %d has no memory for its tables", shmemi_job.pe);
}

static void setup_create_data(void)
{
    if (shmemi_data_segment_open(&setup_data) != SKUA_OK)
        skua_abort("shmem_init: PE %d cannot share the variables of the program", shmemi_job.pe);
    if (setup_data.base)
        skua_region_set_name(setup_data.region, "the variables of the program");
    setup_segment(SHMEMI_DATA, setup_data.base, setup_data.bytes);
}

static void setup_check_segments(const struct setup_segments *segments,
                                 const struct setup_segments *mine, int pe)
{
    if (segments->heap_bytes != mine->heap_bytes)
        skua_abort("shmem_init: the symmetric heaps of PE %d and PE %d differ in size; start them "
                   "with the same SHMEM_SYMMETRIC_SIZE",
                   shmemi_job.pe, pe);
    if (segments->data_bytes != mine->data_bytes)
        skua_abort("shmem_init: the variables of PE %d and PE %d differ in size; start the same "
                   "program everywhere",
                   shmemi_job.pe, pe);
}

/* Exchanges the records of the segments. The exchange also waits until the words of all PEs are
 * zeroed. */
static void setup_exchange(void)
{
    struct setup_segments  mine     = {setup_data.region, shmemi_job.thread_level,
                                       setup_data.offset, setup_data.bytes,
                                       setup_heap_offset, shmemi_job.segment[SHMEMI_HEAP].bytes};
    struct setup_segments *segments = setup_alloc((size_t)shmemi_job.pes * sizeof *segments);
    skua_counter           done     = SKUA_COUNTER_INIT;

    skua_team_allgather(SKUA_TEAM_ALL, &mine, sizeof mine, segments, skua_done_count(&done));
    if (!skua_counter_wait(&done, 1)) /* another PE has ended the job */
        exit(skua_finalize());
    for (int pe = 0; pe < shmemi_job.pes; pe++) {
        setup_check_segments(&segments[pe], &mine, pe);
        shmemi_job.messages &= segments[pe].thread_level <= SHMEM_THREAD_FUNNELED;
        setup_peer(SHMEMI_HEAP, pe, skua_at(setup_heap, pe, segments[pe].heap_offset));
        setup_peer(SHMEMI_DATA, pe, skua_at(segments[pe].data, pe, segments[pe].data_offset));
    }
    free(segments);
    shmemi_job.messages &= shmemi_job.net;
}

/* ---- start and end ------------------------------------------------------ */

/* Chooses how waits poll (wait.h); waits for PEs of other hosts always let Skua make progress. */
static void setup_spin(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), mapped = 0;

    for (int pe = 0; pe < shmemi_job.pes; pe++)
        mapped += shmemi_job.segment[SHMEMI_HEAP].peer[pe] != NULL;
    shmemi_job.spin = mapped > cpus ? SHMEMI_WAIT_SPIN_SHARED : SHMEMI_WAIT_SPIN;
    if (shmemi_job.net)
        shmemi_job.spin = 0;
}

static void setup_at_exit(int status, void *arg)
{
    (void)arg;
    if (shmemi_job.running && status == 0 && shmemi_on_pe())
        shmem_finalize();
}

/* Returns the setting of the progress thread, which serves requests of other hosts. Threads of a
 * program wait without running the scheduler of the PE, so a program with several threads needs it.
 * Any other program has it if there are other hosts, because OpenSHMEM promises that operations on
 * a PE complete while the PE computes; the environment may disable it. NULL: as the environment
 * says.
 */
static const char *setup_progress_thread(int thread_level)
{
    if (thread_level == SHMEM_THREAD_MULTIPLE)
        return "progress_thread=1";
    return getenv("SKUA_PROGRESS_THREAD") ? NULL : "progress_thread=auto";
}

/* Begins a phase of Skua with one PE in this process. */
static void setup_begin_phase(int thread_level)
{
    const char *const settings[] = {"threads=1", setup_progress_thread(thread_level), NULL};
    skua_init_params  params     = {.size = sizeof params, .settings = settings};

    if (skua_init(&params) != SKUA_OK) {
        fprintf(stderr, "shmem_init: the process cannot join the job; see the lines above\n");
        exit(EXIT_FAILURE);
    }
    if (skua_processes() != skua_pes())
        skua_abort("shmem_init: the job has %d PEs in %d processes; a PE of OpenSHMEM is a "
                   "process, so start it with one PE each (skuarun -n %d -t 1)",
                   skua_pes(), skua_processes(), skua_pes());
}

int shmem_init_thread(int requested, int *provided)
{
    static bool registered;

    if (shmemi_job.running)
        skua_abort("shmem_init: OpenSHMEM is running already");
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
        skua_abort("shmem_init_thread: %d is not a thread level; use SHMEM_THREAD_SINGLE to "
                   "SHMEM_THREAD_MULTIPLE",
                   requested);
    shmemi_collective_register();
    setup_begin_phase(requested);
    memset(&shmemi_job, 0, sizeof shmemi_job);
    shmemi_job.pe           = skua_pe();
    shmemi_job.pes          = skua_pes();
    shmemi_job.thread       = pthread_self();
    shmemi_job.thread_level = requested;
    shmemi_job.messages     = true;
    shmemi_job.debug        = setup_variable("DEBUG") != NULL;
    setup_create_heap();
    setup_create_data();
    setup_exchange();
    setup_spin();
    shmemi_teams_open();
    for (int i = 0; i < SHMEMI_SEGMENTS && !shmemi_job.debug; i++)
        shmemi_job.segment[i].open = shmemi_job.segment[i].bytes;
    shmemi_job.running = true;
    if (!registered)
        on_exit(setup_at_exit, NULL);
    registered = true;
    setup_print_info();
    *provided = requested;
    return 0;
}

void shmem_init(void)
{
    int provided;

    if (!shmemi_job.running) /* a second call has no effect, as with start_pes() */
        shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
}

void start_pes(int npes)
{
    (void)npes;
    shmem_init();
}

static void setup_close_segments(void)
{
    shmemi_data_segment_close(&setup_data);
    for (int i = 0; i < SHMEMI_SEGMENTS; i++) {
        free(shmemi_job.segment[i].peer);
        free(shmemi_job.segment[i].at);
        shmemi_job.segment[i] = (struct shmemi_segment){0};
    }
    shmemi_heap_close(&shmemi_job.heap);
    shmemi_words_close();
}

void shmem_finalize(void)
{
    struct shmemi_set all;

    if (!shmemi_job.running)
        return;
    if (!shmemi_on_pe())
        skua_abort("shmem_finalize: the thread that called shmem_init() has to call it");
    /* No other collective has this slot, so a PE that still waits in one is reported. PE 0 keeps
     * the memory for the report until all PEs have completed what they have sent there. */
    all = shmemi_set_make(0, 1, shmemi_job.pes, SHMEMI_SLOT_END);
    shmemi_quiet();
    shmemi_sync_flags(&all);
    shmemi_wait_report_end();
    shmemi_quiet();
    shmemi_sync_flags(&all);
    shmemi_job.running = false;
    shmemi_teams_close();
    setup_close_segments();
    skua_finalize();
}

/* ---- the end of all PEs ------------------------------------------------- */

/* A process that finalises Skua leaves the job in an orderly way, after all others have begun to
 * leave or one has called skua_exit(). The launcher treats a nonzero exit code as a failure of the
 * job, and also ends PEs that compute. Only the thread that is the PE can finalise Skua: another
 * one waits until that thread calls a function that waits, and does not return from here. */
void shmemi_exit_leave(uint64_t word)
{
    int status = (int)(uint32_t)word;

    fflush(NULL);
    if (status == 0 && !shmemi_on_pe()) {
        sleep(EXIT_PATIENCE);
        fprintf(stderr,
                "shmem_global_exit(0): the thread of PE %d that called shmem_init() has not waited "
                "in a call for %u s, and the job ends with code 1\n",
                shmemi_job.pe, EXIT_PATIENCE);
    } else if (status == 0) {
        if (word & SHMEMI_EXIT_JOB)
            skua_exit(0);
        skua_finalize();
    }
    _exit(status);
}

/* Only the caller ends the job of Skua, when the exit words of all PEs are set: a PE whose word is
 * not set waits in its call, and the end of the job would drop the put to it. */
void shmem_global_exit(int status)
{
    uint64_t word = SHMEMI_EXIT_SET | (uint32_t)(status & 0xff);

    shmemi_check_running(__func__);
    for (int pe = 0; pe < shmemi_job.pes; pe++)
        if (pe != shmemi_job.pe)
            shmemi_put("shmem_global_exit", shmemi_exit_word, &word, sizeof word, pe);
    shmemi_quiet();
    word |= SHMEMI_EXIT_JOB;
    __atomic_store_n(shmemi_exit_word, word, __ATOMIC_RELEASE); /* for the other threads */
    shmemi_exit_leave(word);
}

/* ---- queries ------------------------------------------------------------ */

int shmem_my_pe(void)
{
    shmemi_check_running(__func__);
    return shmemi_job.pe;
}

int shmem_n_pes(void)
{
    shmemi_check_running(__func__);
    return shmemi_job.pes;
}

int _my_pe(void)
{
    return shmem_my_pe();
}

int _num_pes(void)
{
    return shmem_n_pes();
}

/* Weak, as in the static library a program may have variables of these names. */
__attribute__((weak)) int my_pe(void)
{
    return shmem_my_pe();
}

__attribute__((weak)) int num_pes(void)
{
    return shmem_n_pes();
}

void shmem_query_thread(int *provided)
{
    shmemi_check_running(__func__);
    *provided = shmemi_job.thread_level;
}

void shmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

void shmem_info_get_name(char *name)
{
    strcpy(name, SHMEM_VENDOR_STRING);
}

void shmem_pcontrol(int level, ...)
{
    (void)level;
}

/* ---- cache control: without effect -------------------------------------- */

void shmem_set_cache_inv(void)
{
}

void shmem_set_cache_line_inv(void *dest)
{
    (void)dest;
}

void shmem_clear_cache_inv(void)
{
}

void shmem_clear_cache_line_inv(void *dest)
{
    (void)dest;
}

void shmem_udcflush(void)
{
}

void shmem_udcflush_line(void *dest)
{
    (void)dest;
}
