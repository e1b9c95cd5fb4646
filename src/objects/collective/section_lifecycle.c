/* SPDX-License-Identifier: Apache-2.0 */
/* section_lifecycle.c - see section_lifecycle.h. */
#include "objects/collective/section_lifecycle.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/pe/handler.h"
#include "objects/collective/section_multicast.h"
#include "objects/collective/section_saved.h"
#include "objects/collective/section_rebuild.h"
#include "objects/collective/section_reduction.h"
#include "objects/collective/section_reduction_member.h"

static const struct ski_section_ops section_lifecycle_ops = {
    .multicast_free = ski_section_multicast_free,
    .multicast_end  = ski_section_multicast_end,
    .reduction_free = ski_section_reduction_free,
    .members_away   = ski_section_rebuild_away,
    .succeed        = ski_section_rebuild_succeed,
    .superseded     = ski_section_reduction_over,
    .succeeded      = ski_section_rebuild_ended,
};

static void section_lifecycle_pe_begin(struct ski_objects *objects)
{
    ski_sections_begin(objects, &section_lifecycle_ops);
}

static void section_lifecycle_collection_ending(struct ski_collection *all)
{
    while (all->sections)
        ski_section_collection_deleted(all->sections);
}

/* ---- migration ------------------------------------------------------------------------------- */

/* The position of a member in a section, as it migrates. */
struct section_packed {
    uint64_t id;
    uint32_t seen, next;
    int32_t  delegate;
    uint32_t generation;
};

static size_t section_lifecycle_packed_bytes(const struct ski_object *object)
{
    return object->sections * sizeof(struct section_packed);
}

static void section_lifecycle_pack_member(struct ski_section        *section,
                                          struct ski_section_member *member, void *arg)
{
    struct section_packed packed = {section->id, member->seen, member->next, member->delegate,
                                    section->generation};
    char                **at     = arg;

    memcpy(*at, &packed, sizeof packed);
    *at += sizeof packed;
}

static void section_lifecycle_pack(struct ski_object *object, void *to)
{
    ski_section_each_of(object, section_lifecycle_pack_member, &to);
}

static void section_lifecycle_member_replaced(struct ski_section        *section,
                                              struct ski_section_member *member, void *stub)
{
    (void)section;
    member->object = stub;
}

static void section_lifecycle_element_replaced(struct ski_object *object, struct ski_object *stub)
{
    ski_section_each_of(object, section_lifecycle_member_replaced, stub);
}

static void section_lifecycle_member_departed(struct ski_section        *section,
                                              struct ski_section_member *member, void *arg)
{
    (void)arg;
    ski_section_multicast_follow(section, member);
    ski_section_member_absent(section, member);
    ski_section_release(section);
}

static void section_lifecycle_element_departed(struct ski_object *object)
{
    ski_section_each_of(object, section_lifecycle_member_departed, NULL);
}

static void section_lifecycle_member_deleted(struct ski_section        *section,
                                             struct ski_section_member *member, void *arg)
{
    (void)arg;
    ski_section_enter(section);
    if (!ski_section_reduction_deleted(section, member))
        ski_section_multicast_return(section, member);
    ski_section_member_absent(section, member);
    ski_section_leave(section);
}

static void section_lifecycle_element_deleted(struct ski_object *object)
{
    ski_section_each_of(object, section_lifecycle_member_deleted, NULL);
}

/* Records the position of an element that has arrived, in one of its sections. */
static void section_lifecycle_member_arrived(struct ski_object *object, const void *from)
{
    struct ski_collection     *all   = object->of;
    skua_index                 index = ski_object_index_get(object);
    struct section_packed      packed;
    struct ski_section        *section;
    struct ski_section_member *member;

    memcpy(&packed, from, sizeof packed);
    section = ski_section_get(all->self->objects, packed.id, packed.generation);
    ski_section_set_collection(section, all);
    member = ski_section_member_get(section, &index);
    if (member->object || (unsigned)packed.delegate >= (unsigned)all->self->pes)
        ski_fatal("%s arrived on PE %d with an invalid position in a section",
                  ski_object_text(object), all->self->pe);
    ski_section_member_here(member, object);
    member->seen = packed.seen;
    member->next = packed.next;
    if (!ski_section_member_tracked(section, member))
        member->delegate = packed.delegate;
}

static bool section_lifecycle_packed_valid(const struct ski_collection *all, const void *from,
                                           size_t bytes)
{
    (void)all, (void)from;
    return bytes % sizeof(struct section_packed) == 0 &&
           bytes / sizeof(struct section_packed) <= UINT16_MAX;
}

static void section_lifecycle_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    ski_assert(bytes % sizeof(struct section_packed) == 0);
    for (size_t at = 0; at < bytes; at += sizeof(struct section_packed))
        section_lifecycle_member_arrived(object, (const char *)from + at);
}

static void section_lifecycle_idle_report(struct ski_collection *all, struct ski_text *text)
{
    for (const struct ski_section *section = all->sections; section; section = section->next)
        ski_section_reduction_explain(section, text);
}

static const struct ski_baggage section_lifecycle_baggage = {
    .bytes  = section_lifecycle_packed_bytes,
    .pack   = section_lifecycle_pack,
    .valid  = section_lifecycle_packed_valid,
    .unpack = section_lifecycle_unpack};

const struct ski_lifecycle ski_section_lifecycle = {
    .pe_begin          = section_lifecycle_pe_begin,
    .pe_end            = ski_sections_end,
    .collection_ending = section_lifecycle_collection_ending,
    .collection_report = section_lifecycle_idle_report,
    .element_deleted   = section_lifecycle_element_deleted,
    .element_replaced  = section_lifecycle_element_replaced,
    .element_departed  = section_lifecycle_element_departed,
    .baggage           = &section_lifecycle_baggage,
    .saved             = &ski_section_saved,
    .late              = (const uint32_t[]){SKI_HANDLER_SECTION_CREATE, 0}, /* of a rebuild */
};
