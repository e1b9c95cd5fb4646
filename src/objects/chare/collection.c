/* SPDX-License-Identifier: Apache-2.0 */
/* collection.c - see collection.h. */
#include "objects/chare/collection.h"

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/sched/wait.h"
#include "objects/chare/creation_wait.h"
#include "objects/chare/invoke.h"
#include "objects/zerocopy/learned_channel.h"
#include "objects/location/location.h"
#include "objects/location/index_map.h"
#include "objects/collective/section_multicast.h"
#include "objects/zerocopy/nocopy.h"
#include "objects/services/program.h"
#include "objects/collective/section.h"

/* What a collection is created with; the constructors' data follows. */
struct creation {
    _Alignas(32) uint64_t id;
    uint32_t class;
    uint32_t       kind;
    skua_array_def def;
};

_Static_assert(sizeof(struct creation) == SKI_CREATE_LEAST, "see collection.h");

/* A member of a process group, told to the other PEs of its process. */
struct adoption {
    uint64_t id;
    void    *member;
};

#define NEVER UINT32_MAX /* bytes of an index */

/* ---- the table -------------------------------------------------------------------- */

static struct ski_collection nobody = {.id = UINT64_MAX, .quick_bytes = NEVER, .pair_bytes = NEVER};

static uint64_t slot_of(const struct ski_objects *objects, uint64_t id)
{
    uint64_t at = (id * SKI_GOLDEN >> 32) & objects->mask;

    while (objects->table[at] && objects->table[at]->id != id)
        at = (at + 1) & objects->mask;
    return at;
}

static void grow(struct ski_objects *objects)
{
    struct ski_collection **old  = objects->table;
    uint64_t                room = old ? objects->mask + 1 : 0;

    objects->mask  = room ? 2 * room - 1 : 15;
    objects->table = ski_calloc(objects->mask + 1, sizeof *objects->table);
    for (uint64_t i = 0; i < room; i++)
        if (old[i])
            objects->table[slot_of(objects, old[i]->id)] = old[i];
    free(old);
}

/* One that this PE has heard of, and nothing more. */
static struct ski_collection *expect(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = ski_calloc(1, sizeof *all);

    if (2 * ++objects->count > objects->mask)
        grow(objects);
    all->id          = id;
    all->quick_bytes = NEVER;
    all->pair_bytes  = NEVER;
    all->self        = objects->self;
    all->root        = (int32_t)(id >> 32);
    ski_list_init(&all->held);
    ski_everyone_init(&all->everyone);
    ski_closing_init(&all->closing);
    return objects->table[slot_of(objects, id)] = all;
}

/* It has its objects here from now on, which may be found the quick ways. */
static void exist(struct ski_collection *all)
{
    all->state = SKI_EXISTS;
    if (all->directory.exact)
        all->quick_bytes = all->index_bytes;
    else if (all->index_bytes == 12 || all->index_bytes == 16)
        all->pair_bytes = all->index_bytes;
}

/* The single objects of a class: nobody creates that collection, it is there. */
static struct ski_collection *expect_chares(struct ski_objects *objects, uint64_t id)
{
    const struct ski_class *class = ski_class_find((uint32_t)id);
    struct ski_collection *all;

    if (!class)
        return NULL;
    all              = expect(objects, id);
    all->kind        = SKI_CHARES;
    all->class       = class;
    all->index_bytes = 16;
    ski_directory_init(&all->directory, all->index_bytes);
    exist(all);
    return all;
}

struct ski_collection *ski_collection_search(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = objects->table[slot_of(objects, id)];

    if (!all && id >> 32 == SKI_NO_PE)
        all = expect_chares(objects, id);
    if (all)
        objects->last = all;
    return all;
}

static struct ski_collection *search_or_expect(struct ski_objects *objects, uint64_t id)
{
    struct ski_collection *all = ski_collection_search(objects, id);

    return all || !ski_name_possible(objects->self, id) ? all : expect(objects, id);
}

struct ski_collection *ski_collection_get(struct ski_objects *objects, const char *call,
                                          uint64_t id)
{
    struct ski_collection *all = search_or_expect(objects, id);

    if (!all)
        ski_misuse("%s: %llx is no collection that was ever created", call, (unsigned long long)id);
    if (all->state == SKI_ENDED)
        ski_misuse("%s: a collection of %s that was deleted", call, all->class->def.name);
    return all;
}

void ski_discard(skua_msg *msg)
{
    if (ski_everyone_has_parts(msg) || ski_multicast_has_parts(msg)) {
        ski_parts_drop(msg);
        return;
    }
    if (ski_msg_lands(msg)) {
        ski_lane_dropped(msg);
        msg = ski_landing_whole(msg);
    }
    skua_msg_free(msg);
}

