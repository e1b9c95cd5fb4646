/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - see wait.h; the waits and tests of OpenSHMEM.
 */
#include "wait.h"

#include <sched.h>
#include <shmem.h>
#include <unistd.h>

#include "job_exit.h"
#include "wait_report.h"

/* The largest number of messages that one call of the scheduler delivers, and the number of yields
 * between two such calls on one host, where messages arrive at the end of the job, and requests if
 * one-sided operations are not direct (direct=0). */
#define WAIT_MESSAGES 64
#define WAIT_YIELDS   32u

/* The number of scheduler calls after which a wait for other hosts yields its core between them. */
#define WAIT_POLLS 2u

/* The number of steps after which a wait looks whether it is long. */
#define WAIT_LOOK 64u

/* The number of reads of mapped words after which Skua makes progress. */
#define WAIT_READS 16u

void shmemi_wait_progress(void)
{
    if (shmemi_on_pe())
        skua_poll(WAIT_MESSAGES);
    else
        sched_yield();
}

void shmemi_wait_poll_net(void)
{
    static _Thread_local unsigned reads;

    if (++reads % WAIT_READS == 0)
        shmemi_wait_progress();
}

void shmemi_wait_yield(struct shmemi_wait *wait)
{
    shmemi_exit_check();
    if (shmemi_job.net || wait->steps % WAIT_YIELDS == 0)
        shmemi_wait_progress();
    if (!shmemi_job.net || wait->steps > WAIT_POLLS)
        sched_yield();
    if (SHMEMI_UNLIKELY(wait->steps % WAIT_LOOK == 0))
        shmemi_wait_report(wait);
}

/* ---- conditions --------------------------------------------------------- */

static void wait_check(const char *call, int cmp)
{
    shmemi_check_running(call);
    if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE)
        skua_abort("%s: %d is not a comparison; use SHMEM_CMP_EQ to SHMEM_CMP_LE", call, cmp);
}

/* The loads acquire: they pair with the releases of puts with signal and of fences. */
#define WAIT_CONDITION(NAME, T)                                                                    \
    static inline int wait_##NAME##_holds(const T *ivar, int cmp, T value)                         \
    {                                                                                              \
        T now = __atomic_load_n(ivar, __ATOMIC_ACQUIRE);                                           \
                                                                                                   \
        switch (cmp) {                                                                             \
        case SHMEM_CMP_EQ: return now == value;                                                    \
        case SHMEM_CMP_NE: return now != value;                                                    \
        case SHMEM_CMP_GT: return now > value;                                                     \
        case SHMEM_CMP_GE: return now >= value;                                                    \
        case SHMEM_CMP_LT: return now < value;                                                     \
        default: return now <= value;                                                              \
        }                                                                                          \
    }                                                                                              \
    static void wait_##NAME##_one(const char *call, T *ivar, int cmp, T value)                     \
    {                                                                                              \
        struct shmemi_wait wait = {0};                                                             \
                                                                                                   \
        wait_check(call, cmp);                                                                     \
        while (!wait_##NAME##_holds(ivar, cmp, value))                                             \
            shmemi_wait_step(&wait);                                                               \
    }

/* Defines functions that test several entries. Among the entries that are not excluded they find
 * the first that holds, those that hold, or whether all hold. @p values has one entry for each
 * (`step` 1), or one for all (`step` 0). */
#define WAIT_SET(NAME, T)                                                                          \
    static size_t wait_##NAME##_any(const T *ivars, size_t n, const int *status, int cmp,          \
                                    const T *values, size_t step)                                  \
    {                                                                                              \
        static _Thread_local size_t last; /* a start after the last result is fair */              \
                                                                                                   \
        for (size_t k = 0; k < n; k++) {                                                           \
            size_t i = (last + 1 + k) % n;                                                         \
                                                                                                   \
            if (!(status && status[i]) && wait_##NAME##_holds(&ivars[i], cmp, values[i * step]))   \
                return last = i;                                                                   \
        }                                                                                          \
        return SIZE_MAX;                                                                           \
    }                                                                                              \
    static size_t wait_##NAME##_some(const T *ivars, size_t n, size_t *indices, const int *status, \
                                     int cmp, const T *values, size_t step)                        \
    {                                                                                              \
        size_t found = 0;                                                                          \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            if (!(status && status[i]) && wait_##NAME##_holds(&ivars[i], cmp, values[i * step]))   \
                indices[found++] = i;                                                              \
        return found;                                                                              \
    }                                                                                              \
    static int wait_##NAME##_all(const T *ivars, size_t n, const int *status, int cmp,             \
                                 const T *values, size_t step)                                     \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            if (!(status && status[i]) && !wait_##NAME##_holds(&ivars[i], cmp, values[i * step]))  \
                return 0;                                                                          \
        return 1;                                                                                  \
    }

static bool wait_set_is_empty(size_t n, const int *status)
{
    for (size_t i = 0; i < n; i++)
        if (!status || !status[i])
            return false;
    return true;
}

/* ---- the routines ------------------------------------------------------- */

/* Defines the forms for sets; V declares the values, AT is their address, and STEP is 1 or 0 as
 * above. */
