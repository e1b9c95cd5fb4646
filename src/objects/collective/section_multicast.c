/* SPDX-License-Identifier: Apache-2.0 */
/* section_multicast.c - see section_multicast.h. */
#include "objects/collective/section_multicast.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/message/msg_share.h"
#include "objects/chare/invoke.h"
#include "objects/collective/section_reduction_member.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/location.h"
#include "objects/measure/measure.h"
#include "objects/model/seqnum.h"
#include "objects/zerocopy/nocopy.h"

/* The header of a multicast; the data follows. */
struct section_multicast_head {
    _Alignas(32) uint64_t id;
    uint32_t entry;
    uint32_t number;
    int32_t  delegate; /* of the member that it is sent to */
    uint32_t nocopy;   /* the data is a message with nocopy arguments */
    uint32_t generation;
    int32_t  successor; /* in the order to switch: the delegate in the next generation */
};

_Static_assert(sizeof(struct section_multicast_head) == SKI_SECTION_MULTICAST_MIN,
               "see section_multicast.h");

/* Orders stand in place of an entry. */
#define SECTION_MULTICAST_SWITCH (UINT32_MAX - 2)
#define SECTION_MULTICAST_ENROLL (UINT32_MAX - 1)
#define SECTION_MULTICAST_END    UINT32_MAX

#define SECTION_MULTICAST_LINES 4 /* of an object, or of its frame, that are fetched ahead */

static struct section_multicast_head *section_multicast_head_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static bool section_multicast_is_order(const struct section_multicast_head *head)
{
    return head->entry >= SECTION_MULTICAST_SWITCH;
}

static bool section_multicast_has_nocopy(const skua_msg *msg)
{
    return (msg->handler == SKI_HANDLER_SECTION_MULTICAST ||
            msg->handler == SKI_HANDLER_SECTION_MULTICAST_ROOT ||
            msg->handler == SKI_HANDLER_SECTION_MULTICAST_CATCH_UP ||
            msg->handler == SKI_HANDLER_SECTION_MULTICAST_RETURNED) &&
           ((const struct section_multicast_head *)(msg + 1))->nocopy;
}

void ski_section_multicast_free(skua_msg *msg)
{
    ski_nocopy_free_any(msg, section_multicast_head_of(msg)->nocopy);
}

/* Counts a copy that is about to be made of a multicast. */
static inline void section_multicast_count_copy(const struct section_multicast_head *head,
                                                size_t                               bytes)
{
    ski_nocopy_count_copy_any(head, sizeof *head + bytes, head->nocopy);
}

/* ---- to a member on another PE --------------------------------------------------------------- */

/* Sends a copy of a multicast, for the member of index @p index, to a handler on PE @p pe. */
static void section_multicast_post(struct ski_section *section, int pe, uint32_t handler,
                                   const skua_index                    *index,
                                   const struct section_multicast_head *head, size_t bytes)
{
    section_multicast_count_copy(head, bytes);
    ski_element_post(section->self, pe, handler, section->of->id, index, head,
                     sizeof *head + bytes);
}

static void section_multicast_send_after(struct ski_section *section, const skua_index *index,
                                         const struct section_multicast_head *head, size_t bytes)
{
    section_multicast_post(section, ski_lookup_believed(section->of, index),
                           SKI_HANDLER_SECTION_MULTICAST_CATCH_UP, index, head, bytes);
}

void ski_section_multicast_enroll(struct ski_section *section, const skua_index *index)
{
    struct section_multicast_head head = {.id         = section->id,
                                          .entry      = SECTION_MULTICAST_ENROLL,
                                          .delegate   = section->self->pe,
                                          .generation = section->generation};

    section_multicast_send_after(section, index, &head, 0);
}

void ski_section_multicast_follow(struct ski_section *section, struct ski_section_member *member)
{
    for (struct skua_msg *msg = member->early; msg; msg = msg->link)
        section_multicast_send_after(section, &member->index, section_multicast_head_of(msg),
                                     msg->bytes - sizeof(struct section_multicast_head));
}

