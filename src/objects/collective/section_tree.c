/* SPDX-License-Identifier: Apache-2.0 */
/* section_tree.c - see section_tree.h. */
#include "objects/collective/section_tree.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/creation_wait.h"
#include "objects/collective/section_list.h"
#include "objects/collective/section_multicast.h"
#include "objects/location/location.h"

/* ---- creation -------------------------------------------------------------------------------- */

/* The header of a creation; lists of members follow (section_list.h). */
struct section_tree_creation {
    _Alignas(16) uint64_t id;
    uint64_t collection;
    uint32_t delegates;
    uint32_t generation;
    uint32_t first; /* the first reduction of this generation */
    uint32_t zero;
};

_Static_assert(sizeof(struct section_tree_creation) == SKI_SECTION_CREATE_MIN,
               "see section_tree.h");

/* Returns whether a creation, which may come from another PE, is for this PE and well-formed. */
static bool section_tree_creation_valid(const struct ski_pe                *self,
                                        const struct section_tree_creation *creation, size_t bytes)
{
    const uint32_t *lists = (const uint32_t *)(creation + 1);
    size_t          words = (bytes - sizeof *creation) / 4;

    return creation->delegates > 0 &&
           ski_section_lists_valid(lists, words, creation->delegates, self->pes) &&
           lists[SKI_SECTION_LIST_PE] == (uint32_t)self->pe;
}

/* At the delegate of a member: finds the member here, or sends it the order that enrolls it.  In a
 * later generation the delegate before this one does that (section_rebuild.h). */
static void section_tree_enroll(struct ski_section *section, struct ski_section_member *member)
{
    struct ski_object *object =
        member->object ? NULL : ski_element_here(section->of, &member->index);

    member->delegate = section->self->pe;
    if (object)
        ski_section_member_here(member, object);
    if (section->generation > 0)
        return;
    if (member->object)
        member->seen = 0;
    else
        ski_section_multicast_enroll(section, &member->index);
}

/* Reads the members of a list into @p own; NULL: the list is that of another delegate. */
static void section_tree_read_list(struct ski_section *section, const uint32_t *list,
                                   struct ski_section_member **own)
{
    const uint32_t *at = list + SKI_SECTION_LIST_HEAD;
    skua_index      index;

    for (uint32_t i = 0; i < list[SKI_SECTION_LIST_MEMBERS]; i++) {
        struct ski_section_member *member;

        at = ski_section_list_read(at, &index);
        ski_check_index("skua_section_create", section->of, &index);
        member = ski_section_member_get(section, &index);
        if (member->listed)
            ski_fatal("PE %d got a section with %s twice", section->self->pe,
                      ski_element_text(section->of, &index));
        member->listed   = true;
        member->delegate = (int32_t)list[SKI_SECTION_LIST_PE];
        if (own)
            own[i] = member;
    }
}

/* Sends lists to the first of their delegates, which becomes a child. */
static void section_tree_send_lists(struct ski_section                 *section,
                                    const struct section_tree_creation *creation,
                                    uint32_t delegates, const uint32_t *from, const uint32_t *to)
{
    size_t                        bytes = (size_t)(to - from) * sizeof *from;
    skua_msg                     *msg   = skua_msg_alloc(sizeof *creation + bytes);
    struct section_tree_creation *made  = skua_msg_data(msg);

    *made           = *creation;
    made->delegates = delegates;
    memcpy(made + 1, from, bytes);
    section->child[section->children++] = (int32_t)from[SKI_SECTION_LIST_PE];
    skua_send((int)from[SKI_SECTION_LIST_PE], (skua_handler){SKI_HANDLER_SECTION_CREATE}, msg);
}

/* Lists that are divided among children: each *part* is a list, or all lists of a host. */
struct section_tree_parts {
    const uint32_t *at;
    uint32_t        lists, parts;
};

static int section_tree_host(const struct ski_section *section, const uint32_t *list)
{
    return ski_job_host_of(section->self->job, (int)list[SKI_SECTION_LIST_PE]);
}

/* Returns how many lists from @p at on, of @p most, are those of one host. */
static uint32_t section_tree_of_host(const struct ski_section *section, const uint32_t *at,
                                     uint32_t most)
{
    int      host = section_tree_host(section, at);
    uint32_t n    = 0;

    for (; n < most && section_tree_host(section, at) == host; n++)
        if (n + 1 < most)
            at = ski_section_list_next(at);
    return n;
}

