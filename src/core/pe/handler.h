/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - the table of handlers, which is the same in every process.
 *
 * A message names its handler by its number in this table, since addresses of functions differ
 * between processes.  Number 0 is no handler, so that a skua_handler that was never registered is
 * noticed; then come the runtime's own (handler_defs.h), then the program's.  Process 0 publishes
 * the names in the job; the others compare theirs when they start.
 */
#ifndef SKI_HANDLER_H
#define SKI_HANDLER_H

#include <skua/message.h>

#include "boot/job.h"
#include "core/pe/handler_table.h"

/* SKI_HANDLER_*: the numbers of the runtime's own handlers. */
enum {
#define HANDLER(id, name, function, least, flags) id,
#include "core/pe/handler_defs.h"
#undef HANDLER
    SKI_HANDLERS
};

/* The functions of the runtime's own handlers. */
#define HANDLER(id, name, function, least, flags) void function(skua_msg *msg);
#include "core/pe/handler_defs.h"
#undef HANDLER

/* The table. */
struct ski_handlers {
    uint32_t         count;
    skua_handler_fn *fn; /* NULL until the table is closed */
};

/** The handlers of this process. */
extern struct ski_handlers ski_handlers;

/** Registers the runtime's own handlers.  Idempotent. */
void ski_handlers_init(void);

/** Closes the table and compares it with those of the other processes of @p job.  SKUA_ERR_MISMATCH
 * has been logged with the name that differs. */
skua_status ski_handlers_agree(struct ski_job *job, int process);

/** Accepts registrations again, in a process that has left its job. */
void ski_handlers_reset(void);

/** Registers a handler on behalf of public function @p call, which errors name. */
skua_handler ski_handler_register(const char *call, const char *name, skua_handler_fn fn);

/** Registers "@p what @p name" on behalf of public function @p call.  It is no handler, but is
 * compared between processes as well. */
void ski_register_name(const char *call, const char *what, const char *name);

/** Returns the name of a handler; "?" if there is none of that number. */
const char *ski_handler_name(uint32_t id);

/** Ends the job: @p call was given a handler that was never registered. */
SKI_COLD _Noreturn void ski_handler_misuse(const char *call, uint32_t id);

/** Ends the job: a message names a handler that is not in the table. */
SKI_COLD _Noreturn void ski_handler_unknown(skua_msg *msg);

#endif
