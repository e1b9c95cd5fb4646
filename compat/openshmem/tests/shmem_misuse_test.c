/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_misuse_test.c - one misuse of OpenSHMEM, chosen by name, on two PEs. PE 0 performs it, and
 * the job ends with an error that names the call (shmem_misuse.sh). "codes" are the cases for which
 * the standard defines an error code or NULL; in "hang-..." both PEs wait forever.
 *
 * usage: shmem_misuse_test CASE
 */
#include <sched.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAP ((size_t)1 << 20) /* SHMEM_SYMMETRIC_SIZE of the test */

static long *words; /* 64 symmetric words; PE 1 checks that no misuse has changed its own */
static long  source[64];
static long  lock;

static void wrong_pe(void)
{
    shmem_long_p(words, 1, 2);
}

static void wrong_negative_pe(void)
{
    shmem_getmem(source, words, 8, -1);
}

static void wrong_atomic_pe(void)
{
    shmem_long_atomic_inc(words, 7);
}

static void wrong_outside(void)
{
    long on_stack = 0;

    shmem_putmem(&on_stack, source, 8, 1);
}

static void wrong_null(void)
{
    shmem_long_put(NULL, source, 1, 1);
}

static void wrong_beyond(void)
{
    shmem_putmem(words, source, 64 * HEAP, 1);
}

static void wrong_overflow(void)
{
    shmem_long_put(words, source, SIZE_MAX / sizeof(long) + 2, 1);
}

static void wrong_stride(void)
{
    shmem_long_iput(words, source, (ptrdiff_t)HEAP, 1, 64, 1);
}

static void wrong_backwards(void)
{
    shmem_long_iget(source, words, 1, -1, 4, 1);
}

static void wrong_aligned(void)
{
    shmem_long_atomic_add((long *)(void *)((char *)words + 4), 1, 1);
}

static void wrong_context(void)
{
    shmem_ctx_long_put(SHMEM_CTX_INVALID, words, source, 1, 1);
}

static void wrong_destroyed_context(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;

    shmem_ctx_create(0, &ctx);
    shmem_ctx_destroy(ctx);
    shmem_ctx_destroy(ctx);
}

static void wrong_context_of_team(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_t  ctx  = SHMEM_CTX_INVALID;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    shmem_team_create_ctx(team, 0, &ctx);
    shmem_team_destroy(team);
    shmem_ctx_long_put(ctx, words, source, 1, 1);
}

static void wrong_signal(void)
{
    shmem_putmem_signal(words, source, 8, (uint64_t *)(void *)(words + 8), 1, 99, 1);
}

static void wrong_comparison(void)
{
    shmem_long_wait_until(words, 99, 1);
}

static void wrong_lock(void)
{
    shmem_clear_lock(&lock);
}

static void wrong_free(void)
{
    shmem_free(words + 1);
}

static void wrong_double_free(void)
{
    long *other = words;

    shmem_free(words);
    shmem_free(other);
}

static void wrong_team(void)
{
    shmem_team_destroy(SHMEM_TEAM_WORLD);
}

static void wrong_root(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words, source, 1, 2);
}

static void wrong_active_set(void)
{
    static long sync_words[SHMEM_BARRIER_SYNC_SIZE];

    shmem_barrier(0, 0, 3, sync_words);
}

static void wrong_allocation(void) /* with SHMEM_DEBUG */
{
    shmem_putmem(words, source, 65 * sizeof(long), 1);
}

static void wrong_freed(void) /* with SHMEM_DEBUG */
{
    long *other = words;

    shmem_free(words);
    shmem_p(other, 1L, 1);
}

static void wrong_late(void)
{
    shmem_finalize();
    shmem_quiet();
}

/* PE 0 waits for a word that PE 1, which waits for PE 0, does not write. */
static void hang_in_wait(void)
{
    shmem_long_wait_until(words, SHMEM_CMP_NE, 0);
}

static void hang_in_lock(void)
{
    if (shmem_my_pe() == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        shmem_set_lock(&lock);
}

static void hang_at_end(void)
{
    static long to, from;

    if (shmem_my_pe() == 0)
        shmem_finalize();
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &to, &from, 1);
}

/* PE 1 writes the word, but late. */
static void no_hang(void)
{
    if (shmem_my_pe() == 0) {
        shmem_long_wait_until(words, SHMEM_CMP_EQ, 1);
    } else {
        usleep(1000000);
        shmem_long_p(words, 1, 0);
    }
}