/* Returns the lists of other hosts, of @p lists from @p at on; a host is a part. */
static struct section_tree_parts section_tree_hosts(const struct ski_section *section,
                                                    const uint32_t *at, uint32_t lists)
{
    struct section_tree_parts parts = {at, lists, 0};

    while (lists > 0) {
        uint32_t here = section_tree_of_host(section, at, lists);

        for (uint32_t i = 0; i < here; i++)
            at = ski_section_list_next(at);
        lists -= here;
        parts.parts++;
    }
    return parts;
}

/* Divides parts among children.  Parts that are lists, not hosts, are as many as the lists. */
static void section_tree_divide(struct ski_section                 *section,
                                const struct section_tree_creation *creation,
                                struct section_tree_parts           parts)
{
    uint32_t count = ski_section_tree_children(parts.parts, (uint32_t)ski_config.tree_arity);
    bool     hosts = parts.parts < parts.lists;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t        share     = ski_section_tree_share(parts.parts, count, i);
        const uint32_t *from      = parts.at;
        uint32_t        delegates = 0;

        for (uint32_t j = 0; j < share; j++) {
            uint32_t n = hosts ? section_tree_of_host(section, parts.at, parts.lists) : 1;

            delegates += n;
            parts.lists -= n;
            while (n-- > 0)
                parts.at = ski_section_list_next(parts.at);
        }
        section_tree_send_lists(section, creation, delegates, from, parts.at);
    }
}

/* Divides the lists from @p at on, of the other delegates, among the children: those of other hosts
 * first, since their way is longer. */
static void section_tree_pass_down(struct ski_section                 *section,
                                   const struct section_tree_creation *creation, const uint32_t *at)
{
    uint32_t others = creation->delegates - 1, here = 0;
    size_t   most = 2 * ski_section_tree_children(others, (uint32_t)ski_config.tree_arity);
    struct section_tree_parts local = {.at = at};

    section->child = ski_calloc(most ? most : 1, sizeof *section->child);
    if (others > 0 && section_tree_host(section, at) == section->self->job->host_number)
        here = section_tree_of_host(section, at, others);
    for (uint32_t i = 0; i < here; i++)
        at = ski_section_list_next(at);
    local.lists = local.parts = here;
    section_tree_divide(section, creation, section_tree_hosts(section, at, others - here));
    section_tree_divide(section, creation, local);
    ski_assert(section->children <= most);
}

/* At the root: records the delegates of all members. */
static void section_tree_read_others(struct ski_section                 *section,
                                     const struct section_tree_creation *creation,
                                     const uint32_t                     *list)
{
    for (uint32_t i = 1; i < creation->delegates; i++, list = ski_section_list_next(list))
        section_tree_read_list(section, list, NULL);
}

/* Makes this PE a delegate: records its own members, passes the other lists to its children and
 * enrolls the members. */
static void section_tree_join(struct ski_section                 *section,
                              const struct section_tree_creation *creation, int parent)
{
    const uint32_t *own  = (const uint32_t *)(creation + 1);
    bool            root = ski_section_root(section->id) == section->self->pe;

    ski_assert(section->state != SKI_SECTION_JOINED && !section->child && !section->own);
    section->state     = SKI_SECTION_JOINED;
    section->parent    = root ? -1 : parent;
    section->own_count = own[SKI_SECTION_LIST_MEMBERS];
    section->own = ski_calloc(own[SKI_SECTION_LIST_MEMBERS] ? own[SKI_SECTION_LIST_MEMBERS] : 1,
                              sizeof(struct ski_section_member *));
    section_tree_read_list(section, own, section->own);
    section_tree_pass_down(section, creation, ski_section_list_next(own));
    if (root)
        section_tree_read_others(section, creation, ski_section_list_next(own));
    section->reduction.contributors = section->own_count + section->children;
    section->reduction.first        = creation->first;
    section->reduction.unjoined     = section->generation > 0 ? section->own_count : 0;
    section->rebuild.members        = section->members.count;
    for (size_t i = 0; i < section->own_count; i++)
        section_tree_enroll(section, section->own[i]);
}

/* A creation is being held if its collection does not exist yet: what comes for the generation
 * waits for it.  If the collection has ended the creation is dropped, and so is the rest. */
static void section_tree_held(uint64_t collection, uint64_t id, uint32_t generation)
{
    struct ski_objects    *objects = ski_self->objects;
    struct ski_collection *all     = ski_collection_find(objects, collection);
    struct ski_section    *section;

    if (!all || all->state == SKI_ENDED)
        return;
    section = ski_section_get(objects, id, generation);
    if (section->state == SKI_SECTION_VISITED)
        section->state = SKI_SECTION_CREATED;
    ski_section_set_collection(section, all);
}

