/* SPDX-License-Identifier: Apache-2.0 */
/* section_tree.c - see section_tree.h. */
#include "objects/collective/section_tree.h"

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/creation_wait.h"
#include "objects/location/location.h"
#include "objects/collective/section_multicast.h"

/* ---- creation --------------------------------------------------------------------------- */

/* What a section is created with.  Lists of members follow, of 32-bit words: PE, members,
 * words; then for each index its bytes and itself. */
struct creation {
    _Alignas(16) uint64_t id;
    uint64_t collection;
    uint32_t stations;
    uint32_t zero[3];
};

_Static_assert(sizeof(struct creation) == SKI_SECTION_CREATE_LEAST, "see section_tree.h");

enum { PE, MEMBERS, WORDS, HEAD };

static uint32_t index_words(const skua_index *index)
{
    return 1 + (index->bytes + 3) / 4;
}

/* Reads an index, which was checked, and says where the next is. */
static const uint32_t *take_index(const uint32_t *at, skua_index *index)
{
    *index = (skua_index){.bytes = at[0]};
    memcpy(&index->at, at + 1, index->bytes);
    return at + index_words(index);
}

static bool list_right(const struct ski_pe *self, const uint32_t *list, size_t words)
{
    const uint32_t *at = list + HEAD, *end = list + words;

    if (words < HEAD || list[PE] >= (uint32_t)self->pes || list[WORDS] != words - HEAD)
        return false;
    for (uint32_t i = 0; i < list[MEMBERS]; i++) {
        if (at == end || at[0] > SKUA_INDEX_MAX || (at[0] + 3) / 4 >= (size_t)(end - at))
            return false;
        at += 1 + (at[0] + 3) / 4;
    }
    return at == end;
}

/* Whether a creation that came from elsewhere makes sense. */
static bool is_right(const struct ski_pe *self, const struct creation *creation, size_t bytes)
{
    const uint32_t *at    = (const uint32_t *)(creation + 1);
    size_t          words = (bytes - sizeof *creation) / 4;

    for (uint32_t i = 0; i < creation->stations; i++) {
        size_t length = words < HEAD ? 0 : HEAD + (size_t)at[WORDS];

        if (length == 0 || length > words || !list_right(self, at, length))
            return false;
        at += length;
        words -= length;
    }
    return words == 0 && creation->stations > 0 &&
           ((const uint32_t *)(creation + 1))[PE] == (uint32_t)self->pe;
}

static const uint32_t *list_next(const uint32_t *list)
{
    return list + HEAD + list[WORDS];
}

/* At the station of a member. */
static void enrol(struct ski_section *section, struct ski_enrolled *member)
{
    struct ski_object *object =
        member->object ? NULL : ski_element_here(section->of, &member->index);

    member->station = section->self->pe;
    if (object)
        ski_enrolled_here(member, object);
    if (member->object)
        member->seen = 0;
    else
        ski_multicast_enrol(section, &member->index);
}

/* The members of a list; @p roster is NULL at the root for those of others. */
static void read_list(struct ski_section *section, const uint32_t *list,
                      struct ski_enrolled **roster)
{
    const uint32_t *at = list + HEAD;
    skua_index      index;

    for (uint32_t i = 0; i < list[MEMBERS]; i++) {
        struct ski_enrolled *member;

        at = take_index(at, &index);
        ski_check_index("skua_section_create", section->of, &index);
        member = ski_enrolled_get(section, &index);
        if (member->listed)
            ski_fatal("%s is twice in a section", ski_element_text(section->of, &index));
        member->listed  = true;
        member->station = (int32_t)list[PE];
        if (roster)
            roster[i] = member;
    }
}

static void send_lists(struct ski_section *section, const struct creation *creation,
                       uint32_t stations, const uint32_t *from, const uint32_t *to)
{
    size_t           bytes = (size_t)(to - from) * sizeof *from;
    skua_msg        *msg   = skua_msg_alloc(sizeof *creation + bytes);
    struct creation *made  = skua_msg_data(msg);

    *made          = *creation;
    made->stations = stations;
    memcpy(made + 1, from, bytes);
    section->child[section->children++] = (int32_t)from[PE];
    skua_send((int)from[PE], (skua_handler){SKI_HANDLER_SECTION_CREATE}, msg);
}

