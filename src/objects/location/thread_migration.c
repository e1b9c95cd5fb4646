/* SPDX-License-Identifier: Apache-2.0 */
/* thread_migration.c - see thread_migration.h. */
#include "objects/location/thread_migration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/rlimit.h"
#include "base/sanitizer.h"
#include "base/vector.h"
#include "core/data/wait_list.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/code_map.h"
#include "core/pe/handler.h"
#include "core/sched/future.h"
#include "core/sched/thread_move.h"
#include "objects/measure/measure.h"
#include "objects/model/element.h"
#include "onesided/onesided.h"

/* The result of the comparison with the code map of another process. */
enum thread_code { CODE_UNKNOWN, CODE_ASKED, CODE_SAME, CODE_DIFFERENT };

/* A thread of an element on the wire. */
struct thread_packed {
    struct ski_iso_move move;
    uint64_t            bytes; /* of the stack, which follow; 0: its memory is shared */
};

struct code_question {
    uint64_t               layout; /* ski_isomalloc_layout() */
    struct ski_code_object object[];
};

struct code_answer {
    uint32_t               same, zero;
    struct ski_code_object yours, mine; /* which differ; no base in `mine`: it is not loaded */
};

_Static_assert(sizeof(struct code_question) == SKI_CODE_MAP_MIN, "see thread_migration.h");
_Static_assert(sizeof(struct code_answer) == SKI_CODE_MAP_ANSWER_MIN, "see thread_migration.h");

/* ---- a process begins ----------------------------------------------------------------------- */

void ski_thread_migration_open(const struct ski_boot *boot)
{
    if (!ski_config.thread_migration || !ski_class_any_moves_threads())
        return;
    if (!ski_isomalloc_open(boot->job, ski_thread_slot_bytes()))
        ski_log(
            SKI_LOG_WARN,
            "objects do not migrate while user threads run in them: the address range for their "
            "stacks is taken in this process, or too small%s",
            ski_rlimit_advice(ENOMEM));
}

void ski_thread_migration_close(void)
{
    ski_isomalloc_close();
}

/* ---- what can move --------------------------------------------------------------------------- */

bool ski_thread_migration_moves(const void *at, void *arg)
{
    const struct ski_object *object = arg;
    uintptr_t                block  = ski_isomalloc_block(at);

    if (!block)
        return false;
    if (!ski_isomalloc_is_slot(at))
        return block == (uintptr_t)ski_object_block(object);
    return ski_isomalloc_here(object->of->self, at) &&
           ski_thread_in_slot((char *)block)->object == object;
}

/* A thread that was woken by a future of the object first looks at it: the class need not pack
 * futures. */
bool ski_thread_migration_list_moves(const struct skua_thread *thread, struct ski_object *object)
{
    const struct ski_waiter *waiter = thread->waiter;

    if (thread->wait != SKI_THREAD_WAITS)
        return true;
    if (!ski_thread_migration_moves(thread->list, object))
        return false;
    if (waiter->woken)
        return ski_isomalloc_block(thread->list) != (uintptr_t)ski_object_block(object);
    do {
        if (!waiter->thread || waiter->thread->object != object)
            return false;
        waiter = waiter->next;
    } while (waiter != thread->waiter);
    return true;
}

/* Returns whether a thread can continue on another host, where the arena is another. */
static bool thread_migration_leaves_host(struct ski_pe *self, const struct skua_thread *thread)
{
    return !thread->on_host && ski_isomalloc_here(self, thread)->results == 0;
}

/* The bounds of locals that AddressSanitizer keeps in the heap of the process do not move. */
bool ski_thread_migration_leaves_process(const struct skua_thread *thread)
{
#ifdef SKI_ASAN
    return !thread->fiber.fake_stack;
#else
    (void)thread;
    return true;
#endif
}

static bool thread_migration_is_local(const struct ski_pe *self, int pe)
{
    return ski_job_index(self->job, pe) >= 0;
}

/* Returns whether all threads of @p object can move to PE object->to now.  Sets *count to their
 * number. */