void ski_on_section_create(skua_msg *msg)
{
    const struct section_tree_creation *creation   = skua_msg_data(msg);
    uint64_t                            id         = creation->id;
    uint64_t                            collection = creation->collection;
    uint32_t                            generation = creation->generation;
    struct ski_collection              *all;
    struct ski_section                 *section;

    if (ski_collection_awaited(ski_self->objects, collection, msg, &all)) {
        section_tree_held(collection, id, generation);
        return;
    }
    if (all->kind == SKI_CHARES || !section_tree_creation_valid(all->self, creation, msg->bytes))
        ski_fatal("PE %d sent an invalid creation of a section", msg->source);
    section = ski_section_get(all->self->objects, id, generation);
    if (section->state == SKI_SECTION_JOINED)
        ski_fatal("PE %d created a section that exists already", msg->source);
    ski_section_set_collection(section, all);
    section_tree_join(section, creation, msg->source);
    skua_msg_free(msg);
    ski_msg_unhold(section->self, &section->held);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int section_tree_compare(const void *a, const void *b)
{
    const struct ski_section_choice *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->index->bytes != y->index->bytes)
        return x->index->bytes < y->index->bytes ? -1 : 1;
    return memcmp(&x->index->at, &y->index->at, x->index->bytes);
}

/* Chooses a delegate for each member, and sorts the members by it. */
static struct ski_section_choice *section_tree_choose(struct ski_collection *all,
                                                      const skua_index *indices, size_t count)
{
    struct ski_section_choice *chosen = ski_malloc((count ? count : 1) * sizeof *chosen);
    int                        root   = all->self->pe;

    for (size_t i = 0; i < count; i++) {
        int pe = root;

        ski_check_index("skua_section_create", all, &indices[i]);
        if (!ski_element_here(all, &indices[i]))
            pe = ski_lookup_believed(all, &indices[i]);
        chosen[i] = (struct ski_section_choice){ski_section_tree_rank(all->self->job, root, pe),
                                                &indices[i]};
    }
    qsort(chosen, count, sizeof *chosen, section_tree_compare);
    for (size_t i = 1; i < count; i++)
        if (section_tree_compare(&chosen[i - 1], &chosen[i]) == 0)
            ski_misuse("skua_section_create on PE %d: %s is twice in the section", root,
                       ski_element_text(all, chosen[i].index));
    return chosen;
}

/* Returns the words of all lists; that of the root is always there. */
static size_t section_tree_count_words(const struct ski_section_choice *chosen, size_t count)
{
    size_t   words = SKI_SECTION_LIST_HEAD;
    uint64_t last  = 0;

    for (size_t i = 0; i < count; i++) {
        words += ski_section_list_index_words(chosen[i].index) +
                 (chosen[i].rank != last ? SKI_SECTION_LIST_HEAD : 0);
        last = chosen[i].rank;
    }
    return words;
}

/* Writes the lists of the delegates; @p chosen is sorted by the rank of the delegate, and rank 0 is
 * this PE. */
static void section_tree_write_lists(const struct ski_pe             *self,
                                     struct section_tree_creation    *creation,
                                     const struct ski_section_choice *chosen, size_t count)
{
    uint32_t *list = (uint32_t *)(creation + 1);
    uint64_t  rank = 0;

    ski_section_list_begin(list, self->pe);
    creation->delegates = 1;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i].rank != rank) {
            rank = chosen[i].rank;
            list += SKI_SECTION_LIST_HEAD + list[SKI_SECTION_LIST_WORDS];
            ski_section_list_begin(list, ski_section_tree_pe(self->job, self->pe, rank));
            creation->delegates++;
        }
        ski_section_list_append(list, chosen[i].index);
    }
}

/* Returns the order to create a section of the members @p chosen, which are sorted. */
static skua_msg *section_tree_creation_msg(const struct ski_collection *all, uint64_t id,
                                           const struct ski_section_choice *chosen, size_t count)
{
    struct section_tree_creation *creation;
    skua_msg *msg = skua_msg_alloc(sizeof *creation + 4 * section_tree_count_words(chosen, count));

    creation  = skua_msg_data(msg);
    *creation = (struct section_tree_creation){.id = id, .collection = all->id};
    section_tree_write_lists(all->self, creation, chosen, count);
    return msg;
}

