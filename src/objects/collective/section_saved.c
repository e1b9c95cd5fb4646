/* SPDX-License-Identifier: Apache-2.0 */
/* section_saved.c - see section_saved.h. */
#include "objects/collective/section_saved.h"

#include "objects/collective/reduction_list.h"

/* The position of an element in a section. */
struct section_position {
    uint64_t id;
    uint32_t next; /* its next reduction */
    uint32_t zero;
};

/* ---- elements ---------------------------------------------------------------------------- */

static void section_saved_count(struct ski_section *section, struct ski_section_member *member,
                                void *arg)
{
    (void)section;
    *(size_t *)arg += member->next > 0;
}

static size_t section_saved_bytes(const struct ski_object *object)
{
    size_t count = 0;

    ski_section_each_of((struct ski_object *)(uintptr_t)object, section_saved_count, &count);
    return count * sizeof(struct section_position);
}

static void section_saved_write(struct ski_section *section, struct ski_section_member *member,
                                void *arg)
{
    struct section_position position = {section->id, member->next, 0};
    char                  **to       = arg;

    if (member->next == 0)
        return;
    memcpy(*to, &position, sizeof position);
    *to += sizeof position;
}

static void section_saved_save(const struct ski_object *object, void *to)
{
    char *at = to;

    ski_section_each_of((struct ski_object *)(uintptr_t)object, section_saved_write, &at);
}

/* An element may have several positions in a section, of generations that it has been in: the last
 * one counts. */
static void section_saved_place(struct ski_object *object, const struct section_position *position)
{
    struct ski_section *section = ski_section_get(object->of->self->objects, position->id, 0);
    skua_index          index   = ski_object_index_get(object);
    struct ski_section_member *member;

    ski_section_set_collection(section, object->of);
    member = ski_section_member_get(section, &index);
    if (!member->object)
        ski_section_member_here(member, object);
    if (ski_seqnum_before(member->next, position->next))
        member->next = position->next;
}

static const char *section_saved_restore(struct ski_object *object, const void *from, size_t bytes)
{
    struct section_position position;

    if (bytes % sizeof position)
        return "its positions in sections are damaged";
    for (size_t at = 0; at < bytes; at += sizeof position) {
        memcpy(&position, (const char *)from + at, sizeof position);
        if (!ski_id_valid(object->of->self, position.id))
            return "it is in a section that is not valid";
        section_saved_place(object, &position);
    }
    return NULL;
}

const struct ski_saved_part ski_section_saved = {section_saved_bytes, section_saved_save,
                                                 section_saved_restore, NULL};

/* ---- partial results --------------------------------------------------------------------- */

void ski_section_each_partial(const struct ski_section *section,
                              void (*fn)(const struct ski_saved_partial *partial, const void *data,
                                         void *arg),
                              void *arg)
{
    const struct ski_reduction_partial *partial = section->reduction.partials;

    for (; partial; partial = partial->next) {
        struct ski_saved_partial saved = {.id     = section->id,
                                          .bytes  = partial->buffer.bytes,
                                          .spec   = partial->buffer.spec,
                                          .to     = partial->buffer.to,
                                          .number = partial->number};

        if (partial->buffer.filled)
            fn(&saved, partial->buffer.data, arg);
    }
}

bool ski_section_add_partial(struct ski_section *section, const struct ski_saved_partial *saved,
                             const void *data)
{
    static const struct ski_reduction_partial fresh;
    struct ski_reduction_partial             *partial;

    if (saved->number - section->reduction.first >= SKI_REDUCTIONS_AHEAD ||
        !ski_reduction_spec_valid(&saved->spec, saved->bytes))
        return false;
    partial =
        *ski_reduction_list_seek(&section->reduction.partials, saved->number, &fresh, sizeof fresh);
    if (!ski_reduction_buffer_fits(&partial->buffer, &saved->spec))
        return false;
    ski_reduction_partial_add(partial, &saved->spec, data, saved->bytes, &saved->to,
                              section->self->pe);
    return true;
}