static bool thread_migration_threads_move(struct ski_object *object, uint32_t *count)
{
    struct ski_pe             *self  = object->of->self;
    struct ski_object_threads *block = ski_object_block(object);
    bool                       away  = ski_job_process_of(self->job, object->to) != self->process;
    bool                       far   = !thread_migration_is_local(self, object->to);

    ski_assert(block && object->to != self->pe);
    *count = 0;
    for (struct skua_thread *thread = block->first; thread; thread = thread->sibling, ++*count)
        if (!ski_thread_can_move(thread) || !ski_thread_migration_list_moves(thread, object) ||
            (away && !ski_thread_migration_leaves_process(thread)) ||
            (far && !thread_migration_leaves_host(self, thread)))
            return false;
    return !ski_futures_chained(self, ski_thread_migration_moves, object) &&
           (!far || (ski_isomalloc_here(self, block)->results == 0 && ski_onesided_is_idle(self)));
}

bool ski_thread_migration_possible(const struct ski_object *object)
{
    const struct ski_object_threads *block   = ski_object_block(object);
    uint32_t                         threads = 0;

    for (const struct skua_thread *thread = block ? block->first : NULL; thread;
         thread                           = thread->sibling)
        threads++;
    return threads == ski_object_entries(object);
}

bool ski_thread_migration_may_depart(const struct ski_object *object)
{
    return !ski_object_block(object) || ski_element_can_replace(object);
}

/* ---- code maps --------------------------------------------------------------------------------
 */

/* Returns what this PE knows of process @p process. */
static uint8_t *thread_migration_code(struct ski_objects *objects, int process)
{
    uint8_t *code = objects->slot[SKI_SLOT_THREAD_MIGRATION];

    ski_assert((unsigned)process < (unsigned)objects->self->job->processes);
    if (!code) {
        code = ski_calloc((size_t)objects->self->job->processes, 1);
        objects->slot[SKI_SLOT_THREAD_MIGRATION] = code;
        code[objects->self->process]             = CODE_SAME;
    }
    return &code[process];
}

static void thread_migration_ask(struct ski_pe *self, int pe)
{
    size_t    count = ski_code_map(NULL, 0);
    skua_msg *msg =
        skua_msg_alloc(sizeof(struct code_question) + count * sizeof(struct ski_code_object));
    struct code_question *asked = skua_msg_data(msg);

    memset(asked, 0, msg->bytes);
    asked->layout = ski_isomalloc_layout();
    ski_code_map(asked->object, count);
    msg->handler = SKI_HANDLER_CODE_MAP;
    msg->source  = self->pe;
    ski_msg_post(self, pe, SKI_HANDLER_CODE_MAP, msg);
}

void ski_on_code_map(skua_msg *msg)
{
    struct ski_pe              *self  = ski_self;
    const struct code_question *asked = skua_msg_data(msg);
    size_t             count  = (msg->bytes - sizeof *asked) / sizeof(struct ski_code_object);
    struct code_answer answer = {.same = 0};
    const struct ski_code_object *differs;

    if ((unsigned)msg->source >= (unsigned)self->pes) {
        ski_net_drop(self, msg);
        return;
    }
    if (count <= SKI_CODE_MAX) {
        differs = ski_code_map_differs(asked->object, count, &answer.mine);
        if (differs)
            answer.yours = *differs;
        answer.same = !differs && self->iso && asked->layout == ski_isomalloc_layout();
    }
    skua_send_copy(msg->source, (skua_handler){SKI_HANDLER_CODE_MAP_ANSWER}, &answer,
                   sizeof answer);
    skua_msg_free(msg);
}

/* Logs why threads cannot move to the process of @p pe, as its answer to the code map shows. */
static void thread_migration_log_difference(const struct ski_pe *self, int pe,
                                            const struct code_answer *answer)
{
    const char *name      = answer->yours.name[0] ? answer->yours.name : "the program";
    bool        same_base = answer->yours.base == answer->mine.base;
    char        why[SKI_CODE_NAME + 384];

    if (!answer->yours.contents)
        snprintf(why, sizeof why,
                 "the address range for their stacks is not free there, or stack_size differs");
    else if (!answer->mine.base && !answer->mine.contents)
        snprintf(why, sizeof why, "%.*s is not loaded there", SKI_CODE_NAME, name);
    else if (same_base && answer->yours.contents == answer->mine.contents)
        snprintf(why, sizeof why,
                 "%.*s was compiled with a stack protector, whose canary differs there; compile "
                 "with -fno-stack-protector, or run PEs as threads of one process (skuarun -t)",
                 SKI_CODE_NAME, name);
    else
        snprintf(why, sizeof why,
                 "%.*s %s (%#llx and %#llx); run PEs as threads of one process (skuarun -t), or "
                 "all processes without address randomisation: SKUA_ASLR=0 with skuarun, "
                 "`setarch -R` with another launcher",
                 SKI_CODE_NAME, name,
                 same_base ? "is another file there" : "is loaded at another address there",
                 (unsigned long long)answer->yours.base, (unsigned long long)answer->mine.base);
    (void)ski_fail(SKUA_ERR_MISMATCH,
                   "objects with user threads inside cannot migrate from PE %d to PE %d: %s",
                   self->pe, pe, why);
}

