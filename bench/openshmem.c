/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openshmem.c - the program of `skua bench openshmem': the calls of OpenSHMEM, compiled for
 * libskua-shmem and for other OpenSHMEM libraries.
 *
 * usage: bench-openshmem SERIES [start | put N]
 *
 * Two PEs measure everything: PE 0 calls and PE 1 waits in the next barrier, or answers.  More PEs
 * measure collectives alone (bench_collectives.h).  With `start' the program allocates, passes a
 * barrier and ends; with `put' PE 0 puts 8 bytes to itself N times, for counts of instructions.
 *
 *   put_us, get_us, put_quiet_us   blocking; put_quiet_us with a quiet after each put
 *   put_gbs, get_gbs               64 non-blocking operations and a quiet
 *   iput_us                        1024 doubles, a row apart at the target
 *   fetch_add_us ... set_us        atomics on a word of 8 bytes
 *   signal_us                      a put with a signal that the target waits for, one way
 *   wait_us                        a word that the target waits for, one way
 *   alloc_us                       a symmetric allocation and its release
 *
 * The series `limit' is memcpy() to the same memory.
 *
 * Collectives are those over active sets, and a put with a signal is a put, a fence and a word
 * where the library has OpenSHMEM 1.4, as Open MPI 4 does.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench_collectives.h"

#define BATCHES 30
#define MOST    ((size_t)1 << 20) /* bytes of the largest transfer */
#define WINDOW  64                /* transfers in flight */
#define COLUMN  1024              /* elements of a strided put, and the stride */
#define TURNS   4                 /* number of pSync arrays that calls use in turn */
#define LIMIT   "limit"

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAS_SIGNAL 1
#else
#define HAS_SIGNAL 0
#endif

#define INLINE static inline __attribute__((always_inline))

typedef void (*call_fn)(size_t bytes);

static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, MOST};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *series;
static int         me, pes;
static char       *remote, *local; /* symmetric; COLUMN * COLUMN doubles and MOST bytes */
static char       *mapped;         /* `remote` of PE 1, or of PE 0 if PE 1's is not mapped here */
static uint64_t   *flag;           /* symmetric, like `word`; each in a cache line of its own */
static long       *word;

/* ---- timing ------------------------------------------------------------------------ */

/* Hides from the compiler that a size is constant and that memory does not change. */
INLINE size_t hide(size_t bytes)
{
    __asm__ volatile("" : "+r"(bytes) : : "memory");
    return bytes;
}

static int trips_of(size_t bytes)
{
    return bytes <= 512      ? 2000
           : bytes <= 4096   ? 500
           : bytes <= 32768  ? 100
           : bytes <= 262144 ? 10
                             : 3;
}

/* Returns the seconds of one call of @p fn. */
INLINE double time_calls(call_fn fn, size_t bytes, int trips)
{
    double start = bench_now();

    for (int i = 0; i < trips; i++)
        fn(hide(bytes));
    return (bench_now() - start) / trips;
}

/* Returns the best time of a call by PE 0, or by all PEs if @p all, in batches of @p trips. */
INLINE double best_of(call_fn fn, size_t bytes, int trips, bool all)
{
    double best = 1e9;

    for (int batch = 0; batch < BATCHES; batch++) {
        shmem_barrier_all();
        if (me == 0 || all) {
            double time = time_calls(fn, bytes, trips);
            best        = time < best ? time : best;
        }
    }
    return best;
}

static void report(const char *name, size_t bytes, const char *metric, double value)
{
    if (me == 0)
        bench_report("openshmem", name, bytes, metric, value);
}

INLINE void measure(const char *name, const char *metric, call_fn fn, size_t bytes)
{
    report(name, bytes, metric, best_of(fn, bytes, trips_of(bytes), false) * 1e6);
}

/* ---- put and get ------------------------------------------------------------------- */

INLINE void put(size_t bytes)
{
    shmem_putmem(remote, local, bytes, 1);
}

INLINE void get(size_t bytes)
{
    shmem_getmem(local, remote, bytes, 1);
}

INLINE void put_quiet(size_t bytes)
{
    shmem_putmem(remote, local, bytes, 1);
    shmem_quiet();
}

INLINE void copy(size_t bytes)
{
    memcpy(mapped, local, bytes);
}

INLINE void copy_back(size_t bytes)
{
    memcpy(local, mapped, bytes);
}

