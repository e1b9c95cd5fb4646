/* SPDX-License-Identifier: Apache-2.0 */
/* memory_test.c - blocks that threads own. */
#include "base/memory.h"

#include <pthread.h>
#include <stdint.h>

#include "base/sanitizer.h"
#include "tests/tap.h"

#define BYTES 300

static _Thread_local void *first, *second;

/* Fills the blocks of a thread.  Returns whether they are its own, zeroed and aligned. */
static void *memory_test_use(void *other)
{
    char *a = ski_thread_memory(&first, BYTES), *b = ski_thread_memory(&second, 1);
    bool  good = a != b && a != other && a[0] == 0 && a[BYTES - 1] == 0 &&
                (uintptr_t)a % _Alignof(max_align_t) == 0;

    memset(a, 'x', BYTES);
    return good && ski_thread_memory(&first, BYTES) == a && a[BYTES - 1] == 'x' ? other : NULL;
}

/* ---- the end of a thread --------------------------------------------------- */

#ifndef SKI_TSAN /* for which a thread ends with its first destructors */
static pthread_key_t late_key;
static int           late_calls, late_zeroed;

/* A destructor of the program's own, which asks for a block after the thread's have been freed.  It
 * runs again: each round of destructors may come before or after that of the blocks. */
static void memory_test_late(void *count)
{
    char *a = ski_thread_memory(&first, BYTES);

    late_zeroed += a[0] == 0;
    a[0] = 'l';
    if (++late_calls < 3)
        pthread_setspecific(late_key, count);
}

static void *memory_test_end(void *unused)
{
    char *a = ski_thread_memory(&first, BYTES);

    a[0] = 'e';
    pthread_setspecific(late_key, &late_calls);
    return unused;
}
#endif

int main(void)
{
    char     *mine = ski_thread_memory(&first, BYTES);
    pthread_t thread;
    void     *result;

    mine[0] = 'm';
    pthread_create(&thread, NULL, memory_test_use, mine);
    pthread_join(thread, &result);
    OK(result == mine, "a thread has blocks of its own, the same at each call");
    OK(ski_thread_memory(&first, BYTES) == mine && mine[0] == 'm', "those of others stay");
#ifndef SKI_TSAN
    pthread_key_create(&late_key, memory_test_late);
    pthread_create(&thread, NULL, memory_test_end, NULL);
    pthread_join(thread, &result);
    OK(late_calls == 3 && late_zeroed >= 2,
       "a destructor that runs after the blocks were freed gets new ones (%d, %d)", late_calls,
       late_zeroed);
#endif
    return tap_end();
}
