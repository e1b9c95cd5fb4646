/* SPDX-License-Identifier: Apache-2.0 */
/* image_store.c - see image_store.h. */
#include "checkpoint/image_store.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "checkpoint/store_memory.h"

/* The images of one generation: the i-th memory is that of the i-th PE of the process. */
struct image_store_set {
    int                      fd;         /* -1: anonymous memory */
    uint64_t                 generation; /* 0: none */
    int32_t                  added;      /* complete images of the generation */
    struct ski_image_id      id;         /* id of one of these images */
    struct ski_image_memory *memory;
    struct ski_image_span   *span;
};

struct ski_image_store {
    pthread_mutex_t          mutex; /* of the sets */
    int32_t                  pes;
    int                      sets;
    struct image_store_set   set[2];
    struct image_store_set  *current;
    struct ski_writer_thread writer;
};

static void image_store_open_set(struct image_store_set *set, int32_t pes, int fd)
{
    struct ski_image_id first;

    set->fd         = fd;
    set->generation = fd < 0 ? 0 : ski_store_memory_generation(fd, &first);
    set->memory     = ski_calloc((size_t)pes, sizeof *set->memory);
    set->span       = ski_calloc((size_t)pes, sizeof *set->span);
    for (int32_t i = 0; i < pes; i++)
        if (fd < 0)
            ski_image_memory_anonymous(&set->memory[i]);
        else
            ski_image_memory_shared(&set->memory[i], fd, ski_store_memory_offset(i));
}

struct ski_image_store *ski_image_store_open(int32_t pes, const int *fd)
{
    struct ski_image_store *store = ski_calloc(1, sizeof *store);

    pthread_mutex_init(&store->mutex, NULL);
    store->pes  = pes;
    store->sets = fd ? 2 : 1;
    for (int k = 0; k < store->sets; k++)
        image_store_open_set(&store->set[k], pes, fd ? fd[k] : -1);
    ski_writer_open(&store->writer);
    return store;
}

/* Begins a generation, in the set that does not hold the one that is kept. */
static void image_store_begin(struct ski_image_store *store, uint64_t generation, uint64_t kept)
{
    struct image_store_set *set = &store->set[0];

    if (store->sets == 2 && kept > 0 && set->generation == kept)
        set = &store->set[1];
    ski_assert(store->sets == 1 || kept == 0 || set->generation != kept);
    set->generation = generation;
    set->added      = 0;
    store->current  = set;
}

struct ski_image_memory *ski_image_store_memory(struct ski_image_store    *store,
                                                const struct ski_image_id *id, uint64_t kept)
{
    struct ski_image_memory *memory;

    ski_assert(id->process_pes == store->pes);
    pthread_mutex_lock(&store->mutex);
    if (!store->current || store->current->generation != id->generation)
        image_store_begin(store, id->generation, kept);
    memory = &store->current->memory[id->pe - id->first_pe];
    pthread_mutex_unlock(&store->mutex);
    return memory;
}

bool ski_image_store_add(struct ski_image_store *store, const struct ski_image_id *id, size_t bytes)
{
    int32_t                 i = id->pe - id->first_pe;
    struct image_store_set *set;
    bool                    last;

    pthread_mutex_lock(&store->mutex);
    set = store->current;
    ski_assert(set && set->generation == id->generation && set->added < store->pes);
    set->span[i] = (struct ski_image_span){set->memory[i].base, bytes};
    set->id      = *id;
    set->id.pe   = id->first_pe;
    last         = ++set->added == store->pes;
    pthread_mutex_unlock(&store->mutex);
    return last;
}

const struct ski_image_span *ski_image_store_images(const struct ski_image_store *store)
{
    ski_assert(store->current && store->current->added == store->pes);
    return store->current->span;
}

void ski_image_store_write(struct ski_image_store *store, const char *path,
                           const struct ski_compressor *compressor, int level)
{
    const struct image_store_set *set = store->current;

    ski_assert(set && set->added == store->pes);
    ski_writer_start(
        &store->writer,
        &(struct ski_write_order){
            .path   = path,
            .source = {.id = set->id, .image = set->span, .compressor = compressor, .level = level},
        });
}

bool ski_image_store_take(struct ski_image_store *store, bool wait, struct ski_write_result *result)
{
    return ski_writer_take(&store->writer, wait, result);
}

void ski_image_store_close(struct ski_image_store *store)
{
    ski_writer_close(&store->writer);
    for (int k = 0; k < store->sets; k++) {
        for (int32_t i = 0; i < store->pes; i++)
            ski_image_memory_unmap(&store->set[k].memory[i]);
        free(store->set[k].memory);
        free(store->set[k].span);
    }
    pthread_mutex_destroy(&store->mutex);
    free(store);
}