void ski_section_multicast_return(struct ski_section *section, struct ski_section_member *member)
{
    for (struct skua_msg *msg = member->early; msg; msg = msg->link) {
        const struct section_multicast_head *head = section_multicast_head_of(msg);

        section_multicast_post(section, head->delegate, SKI_HANDLER_SECTION_MULTICAST_RETURNED,
                               &member->index, head, msg->bytes - sizeof *head);
    }
}

/* ---- to a member on this PE ------------------------------------------------------------------ */

/* Keeps a copy of a multicast until its turn comes. */
static SKI_COLD void section_multicast_defer(struct ski_section_member           *member,
                                             const struct section_multicast_head *head,
                                             size_t                               bytes)
{
    struct skua_msg **at = &member->early;
    skua_msg         *msg;

    if (!ski_seqnum_before(member->seen, head->number))
        ski_fatal("PE %d got multicast %u of a section twice", ski_self->pe, head->number);
    section_multicast_count_copy(head, bytes);
    msg = ski_msg_with_header(head, sizeof *head, head + 1, bytes);

    while (*at && ski_seqnum_before(section_multicast_head_of(*at)->number, head->number))
        at = &(*at)->link;
    msg->link = *at;
    *at       = msg;
}

/* Runs the entry of a multicast.  Meanwhile a contribution of the member to the same section finds
 * its record without a search. */
static inline void section_multicast_run_member(struct ski_section                  *section,
                                                struct ski_section_member           *member,
                                                const struct section_multicast_head *head,
                                                size_t                               bytes)
{
    struct ski_sections *sections = ski_sections_of(section->self->objects);

    if (SKI_UNLIKELY(ski_measure_counts(ski_self)))
        ski_measure_count_member(head->id, member->object, bytes);
    sections->running  = section;
    sections->receiver = member;
    ski_nocopy_run_on(member->object, head->entry, head, sizeof *head, bytes, head->nocopy);
    sections->receiver = NULL; /* an entry that waits lets others run: their records may be gone */
}

static void section_multicast_catch_up(struct ski_section        *section,
                                       struct ski_section_member *member);

/* Moves a member to the next generation, whose multicasts may wait for it there.  The record of the
 * member in this one may be freed. */
static void section_multicast_switch_member(struct ski_section        *section,
                                            struct ski_section_member *member, int delegate)
{
    struct ski_section *next =
        ski_section_get(section->self->objects, section->id, section->generation + 1);
    struct ski_section_member *then;

    ski_section_set_collection(next, section->of);
    then = ski_section_member_get(next, &member->index);
    if (!then->object)
        ski_section_member_here(then, member->object);
    ski_assert(then->seen == SKI_SECTION_UNSEEN);
    then->seen     = 0;
    then->next     = member->next;
    then->delegate = delegate;
    ski_section_enter(next);
    ski_section_reduction_switched(section, member);
    ski_section_member_absent(section, member);
    ski_section_reduction_joined(next, then);
    if (then->early)
        section_multicast_catch_up(next, then);
    ski_section_leave(next);
}

/* Returns whether the record of a member was not freed while its entry ran, by an order that came
 * meanwhile. */
static SKI_COLD bool section_multicast_remains(const struct ski_section        *section,
                                               const struct ski_section_member *member,
                                               const struct ski_object         *object)
{
    skua_index index = ski_object_index_get(object);

    return ski_section_member_find(section, &index) == member;
}

/* Delivers the next multicast in order.  Returns false if the record of the member is gone. */
static bool section_multicast_run(struct ski_section *section, struct ski_section_member *member,
                                  const struct section_multicast_head *head, size_t bytes)
{
    struct ski_object *object    = member->object;
    uint32_t           forgotten = section->forgotten;

    ski_assert(head->number == member->seen + 1 && object);
    member->seen = head->number;
    if (head->entry == SECTION_MULTICAST_ENROLL)
        member->delegate = head->delegate;
    else if (head->entry == SECTION_MULTICAST_END)
        ski_section_member_forget(section, member);
    else if (head->entry == SECTION_MULTICAST_SWITCH)
        section_multicast_switch_member(section, member, head->successor);
    else if (object->state == SKI_ALIVE || object->state == SKI_LEAVING)
        section_multicast_run_member(section, member, head, bytes);
    return head->entry != SECTION_MULTICAST_END && head->entry != SECTION_MULTICAST_SWITCH &&
           !section->over &&
           (SKI_LIKELY(section->forgotten == forgotten) ||
            section_multicast_remains(section, member, object));
}