INLINE void put_window(size_t bytes)
{
    for (int i = 0; i < WINDOW; i++)
        shmem_putmem_nbi(remote, local, bytes, 1);
    shmem_quiet();
}

INLINE void get_window(size_t bytes)
{
    for (int i = 0; i < WINDOW; i++)
        shmem_getmem_nbi(local, remote, bytes, 1);
    shmem_quiet();
}

INLINE void iput(size_t bytes)
{
    (void)bytes;
    shmem_double_iput((double *)(void *)remote, (double *)(void *)local, COLUMN, 1, COLUMN, 1);
}

static void measure_transfers(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        double bytes = WINDOW * (double)sizes[i];
        int    trips = trips_of(sizes[i]) / WINDOW + 1;

        measure(LIMIT, "put_us", copy, sizes[i]);
        measure(series, "put_us", put, sizes[i]);
        measure(LIMIT, "get_us", copy_back, sizes[i]);
        measure(series, "get_us", get, sizes[i]);
        measure(series, "put_quiet_us", put_quiet, sizes[i]);
        if (sizes[i] > 32768)
            continue;
        report(series, sizes[i], "put_gbs",
               bytes / best_of(put_window, sizes[i], trips, false) * 1e-9);
        report(series, sizes[i], "get_gbs",
               bytes / best_of(get_window, sizes[i], trips, false) * 1e-9);
    }
    measure(series, "iput_us", iput, COLUMN * sizeof(double));
}

/* ---- atomics ----------------------------------------------------------------------- */

INLINE void fetch_add(size_t bytes)
{
    (void)bytes;
    shmem_long_atomic_fetch_add(word, 1, 1);
}

INLINE void add(size_t bytes)
{
    (void)bytes;
    shmem_long_atomic_add(word, 1, 1);
}

INLINE void swap(size_t bytes)
{
    shmem_long_atomic_swap(word, (long)bytes, 1);
}

INLINE void compare_swap(size_t bytes)
{
    shmem_long_atomic_compare_swap(word, (long)bytes, (long)bytes, 1);
}

INLINE void fetch(size_t bytes)
{
    (void)bytes;
    shmem_long_atomic_fetch(word, 1);
}

INLINE void set(size_t bytes)
{
    shmem_long_atomic_set(word, (long)bytes, 1);
}

static void measure_atomics(void)
{
    measure(series, "fetch_add_us", fetch_add, sizeof *word);
    measure(series, "add_us", add, sizeof *word);
    measure(series, "swap_us", swap, sizeof *word);
    measure(series, "compare_swap_us", compare_swap, sizeof *word);
    measure(series, "fetch_us", fetch, sizeof *word);
    measure(series, "set_us", set, sizeof *word);
}

/* ---- notification ------------------------------------------------------------------ */

static void send_word(size_t bytes, uint64_t turn)
{
    (void)bytes;
    shmem_uint64_p(flag, turn, 1 - me);
}

static void send_data(size_t bytes, uint64_t turn)
{
#if HAS_SIGNAL
    shmem_putmem_signal(remote, local, bytes, flag, turn, SHMEM_SIGNAL_SET, 1 - me);
#else
    shmem_putmem(remote, local, bytes, 1 - me);
    shmem_fence();
    shmem_uint64_p(flag, turn, 1 - me);
#endif
}

/* Waits until the flag has the value @p turn. Open MPI 4.1.6 on x86-64 returns from wait_until
 * before the condition holds, so the wait is repeated. */
static void await_turn(uint64_t turn)
{
    do
        shmem_uint64_wait_until(flag, SHMEM_CMP_GE, turn);
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < turn);
}

/* Measures half a round trip. */
INLINE void bounce(const char *metric, void (*send)(size_t, uint64_t), size_t bytes)
{
    static uint64_t turn;
    double          best  = 1e9;
    int             trips = trips_of(bytes);

    for (int batch = 0; batch < BATCHES; batch++) {
        double start, time;

        shmem_barrier_all();
        start = bench_now();
        for (int i = 0; i < trips; i++) {
            turn++;
            if (me == 0)
                send(bytes, turn);
            await_turn(turn);
            if (me == 1)
                send(bytes, turn);
        }
        time = (bench_now() - start) / trips / 2;
        best = time < best ? time : best;
    }
    report(series, bytes, metric, best * 1e6);
}