void ski_discard_held(struct ski_pe *self, struct ski_list *held)
{
    skua_msg *msg;

    while ((msg = ski_list_pop(held))) {
        self->held--;
        ski_discard(msg);
    }
}

/* Whether a message is the runtime's own, and may well come after the end of its collection: an
 * insertion right before the deletion, and what the runtime does by itself. */
static bool collection_may_be_late(const skua_msg *msg)
{
    switch (msg->handler) {
    case SKI_HANDLER_INSERT:
    case SKI_HANDLER_EVERYONE_CAME:
    case SKI_HANDLER_LOCATED:
    case SKI_HANDLER_PROBE:
    case SKI_HANDLER_PROBED:
    case SKI_HANDLER_CHECK:
    case SKI_HANDLER_CHECKED:
    case SKI_HANDLER_CLOSING: return true;
    default: return false;
    }
}

void ski_dropped(const struct ski_collection *all, skua_msg *msg)
{
    if (!collection_may_be_late(msg))
        ski_log(SKI_LOG_WARN, "a message from PE %d to a collection of %s that was deleted",
                msg->source, all->class->def.name);
    ski_discard(msg);
}

bool ski_collection_awaited(struct ski_objects *objects, uint64_t id, skua_msg *msg,
                            struct ski_collection **found)
{
    struct ski_collection *all = ski_collection_find(objects, id);

    if (SKI_LIKELY(all && all->state == SKI_EXISTS)) {
        *found = all;
        return false;
    }
    all = search_or_expect(objects, id);
    if (!all)
        ski_fatal("PE %d sent a message to %llx, which is no collection", msg->source,
                  (unsigned long long)id);
    if (all->state == SKI_ENDED) {
        ski_dropped(all, msg);
        return true;
    }
    ski_hold(objects->self, &all->held, msg);
    return true;
}

/* ---- members ------------------------------------------------------------------------- */

void ski_member_add(struct ski_collection *all, struct ski_object *object)
{
    if (all->members == all->member_room) {
        all->member_room = all->member_room ? 2 * all->member_room : 4;
        all->member      = ski_realloc(all->member, all->member_room * sizeof(struct ski_object *));
    }
    object->place               = all->members;
    all->member[all->members++] = object;
    all->live++;
}

void ski_member_remove(struct ski_collection *all, struct ski_object *object)
{
    all->live--;
    if (all->walking) {
        all->member[object->place] = NULL; /* a hole, until nobody walks */
    } else {
        all->member[object->place]        = all->member[--all->members];
        all->member[object->place]->place = object->place;
    }
}

void ski_close_holes(struct ski_collection *all)
{
    uint32_t to = 0;

    for (uint32_t from = 0; from < all->members; from++)
        if (all->member[from]) {
            all->member[to]        = all->member[from];
            all->member[to]->place = to;
            to++;
        }
    all->members = to;
}

/* ---- creation ------------------------------------------------------------------------- */

const void *ski_creation_data(const struct ski_collection *all, size_t *bytes)
{
    struct creation *creation = skua_msg_data(all->creation);

    *bytes = all->creation->bytes - sizeof *creation;
    return creation + 1;
}

static void make_room(void *arg, size_t count)
{
    struct ski_collection *all = arg;

    ski_directory_reserve(&all->directory, count);
    all->member_room = all->members + (uint32_t)count;
    all->member =
        ski_realloc(all->member, (all->member_room ? all->member_room : 1) * sizeof *all->member);
}

static void make_element(void *arg, const skua_index *index)
{
    struct ski_collection *all = arg;
    size_t                 bytes;
    const void            *data = ski_creation_data(all, &bytes);

    ski_object_create(all, index, 0, data, bytes);
}

static void make_group(struct ski_collection *all)
{
    skua_index index = skua_index1(all->kind == SKI_GROUP ? all->self->pe : all->self->process);

    make_element(all, &index);
}

/* The member of the process, and its address for the other PEs there. */
static void make_process_group(struct ski_collection *all)
{
    struct adoption adoption = {.id = all->id};
    int             first    = skua_process_first(all->self->process);

    if (all->self->pe != first)
        return;
    make_group(all);
    adoption.member = all->shared = all->member[0] + 1;
    for (int i = 1; i < skua_process_pes(all->self->process); i++)
        skua_send_copy(first + i, (skua_handler){SKI_HANDLER_ADOPT}, &adoption, sizeof adoption);
}