/* Delivers the multicasts that waited for the one which a member has just got. */
static SKI_COLD void section_multicast_catch_up(struct ski_section        *section,
                                                struct ski_section_member *member)
{
    skua_msg *msg;
    bool      more = true;

    while (more && (msg = member->early) &&
           section_multicast_head_of(msg)->number == member->seen + 1) {
        member->early = msg->link;
        more          = section_multicast_run(section, member, section_multicast_head_of(msg),
                                              msg->bytes - sizeof(struct section_multicast_head));
        ski_section_multicast_free(msg);
    }
}

/* Delivers a multicast to a member on this PE, which stays until its entry returns.  The caller has
 * entered the section. */
static void section_multicast_deliver(struct ski_section                  *section,
                                      struct ski_section_member           *member,
                                      const struct section_multicast_head *head, size_t bytes)
{
    struct ski_object *object = member->object;

    ski_assert(section->walking > 0 || head->entry == SECTION_MULTICAST_END);
    if (SKI_UNLIKELY(head->number != member->seen + 1)) {
        section_multicast_defer(member, head, bytes);
        return;
    }
    ski_element_enter(object);
    if (section_multicast_run(section, member, head, bytes) && SKI_UNLIKELY(member->early != NULL))
        section_multicast_catch_up(section, member);
    ski_element_leave(object);
}

/* Ends the job if the entry of a multicast, which may come from another PE, is none of @p all. */
static void section_multicast_check_entry(const struct ski_collection         *all,
                                          const struct section_multicast_head *head)
{
    skua_entry entry = {head->entry};

    if (!section_multicast_is_order(head))
        ski_check_entry("skua_section_invoke", all, ski_entry_find("skua_section_invoke", entry),
                        NULL);
}

/* A destroyed member leaves when the order that enrolls it does not find it. */
static void section_multicast_lost(struct ski_collection *all, const skua_index *index,
                                   const struct section_multicast_head *head)
{
    if (head->entry == SECTION_MULTICAST_ENROLL)
        ski_section_reduction_lost(all, index, head->id, head->delegate);
}

/* Returns where a multicast creates members that do not exist: at their homes, as it has no one
 * sender; 0: nowhere. */
static unsigned section_multicast_creates(const struct section_multicast_head *head)
{
    if (section_multicast_is_order(head) ||
        !(ski_entries[(uint16_t)head->entry].flags & SKI_ENTRY_CREATES))
        return 0;
    return SKUA_ENTRY_CREATE_HOME;
}

/* Returns whether an element that does not exist may be created and be the member. */
static bool section_multicast_may_return(const struct ski_collection         *all,
                                         const struct section_multicast_head *head)
{
    return head->entry != SECTION_MULTICAST_ENROLL &&
           (all->open || all->def.flags & SKUA_ARRAY_ON_DEMAND);
}

/* Sends a multicast for one member on, to another handler. */
static void section_multicast_forward(skua_msg *msg, int pe, uint32_t handler)
{
    msg->handler = (uint16_t)handler;
    msg->target &= ~SKI_TARGET_FORWARDED;
    ski_msg_forward(ski_self, pe, msg);
}

/* Returns the element that a message is for, if it is on this PE; NULL: the message is forwarded,
 * returned or dropped. */
static struct ski_object *section_multicast_receiver(struct ski_collection *all,
                                                     const skua_index *index, skua_msg *msg)
{
    struct ski_object *object = ski_element_here(all, index);
    bool               gone;

    if (object)
        return object;
    gone = section_multicast_head_of(msg)->entry == SECTION_MULTICAST_ENROLL
               ? ski_element_deleted(all, index)
               : ski_element_gone(all, index);
    if (!gone)
        return ski_forward_for(all, index, msg,
                               section_multicast_creates(section_multicast_head_of(msg)));
    if (ski_closing_check(all, ski_absent_find(all, index), msg))
        return NULL;
    if (section_multicast_may_return(all, section_multicast_head_of(msg))) {
        section_multicast_forward(msg, section_multicast_head_of(msg)->delegate,
                                  SKI_HANDLER_SECTION_MULTICAST_RETURNED);
        return NULL;
    }
    section_multicast_lost(all, index, section_multicast_head_of(msg));
    ski_section_multicast_free(msg);
    return NULL;
}