static const struct {
    const char *name;
    void (*make)(void);
    int collective; /* both PEs perform it */
} cases[] = {
    {"pe", wrong_pe, 0},
    {"negative-pe", wrong_negative_pe, 0},
    {"atomic-pe", wrong_atomic_pe, 0},
    {"outside", wrong_outside, 0},
    {"null", wrong_null, 0},
    {"beyond", wrong_beyond, 0},
    {"overflow", wrong_overflow, 0},
    {"stride", wrong_stride, 0},
    {"backwards", wrong_backwards, 0},
    {"aligned", wrong_aligned, 0},
    {"context", wrong_context, 0},
    {"destroyed-context", wrong_destroyed_context, 0},
    {"context-of-team", wrong_context_of_team, 1},
    {"signal", wrong_signal, 0},
    {"comparison", wrong_comparison, 0},
    {"lock", wrong_lock, 0},
    {"free", wrong_free, 0},
    {"double-free", wrong_double_free, 1},
    {"team", wrong_team, 0},
    {"root", wrong_root, 0},
    {"active-set", wrong_active_set, 0},
    {"allocation", wrong_allocation, 0},
    {"freed", wrong_freed, 1},
    {"late", wrong_late, 1},
    {"hang-wait", hang_in_wait, 0},
    {"hang-lock", hang_in_lock, 1},
    {"hang-end", hang_at_end, 1},
    {"no-hang", no_hang, 1},
};

/* Returns true if calls with an error code or NULL as their failure return it and change
 * nothing. */
static int codes_hold(void)
{
    shmem_team_t none = SHMEM_TEAM_INVALID, made = SHMEM_TEAM_INVALID;
    shmem_ctx_t  ctx;
    char        *half;

    if (shmem_malloc(2 * HEAP) || shmem_calloc(SIZE_MAX / 2, 4) || shmem_align(64, 4 * HEAP) ||
        shmem_align(24, 8) || shmem_align(0, 8))
        return 0;
    half = shmem_malloc(HEAP / 2);
    if (!half || shmem_malloc(HEAP / 2) || shmem_realloc(half, 2 * HEAP))
        return 0;
    memset(half, 1, HEAP / 2); /* a full heap does not cause a bus error */
    shmem_free(half);
    if (shmem_realloc(half, 8)) /* it was freed */
        return 0;
    if (shmem_team_sync(none) == 0 || shmem_team_my_pe(none) != -1 || shmem_team_n_pes(none) != -1)
        return 0;
    if (shmem_long_broadcast(none, words, source, 1, 0) == 0 ||
        shmem_team_split_strided(none, 0, 1, 2, NULL, 0, &made) == 0)
        return 0;
    if (shmem_team_create_ctx(none, 0, &ctx) == 0 || shmem_ptr(&made, 1) ||
        shmem_addr_accessible(words, 2) || shmem_pe_accessible(-1))
        return 0;
    return shmem_team_translate_pe(SHMEM_TEAM_WORLD, 2, SHMEM_TEAM_WORLD) == -1;
}

/* Returns true if calls over an active set of PE 0 alone have no effect on PE 1. */
static int outside_holds(void)
{
    static uint64_t to = 1, from = 2;
    static long     sync[SHMEM_REDUCE_SYNC_SIZE];

    shmem_barrier(0, 0, 1, sync);
    shmem_fcollect64(&to, &from, 1, 0, 0, 1, sync);
    return to == (shmem_my_pe() == 0 ? 2 : 1);
}

/* Returns true if operations on PE 0 complete while it makes no call. Until they do, it waits. */
static int progress_holds(void)
{
    static volatile long passed;
    int                  held = 1;

    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        while (passed != 3)
            sched_yield();
    } else {
        held = shmem_long_atomic_fetch_inc((long *)&passed, 0) == 0 &&
               shmem_long_g((long *)&passed, 0) == 1;
        shmem_long_p((long *)&passed, 3, 0);
    }
    shmem_barrier_all();
    return held;
}

static int make(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) {
            if (shmem_my_pe() == 0 || cases[i].collective)
                cases[i].make();
            return 0; /* the call did not fail */
        }
    return 2;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "codes";
    int         code;

    if (strcmp(name, "early") == 0)
        shmem_barrier_all();
    shmem_init();
    words = shmem_calloc(64, sizeof *words);
    if (strcmp(name, "codes") == 0) {
        code = codes_hold() && outside_holds() && progress_holds() ? 0 : 3;
        if (code == 0 && shmem_my_pe() == 0)
            puts("the codes hold");
    } else {
        code = make(name);
    }
    shmem_barrier_all();
    shmem_finalize();
    return code;
}