void ski_on_adopt(skua_msg *msg)
{
    struct adoption        adoption = *(struct adoption *)skua_msg_data(msg);
    struct ski_collection *all;

    if (ski_collection_awaited(ski_self->objects, adoption.id, msg, &all))
        return;
    all->shared = adoption.member;
    skua_msg_free(msg);
    ski_wake_all(all->self, &all->waiters);
}

/* Whether a creation that came from elsewhere makes sense. */
static bool is_right(const struct creation *creation)
{
    return ski_class_find(creation->class) && creation->kind > SKI_CHARES &&
           creation->kind <= SKI_ARRAY && ski_map_right(&creation->def);
}

/* What it is, so that messages find their way; it has no objects yet. */
static void establish(struct ski_collection *all, const struct creation *creation)
{
    all->state = SKI_DEFINED;
    all->kind  = (uint8_t)creation->kind;
    all->class = ski_class_find(creation->class);
    all->def   = creation->def;
    if (all->kind == SKI_ARRAY) {
        all->open        = all->def.flags & SKUA_ARRAY_OPEN;
        all->index_bytes = 4 * (uint32_t)all->def.dims;
    } else {
        all->index_bytes = 4;
    }
    ski_directory_init(&all->directory, all->index_bytes);
}

/* What comes meanwhile is kept: a constructor may wait, and its object contribute, while
 * others are still to be made. */
static void populate(struct ski_collection *all)
{
    if (all->kind == SKI_ARRAY)
        ski_map_each(&all->def, all->self->pe, all->self->pes, make_room, make_element, all);
    else if (all->kind == SKI_GROUP)
        make_group(all);
    else
        make_process_group(all);
    exist(all);
    ski_reducing_complete(all);
}

void ski_on_create(skua_msg *msg)
{
    struct creation       *creation = skua_msg_data(msg);
    struct ski_collection *all      = search_or_expect(ski_self->objects, creation->id);

    if (!all || all->state > SKI_DEFINED || !is_right(creation))
        ski_fatal("PE %d created a collection that makes no sense", msg->source);
    if (all->state == SKI_EXPECTED)
        establish(all, creation);
    all->creation = msg;
    populate(all);
    ski_unhold(all->self, &all->held);
    ski_wake_all(all->self, &all->waiters);
}

/* Ends the job if a dimension of an array ends before it begins. */
static void check_range(const char *call, const struct ski_class *of, const skua_range *range)
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

static skua_collection create(const char *call, skua_class of, enum ski_kind kind,
                              const skua_array_def *def, const void *data, size_t bytes)
{
    struct ski_pe   *self = SKI_SELF();
    skua_msg        *msg  = skua_msg_alloc(sizeof(struct creation) + bytes);
    struct creation *made = skua_msg_data(msg);
    skua_collection  all;

    if (!ski_class_find(of.id))
        ski_misuse("%s: its class was never registered", call);
    if (def)
        check_range(call, ski_class_find(of.id), &def->range);
    memset(made, 0, sizeof *made);
    made->id    = ski_name((uint64_t)self->pe, ++self->objects->created);
    made->class = of.id;
    made->kind  = kind;
    if (def)
        made->def = *def;
    if (def)
        ski_map_prepare(call, &made->def);
    if (bytes)
        memcpy(made + 1, data, bytes);
    all.id = made->id;
    establish(expect(self->objects, made->id), made); /* ours may be sent to at once */
    if (self->objects->gate)
        ski_program_creates(self, msg);
    else
        ski_broadcast(self, SKI_HANDLER_CREATE, msg);
    return all;
}

skua_collection skua_group_create(skua_class of, const void *data, size_t bytes)
{
    return create(__func__, of, SKI_GROUP, NULL, data, bytes);
}

skua_collection skua_process_group_create(skua_class of, const void *data, size_t bytes)
{
    return create(__func__, of, SKI_PROCESS_GROUP, NULL, data, bytes);
}

skua_collection skua_array_create(skua_class of, const skua_array_def *def, const void *data,
                                  size_t bytes)
{
    return create(__func__, of, SKI_ARRAY, def, data, bytes);
}

skua_collection skua_array1(skua_class of, int n, const void *data, size_t bytes)
{
    skua_array_def def = {.dims = 1, .range = {.dims = 1, .upper = {n}}};

    return create(__func__, of, SKI_ARRAY, &def, data, bytes);
}

skua_collection skua_array2(skua_class of, int n, int m, const void *data, size_t bytes)
{
    skua_array_def def = {.dims = 2, .range = {.dims = 2, .upper = {n, m}}};

    return create(__func__, of, SKI_ARRAY, &def, data, bytes);
}

