/* SPDX-License-Identifier: Apache-2.0 */
/* thread_saved.c - see thread_saved.h. */
#include "objects/location/thread_saved.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sanitizer.h"
#include "core/data/wait_list.h"
#include "core/pe/code_map.h"
#include "core/sched/future.h"
#include "core/sched/thread_move.h"
#include "objects/location/thread_migration.h"
#include "objects/model/element.h"

/* The header of the threads of an element; `objects` of struct ski_code_object follow. */
struct threads_saved {
    uint64_t objects, threads;
};

/* A thread; the bytes of its stack follow. */
struct thread_saved {
    uint64_t at; /* its slot */
    uint64_t bytes;
};

#ifdef SKI_TSAN
static const bool thread_saved_fibers = true;
#else
static const bool thread_saved_fibers = false;
#endif

static struct skua_thread *thread_saved_first(const struct ski_object *object)
{
    const struct ski_object_threads *block = ski_object_block(object);

    return block ? block->first : NULL;
}

static size_t thread_saved_stack_bytes(const struct skua_thread *thread)
{
    return (size_t)(ski_thread_slot_end(thread) - ski_thread_used(thread));
}

void ski_thread_saved_blocks(const struct ski_object *object,
                             void (*fn)(const void *block, void *arg), void *arg)
{
    if (ski_object_block(object))
        fn(ski_object_block(object), arg);
    for (const struct skua_thread *thread = thread_saved_first(object); thread;
         thread                           = thread->sibling)
        fn(thread->stack.low, arg);
}

/* ---- what can be saved ------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool thread_saved_refuse(char *why, size_t room,
                                                                      const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(why, room, format, list);
    va_end(list);
    return false;
}

/* Returns why no thread of this process can be in a checkpoint; NULL: it can. */
static const char *thread_saved_process_refusal(void)
{
    if (thread_saved_fibers)
        return "ThreadSanitizer knows each stack by its process";
    if (!ski_code_is_fixed())
        return "a restart needs the program at the same addresses: run all processes without "
               "address randomisation, by SKUA_ASLR=0 with skuarun, `setarch -R` with another "
               "launcher";
    return NULL;
}

/* Returns why @p thread of @p object cannot be in a checkpoint; NULL: it can. */
static const char *thread_saved_refusal(struct ski_object *object, const struct skua_thread *thread)
{
    if (!ski_thread_can_move(thread) || thread->wait == SKI_THREAD_MIGRATES)
        return "it holds a mutex, or waits for something that stays on this PE";
    if (!ski_thread_migration_list_moves(thread, object))
        return "it waits for a future or counter outside of its object and the stacks of that";
    if (!ski_thread_migration_leaves_process(thread))
        return "AddressSanitizer keeps its locals elsewhere "
               "(ASAN_OPTIONS=detect_stack_use_after_return=0)";
    if (thread->on_host)
        return "its entry has a message, or more than 4096 bytes of data, which stay on this host";
    if (ski_isomalloc_here(object->of->self, thread)->results)
        return "a future on its stack holds a result; copy it, and call skua_future_clear()";
    return NULL;
}

/* Returns the name of the first code object that the threads of @p object run in and that no other
 * process can continue, since its frames hold a canary of the process; NULL: there is none. */
static const char *thread_saved_protected(const struct ski_code_object *map, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (map[i].canary)
            return map[i].name[0] ? map[i].name : "the program";
    return NULL;
}

static void thread_saved_scan(const struct ski_object *object, struct ski_code_scan *scan)
{
    ski_code_scan_begin(scan);
    for (const struct skua_thread *thread = thread_saved_first(object); thread;
         thread                           = thread->sibling) {
        ski_unpoison(ski_thread_used(thread), thread_saved_stack_bytes(thread));
        ski_code_scan_add(scan, ski_thread_used(thread), thread_saved_stack_bytes(thread));
    }
}

/* Returns whether the code that the threads of @p object run in can be continued by another
 * process. */
static bool thread_saved_code_possible(const struct ski_object *object, char *why, size_t room)
{
    struct ski_code_scan    scan;
    struct ski_code_object *map = ski_malloc(SKI_CODE_MAX * sizeof *map);
    const char             *name;

    thread_saved_scan(object, &scan);
    name = thread_saved_protected(map, ski_code_scan_map(&scan, map));
    if (name)
        thread_saved_refuse(why, room,
                            "user threads of %s cannot be saved: %s was compiled with a stack "
                            "protector, whose canary differs in each process; compile with "
                            "-fno-stack-protector",
                            ski_object_text(object), name);
    free(map);
    return !name;
}