/* ---- departure ----------------------------------------------------------------------------------
 */

/* Threads of @p object that wait in skua_migrate_now(), and have not moved, get an answer. */
static void thread_migration_answer(struct ski_object *object, skua_status status)
{
    struct skua_thread *thread = ski_object_block(object)->first;

    ski_assert(status != SKUA_OK);
    for (; thread; thread = thread->sibling)
        if (thread->wait == SKI_THREAD_MIGRATES)
            ski_thread_answer_migrate(object->of->self, thread, status);
}

/* The element stays. */
static void thread_migration_cancel(struct ski_object *object)
{
    ski_object_change(object, SKI_ALIVE);
    ski_notify_element_staying(&object->of->self->objects->lifecycle, object);
    thread_migration_answer(object, SKUA_ERR_MISMATCH);
}

/* Takes the next step towards the migration of an element with threads: compares code maps, waits,
 * or leaves. */
static void thread_migration_delayed(struct ski_object *object)
{
    struct ski_pe *self = object->of->self;
    uint32_t       threads;
    uint8_t       *code;

    if (!ski_object_block(object) || !ski_object_block(object)->first)
        return;
    code = thread_migration_code(self->objects, ski_job_process_of(self->job, object->to));
    if (*code == CODE_DIFFERENT) {
        thread_migration_cancel(object);
    } else if (*code == CODE_UNKNOWN) {
        *code = CODE_ASKED;
        thread_migration_ask(self, object->to);
    } else if (*code == CODE_SAME && !thread_migration_threads_move(object, &threads)) {
        ski_notify_element_blocked(&self->objects->lifecycle, object);
    } else if (*code == CODE_SAME && threads == ski_object_entries(object)) {
        ski_notify_element_draining(&self->objects->lifecycle, object);
        if (threads == ski_object_entries(object)) /* no transfer has entered it */
            ski_notify_element_leaving(&self->objects->lifecycle, object);
    }
}

/* Makes @p object leave if it can.  Else threads in skua_migrate_now() continue, unless the answer
 * of another process is awaited. */
static void thread_migration_try(struct ski_pe *self, struct ski_object *object)
{
    struct ski_object_threads *block = ski_object_block(object);
    int                        to    = object->to;

    if (object->state == SKI_LEAVING)
        ski_element_settle(object);
    if (!ski_isomalloc_here(self, block))
        return; /* from here on nothing may be read: another PE uses this memory */
    if (object->state == SKI_LEAVING &&
        *thread_migration_code(self->objects, ski_job_process_of(self->job, to)) == CODE_ASKED)
        return;
    thread_migration_answer(object, SKUA_PENDING);
}

/* A thread that runs for an object waits or, if @p thread is NULL, has ended. */
static void thread_migration_left(struct ski_pe *self, void *owner, struct skua_thread *thread)
{
    struct ski_object *object = owner;

    if (self->objects->measure)
        (void)ski_measure_enter(NULL); /* the object may go */
    if (!thread)
        ski_element_leave(object);
    else if (SKI_UNLIKELY(object->life & SKI_LIFE_CHANGED) || thread->wait == SKI_THREAD_MIGRATES)
        thread_migration_try(self, object);
}

/* Objects of this PE with threads, among which are those that wait for an answer, try again. */
static void thread_migration_try_all(struct ski_pe *self)
{
    struct ski_vector  found = {NULL, 0, 0};
    struct ski_object *object;

    for (struct skua_thread *thread = self->threads.first; thread; thread = thread->next)
        if (thread->object && *thread->siblings == thread)
            ski_vector_push(&found, thread->object);
    while ((object = ski_vector_pop(&found)))
        thread_migration_try(self, object);
    ski_vector_destroy(&found);
}