skua_collection skua_array3(skua_class of, int n, int m, int k, const void *data, size_t bytes)
{
    skua_array_def def = {.dims = 3, .range = {.dims = 3, .upper = {n, m, k}}};

    return create(__func__, of, SKI_ARRAY, &def, data, bytes);
}

/* ---- looking ---------------------------------------------------------------------------- */

static SKI_COLD _Noreturn void wrong_index(const char *call, const struct ski_collection *all,
                                           const skua_index *index)
{
    char text[SKI_INDEX_TEXT];

    ski_index_text(text, index, all->index_bytes > 0);
    if (index->bytes > SKUA_INDEX_MAX)
        ski_misuse("%s: an index of %s has %u bytes, at most %d are possible", call,
                   all->class->def.name, index->bytes, SKUA_INDEX_MAX);
    if (all->index_bytes && index->bytes != all->index_bytes)
        ski_misuse("%s: %s has %u dimensions, the indices of %s have %u", call, text,
                   index->bytes / 4, all->class->def.name, all->index_bytes / 4);
    ski_misuse("%s: there is no %s %s; this job has %d PEs in %d processes", call,
               all->class->def.name, text, skua_pes(), skua_processes());
}

void ski_check_index(const char *call, const struct ski_collection *all, const skua_index *index)
{
    unsigned limit = all->kind == SKI_ARRAY           ? 0
                     : all->kind == SKI_PROCESS_GROUP ? (unsigned)skua_processes()
                                                      : (unsigned)all->self->pes;

    if (SKI_UNLIKELY(index->bytes > SKUA_INDEX_MAX ||
                     (all->index_bytes && index->bytes != all->index_bytes) ||
                     (limit && (unsigned)index->at.x[0] >= limit)))
        wrong_index(call, all, index);
}

size_t skua_collection_here(skua_collection target)
{
    return ski_collection_look(SKI_SELF()->objects, __func__, target.id)->live;
}

struct each {
    void (*fn)(void *self, void *arg);
    void *arg;
};

static void call_each(struct ski_object *object, void *arg)
{
    struct each *each = arg;

    if (object->state == SKI_ALIVE)
        each->fn(object + 1, each->arg);
}

void skua_collection_each(skua_collection target, void (*fn)(void *self, void *arg), void *arg)
{
    struct ski_collection *all  = ski_collection_look(SKI_SELF()->objects, __func__, target.id);
    struct each            each = {fn, arg};

    ski_each(all, call_each, &each);
}

/* ---- the end ---------------------------------------------------------------------------- */

static void end_object(struct ski_object *object, void *arg)
{
    (void)arg;
    if (ski_object_running(object))
        ski_object_change(object, SKI_DYING);
    else if (object->state == SKI_ALIVE || object->state == SKI_LEAVING)
        ski_object_end(object);
}

void ski_collection_end(struct ski_collection *all)
{
    all->state       = SKI_ENDED;
    all->quick_bytes = NEVER;
    all->pair_bytes  = NEVER;
    ski_sections_over(all);
    ski_each(all, end_object, NULL);
    ski_places_free(all);
    ski_directory_destroy(&all->directory);
    all->directory = (struct ski_directory){0};
    ski_reducing_free(&all->reducing);
    ski_everyone_end(all);
    ski_discard_held(all->self, &all->closing.checks);
    skua_msg_free(all->creation);
    all->creation = NULL;
    all->shared   = NULL;
    if (all->members == 0) { /* else some are running, and leave the list later */
        free(all->member);
        all->member      = NULL;
        all->member_room = 0;
    }
}

void ski_collections_leave(struct ski_objects *objects)
{
    for (uint64_t i = 0; i <= objects->mask; i++)
        if (objects->table[i])
            ski_objects_destroy(objects->table[i]);
}

/* ---- begin and end of a PE ---------------------------------------------------------------- */

void ski_collections_begin(struct ski_objects *objects)
{
    objects->last = &nobody;
    grow(objects);
}

static void drop(struct ski_collection *all)
{
    struct skua_msg *msg;

    ski_objects_free(all);
    ski_places_free(all);
    ski_directory_destroy(&all->directory);
    ski_reducing_free(&all->reducing);
    ski_everyone_free(&all->everyone);
    while ((msg = ski_list_pop(&all->held)))
        skua_msg_free(msg);
    if (all->creation)
        skua_msg_free(all->creation);
    free(all->member);
    free(all);
}

void ski_collections_end(struct ski_objects *objects)
{
    for (uint64_t i = 0; i <= objects->mask; i++)
        if (objects->table[i])
            drop(objects->table[i]);
    free(objects->table);
}
