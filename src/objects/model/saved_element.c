/* SPDX-License-Identifier: Apache-2.0 */
/* saved_element.c - see saved_element.h. */
#include "objects/model/saved_element.h"

#include "base/memory.h"
#include "core/isomalloc/isomalloc.h"
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
                                   .block       = (uintptr_t)ski_object_block(object),
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

/* Returns whether the lengths in a head make up its record. */
static bool saved_element_adds_up(const struct ski_saved_element *head)
{
    size_t bytes = sizeof *head + head->index_bytes;

    for (int i = 0; i < SKI_SAVED_MAX; i++)
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

/* Returns why an element cannot be added here; NULL: it can. */
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

/* Adds an element where it was, if it has to be there; NULL: it cannot, as *@p why says. */
static struct ski_object *saved_element_add(struct ski_collection          *all,
                                            const struct ski_saved_element *head,
                                            const skua_index *index, const char **why)
{
    struct ski_pe      *self = all->self;
    struct ski_iso_move move = {.at = head->block};

    if (!ski_isomalloc_restores(self) || !ski_class_moves_threads(all->class))
        return ski_element_add(all, index);
    if (!head->block)
        return ski_element_add_at(all, index, NULL);
    if (!ski_isomalloc_may_restore(self, &move, ski_object_block_bytes(all->class->def.bytes))) {
        *why = "its address is not valid, or is that of another element";
        return NULL;
    }
    ski_isomalloc_arrive(self, &move);
    return ski_element_add_at(all, index, (struct ski_object_threads *)(uintptr_t)head->block);
}

/* Restores what modules have saved of an element, at @p at.  Returns NULL, or what is wrong. */
static const char *saved_element_restore_parts(struct ski_object              *object,
                                               const struct ski_saved_element *head, const char *at)
{
    const struct ski_saved_part *const *part = saved_element_parts(object->of);
    const char                         *why  = NULL;

    for (int i = 0; part[i] && !why; at += head->part_bytes[i++])
        why = part[i]->restore(object, at, head->part_bytes[i]);
    return why;
}

/* Unpacks an element from @p at by its class, and notifies the modules. */
static void saved_element_unpack(struct ski_object *object, const struct ski_saved_element *head,
                                 const char *at)
{
    const struct ski_saved_part *const *part = saved_element_parts(object->of);

    if (object->of->class->def.pup)
        ski_pup_part_unpack(object->of->class->def.pup, object + 1, at, head->class_bytes);
    for (int i = 0; part[i]; i++)
        if (part[i]->restored)
            part[i]->restored(object);
}

struct ski_object *ski_saved_element_restore(struct ski_collection *all, const skua_index *index,
                                             const void *from, const char **why)
{
    struct ski_saved_element head;
    struct ski_object       *object;
    const char              *at = (const char *)from + sizeof head;

    memcpy(&head, from, sizeof head);
    if ((*why = saved_element_refused(all, index)) ||
        !(object = saved_element_add(all, &head, index, why)))
        return NULL;
    at += head.index_bytes;
    object->moves = head.moves;
    ski_notify_element_created(&all->self->objects->lifecycle, object);
    if ((*why = saved_element_restore_parts(object, &head, at)))
        return NULL;
    for (int i = 0; i < SKI_SAVED_MAX; i++)
        at += head.part_bytes[i];
    saved_element_unpack(object, &head, at);
    return object;
}