void ski_on_code_map_answer(skua_msg *msg)
{
    struct ski_pe     *self = ski_self;
    struct code_answer answer;
    int                from = msg->source;
    uint8_t           *code;

    memcpy(&answer, skua_msg_data(msg), sizeof answer);
    skua_msg_free(msg);
    if ((unsigned)from >= (unsigned)self->pes)
        return;
    code = thread_migration_code(self->objects, ski_job_process_of(self->job, from));
    if (*code != CODE_ASKED)
        return;
    *code = answer.same ? CODE_SAME : CODE_DIFFERENT;
    if (!answer.same)
        thread_migration_log_difference(self, from, &answer);
#ifdef SKI_TSAN
    if (answer.same)
        ski_log(SKI_LOG_WARN, "ThreadSanitizer: user threads do not migrate between processes");
    *code = CODE_DIFFERENT;
#endif
    thread_migration_try_all(self);
}

struct ski_iso_move ski_thread_migration_block(struct ski_object *object)
{
    struct ski_object_threads *block = ski_object_block(object);

    return block ? ski_isomalloc_depart(object->of->self, block, object->to)
                 : (struct ski_iso_move){.at = 0};
}

skua_status skua_migrate_now(void *self, int pe)
{
    struct ski_pe      *here   = SKI_SELF();
    struct ski_object  *object = ski_object_of(self);
    struct skua_thread *thread = here->thread;

    if (!thread || (thread->object && thread->object != object))
        ski_misuse("skua_migrate_now: called outside of a threaded entry of %s; skua_migrate() is "
                   "for that",
                   ski_object_text(object));
    skua_migrate(self, pe);
    if (pe == here->pe)
        return SKUA_OK;
    if (!thread->object)
        return SKUA_PENDING; /* threads do not migrate: at the end of the entry */
    if (object->state == SKI_ALIVE)
        return SKUA_ERR_MISMATCH; /* thread_migration_cancel() */
    ski_thread_wait_to_migrate(here, SKI_CALL);
    return (skua_status)thread->migrated;
}

/* ---- baggage ------------------------------------------------------------------------------------
 */

static size_t thread_migration_stack_bytes(const struct ski_object  *object,
                                           const struct skua_thread *thread)
{
    return thread_migration_is_local(object->of->self, object->to)
               ? 0
               : (size_t)(ski_thread_slot_end(thread) - ski_thread_used(thread));
}

static size_t thread_migration_packed_bytes(const struct ski_object *object)
{
    struct ski_object_threads *block = ski_object_block(object);
    size_t                     bytes = 0;

    for (const struct skua_thread *thread = block ? block->first : NULL; thread;
         thread                           = thread->sibling)
        bytes += sizeof(struct thread_packed) + thread_migration_stack_bytes(object, thread);
    return bytes;
}

/* Packs the threads of an element, which leave this PE. */
static void thread_migration_pack(struct ski_object *object, void *to)
{
    struct ski_object_threads *block  = ski_object_block(object);
    struct ski_pe             *self   = object->of->self;
    struct skua_thread        *thread = block ? block->first : NULL, *next;
    char                      *at     = to;

    for (; thread; thread = next) {
        struct thread_packed packed = {.bytes = thread_migration_stack_bytes(object, thread)};

        next = thread->sibling;
        ski_thread_depart(self, thread, object->to);
        ski_unpoison(ski_thread_used(thread), packed.bytes); /* redzones of its frames */
        memcpy(at + sizeof packed, ski_thread_used(thread), packed.bytes);
        packed.move = ski_isomalloc_depart(self, thread->stack.low, object->to);
        memcpy(at, &packed, sizeof packed);
        at += sizeof packed + packed.bytes;
    }
}

/* Returns whether packed threads, which come from another PE, are within their bytes and their
 * stacks are slots. */
static bool thread_migration_packed_valid(const struct ski_collection *all, const void *from,
                                          size_t bytes)
{
    const char *at = from;

    if (bytes && !ski_class_moves_threads(all->class))
        return false;
    while (bytes) {
        struct thread_packed packed;

        if (bytes < sizeof packed)
            return false;
        memcpy(&packed, at, sizeof packed);
        bytes -= sizeof packed;
        if (packed.bytes > bytes || packed.bytes > ski_isomalloc_slot_bytes() ||
            (packed.bytes && packed.bytes < sizeof(struct skua_thread)) ||
            !ski_isomalloc_move_valid(all->self, &packed.move, 0))
            return false;
        bytes -= packed.bytes;
        at += sizeof packed + packed.bytes;
    }
    return true;
}