/* Drops an order for a member whose collection has ended, and returns true.  The runtime sends
 * orders without the program, so no warning is due as for a multicast (ski_collection_drop()). */
static bool section_multicast_order_late(skua_msg *msg)
{
    const struct ski_collection *all;

    if (!section_multicast_is_order(section_multicast_head_of(msg)))
        return false;
    all = ski_collection_find(ski_self->objects, msg->target >> 8);
    if (!all || all->state != SKI_ENDED)
        return false;
    skua_msg_free(msg);
    return true;
}

void ski_on_section_multicast_catch_up(skua_msg *msg)
{
    struct section_multicast_head *head = skua_msg_data(msg);
    struct ski_collection         *all;
    struct ski_section            *section;
    struct ski_section_member     *member;
    struct ski_object             *object;
    skua_index                     index;

    if (section_multicast_order_late(msg) || !ski_element_msg(msg, sizeof *head, &all, &index))
        return;
    if ((unsigned)head->delegate >= (unsigned)all->self->pes ||
        (unsigned)head->successor >= (unsigned)all->self->pes)
        ski_fatal("PE %d sent an invalid multicast", msg->source);
    if (!(object = section_multicast_receiver(all, &index, msg)))
        return;
    section_multicast_check_entry(all, head);
    if (head->nocopy) {
        if (!ski_nocopy_reachable(msg))
            return; /* multicasts after it wait for its number */
        ski_nocopy_hold(msg);
    }
    section = ski_section_get(all->self->objects, head->id, head->generation);
    ski_section_set_collection(section, all);
    member = ski_section_member_get(section, &index);
    if (head->entry == SECTION_MULTICAST_END && ski_section_member_tracked(section, member))
        ski_fatal("PE %d ended a section that has not ended here", msg->source);
    if (!member->object)
        ski_section_member_here(member, object);
    ski_section_enter(section);
    section_multicast_deliver(section, member, head, msg->bytes - sizeof *head);
    ski_section_leave(section);
    ski_section_multicast_free(msg);
}

/* Returns whether this PE is the delegate of the member of index @p index in the generation that @p
 * head names, and the member has not left. */
static bool section_multicast_has_member(const struct ski_collection *all, const skua_index *index,
                                         const struct section_multicast_head *head)
{
    const struct ski_section *section =
        ski_section_find(all->self->objects, head->id, head->generation);
    const struct ski_section_member *member = NULL;

    if (section && section->state == SKI_SECTION_JOINED && section->of == all)
        member = ski_section_member_find(section, index);
    return member && member->delegate == all->self->pe && !member->gone;
}

void ski_on_section_multicast_returned(skua_msg *msg)
{
    struct section_multicast_head *head = skua_msg_data(msg);
    struct ski_collection         *all;
    skua_index                     index;
    int                            pe;

    if (section_multicast_order_late(msg) || !ski_element_msg(msg, sizeof *head, &all, &index))
        return;
    if (!section_multicast_has_member(all, &index, head)) {
        ski_section_multicast_free(msg);
        return;
    }
    pe = ski_element_here(all, &index) ? all->self->pe : ski_lookup_believed(all, &index);
    section_multicast_forward(msg, pe, SKI_HANDLER_SECTION_MULTICAST_CATCH_UP);
}

/* ---- to all ---------------------------------------------------------------------------------- */

static const struct ski_section_ops *section_multicast_ops(const struct ski_section *section)
{
    return ski_sections_of(section->self->objects)->ops;
}

/* Delivers a multicast to one of the own members, or sends it after the member.  Returns whether it
 * was sent. */