/* Returns whether all threads of an object can be saved; else writes the reason to @p why. */
static bool thread_saved_threads_possible(struct ski_object *object, char *why, size_t room)
{
    size_t bytes = 0;

    for (const struct skua_thread *thread = thread_saved_first(object); thread;
         thread                           = thread->sibling) {
        const char *reason = thread_saved_process_refusal();

        if (!reason)
            reason = thread_saved_refusal(object, thread);
        if (reason)
            return thread_saved_refuse(
                why, room, "user thread %s of %s, in %s(), cannot be saved: %s",
                ski_thread_name(thread), ski_object_text(object),
                thread->blocked.name ? thread->blocked.name : "no call", reason);
        bytes += thread_saved_stack_bytes(thread);
    }
    return bytes < UINT32_MAX / 2 || thread_saved_refuse(why, room,
                                                         "user threads of %s cannot be saved: "
                                                         "their stacks have more than 2 GiB",
                                                         ski_object_text(object));
}

/* Returns whether this PE has no share of the isomalloc range, so that no thread which begins here
 * can migrate. */
static bool thread_saved_lacks_addresses(const struct ski_object *object)
{
    return ski_class_moves_threads(object->of->class) && ski_isomalloc_shares() > 0 &&
           (uint64_t)object->of->self->pe >= ski_isomalloc_shares();
}

bool ski_thread_saved_possible(struct ski_object *object, char *why, size_t room)
{
    struct ski_pe *self = object->of->self;

    if (!ski_object_running(object))
        return true;
    if (!ski_thread_migration_possible(object) && thread_saved_lacks_addresses(object))
        return thread_saved_refuse(why, room,
                                   "%s cannot be saved with the user threads that run in it: they "
                                   "began on PE %d, and the job that was restarted has left "
                                   "addresses of stacks for %llu PEs; restart it on no more",
                                   ski_object_text(object), self->pe,
                                   (unsigned long long)ski_isomalloc_shares());
    /* An element that is to migrate, and waits for the end of one-sided operations of its PE, is
     * saved where it is. */
    if ((object->state != SKI_ALIVE && object->state != SKI_LEAVING) ||
        !ski_thread_migration_possible(object))
        return thread_saved_refuse(why, room,
                                   "%s cannot be saved: an entry of it has not returned, and waits "
                                   "in a call, or in a user thread that cannot migrate",
                                   ski_object_text(object));
    if (ski_isomalloc_here(self, object)->results)
        return thread_saved_refuse(why, room,
                                   "%s cannot be saved with the user threads that run in it: a "
                                   "future of it holds a result; call skua_future_clear()",
                                   ski_object_text(object));
    if (ski_futures_chained(self, ski_thread_migration_moves, object))
        return thread_saved_refuse(why, room,
                                   "%s cannot be saved with the user threads that run in it: "
                                   "continuations wait for a future of it",
                                   ski_object_text(object));
    return thread_saved_threads_possible(object, why, room) &&
           thread_saved_code_possible(object, why, room);
}

/* ---- saving ------------------------------------------------------------------------------ */

static size_t thread_saved_bytes(const struct ski_object *object)
{
    struct ski_code_scan scan;
    size_t               bytes = sizeof(struct threads_saved);

    if (!thread_saved_first(object))
        return 0;
    thread_saved_scan(object, &scan);
    bytes += ski_code_scan_map(&scan, NULL) * sizeof(struct ski_code_object);
    for (const struct skua_thread *thread = thread_saved_first(object); thread;
         thread                           = thread->sibling)
        bytes += sizeof(struct thread_saved) + thread_saved_stack_bytes(thread);
    return bytes;
}

/* Writes a thread as if it had departed: a departing thread carries its position in queues and
 * lists. */
static char *thread_saved_write(const struct skua_thread *thread, char *to)
{
    struct thread_saved saved = {(uintptr_t)thread->stack.low, thread_saved_stack_bytes(thread)};
    struct skua_thread  copy  = *thread;

    copy.next = copy.previous = NULL;
    copy.queued               = ski_thread_is_queued(thread);
    if (thread->wait == SKI_THREAD_WAITS)
        copy.last = *thread->list;
    memcpy(to, &saved, sizeof saved);
    to += sizeof saved;
    memcpy(to, ski_thread_used(thread), saved.bytes);
    memcpy(to + ((const char *)thread - ski_thread_used(thread)), &copy, sizeof copy);
    return to + saved.bytes;
}

/* Writes the code objects; returns the first byte after them. */
static char *thread_saved_write_code(const struct ski_object *object, char *to, uint64_t *count)
{
    struct ski_code_scan    scan;
    struct ski_code_object *map = ski_calloc(SKI_CODE_MAX, sizeof *map);

    thread_saved_scan(object, &scan);
    *count = ski_code_scan_map(&scan, map);
    memcpy(to, map, *count * sizeof *map);
    free(map);
    return to + *count * sizeof *map;
}

static void thread_saved_save(const struct ski_object *object, void *to)
{
    struct threads_saved saved = {.threads = 0};
    char                *at    = (char *)to + sizeof saved;

    if (!thread_saved_first(object))
        return;
    at = thread_saved_write_code(object, at, &saved.objects);
    for (const struct skua_thread *thread = thread_saved_first(object); thread;
         thread                           = thread->sibling, saved.threads++)
        at = thread_saved_write(thread, at);
    memcpy(to, &saved, sizeof saved);
}

