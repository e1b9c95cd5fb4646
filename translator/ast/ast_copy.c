/* SPDX-License-Identifier: Apache-2.0 */
/* ast_copy.c - see ast_copy.h.  Copies the nodes that the checker annotates; code and names are
 * shared. */
#include "ast/ast_copy.h"

#include "support/bump.h"

struct ast_parameter *ast_copy_parameters(const struct ast_parameter *list)
{
    struct ast_parameter *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end  = BUMP_NEW(struct ast_parameter);
        **end = *list;
        end   = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct ast_field *ast_copy_fields(const struct ast_field *list)
{
    struct ast_field *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end  = BUMP_NEW(struct ast_field);
        **end = *list;
        end   = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct ast_when_entry *ast_copy_when_entries(const struct ast_when_entry *list)
{
    struct ast_when_entry *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end               = BUMP_NEW(struct ast_when_entry);
        **end              = *list;
        (*end)->parameters = ast_copy_parameters(list->parameters);
        end                = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static struct ast_statement *ast_copy_statements(const struct ast_statement *list)
{
    struct ast_statement *first = NULL, **end = &first;

    for (; list; list = list->next) {
        *end                 = BUMP_NEW(struct ast_statement);
        **end                = *list;
        (*end)->local        = ast_copy_fields(list->local);
        (*end)->when_entries = ast_copy_when_entries(list->when_entries);
        (*end)->body         = ast_copy_statements(list->body);
        (*end)->otherwise    = ast_copy_statements(list->otherwise);
        end                  = &(*end)->next;
    }
    *end = NULL;
    return first;
}

struct ast_entry *ast_copy_entry(const struct ast_entry *entry)
{
    struct ast_entry *copy = BUMP_NEW(struct ast_entry);

    *copy            = *entry;
    copy->next       = NULL;
    copy->parameters = ast_copy_parameters(entry->parameters);
    copy->body       = ast_copy_statements(entry->body);
    return copy;
}