static bool section_multicast_deliver_or_send(struct ski_section            *section,
                                              struct ski_section_member     *member,
                                              struct section_multicast_head *head, size_t bytes)
{
    struct ski_object *object;

    if (member->gone)
        return false;
    head->successor = head->entry == SECTION_MULTICAST_SWITCH ? member->successor : 0;
    if (!member->object && (object = ski_element_here(section->of, &member->index)))
        ski_section_member_here(member, object);
    if (SKI_LIKELY(member->object != NULL)) {
        section_multicast_deliver(section, member, head, bytes);
        return false;
    }
    section_multicast_send_after(section, &member->index, head, bytes);
    return true;
}

static inline void section_multicast_fetch_lines(const void *at)
{
    for (size_t line = 0; at && line < SECTION_MULTICAST_LINES; line++)
        ski_prefetch_write((const char *)at + line * SKI_CACHE_LINE);
}

/* Fetches what the entry of an object whose first lines were fetched uses besides: its load, if it
 * is measured, and its oldest frame. */
static inline void section_multicast_fetch_object(const struct ski_object *object)
{
    const struct ski_collection *all = object->of;
    const void                  *frame;

    if (all->measured)
        ski_prefetch_write(ski_element_load(object));
    if (!all->class->flow)
        return;
    memcpy(&frame, (const char *)(object + 1) + all->class->frame_at, sizeof frame);
    section_multicast_fetch_lines(frame);
}

/* Fetches what the next members of the list need: their records, then the first lines of their
 * objects, then what these point to.  A section's members are far apart in memory, and most have
 * had no message for a while. */
static inline void section_multicast_fetch(const struct ski_section *section, size_t i)
{
    if (i + 4 < section->own_count) {
        ski_prefetch_write(section->own[i + 4]);
        ski_prefetch_write(&section->own[i + 4]->index);
    }
    if (i + 2 < section->own_count)
        section_multicast_fetch_lines(section->own[i + 2]->object);
    if (i + 1 < section->own_count && section->own[i + 1]->object)
        section_multicast_fetch_object(section->own[i + 1]->object);
}

/* Delivers a multicast to the own members, and offers each of them its message.  An entry that
 * waits lets other multicasts be delivered meanwhile: after each entry none is offered, so that a
 * message which is offered has not been freed, and members that find another one offered make a
 * copy. */
static void section_multicast_deliver_all(struct ski_section *section, skua_msg *msg)
{
    struct section_multicast_head *head  = skua_msg_data(msg);
    size_t                         bytes = msg->bytes - sizeof *head, away = 0;
    struct ski_objects            *objects = section->self->objects;
    skua_msg                      *offered = head->nocopy ? NULL : msg;

    head->delegate = section->self->pe;
    for (size_t i = 0; i < section->own_count && !section->over; i++) {
        section_multicast_fetch(section, i);
        objects->offered = offered;
        away += section_multicast_deliver_or_send(section, section->own[i], head, bytes);
        objects->offered = NULL;
    }
    if (SKI_UNLIKELY(away > 0) && !section->over && !section_multicast_is_order(head))
        section_multicast_ops(section)->members_away(section, away);
}

void ski_section_multicast_end(struct ski_section *section)
{
    skua_msg *msg = section->end;

    ski_assert(msg && section->walking == 0);
    section->end = NULL;
    section_multicast_deliver_all(section, msg);
    skua_msg_free(msg);
    ski_section_leave_tree(section);
}

/* Passes a multicast on to the children and the own members. */
static void section_multicast_spread(struct ski_section *section, skua_msg *msg)
{
    struct section_multicast_head *head = skua_msg_data(msg);

    section_multicast_check_entry(section->of, head);
    ski_assert(head->number == section->number + 1);
    section->number = head->number;
    if (head->nocopy)
        ski_nocopy_hold(msg);
    for (uint32_t i = 0; i < section->children; i++) {
        section_multicast_count_copy(head, msg->bytes - sizeof *head);
        skua_send_copy(section->child[i], (skua_handler){SKI_HANDLER_SECTION_MULTICAST}, head,
                       msg->bytes);
    }
    ski_section_enter(section);
    if (head->entry == SECTION_MULTICAST_END) {
        section->end = msg; /* when the loops of those before it end */
    } else {
        if (head->entry == SECTION_MULTICAST_SWITCH)
            ski_section_reduction_switch_gone(section);
        section_multicast_deliver_all(section, msg);
        if (ski_msg_unshare(msg))
            ski_section_multicast_free(msg);
    }
    ski_section_leave(section);
}

