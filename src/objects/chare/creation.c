/* SPDX-License-Identifier: Apache-2.0 */
/* creation.c - see creation.h. */
#include "base/params_check.h"
#include "objects/chare/creation.h"

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/sched/wait.h"
#include "objects/location/index_map.h"
#include "objects/model/element.h"

_Static_assert(sizeof(struct ski_creation) == SKI_CREATE_MIN, "see creation.h");

/* The announcement of a member of a process group to the other PEs of its process. */
struct creation_adoption {
    uint64_t id;
    void    *member;
};

/* ---- on each PE --------------------------------------------------------------------- */

static void creation_reserve(void *arg, size_t count)
{
    ski_elements_reserve(arg, count);
}

static void creation_make_element(void *arg, const skua_index *index)
{
    struct ski_collection *all = arg;
    size_t                 bytes;
    const void            *data = ski_creation_data(all, &bytes);

    ski_element_create(all, index, 0, data, bytes);
}

static void creation_make_group(struct ski_collection *all)
{
    skua_index index = skua_index1(all->kind == SKI_GROUP ? all->self->pe : all->self->process);

    creation_make_element(all, &index);
}

/* Creates the member of a process group, on the first PE of the process. */
static void creation_make_process_group(struct ski_collection *all)
{
    if (all->self->pe != skua_process_first(all->self->process))
        return;
    creation_make_group(all);
    ski_creation_share_member(all);
}

void ski_creation_share_member(struct ski_collection *all)
{
    struct creation_adoption adoption = {.id = all->id};
    int                      first    = all->self->pe;

    ski_assert(all->live == 1 && first == skua_process_first(all->self->process));
    adoption.member = all->shared = all->object[0] + 1;
    for (int i = 1; i < skua_process_pes(all->self->process); i++)
        skua_send_copy(first + i, (skua_handler){SKI_HANDLER_COLLECTION_ADOPT}, &adoption,
                       sizeof adoption);
}

void ski_on_adopt(skua_msg *msg)
{
    struct creation_adoption adoption = *(struct creation_adoption *)skua_msg_data(msg);
    struct ski_collection   *all;

    if (ski_collection_awaited(ski_self->objects, adoption.id, msg, &all))
        return;
    all->shared = adoption.member;
    skua_msg_free(msg);
    ski_wake_all(all->self, &all->waiters);
}

/* Returns whether a creation that came from another PE is valid. */
static bool creation_valid(const struct ski_creation *creation)
{
    return ski_class_find(creation->class) && creation->kind > SKI_CHARES &&
           creation->kind <= SKI_ARRAY && ski_index_map_valid(&creation->def);
}

/* Sets class, kind and map of a collection, so that messages find their targets; it has no elements
 * yet. */
static void creation_define(struct ski_collection *all, const struct ski_creation *creation)
{
    ski_assert(all->state == SKI_EXPECTED && creation->id == all->id);
    all->state      = SKI_DEFINED;
    all->kind       = (uint8_t)creation->kind;
    all->class      = ski_class_find(creation->class);
    all->def        = creation->def;
    all->sync_point = creation->sync_point;
    if (all->kind == SKI_ARRAY) {
        all->open        = all->def.flags & SKUA_ARRAY_OPEN;
        all->index_bytes = 4 * (uint32_t)all->def.dims;
    } else {
        all->index_bytes = 4;
    }
    ski_directory_init(&all->directory, all->index_bytes);
}

/* Creates the elements whose home is here.  Messages that come meanwhile are kept: a constructor
 * may wait, and its object contribute, while others are still to be created. */
static void creation_populate(struct ski_collection *all)
{
    if (all->kind == SKI_ARRAY)
        ski_index_map_each(&all->def, all->self->pe, all->self->pes, creation_reserve,
                           creation_make_element, all);
    else if (all->kind == SKI_GROUP)
        creation_make_group(all);
    else
        creation_make_process_group(all);
    ski_collection_set_exists(all);
    ski_notify_collection_populated(&all->self->objects->lifecycle, all);
}

/* Delivers the messages, and wakes the calls, that waited for a collection, which exists now. */
static void creation_release(struct ski_collection *all)
{
    ski_msg_unhold(all->self, &all->held);
    ski_wake_all(all->self, &all->waiters);
}

struct ski_collection *ski_creation_restore(struct ski_objects *objects, const void *creation,
                                            size_t bytes)
{
    struct ski_creation    copy;
    struct ski_collection *all;

    if (bytes < sizeof copy)
        return NULL;
    memcpy(&copy, creation, sizeof copy);
    all = creation_valid(&copy) ? ski_collection_expect(objects, copy.id) : NULL;
    if (!all || all->state != SKI_EXPECTED)
        return NULL;
    creation_define(all, &copy);
    all->creation = ski_msg_copy(objects->self, SKI_HANDLER_COLLECTION_CREATE, creation, bytes);
    return all;
}

void ski_creation_restored(struct ski_collection *all)
{
    ski_assert(all->state == SKI_DEFINED);
    ski_collection_set_exists(all);
    ski_notify_collection_populated(&all->self->objects->lifecycle, all);
    creation_release(all);
}

void ski_on_create(skua_msg *msg)
{
    struct ski_creation   *creation = skua_msg_data(msg);
    struct ski_collection *all      = ski_collection_expect(ski_self->objects, creation->id);

    if (!all || all->state > SKI_DEFINED || !creation_valid(creation))
        ski_fatal("PE %d sent an invalid creation of a collection (%llx)", msg->source,
                  (unsigned long long)creation->id);
    if (all->state == SKI_EXPECTED)
        creation_define(all, creation);
    all->creation = msg;
    creation_populate(all);
    creation_release(all);
}

