/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_thread.h - the thread of a process that writes its image file while the program continues.
 *
 * There is one order at a time: a process holds one set of images that is being written, not a
 * queue of them.  The thread is made with the first order and sleeps between orders.  It blocks all
 * signals, so a limit of the file size is an error of the write and does not end the process. Where
 * no thread can be made, the order is executed by the caller.
 */
#ifndef SKI_WRITER_THREAD_H
#define SKI_WRITER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "checkpoint/store_file.h"

/* An order to write.  The images stay unchanged until the order is done. */
struct ski_write_order {
    const char                  *path;   /* of the directory of checkpoints; copied */
    struct ski_image_file_source source; /* its spans are copied                    */
};

/* How an order has ended. */
struct ski_write_result {
    bool                          ok;
    uint64_t                      generation;
    double                        seconds; /* seconds that writing took      */
    struct ski_image_file_written written;
    char                          reason[SKI_STORE_REASON]; /* unless ok */
};

/* The states of a writer: it has no order; it writes; the result of its order has not been taken.
 */
enum ski_writer_state { SKI_WRITER_IDLE, SKI_WRITER_BUSY, SKI_WRITER_DONE };

/* A writer and its thread. */
struct ski_writer_thread {
    pthread_mutex_t         mutex;
    pthread_cond_t          changed; /* the state, or closing */
    pthread_t               thread;
    bool                    started, closing;
    enum ski_writer_state   state;
    struct ski_write_order  order;
    struct ski_write_result result;
};

/** Prepares a writer; no thread is made yet. */
void ski_writer_open(struct ski_writer_thread *writer);

/** Gives the writer an order.  The writer has none: the result of the one before was taken. */
void ski_writer_start(struct ski_writer_thread *writer, const struct ski_write_order *order);

/** Takes the result of the order.  Returns false if it is not done, or there is none.  With
 *  @p wait it waits until the order is done. */
bool ski_writer_take(struct ski_writer_thread *writer, bool wait, struct ski_write_result *result);

/** Waits until the order is done, ends the thread and frees what the writer holds. */
void ski_writer_close(struct ski_writer_thread *writer);

#endif