void ski_thread_migration_add(struct ski_object *object, const struct ski_iso_move *move,
                              const char *stack, size_t bytes)
{
    struct ski_object_threads *block  = ski_object_block(object);
    struct skua_thread        *thread = ski_thread_in_slot((char *)(uintptr_t)move->at);
    char *end = (char *)(uintptr_t)move->at + ski_isomalloc_guard() + ski_isomalloc_slot_bytes();

    ski_unpoison(end - bytes, bytes);
    memcpy(end - bytes, stack, bytes);
    thread->object   = object;
    thread->siblings = &block->first;
    thread->sibling  = block->first;
    thread->name     = ski_entries[(uint16_t)thread->entry].name;
    block->first     = thread;
    ski_thread_arrive(object->of->self, move);
    ski_element_enter(object);
}

static void thread_migration_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    const char *at = from, *end = at + bytes;

    while (at < end) {
        struct thread_packed packed;

        memcpy(&packed, at, sizeof packed);
        ski_thread_migration_add(object, &packed.move, at + sizeof packed, packed.bytes);
        at += sizeof packed + packed.bytes;
    }
}

/* ---- arrival ------------------------------------------------------------------------------------
 */

bool ski_thread_migration_valid(const struct ski_collection *all, const struct ski_iso_move *block)
{
    return !block->at || !all->self->iso ||
           (ski_class_moves_threads(all->class) &&
            ski_isomalloc_move_valid(all->self, block,
                                     ski_object_block_bytes(all->class->def.bytes)));
}

struct ski_object_threads *ski_thread_migration_arrive(const struct ski_collection *all,
                                                       const struct ski_iso_move   *block)
{
    if (!block->at || !all->self->iso) /* the range could not be mapped: threads do not come here */
        return NULL;
    ski_isomalloc_arrive(all->self, block);
    return (struct ski_object_threads *)(uintptr_t)block->at;
}

void ski_thread_migration_discard(const struct ski_collection *all,
                                  const struct ski_iso_move *block, const void *packed,
                                  size_t bytes)
{
    struct ski_pe *self = all->self;
    const char    *at = packed, *end = at + bytes;

    if (!self->iso || !ski_thread_migration_valid(all, block) ||
        !thread_migration_packed_valid(all, packed, bytes))
        return;
    if (block->at) {
        ski_isomalloc_arrive(self, block);
        ski_isomalloc_free(self, (void *)(uintptr_t)block->at);
    }
    while (at < end) {
        struct thread_packed thread;

        memcpy(&thread, at, sizeof thread);
        ski_isomalloc_arrive(self, &thread.move);
        ski_isomalloc_free(self, (void *)(uintptr_t)thread.move.at);
        at += sizeof thread + thread.bytes;
    }
}

/* A wait list in the element is what the class made of it when it packed and unpacked the element,
 * so it is set to what it was. */
void ski_thread_migration_continue(struct ski_object *object)
{
    struct ski_object_threads *block = ski_object_block(object);

    for (struct skua_thread *thread = block ? block->first : NULL; thread;
         thread                     = thread->sibling) {
        if (thread->wait == SKI_THREAD_WAITS && !thread->waiter->woken)
            *thread->list = thread->last;
        if (thread->queued)
            ski_thread_unblock(object->of->self, thread);
        thread->queued = false;
    }
}

static void thread_migration_arrived(struct ski_object *object, int from)
{
    (void)from;
    ski_thread_migration_continue(object);
}

/* ---- life cycle ---------------------------------------------------------------------------------
 */

static void thread_migration_pe_begin(struct ski_objects *objects)
{
    objects->self->threads.left = thread_migration_left;
}

static void thread_migration_pe_end(struct ski_objects *objects)
{
    free(objects->slot[SKI_SLOT_THREAD_MIGRATION]);
}

static const struct ski_baggage thread_migration_baggage = {.bytes  = thread_migration_packed_bytes,
                                                            .pack   = thread_migration_pack,
                                                            .valid  = thread_migration_packed_valid,
                                                            .unpack = thread_migration_unpack};

const struct ski_lifecycle ski_thread_migration_lifecycle = {
    .pe_begin        = thread_migration_pe_begin,
    .pe_end          = thread_migration_pe_end,
    .element_delayed = thread_migration_delayed,
    .element_arrived = thread_migration_arrived,
    .baggage         = &thread_migration_baggage,
};
