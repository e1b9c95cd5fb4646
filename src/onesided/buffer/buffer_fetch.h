/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_fetch.h - fetches the data of a buffer to this PE and updates its description.
 *
 * A client has the description of a buffer, for example in a message, and needs the data on this
 * PE. Afterwards the same description, at the same address, describes the memory where the data are
 * now: memory that the client names, or memory of the runtime, which is freed when the completion
 * of the description is called.  The owner of the data is notified as after any transfer.
 */
#ifndef SKI_BUFFER_FETCH_H
#define SKI_BUFFER_FETCH_H

#include "onesided/buffer/buffer.h"

/* A fetch in flight, in memory of the client. */
struct ski_buffer_fetch {
    skua_buffer *buffer; /* the description, which is replaced */
    skua_buffer  here;   /* where the data go */
    void        *block;  /* memory of the runtime for them, or NULL */
    void (*done)(struct ski_buffer_fetch *fetch);
    void *arg; /* the client's */
};

/** Fetches the data of @p buffer to @p to, or, if that is NULL, to memory of the runtime.  @p fetch
 *  and @p buffer stay where they are until fetch->done(fetch) is called, perhaps before this
 *  returns; the caller has set `done` and `arg`.  A failure has been logged; then `done` is not
 *  called. */
skua_status ski_buffer_fetch(struct ski_pe *self, struct ski_buffer_fetch *fetch,
                             skua_buffer *buffer, void *to);

/** Fetches the data of @p buffer to memory of the runtime and waits for them.  A failure has been
 *  logged. */
skua_status ski_buffer_fetch_wait(struct ski_pe *self, skua_buffer *buffer);

#endif