static struct ski_collection *section_tree_collection(struct ski_pe *self, const char *call,
                                                      skua_collection of)
{
    struct ski_collection *all = ski_collection_get(self->objects, call, of.id);

    if (all->state == SKI_EXPECTED)
        ski_creation_wait_defined(call, all);
    if (all->kind == SKI_CHARES)
        ski_misuse("%s: single objects are in no collection", call);
    return all;
}

/* At the root: creates the generation of a section that @p msg describes, without queueing @p msg.
 */
static struct ski_section *section_tree_begin(struct ski_collection *all, skua_msg *msg)
{
    const struct section_tree_creation *creation = skua_msg_data(msg);
    struct ski_section                 *section =
        ski_section_get(all->self->objects, creation->id, creation->generation);

    ski_section_set_collection(section, all);
    section_tree_join(section, creation, -1);
    skua_msg_free(msg);
    ski_msg_unhold(section->self, &section->held);
    return section;
}

struct ski_section *ski_section_tree_succeed(struct ski_section        *section,
                                             struct ski_section_choice *chosen, size_t count)
{
    struct section_tree_creation *creation;
    skua_msg                     *msg;

    qsort(chosen, count, sizeof *chosen, section_tree_compare);
    msg                  = section_tree_creation_msg(section->of, section->id, chosen, count);
    creation             = skua_msg_data(msg);
    creation->generation = section->generation + 1;
    creation->first      = section->reduction.first;
    return section_tree_begin(section->of, msg);
}

/* Queues the creation of section @p id, of which this PE is the root. */
static void section_tree_create(struct ski_collection *all, uint64_t id, const skua_index *indices,
                                size_t count)
{
    struct ski_section_choice *chosen  = section_tree_choose(all, indices, count);
    skua_msg                  *msg     = section_tree_creation_msg(all, id, chosen, count);
    struct ski_section        *section = ski_section_get(all->self->objects, id, 0);

    free(chosen);
    section->state = SKI_SECTION_CREATED;
    ski_section_set_collection(section, all);
    skua_enqueue((skua_handler){SKI_HANDLER_SECTION_CREATE}, msg);
}

struct ski_section *ski_section_tree_restore(struct ski_collection *all, uint64_t id,
                                             const skua_index *indices, size_t count,
                                             uint32_t first)
{
    struct ski_section_choice *chosen = section_tree_choose(all, indices, count);
    skua_msg                  *msg    = section_tree_creation_msg(all, id, chosen, count);

    ski_assert(ski_section_root(id) == all->self->pe);
    ((struct section_tree_creation *)skua_msg_data(msg))->first = first;
    free(chosen);
    return section_tree_begin(all, msg);
}

skua_section skua_section_create(skua_collection of, const skua_index *indices, size_t count)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = section_tree_collection(self, __func__, of);
    uint64_t id = ski_id_make((uint64_t)self->pe, ++ski_sections_of(self->objects)->created);

    section_tree_create(all, id, indices, count);
    return (skua_section){id};
}

/* Returns the indices of a range in dimension @p d. */
static size_t section_tree_steps(const skua_range *range, const int32_t *stride, int d)
{
    int64_t extent   = (int64_t)range->upper[d] - range->lower[d];
    int64_t stride_d = stride ? stride[d] : 1;

    if (stride_d < 1)
        ski_misuse("skua_section_create_range: a stride of %d in dimension %d", (int)stride_d, d);
    return extent > 0 ? (size_t)((extent + stride_d - 1) / stride_d) : 0;
}

skua_section skua_section_create_range(skua_collection array, const skua_range *range,
                                       const int32_t *stride)
{
    size_t       count = 1;
    skua_index  *indices;
    skua_section section;

    if (range->dims < 1 || range->dims > 6)
        ski_misuse("skua_section_create_range: a range of %d dimensions", range->dims);
    for (int d = 0; d < range->dims; d++)
        count *= section_tree_steps(range, stride, d);
    indices = ski_malloc((count ? count : 1) * sizeof *indices);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;

        indices[i] = (skua_index){.bytes = 4 * (uint32_t)range->dims};
        for (int d = range->dims - 1; d >= 0; d--) {
            size_t n = section_tree_steps(range, stride, d);

            indices[i].at.x[d] =
                (int32_t)(range->lower[d] + (int64_t)(rest % n) * (stride ? stride[d] : 1));
            rest /= n;
        }
    }
    section = skua_section_create(array, indices, count);
    free(indices);
    return section;
}
