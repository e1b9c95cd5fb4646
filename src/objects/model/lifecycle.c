/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.c - see lifecycle.h. */
#include "objects/model/lifecycle.h"

#include "base/assert.h"

/* Adds @p fn to the observers of one event; observers that are added first are called first. */
#define LIFECYCLE_ADD(list, fn)                                                                    \
    do {                                                                                           \
        size_t at = 0;                                                                             \
        while ((list)[at])                                                                         \
            at++;                                                                                  \
        ski_assert(at + 1 < sizeof(list) / sizeof *(list));                                        \
        (list)[at] = (fn);                                                                         \
    } while (0)

void ski_lifecycle_add(struct ski_lifecycle_table *table, const struct ski_lifecycle *observer)
{
#define EVENT(name, arguments, ...)                                                                \
    if (observer->name)                                                                            \
        LIFECYCLE_ADD(table->name, observer->name);
#include "objects/model/lifecycle_defs.h"
#undef EVENT
    LIFECYCLE_ADD(table->module, observer);
    if (observer->baggage) {
        LIFECYCLE_ADD(table->baggage, observer->baggage);
        table->baggage_required |= (uint32_t)(observer->baggage->least > 0) << table->baggages++;
    }
    if (observer->saved)
        LIFECYCLE_ADD(table->saved, observer->saved);
    for (const uint32_t *handler = observer->late; handler && *handler; handler++)
        table->late[*handler] = true;
}

#define EVENT(name, arguments, ...)                                                                \
    void ski_notify_##name(const struct ski_lifecycle_table *table, __VA_ARGS__)                   \
    {                                                                                              \
        for (size_t i = 0; table->name[i]; i++)                                                    \
            table->name[i] arguments;                                                              \
    }
#include "objects/model/lifecycle_defs.h"
#undef EVENT
