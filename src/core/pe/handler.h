/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - the table of handlers, which is the same in every process.
 *
 * A message names its handler by a number, the place in this table: function
 * addresses differ between processes.  Number 0 is no handler, so that a variable
 * of type skua_handler that was forgotten is noticed; then come the runtime's own.
 * Process 0 publishes the names in the job; the others compare theirs at start.
 */
#ifndef SKI_HANDLER_H
#define SKI_HANDLER_H

#include <skua/message.h>

#include "boot/job.h"

/* SKI_HANDLER_*: the numbers of the runtime's own handlers. */
enum {
#define HANDLER(id, name, function, least, flags) SKI_HANDLER_##id,
#include "core/pe/handler_defs.h"
#undef HANDLER
    SKI_HANDLERS
};

/* The functions of the runtime's own handlers. */
#define HANDLER(id, name, function, least, flags) void function(skua_msg *msg);
#include "core/pe/handler_defs.h"
#undef HANDLER

#define SKI_HANDLERS_MOST (UINT16_MAX + 1)

struct ski_handlers {
    uint32_t         count;
    skua_handler_fn *fn; /* once it is closed, of SKI_HANDLERS_MOST: a number of 16 bits need
                            not be checked before it is used */
};

extern struct ski_handlers ski_handlers;

/** Put the runtime's own handlers in place.  Idempotent. */
void ski_handlers_init(void);

/** Agree on the table with the other processes of @p job, and close it.
 *  SKUA_ERR_MISMATCH, logged with the name that differs. */
skua_status_t ski_handlers_agree(struct ski_job *job, int process);

/** Let the processes agree on a name that is not a handler's: "@p what @p name". */
void ski_register_name(const char *what, const char *name);

const char *ski_handler_name(uint32_t id);

/** Report that @p call was given a handler that was never registered. */
SKI_COLD _Noreturn void ski_handler_misuse(const char *call, uint32_t id);

/** A message came for a number that is not in the table. */
SKI_COLD _Noreturn void ski_handler_unknown(skua_msg *msg);

#endif