static void measure_notification(void)
{
    bounce("wait_us", send_word, sizeof *flag);
    for (size_t i = 0; i < SIZES; i++)
        bounce("signal_us", send_data, sizes[i]);
}

/* ---- collectives ------------------------------------------------------------------- */

static long   *sync_words[TURNS]; /* pSync                 */
static double *work;              /* pWrk                  */
static double *largest_value;     /* two symmetric doubles */

static long *next_sync(void)
{
    static unsigned turn;

    return sync_words[turn++ % TURNS];
}

static double largest(double value)
{
    largest_value[0] = value;
    shmem_double_max_to_all(largest_value + 1, largest_value, 1, 0, 0, pes, work, next_sync());
    shmem_barrier_all();
    return largest_value[1];
}

static void sum(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    shmem_double_sum_to_all(to, from, (int)(bytes / sizeof *from), 0, 0, pes, work, next_sync());
}

static void broadcast(int root, size_t bytes, double *from, double *to)
{
    shmem_broadcast64(to, from, bytes / sizeof *from, root, 0, 0, pes, next_sync());
}

static void alltoall(int root, size_t bytes, double *from, double *to)
{
    (void)root;
    shmem_alltoall64(to, from, bytes / sizeof *from, 0, 0, pes, next_sync());
}

static void allocate_and_free(size_t bytes)
{
    shmem_free(shmem_malloc(bytes));
}

static void open_collectives(void)
{
    size_t words = SHMEM_REDUCE_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE;

    for (int i = 0; i < TURNS; i++) {
        sync_words[i] = shmem_malloc(words * sizeof(long));
        for (size_t k = 0; k < words; k++)
            sync_words[i][k] = SHMEM_SYNC_VALUE;
    }
    work          = shmem_malloc(MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof *work);
    largest_value = shmem_malloc(2 * sizeof *largest_value);
    shmem_barrier_all();
}

static void measure_collectives(void)
{
    static const struct collectives_kind kinds[] = {
        {"broadcast_us", MOST, broadcast},
        {"sum_us", MOST, sum},
        {"alltoall_us", 65536, alltoall},
        {NULL, 0, NULL},
    };
    static const struct collectives library = {NULL,  shmem_barrier_all, largest,
                                               kinds, "openshmem",       shmem_malloc};

    open_collectives();
    collectives_all(&library, series, me, pes);
    report(series, 65536, "alloc_us", best_of(allocate_and_free, 65536, 100, true) * 1e6);
}

/* ---- the program ------------------------------------------------------------------- */

static void open_memory(void)
{
    size_t bytes = COLUMN * COLUMN * sizeof(double);

    remote = shmem_malloc(bytes);
    local  = shmem_malloc(MOST);
    flag   = shmem_align(256, 512);
    word   = (long *)(void *)(flag + 32);
    memset(remote, 1, bytes);
    memset(local, 1, MOST);
    memset(flag, 0, 512);
    mapped = shmem_ptr(remote, 1);
    if (!mapped)
        mapped = remote;
    shmem_barrier_all();
}

static void start_only(void)
{
    char *memory = shmem_malloc(MOST);

    memset(memory, 0, MOST);
    shmem_barrier_all();
    shmem_free(memory);
}

static void put_only(int count)
{
    long *to = shmem_malloc(sizeof *to);

    for (int i = 0; i < count; i++) {
        long from = (long)hide((size_t)i);

        shmem_putmem(to, &from, hide(sizeof from), 0);
    }
    shmem_free(to);
}

int main(int argc, char **argv)
{
    shmem_init();
    me     = shmem_my_pe();
    pes    = shmem_n_pes();
    series = argc > 1 ? argv[1] : "openshmem";
    if (argc > 3) {
        put_only(atoi(argv[3]));
    } else if (argc > 2) {
        start_only();
    } else if (pes > 1) {
        open_memory();
        if (pes == 2) {
            measure_transfers();
            measure_atomics();
            measure_notification();
        }
        measure_collectives();
    }
    shmem_barrier_all();
    fflush(stdout);
#ifdef OSHMEM_MAJOR_VERSION
    shmem_global_exit(0); /* shmem_finalize() crashes in Open MPI up to 4.1.5 */
#else
    shmem_finalize();
#endif
    return 0;
}