/* Cuts the lists from @p at on, of the other stations, into one for each child. */
static void pass_down(struct ski_section *section, const struct creation *creation,
                      const uint32_t *at)
{
    uint32_t others = creation->stations - 1;
    uint32_t arity  = (uint32_t)ski_config.tree_arity;
    uint32_t count  = others < arity ? others : arity;

    section->child = ski_calloc(count ? count : 1, sizeof *section->child);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t        stations = others / count + (i < others % count);
        const uint32_t *from     = at;

        for (uint32_t j = 0; j < stations; j++)
            at = list_next(at);
        send_lists(section, creation, stations, from, at);
    }
}

/* At the root: the stations of all. */
static void read_others(struct ski_section *section, const struct creation *creation,
                        const uint32_t *list)
{
    for (uint32_t i = 1; i < creation->stations; i++, list = list_next(list))
        read_list(section, list, NULL);
}

static void join(struct ski_section *section, const struct creation *creation, int parent)
{
    const uint32_t *own  = (const uint32_t *)(creation + 1);
    bool            root = ski_section_root(section->id) == section->self->pe;

    section->state   = SKI_JOINED;
    section->parent  = root ? -1 : parent;
    section->rosters = own[MEMBERS];
    section->roster  = ski_calloc(own[MEMBERS] ? own[MEMBERS] : 1, sizeof(struct ski_enrolled *));
    read_list(section, own, section->roster);
    pass_down(section, creation, list_next(own));
    if (root)
        read_others(section, creation, list_next(own));
    section->gather.givers = section->rosters + section->children;
    for (size_t i = 0; i < section->rosters; i++)
        enrol(section, section->roster[i]);
}

void ski_on_section_create(skua_msg *msg)
{
    const struct creation *creation = skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_section    *section;

    if (ski_collection_awaited(ski_self->objects, creation->collection, msg, &all))
        return;
    if (all->kind == SKI_CHARES || !is_right(all->self, creation, msg->bytes))
        ski_fatal("PE %d created a section that makes no sense", msg->source);
    section = ski_section_get(all->self->objects, creation->id);
    if (section->state == SKI_JOINED)
        ski_fatal("PE %d created a section that exists", msg->source);
    ski_section_of(section, all);
    join(section, creation, msg->source);
    skua_msg_free(msg);
    ski_unhold(section->self, &section->held);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* A member and its station, as a number of PEs after the root. */
struct chosen {
    uint32_t          rank;
    const skua_index *index;
};

static int compare(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->index->bytes != y->index->bytes)
        return x->index->bytes < y->index->bytes ? -1 : 1;
    return memcmp(&x->index->at, &y->index->at, x->index->bytes);
}

static struct chosen *choose(struct ski_collection *all, const skua_index *indices, size_t count)
{
    struct chosen *chosen = ski_malloc((count ? count : 1) * sizeof *chosen);
    int            pes = all->self->pes, root = all->self->pe;

    for (size_t i = 0; i < count; i++) {
        int pe = root;

        ski_check_index("skua_section_create", all, &indices[i]);
        if (!ski_element_here(all, &indices[i]))
            pe = ski_lookup_pe(all, &indices[i]);
        chosen[i] = (struct chosen){(uint32_t)((pe - root + pes) % pes), &indices[i]};
    }
    qsort(chosen, count, sizeof *chosen, compare);
    for (size_t i = 1; i < count; i++)
        if (compare(&chosen[i - 1], &chosen[i]) == 0)
            ski_misuse("skua_section_create on PE %d: %s is twice in the section", root,
                       ski_element_text(all, chosen[i].index));
    return chosen;
}

/* Room for all lists: the root's is always there. */
static size_t count_words(const struct chosen *chosen, size_t count)
{
    size_t   words = HEAD;
    uint32_t last  = 0;

    for (size_t i = 0; i < count; i++) {
        words += index_words(chosen[i].index) + (chosen[i].rank != last ? HEAD : 0);
        last = chosen[i].rank;
    }
    return words;
}