/* Ends the job if a dimension of an array ends before it begins. */
static void creation_check_range(const char *call, const struct ski_class *of,
                                 const skua_range *range)
{
    const int most = (int)(sizeof range->upper / sizeof *range->upper);

    if (range->dims < 0 || range->dims > most)
        ski_misuse("%s: an array of %s of %d dimensions; there are up to %d", call, of->def.name,
                   range->dims, most);
    for (int d = 0; d < range->dims; d++)
        if (range->upper[d] < range->lower[d])
            ski_misuse("%s: dimension %d of the array of %s has %lld elements", call, d + 1,
                       of->def.name, (long long)range->upper[d] - range->lower[d]);
}

/* Creates a collection: this PE knows it when the call returns, and a broadcast announces it to all
 * PEs. */
static skua_collection creation_send(const char *call, skua_class of, enum ski_kind kind,
                                     const skua_array_def *def, const void *data, size_t bytes)
{
    struct ski_pe         *self = ski_pe_of_caller(call);
    skua_msg              *msg  = skua_msg_alloc(sizeof(struct ski_creation) + bytes);
    struct ski_creation   *made = skua_msg_data(msg);
    struct ski_collection *known;
    skua_collection        all;

    if (!ski_class_find(of.id))
        ski_misuse("%s: its class was never registered; call skua_class_register() before "
                   "skua_main()",
                   call);
    if (def)
        creation_check_range(call, ski_class_find(of.id), &def->range);
    memset(made, 0, sizeof *made);
    made->id    = ski_id_make((uint64_t)self->pe, ++self->objects->collections_created);
    made->class = of.id;
    made->kind  = kind;
    if (def) {
        made->def = *def;
        ski_index_map_prepare(call, &made->def);
    }
    if (bytes)
        memcpy(made + 1, data, bytes);
    all.id           = made->id;
    known            = ski_collection_expect(self->objects, made->id);
    made->sync_point = known->sync_point;
    creation_define(known, made); /* a target immediately */
    if (self->objects->hold_creation)
        self->objects->hold_creation(self, msg);
    else
        ski_broadcast(self, SKI_HANDLER_COLLECTION_CREATE, msg);
    return all;
}

skua_collection skua_group_create(skua_class of, const void *data, size_t bytes)
{
    return creation_send(__func__, of, SKI_GROUP, NULL, data, bytes);
}

skua_collection skua_process_group_create(skua_class of, const void *data, size_t bytes)
{
    return creation_send(__func__, of, SKI_PROCESS_GROUP, NULL, data, bytes);
}

skua_collection skua_array_create(skua_class of, const skua_array_def *def, const void *data,
                                  size_t bytes)
{
    ski_params_check(__func__, "skua_array_def", def->size, sizeof *def);
    return creation_send(__func__, of, SKI_ARRAY, def, data, bytes);
}

skua_collection skua_array_create1(skua_class of, int n, const void *data, size_t bytes)
{
    skua_array_def def = {.dims = 1, .range = {.dims = 1, .upper = {n}}};

    return creation_send(__func__, of, SKI_ARRAY, &def, data, bytes);
}

skua_collection skua_array_create2(skua_class of, int n, int m, const void *data, size_t bytes)
{
    skua_array_def def = {.dims = 2, .range = {.dims = 2, .upper = {n, m}}};

    return creation_send(__func__, of, SKI_ARRAY, &def, data, bytes);
}

skua_collection skua_array_create3(skua_class of, int n, int m, int k, const void *data,
                                   size_t bytes)
{
    skua_array_def def = {.dims = 3, .range = {.dims = 3, .upper = {n, m, k}}};

    return creation_send(__func__, of, SKI_ARRAY, &def, data, bytes);
}

/* ---- the end ------------------------------------------------------------------------ */

static void creation_end_object(struct ski_object *object, void *arg)
{
    (void)arg;
    if (ski_object_running(object))
        ski_object_change(object, SKI_DYING);
    else if (object->state == SKI_ALIVE || object->state == SKI_LEAVING)
        ski_element_end(object);
}

/* Lets skua_group_local() look again: the member of @p all on this PE ends. */
static void creation_forget_member(const struct ski_collection *all)
{
    if (all->self->objects->local_group == all->id)
        all->self->objects->local_group = SKI_NO_GROUP;
}

void ski_collection_end(struct ski_collection *all)
{
    const struct ski_lifecycle_table *lifecycle = &all->self->objects->lifecycle;

    ski_assert(all->state == SKI_EXISTS);
    all->state       = SKI_ENDED;
    all->quick_bytes = SKI_NO_INDEX;
    all->pair_bytes  = SKI_NO_INDEX;
    creation_forget_member(all);
    ski_notify_collection_ending(lifecycle, all);
    ski_elements_each(all, creation_end_object, NULL);
    ski_notify_collection_ended(lifecycle, all);
    ski_directory_destroy(&all->directory);
    all->directory = (struct ski_directory){0};
    skua_msg_free(all->creation);
    all->creation = NULL;
    all->shared   = NULL;
    if (all->objects == 0) { /* else some are running, and leave the list later */
        free(all->object);
        free(all->load);
        all->object      = NULL;
        all->load        = NULL;
        all->object_room = 0;
    }
}

/* Destroys an object, also with user threads inside: they will not be resumed. */
static void creation_destroy_object(struct ski_object *object, void *arg)
{
    (void)arg;
    if (object->state >= SKI_DEAD)
        return;
    ski_object_change(object, SKI_DEAD);
    creation_forget_member(object->of);
    ski_element_destroy(object);
}

static void creation_destroy(struct ski_collection *all, void *arg)
{
    (void)arg;
    ski_elements_each(all, creation_destroy_object, NULL);
}

void ski_collections_destroy(struct ski_objects *objects)
{
    ski_collections_each(objects, creation_destroy, NULL);
}
