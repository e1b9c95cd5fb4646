/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - see copy.h.  What the checker changes is copied; code and names are shared. */
#include "copy.h"

#include "arena.h"

struct parameter *copy_parameters(const struct parameter *list)
{
    struct parameter *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end  = ARENA_NEW(struct parameter);
        **end = *list;
        end   = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct field *copy_fields(const struct field *list)
{
    struct field *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end  = ARENA_NEW(struct field);
        **end = *list;
        end   = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct trigger *copy_triggers(const struct trigger *list)
{
    struct trigger *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end               = ARENA_NEW(struct trigger);
        **end              = *list;
        (*end)->parameters = copy_parameters(list->parameters);
        end                = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct statement *copy_statements(const struct statement *list)
{
    struct statement *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end              = ARENA_NEW(struct statement);
        **end             = *list;
        (*end)->local     = copy_fields(list->local);
        (*end)->triggers  = copy_triggers(list->triggers);
        (*end)->body      = copy_statements(list->body);
        (*end)->otherwise = copy_statements(list->otherwise);
        end               = &(*end)->next;
    }
    *end = NULL;
    return first;
}

struct entry *copy_entry(const struct entry *entry)
{
    struct entry *copy = ARENA_NEW(struct entry);

    *copy            = *entry;
    copy->next       = NULL;
    copy->parameters = copy_parameters(entry->parameters);
    copy->body       = copy_statements(entry->body);
    return copy;
}
