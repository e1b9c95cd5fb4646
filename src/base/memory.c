/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - blocks of memory that threads own (memory.h).
 *
 * The blocks of a thread are a list, which is the value of one key of pthreads; its destructor
 * frees them when the thread ends.  Those of the main thread last as long as the process.
 */
#include "base/memory.h"

#include <pthread.h>
#include <stddef.h>

struct thread_block {
    struct thread_block *next;
    void               **slot; /* the pointer of the thread to this block */
    max_align_t          data[];
};

static pthread_key_t  memory_key;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void memory_free_blocks(void *list)
{
    for (struct thread_block *block = list, *next; block; block = next) {
        next         = block->next;
        *block->slot = NULL; /* destructors of other keys may run later, and ask for the block */
        free(block);
    }
}

static void memory_make_key(void)
{
    if (pthread_key_create(&memory_key, memory_free_blocks) != 0)
        ski_fatal("pthread_key_create: this process has no key left for the runtime");
}

void *ski_thread_memory(void **slot, size_t bytes)
{
    struct thread_block *block;

    if (*slot)
        return *slot;
    pthread_once(&memory_once, memory_make_key);
    block       = ski_calloc(1, sizeof *block + bytes);
    block->next = pthread_getspecific(memory_key);
    block->slot = slot;
    ski_memory_checked(pthread_setspecific(memory_key, block) == 0 ? block : NULL, bytes);
    *slot = block->data;
    return *slot;
}