/* Returns whether a multicast waits for nocopy arguments that are being fetched: its own, or those
 * of one before it. */
static bool section_multicast_has_to_wait(struct ski_section *section, skua_msg *msg)
{
    if (SKI_UNLIKELY(section->fetching && section->fetching != msg)) {
        ski_msg_hold(section->self, &section->behind, msg);
        return true;
    }
    if (SKI_LIKELY(!section_multicast_head_of(msg)->nocopy))
        return false;
    section->fetching = msg;
    if (!ski_nocopy_reachable(msg))
        return true;
    section->fetching = NULL;
    if (section->behind.first)
        ski_msg_unhold(section->self, &section->behind);
    return false;
}

/* Drops a multicast that came after the end of its collection, with a warning.  Orders, which the
 * runtime sends without the program, are dropped without. */
static SKI_COLD void section_multicast_drop(skua_msg *msg)
{
    const struct section_multicast_head *head = section_multicast_head_of(msg);
    char                                 text[SKI_SECTION_TEXT];

    if (!section_multicast_is_order(head))
        ski_log(SKI_LOG_WARN, "a multicast from PE %d to %s, whose collection was destroyed",
                msg->source, ski_section_text(text, head->id));
    ski_msg_discard(msg);
}

void ski_on_section_multicast(skua_msg *msg)
{
    struct section_multicast_head *head = skua_msg_data(msg);
    bool                           ended;
    struct ski_section *section = ski_section_awaited(msg, head->id, head->generation, &ended);

    if (ended)
        section_multicast_drop(msg);
    if (!section || section_multicast_has_to_wait(section, msg))
        return;
    if (msg->source != section->parent || head->number != section->number + 1 ||
        head->entry == SECTION_MULTICAST_ENROLL)
        ski_fatal("PE %d sent an invalid multicast", msg->source);
    section_multicast_spread(section, msg);
}

static SKI_COLD _Noreturn void section_multicast_deleted(const struct section_multicast_head *head,
                                                         int source)
{
    char text[SKI_SECTION_TEXT];

    ski_section_text(text, head->id);
    if (section_multicast_is_order(head))
        ski_misuse("skua_section_destroy on PE %d: %s was destroyed", source, text);
    ski_misuse("skua_section_invoke of %s::%s on PE %d: %s was destroyed",
               ski_entry_find("skua_section_invoke", (skua_entry){head->entry})->of->def.name,
               ski_entries[head->entry].name, source, text);
}

/* Creates the next generation, and replaces the order to switch by one without its members.  NULL:
 * there is no next generation after all. */
static skua_msg *section_multicast_succeed(struct ski_section *section, skua_msg *msg)
{
    struct section_multicast_head *head  = skua_msg_data(msg);
    skua_msg                      *order = NULL;

    if (msg->source != section->self->pe || head->generation != section->generation)
        ski_fatal("PE %d sent an invalid multicast", msg->source);
    if (section_multicast_ops(section)->succeed(section, head + 1, msg->bytes - sizeof *head))
        order = ski_msg_with_header(head, sizeof *head, NULL, 0);
    skua_msg_free(msg);
    return order;
}

/* At the root: a section that has ended or is about to gets @p msg.  It is dropped if it is the
 * order to switch, which the runtime has sent itself, or if the collection was destroyed meanwhile.
 */
static SKI_COLD void section_multicast_too_late(const struct ski_section *section, skua_msg *msg)
{
    const struct section_multicast_head *head = section_multicast_head_of(msg);

    if (head->entry != SECTION_MULTICAST_SWITCH &&
        (section || ski_section_destroyed(ski_self->objects, head->id)))
        section_multicast_deleted(head, msg->source);
    section_multicast_drop(msg);
}

