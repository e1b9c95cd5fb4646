/* SPDX-License-Identifier: Apache-2.0 */
/* class.c - see class.h. */
#include "base/params_check.h"
#include "objects/model/class.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/handler.h"

struct ski_entry *ski_entries;
struct ski_entry *ski_entries_measured;

static struct ski_class **classes;
static uint32_t           class_count;
static bool               class_balanced; /* one of them is */
static bool               class_async;    /* one of them is, and does not wait at sync points */

void ski_entries_init(void)
{
    if (!ski_entries)
        ski_entries = ski_calloc(UINT16_MAX + 1, sizeof *ski_entries);
}

/* Returns a unique name: libraries that do not know of each other may have classes of the same
 * name, and the second such class is "name#2". */
static const char *class_own_name(const char *name)
{
    uint32_t same = 1;
    size_t   bytes;
    char    *full;

    for (uint32_t i = 0; i < class_count; i++)
        same += strcmp(classes[i]->given, name) == 0;
    if (same == 1)
        return name;
    bytes = strlen(name) + sizeof "#4294967295";
    full  = ski_malloc(bytes);
    snprintf(full, bytes, "%s#%u", name, same);
    return full;
}

skua_class skua_class_register(const skua_class_def *def)
{
    struct ski_class *made = ski_malloc(sizeof *made);

    ski_params_check(__func__, "skua_class_def", def->size, sizeof *def);
    if (!def->name)
        ski_misuse("%s: the class has no name", __func__);
    if (def->flags & ~(unsigned)SKUA_CLASS_BY_POINTER)
        ski_misuse("%s: class %s has flags 0x%x, of which this library knows SKUA_CLASS_BY_POINTER "
                   "(0x%x) alone",
                   __func__, def->name, def->flags, (unsigned)SKUA_CLASS_BY_POINTER);
    *made          = (struct ski_class){.def = *def, .id = class_count + 1, .given = def->name};
    made->def.name = class_own_name(def->name);
    ski_register_name(__func__, "class", made->def.name);
    classes                = ski_realloc(classes, (class_count + 1) * sizeof *classes);
    classes[class_count++] = made;
    return (skua_class){made->id};
}

/* Ends the job if the parameters of the balancing of a class are not valid. */
static void class_check_balance(const char *call, const struct ski_class *of,
                                const skua_balance_params *params)
{
    ski_params_check(call, "skua_balance_params", params->size, sizeof *params);
    if (of->balance)
        ski_misuse("%s: called twice for class %s", call, of->def.name);
    if (params->flags & ~(unsigned)SKUA_BALANCE_AT_SYNC)
        ski_misuse("%s: class %s: there is no flag %#x", call, of->def.name, params->flags);
    if (params->resume.id && ski_entry_find(call, params->resume)->of != of)
        ski_misuse("%s: `resume` is not an entry of class %s", call, of->def.name);
    if (params->flags & SKUA_BALANCE_AT_SYNC && !params->resume.id)
        ski_misuse("%s: class %s waits at sync points, and names no entry `resume`", call,
                   of->def.name);
}

void ski_class_set_balance(const char *call, skua_class of, const skua_balance_params *params)
{
    if (of.id - 1 >= class_count)
        ski_misuse("%s: the class was never registered; call skua_class_register() first", call);
    class_check_balance(call, classes[of.id - 1], params);
    classes[of.id - 1]->balance  = ski_malloc(sizeof *params);
    *classes[of.id - 1]->balance = *params;
    class_balanced               = true;
    class_async |= !(params->flags & SKUA_BALANCE_AT_SYNC);
}

bool ski_classes_balanced(void)
{
    return class_balanced;
}

bool ski_classes_balanced_async(void)
{
    return class_async;
}

void ski_class_set_flow(skua_class of, const void *flow, size_t frame_at,
                        bool (*report)(const struct ski_object *object, struct ski_text *text),
                        const struct ski_baggage *baggage)
{
    struct ski_class *class = classes[of.id - 1];

    ski_assert(of.id - 1 < class_count && flow && report);
    class->flow        = flow;
    class->frame_at    = frame_at;
    class->flow_report = report;
    if (ski_class_by_pointer(class))
        class->baggage = baggage;
}

const struct ski_class *ski_class_find(uint32_t id)
{
    return id - 1 < class_count ? classes[id - 1] : NULL; /* 0 wraps around */
}

bool ski_class_any_moves_threads(void)
{
    for (uint32_t i = 0; i < class_count; i++)
        if (ski_class_moves_threads(classes[i]))
            return true;
    return false;
}

/* Returns "Class::name", which is never freed. */
static char *class_entry_name(const struct ski_class *of, const char *name)
{
    size_t bytes = strlen(of->def.name) + strlen(name) + 3;
    char  *full  = ski_malloc(bytes);

    snprintf(full, bytes, "%s::%s", of->def.name, name);
    return full;
}

skua_entry ski_entry_add(const char *call, skua_class of, const struct ski_entry *entry,
                         skua_handler_fn fn)
{
    const struct ski_class *class = ski_class_find(of.id);
    struct ski_entry *made;
    skua_handler      handler;

    if (!class)
        ski_misuse("%s(\"%s\"): its class was never registered; call skua_class_register() first",
                   call, entry->name);
    if (!entry->name || (!entry->entry && !entry->method))
        ski_misuse("%s: entry %s of class %s has no %s", call, entry->name ? entry->name : "?",
                   class->def.name, entry->name ? "function" : "name");
    if (entry->flags & SKUA_ENTRY_SYNC && !entry->method)
        ski_misuse("%s(\"%s\"): only a method can be SKUA_ENTRY_SYNC", call, entry->name);
    if (entry->flags & SKUA_ENTRY_INLINE && entry->flags & SKUA_ENTRY_THREADED)
        ski_misuse("%s(\"%s\"): an entry that runs in a thread cannot be called inline", call,
                   entry->name);
    if ((entry->flags & SKI_ENTRY_CREATES) == SKI_ENTRY_CREATES)
        ski_misuse("%s(\"%s\"): an element is created at its home or where the message comes "
                   "from, not at both",
                   call, entry->name);
    ski_assert(!entry->entry != !entry->method);
    classes[of.id - 1]->threaded |= entry->flags & SKUA_ENTRY_THREADED;
    handler = ski_handler_register(call, class_entry_name(class, entry->name), fn);
    ski_entries_init();
    ski_assert(handler.id <= UINT16_MAX && !ski_entries[handler.id].of);
    made     = &ski_entries[handler.id];
    *made    = *entry;
    made->of = class;
    if (ski_class_by_pointer(class))
        made->flags |= SKI_ENTRY_NAMED;
    made->plain = made->flags & ~SKI_ENTRY_CREATES ? NULL : made->method;
    return (skua_entry){handler.id};
}

void ski_entry_unknown(const char *call, skua_entry entry)
{
    ski_misuse("%s: there is no entry %u; skua_entry_register() makes them, before skua_main()",
               call, entry.id);
}
