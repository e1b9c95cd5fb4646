/* SPDX-License-Identifier: Apache-2.0 */
/* saved_element.c - see saved_element.h. */
#include "objects/model/saved_element.h"

#include "base/memory.h"
#include "objects/model/pup.h"

static const struct ski_saved_part *const *saved_element_parts(const struct ski_collection *all)
{
    return all->self->objects->lifecycle.saved;
}

static size_t saved_element_round(size_t bytes)
{
    return (bytes + SKI_SAVED_ALIGN - 1) & ~(size_t)(SKI_SAVED_ALIGN - 1);
}

/* ---- saving -------------------------------------------------------------------------- */

size_t ski_saved_element_measure(struct ski_object *object, struct ski_saved_element *head)
{
    const struct ski_saved_part *const *part  = saved_element_parts(object->of);
    size_t                              bytes = sizeof *head + object->index_bytes;

    *head =
        (struct ski_saved_element){.id          = object->of->id,
                                   .moves       = object->moves,
                                   .index_bytes = object->index_bytes,
                                   .class_bytes = ski_pup_measure(object->of->class, object + 1)};
    for (int i = 0; part[i]; i++)
        bytes += head->part_bytes[i] = (uint32_t)part[i]->bytes(object);
    head->bytes = saved_element_round(bytes + head->class_bytes);
    return head->bytes;
}

void ski_saved_element_write(struct ski_object *object, const struct ski_saved_element *head,
                             void *to)
{
    const struct ski_saved_part *const *part = saved_element_parts(object->of);
    char                               *at   = to;

    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    memcpy(at, ski_object_index(object), head->index_bytes);
    at += head->index_bytes;
    for (int i = 0; part[i]; at += head->part_bytes[i++])
        part[i]->save(object, at);
    if (object->of->class->def.pup)
        ski_pup_part_pack(object->of->class->def.pup, object + 1, at, head->class_bytes);
    at += head->class_bytes;
    memset(at, 0, (size_t)((char *)to + head->bytes - at));
}

/* ---- restoring ----------------------------------------------------------------------- */

/* Whether the lengths in a head make up its record. */
static bool saved_element_adds_up(const struct ski_saved_element *head)
{
    size_t bytes = sizeof *head + head->index_bytes;

    for (int i = 0; i < SKI_SAVED_MOST; i++)
        bytes += head->part_bytes[i];
    return head->index_bytes <= SKUA_INDEX_MAX && head->class_bytes <= head->bytes &&
           head->bytes == saved_element_round(bytes + head->class_bytes);
}

bool ski_saved_element_read(const void *from, size_t left, struct ski_saved_element *head,
                            skua_index *index)
{
    if (left < sizeof *head)
        return false;
    memcpy(head, from, sizeof *head);
    if (head->bytes > left || !saved_element_adds_up(head))
        return false;
    *index = (skua_index){.bytes = head->index_bytes};
    memcpy(&index->at, (const char *)from + sizeof *head, head->index_bytes);
    return true;
}

/* Why an element cannot be added here; NULL: it can. */
static const char *saved_element_refused(const struct ski_collection *all, const skua_index *index)
{
    if (!ski_class_moves(all->class))
        return "its class has no `pup` in this program";
    if (all->index_bytes && all->index_bytes != index->bytes)
        return "its index has another number of dimensions";
    if (ski_directory_find(&all->directory, index))
        return "it is in the checkpoint twice";
    return NULL;
}

struct ski_object *ski_saved_element_restore(struct ski_collection *all, const skua_index *index,
                                             const void *from, const char **why)
{
    const struct ski_saved_part *const *part = saved_element_parts(all);
    struct ski_saved_element            head;
    struct ski_object                  *object;
    const char                         *at = (const char *)from + sizeof head;

    memcpy(&head, from, sizeof head);
    if ((*why = saved_element_refused(all, index)))
        return NULL;
    at += head.index_bytes;
    object        = ski_element_add(all, index);
    object->moves = head.moves;
    ski_notify_element_created(&all->self->objects->lifecycle, object);
    for (int i = 0; part[i]; at += head.part_bytes[i++])
        if (!part[i]->restore(object, at, head.part_bytes[i])) {
            *why = "the state that a module of the runtime has saved of it is not valid";
            return NULL;
        }
    if (all->class->def.pup)
        ski_pup_part_unpack(all->class->def.pup, object + 1, at, head.class_bytes);
    return object;
}