/* ---- restoring --------------------------------------------------------------------------- */

/* Returns whether the thread in the last bytes of a stack that was read is valid in this
 * program. */
static bool thread_saved_thread_valid(const struct thread_saved *saved, const char *stack)
{
    char              *slot = (char *)(uintptr_t)saved->at;
    char              *end  = slot + ski_isomalloc_guard() + ski_isomalloc_slot_bytes();
    size_t             from = (size_t)(end - (char *)ski_thread_in_slot(slot));
    struct skua_thread thread;

    if (saved->bytes > ski_isomalloc_slot_bytes() || saved->bytes < from)
        return false;
    memcpy(&thread, stack + saved->bytes - from, sizeof thread);
    return thread.entry < ski_handlers.count && thread.wait > SKI_THREAD_STAYS &&
           thread.wait < SKI_THREAD_MIGRATES && ski_thread_used(&thread) == end - saved->bytes &&
           (thread.wait != SKI_THREAD_WAITS ||
            (ski_isomalloc_contains(thread.list) && ski_isomalloc_contains(thread.waiter)));
}

/* Reads the next thread of a part, after *@p at.  Returns its stack; NULL: there is none that is
 * valid. */
static const char *thread_saved_next(struct ski_pe *self, const char **at, const char *end,
                                     struct thread_saved *saved)
{
    const char *stack = *at + sizeof *saved;

    if ((size_t)(end - *at) < sizeof *saved)
        return NULL;
    memcpy(saved, *at, sizeof *saved);
    if (saved->bytes > (size_t)(end - stack) ||
        !ski_isomalloc_may_restore(self, &(struct ski_iso_move){.at = saved->at}, 0) ||
        !thread_saved_thread_valid(saved, stack))
        return NULL;
    *at = stack + saved->bytes;
    return stack;
}

/* Returns why the code that the threads need is not here; NULL: it is. */
static const char *thread_saved_code_refusal(const struct ski_code_object *map, size_t count)
{
    static _Thread_local void    *slot;
    const size_t                  size = 400;
    char                         *why;
    struct ski_code_object        ours;
    const struct ski_code_object *theirs = ski_code_map_differs(map, count, &ours);

    if (!theirs)
        return NULL;
    why = ski_thread_memory(&slot, size);
    snprintf(
        why, size,
        "its user threads need %.*s, which %s (%#llx, and %#llx when it was saved); restart the "
        "same program with SKUA_ASLR=0, since randomised addresses differ in each process",
        SKI_CODE_NAME - 1, theirs->name[0] ? theirs->name : "the program",
        !ours.contents              ? "is not loaded here"
        : ours.base != theirs->base ? "is loaded at another address here"
                                    : "is another file here",
        (unsigned long long)ours.base, (unsigned long long)theirs->base);
    return why;
}

/* Reads what the threads need, and compares it with this process; *@p at becomes the first byte of
 * the threads. */
static const char *thread_saved_restore_code(const struct ski_object *object, const char **at,
                                             const char *end, struct threads_saved *saved)
{
    struct ski_code_object *map;
    const char             *why;

    if (!ski_object_block(object) || !ski_isomalloc_restores(object->of->self))
        return "its user threads need the address range of stacks that the former job had; set "
               "stack_size, thread_migration and the limits of addresses as they were";
    if ((size_t)(end - *at) < sizeof *saved)
        return "its user threads are damaged";
    memcpy(saved, *at, sizeof *saved);
    *at += sizeof *saved;
    if (saved->objects > SKI_CODE_MAX || saved->objects > (size_t)(end - *at) / sizeof *map)
        return "its user threads are damaged";
    map = ski_malloc((saved->objects + 1) * sizeof *map);
    memcpy(map, *at, saved->objects * sizeof *map);
    why = thread_saved_code_refusal(map, saved->objects);
    free(map);
    *at += saved->objects * sizeof *map;
    return why;
}

/* Restores the threads of an object.  Returns NULL, or what is wrong with the record. */
static const char *thread_saved_restore(struct ski_object *object, const void *from, size_t bytes)
{
    const char          *at = from, *end = at + bytes, *why;
    struct threads_saved saved;

    if (bytes == 0)
        return NULL;
    if ((why = thread_saved_restore_code(object, &at, end, &saved)))
        return why;
    for (uint64_t i = 0; i < saved.threads; i++) {
        struct thread_saved thread;
        const char         *stack = thread_saved_next(object->of->self, &at, end, &thread);

        if (!stack)
            return "its user threads are damaged, or two of them have one stack";
        ski_thread_migration_add(object, &(struct ski_iso_move){.at = thread.at}, stack,
                                 thread.bytes);
    }
    return at == end ? NULL : "its user threads are damaged";
}

static const struct ski_saved_part thread_saved_part = {
    thread_saved_bytes, thread_saved_save, thread_saved_restore, ski_thread_migration_continue};

const struct ski_lifecycle ski_thread_saved_lifecycle = {.saved = &thread_saved_part};