#define WAIT_SET_ROUTINES(NAME, T, suffix, V, AT, STEP)                                            \
    void shmem_##NAME##_wait_until_all##suffix(T *ivars, size_t nelems, const int *status,         \
                                               int cmp, V)                                         \
    {                                                                                              \
        wait_check(__func__, cmp);                                                                 \
        for (size_t i = 0; i < nelems; i++)                                                        \
            if (!(status && status[i]))                                                            \
                wait_##NAME##_one(__func__, &ivars[i], cmp, (AT)[i * (STEP)]);                     \
    }                                                                                              \
    size_t shmem_##NAME##_wait_until_any##suffix(T *ivars, size_t nelems, const int *status,       \
                                                 int cmp, V)                                       \
    {                                                                                              \
        struct shmemi_wait wait = {0};                                                             \
        size_t             i;                                                                      \
                                                                                                   \
        wait_check(__func__, cmp);                                                                 \
        if (wait_set_is_empty(nelems, status))                                                     \
            return SIZE_MAX;                                                                       \
        while ((i = wait_##NAME##_any(ivars, nelems, status, cmp, AT, STEP)) == SIZE_MAX)          \
            shmemi_wait_step(&wait);                                                               \
        return i;                                                                                  \
    }                                                                                              \
    size_t shmem_##NAME##_wait_until_some##suffix(T *ivars, size_t nelems, size_t *indices,        \
                                                  const int *status, int cmp, V)                   \
    {                                                                                              \
        struct shmemi_wait wait = {0};                                                             \
        size_t             found;                                                                  \
                                                                                                   \
        wait_check(__func__, cmp);                                                                 \
        if (wait_set_is_empty(nelems, status))                                                     \
            return 0;                                                                              \
        while (!(found = wait_##NAME##_some(ivars, nelems, indices, status, cmp, AT, STEP)))       \
            shmemi_wait_step(&wait);                                                               \
        return found;                                                                              \
    }                                                                                              \
    int shmem_##NAME##_test_all##suffix(T *ivars, size_t nelems, const int *status, int cmp, V)    \
    {                                                                                              \
        wait_check(__func__, cmp);                                                                 \
        if (wait_##NAME##_all(ivars, nelems, status, cmp, AT, STEP))                               \
            return 1;                                                                              \
        shmemi_wait_progress();                                                                    \
        return wait_##NAME##_all(ivars, nelems, status, cmp, AT, STEP);                            \
    }                                                                                              \
    size_t shmem_##NAME##_test_any##suffix(T *ivars, size_t nelems, const int *status, int cmp, V) \
    {                                                                                              \
        size_t i;                                                                                  \
                                                                                                   \
        wait_check(__func__, cmp);                                                                 \
        i = wait_##NAME##_any(ivars, nelems, status, cmp, AT, STEP);                               \
        if (i != SIZE_MAX)                                                                         \
            return i;                                                                              \
        shmemi_wait_progress();                                                                    \
        return wait_##NAME##_any(ivars, nelems, status, cmp, AT, STEP);                            \
    }                                                                                              \
    size_t shmem_##NAME##_test_some##suffix(T *ivars, size_t nelems, size_t *indices,              \
                                            const int *status, int cmp, V)                         \
    {                                                                                              \
        size_t found;                                                                              \
                                                                                                   \
        wait_check(__func__, cmp);                                                                 \
        found = wait_##NAME##_some(ivars, nelems, indices, status, cmp, AT, STEP);                 \
        if (found)                                                                                 \
            return found;                                                                          \
        shmemi_wait_progress();                                                                    \
        return wait_##NAME##_some(ivars, nelems, indices, status, cmp, AT, STEP);                  \
    }

#define WAIT_TYPE(NAME, T, ...)                                                                    \
    WAIT_CONDITION(NAME, T)                                                                        \
    WAIT_SET(NAME, T)                                                                              \
    void shmem_##NAME##_wait_until(T *ivar, int cmp, T cmp_value)                                  \
    {                                                                                              \
        wait_##NAME##_one(__func__, ivar, cmp, cmp_value);                                         \
    }                                                                                              \
    void shmem_##NAME##_wait(T *ivar, T cmp_value)                                                 \
    {                                                                                              \
        wait_##NAME##_one(__func__, ivar, SHMEM_CMP_NE, cmp_value);                                \
    }                                                                                              \
    int shmem_##NAME##_test(T *ivar, int cmp, T cmp_value)                                         \
    {                                                                                              \
        wait_check(__func__, cmp);                                                                 \
        if (wait_##NAME##_holds(ivar, cmp, cmp_value))                                             \
            return 1;                                                                              \
        shmemi_wait_progress();                                                                    \
        return wait_##NAME##_holds(ivar, cmp, cmp_value);                                          \
    }                                                                                              \
    WAIT_SET_ROUTINES(NAME, T, , T cmp_value, &cmp_value, 0)                                       \
    WAIT_SET_ROUTINES(NAME, T, _vector, T *cmp_values, cmp_values, 1)
SHMEM_SYNC_TYPES(WAIT_TYPE, )

void shmem_wait(long *ivar, long cmp_value)
{
    wait_long_one(__func__, ivar, SHMEM_CMP_NE, cmp_value);
}

/* The parentheses prevent the expansion of the C11 macro of this name. */
void(shmem_wait_until)(long *ivar, int cmp, long cmp_value)
{
    wait_long_one("shmem_wait_until", ivar, cmp, cmp_value);
}

uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    struct shmemi_wait wait = {0};
    uint64_t           now;

    wait_check(__func__, cmp);
    /* The returned value is the one that satisfied the condition. */
    for (;;) {
        now = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
        if (wait_uint64_holds(&now, cmp, cmp_value))
            return now;
        shmemi_wait_step(&wait);
    }
}