static uint32_t *new_list(struct creation *creation, uint32_t *at, int pe)
{
    creation->stations++;
    at[PE]      = (uint32_t)pe;
    at[MEMBERS] = at[WORDS] = 0;
    return at;
}

static void write_lists(const struct ski_pe *self, struct creation *creation,
                        const struct chosen *chosen, size_t count)
{
    uint32_t *list = new_list(creation, (uint32_t *)(creation + 1), self->pe);
    uint32_t  rank = 0;

    for (size_t i = 0; i < count; i++) {
        const skua_index *index = chosen[i].index;
        uint32_t         *at;

        if (chosen[i].rank != rank) {
            rank = chosen[i].rank;
            list = new_list(creation, list + HEAD + list[WORDS],
                            (int)((rank + (uint32_t)self->pe) % (uint32_t)self->pes));
        }
        at                         = list + HEAD + list[WORDS];
        at[index_words(index) - 1] = 0;
        at[0]                      = index->bytes;
        memcpy(at + 1, &index->at, index->bytes);
        list[MEMBERS]++;
        list[WORDS] += index_words(index);
    }
}

static struct ski_collection *collection_of(struct ski_pe *self, const char *call,
                                            skua_collection of)
{
    struct ski_collection *all = ski_collection_get(self->objects, call, of.id);

    if (all->state == SKI_EXPECTED)
        ski_creation_wait_defined(call, all);
    if (all->kind == SKI_CHARES)
        ski_misuse("%s: single objects are in no collection", call);
    return all;
}

skua_section skua_section_create(skua_collection of, const skua_index *indices, size_t count)
{
    struct ski_pe         *self   = SKI_SELF();
    struct ski_collection *all    = collection_of(self, __func__, of);
    struct chosen         *chosen = choose(all, indices, count);
    uint64_t  id = ski_id_make((uint64_t)self->pe, ++ski_sections_of(self->objects)->created);
    skua_msg *msg;
    struct creation *creation;

    msg       = skua_msg_alloc(sizeof *creation + 4 * count_words(chosen, count));
    creation  = skua_msg_data(msg);
    *creation = (struct creation){.id = id, .collection = of.id};
    write_lists(self, creation, chosen, count);
    free(chosen);
    ski_section_get(self->objects, id)->state = SKI_CREATED;
    skua_enqueue((skua_handler){SKI_HANDLER_SECTION_CREATE}, msg);
    return (skua_section){id};
}

/* How many indices there are in a dimension, every stride-th. */
static size_t steps(const skua_range *range, const int32_t *stride, int d)
{
    int64_t extent   = (int64_t)range->upper[d] - range->lower[d];
    int64_t stride_d = stride ? stride[d] : 1;

    if (stride_d < 1)
        ski_misuse("skua_section_range: a stride of %d in dimension %d", (int)stride_d, d);
    return extent > 0 ? (size_t)((extent + stride_d - 1) / stride_d) : 0;
}

skua_section skua_section_range(skua_collection array, const skua_range *range,
                                const int32_t *stride)
{
    size_t       count = 1;
    skua_index  *indices;
    skua_section section;

    if (range->dims < 1 || range->dims > 6)
        ski_misuse("skua_section_range: a range of %d dimensions", range->dims);
    for (int d = 0; d < range->dims; d++)
        count *= steps(range, stride, d);
    indices = ski_malloc((count ? count : 1) * sizeof *indices);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;

        indices[i] = (skua_index){.bytes = 4 * (uint32_t)range->dims};
        for (int d = range->dims - 1; d >= 0; d--) {
            size_t n = steps(range, stride, d);

            indices[i].at.x[d] =
                (int32_t)(range->lower[d] + (int64_t)(rest % n) * (stride ? stride[d] : 1));
            rest /= n;
        }
    }
    section = skua_section_create(array, indices, count);
    free(indices);
    return section;
}
