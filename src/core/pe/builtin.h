/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h - the runtime's own handlers, in the order of core/pe/handler.h. */
#ifndef SKI_BUILTIN_H
#define SKI_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/message.h>

/* Whether messages of a kind name an object (SKI_MSG_OBJECT). */
enum ski_address_use { SKI_ADDRESS_NONE, SKI_ADDRESS_OBJECT, SKI_ADDRESS_EITHER };

struct ski_builtin {
    const char     *name;
    skua_handler_fn fn;
    size_t          least; /* bytes of a message from another host; SKI_NEVER_FAR: none comes */
    enum ski_address_use address;
};

#define SKI_NEVER_FAR      SIZE_MAX
#define SKI_COMPLETE_LEAST 32 /* the completion (completion.c) */
#define SKI_SEGMENT_LEAST  57 /* the head and a byte (broadcast.h) */
#define SKI_REDUCE_LEAST   32 /* the head (reduction.c)        */

/** The kind of a completion that invokes an object (completion.c). */
#define SKI_DONE_OBJECT 6

extern const struct ski_builtin ski_builtin[];

/** Whether a broadcast may be for @p handler, with @p bytes: one of the program's, or one of ours
 *  that would take such a message from another host. */
bool ski_builtin_takes(uint32_t handler, size_t bytes);

/** Those that run code of the program: they wait for its begin (objects/services/program.h). */
extern const bool ski_builtin_runs_program[];

void ski_on_thread(skua_msg *msg);   /* thread.c     */
void ski_on_resume(skua_msg *msg);   /* thread.c     */
void ski_on_complete(skua_msg *msg); /* completion.c */
/** The handler that a message of SKI_HANDLER_BROADCAST will run on each PE. */
uint32_t ski_broadcast_handler(skua_msg *msg);

void ski_on_broadcast(skua_msg *msg);         /* broadcast.c  */
void ski_on_broadcast_here(skua_msg *msg);    /* broadcast.c  */
void ski_on_broadcast_done(skua_msg *msg);    /* broadcast.c  */
void ski_on_broadcast_segment(skua_msg *msg); /* broadcast_segment.c */
void ski_on_reduce(skua_msg *msg);            /* reduction.c  */
void ski_on_result(skua_msg *msg);            /* reduction.c  */
void ski_on_credit(skua_msg *msg);            /* collective_window.c     */
void ski_on_blocks(skua_msg *msg);            /* reduction_split.c      */
void ski_on_exit(skua_msg *msg);              /* shutdown.c      */
void ski_on_gone(skua_msg *msg);              /* shutdown.c      */
void ski_on_bye(skua_msg *msg);               /* shutdown.c      */

#endif
