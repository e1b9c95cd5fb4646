/* SPDX-License-Identifier: Apache-2.0 */
/* writer_thread.c - see writer_thread.h. */
#include "checkpoint/writer_thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/seconds.h"

void ski_writer_open(struct ski_writer_thread *writer)
{
    *writer = (struct ski_writer_thread){.state = SKI_WRITER_IDLE};
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, NULL);
}

/* Adds checksums to the images.  Their spans are the writer's own. */
static void writer_add_sums(const struct ski_image_file_source *source)
{
    struct ski_image_span *span = (struct ski_image_span *)(uintptr_t)source->image;

    for (int32_t i = 0; i < source->id.process_pes; i++)
        span[i].bytes = ski_image_add_sums((void *)(uintptr_t)span[i].image);
}

/* Executes the order, without the mutex: nothing else touches order and result meanwhile. */
static void writer_execute(struct ski_writer_thread *writer)
{
    struct ski_write_result *result = &writer->result;
    double                   begin  = ski_seconds(CLOCK_MONOTONIC);

    writer_add_sums(&writer->order.source);
    result->generation = writer->order.source.id.generation;
    result->ok = ski_store_file_write(writer->order.path, &writer->order.source, &result->written,
                                      result->reason);
    result->seconds = ski_seconds(CLOCK_MONOTONIC) - begin;
}

/* The thread: executes one order after another until the writer is closed. */
static void *writer_run(void *arg)
{
    struct ski_writer_thread *writer = arg;

    pthread_mutex_lock(&writer->mutex);
    for (;;) {
        while (writer->state != SKI_WRITER_BUSY && !writer->closing)
            pthread_cond_wait(&writer->changed, &writer->mutex);
        if (writer->state != SKI_WRITER_BUSY)
            break;
        pthread_mutex_unlock(&writer->mutex);
        writer_execute(writer);
        pthread_mutex_lock(&writer->mutex);
        writer->state = SKI_WRITER_DONE;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

/* Makes the thread, with all signals blocked. */
static bool writer_make_thread(struct ski_writer_thread *writer)
{
    sigset_t all, before;

    if (writer->started)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    writer->started = pthread_create(&writer->thread, NULL, writer_run, writer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return writer->started;
}

static void writer_copy_order(struct ski_writer_thread *writer, const struct ski_write_order *order)
{
    size_t bytes = (size_t)order->source.id.process_pes * sizeof *order->source.image;
    struct ski_image_span *image = ski_malloc(bytes);

    memcpy(image, order->source.image, bytes);
    writer->order              = *order;
    writer->order.source.image = image;
    writer->order.path         = ski_store_copy_text(order->path, strlen(order->path));
}

static void writer_free_order(struct ski_writer_thread *writer)
{
    free((void *)(uintptr_t)writer->order.path);
    free((void *)(uintptr_t)writer->order.source.image);
    writer->order = (struct ski_write_order){.path = NULL};
}

void ski_writer_start(struct ski_writer_thread *writer, const struct ski_write_order *order)
{
    pthread_mutex_lock(&writer->mutex);
    ski_assert(writer->state == SKI_WRITER_IDLE);
    writer_copy_order(writer, order);
    if (writer_make_thread(writer)) {
        writer->state = SKI_WRITER_BUSY;
        pthread_cond_broadcast(&writer->changed);
    } else {
        writer_execute(writer);
        writer->state = SKI_WRITER_DONE;
    }
    pthread_mutex_unlock(&writer->mutex);
}

bool ski_writer_take(struct ski_writer_thread *writer, bool wait, struct ski_write_result *result)
{
    bool done;

    pthread_mutex_lock(&writer->mutex);
    while (wait && writer->state == SKI_WRITER_BUSY)
        pthread_cond_wait(&writer->changed, &writer->mutex);
    done = writer->state == SKI_WRITER_DONE;
    if (done) {
        *result       = writer->result;
        writer->state = SKI_WRITER_IDLE;
        writer_free_order(writer);
    }
    pthread_mutex_unlock(&writer->mutex);
    return done;
}

void ski_writer_close(struct ski_writer_thread *writer)
{
    pthread_mutex_lock(&writer->mutex);
    writer->closing = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
    if (writer->started)
        pthread_join(writer->thread, NULL);
    writer_free_order(writer);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
}