void ski_on_section_multicast_root(skua_msg *msg)
{
    struct section_multicast_head *head = skua_msg_data(msg);
    bool                           ended;
    struct ski_section            *section =
        ski_section_awaited(msg, head->id, ski_section_latest(ski_self->objects, head->id), &ended);

    if (ended || (section && section->end)) {
        section_multicast_too_late(section, msg);
        return;
    }
    if (!section)
        return;
    if (section->parent >= 0 || head->entry == SECTION_MULTICAST_ENROLL)
        ski_fatal("PE %d sent an invalid multicast", msg->source);
    if (section_multicast_has_to_wait(section, msg))
        return;
    if (SKI_UNLIKELY(head->entry == SECTION_MULTICAST_SWITCH) &&
        !(msg = section_multicast_succeed(section, msg)))
        return;
    head             = skua_msg_data(msg);
    head->number     = section->number + 1;
    head->generation = section->generation;
    section_multicast_spread(section, msg);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Sends a multicast to the root, also if that is this PE: it must not overtake a queued one. */
static void section_multicast_to_root(skua_msg *msg)
{
    skua_send(ski_section_root(section_multicast_head_of(msg)->id),
              (skua_handler){SKI_HANDLER_SECTION_MULTICAST_ROOT}, msg);
}

static void section_multicast_order(const struct section_multicast_head *head, const void *data,
                                    size_t bytes)
{
    section_multicast_to_root(ski_msg_with_header(head, sizeof *head, data, bytes));
}

static void section_multicast_check_call(const char                          *call,
                                         const struct section_multicast_head *head)
{
    const struct ski_entry *what = ski_entry_find(call, (skua_entry){head->entry});

    if (ski_section_ended(SKI_SELF()->objects, call, head->id))
        section_multicast_deleted(head, skua_pe());
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s is a sync entry, whose reply a multicast cannot return; invoke it "
                   "on one element",
                   call, what->of->def.name, what->name);
}

void ski_section_multicast_switch(const struct ski_section *section, const void *lists,
                                  size_t bytes)
{
    struct section_multicast_head head = {
        .id = section->id, .entry = SECTION_MULTICAST_SWITCH, .generation = section->generation};

    section_multicast_order(&head, lists, bytes);
}

void skua_section_invoke(skua_section target, skua_entry entry, const void *data, size_t bytes)
{
    struct section_multicast_head head = {.id = target.id, .entry = entry.id};

    section_multicast_check_call(__func__, &head);
    ski_measure_count_section(target.id, bytes);
    section_multicast_order(&head, data, bytes);
}

/* Invokes an entry of all members with a message with nocopy arguments, which is consumed. */
static void section_multicast_nocopy(skua_section target, skua_entry entry, skua_msg *msg)
{
    struct section_multicast_head head = {.id = target.id, .entry = entry.id, .nocopy = 1};

    section_multicast_check_call("skua_nocopy_invoke_section", &head);
    ski_measure_count_section(target.id, skua_msg_size(msg));
    section_multicast_to_root(ski_nocopy_prepend(&head, sizeof head, msg));
}

void skua_nocopy_invoke_section(skua_section section, skua_entry entry, skua_msg *msg)
{
    (void)SKI_SELF();
    if (ski_nocopy_goes_as_is(msg, ski_entry_find(__func__, entry))) {
        section_multicast_nocopy(section, entry, msg);
    } else {
        msg = skua_nocopy_copied(msg);
        skua_section_invoke(section, entry, skua_msg_data(msg), skua_msg_size(msg));
        skua_msg_free(msg);
    }
}

void skua_section_destroy(skua_section section)
{
    struct section_multicast_head head = {.id = section.id, .entry = SECTION_MULTICAST_END};

    if (ski_section_ended(SKI_SELF()->objects, __func__, section.id))
        section_multicast_deleted(&head, skua_pe());
    section_multicast_order(&head, NULL, 0);
}

static bool section_multicast_discard(skua_msg *msg)
{
    if (!section_multicast_has_nocopy(msg))
        return false;
    ski_nocopy_drop(msg);
    return true;
}

const struct ski_lifecycle ski_section_multicast_lifecycle = {.discard = section_multicast_discard};
