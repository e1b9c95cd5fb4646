/* SPDX-License-Identifier: Apache-2.0 */
/* section_multicast.c - see section_multicast.h. */
#include "objects/collective/section_multicast.h"

#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/chare/invoke.h"
#include "objects/location/closing.h"
#include "objects/location/forward.h"
#include "objects/location/location.h"
#include "objects/model/seqnum.h"
#include "objects/zerocopy/nocopy.h"

/* What a multicast begins with; the data follows. */
struct head {
    _Alignas(32) uint64_t id;
    uint32_t entry;
    uint32_t number;
    int32_t  station; /* that sends it after a member */
    uint32_t parts;   /* what follows is a message with parts */
};

_Static_assert(sizeof(struct head) == SKI_SECTION_LEAST, "see section_multicast.h");

/* In the place of an entry. */
#define ORDER_ENROL (UINT32_MAX - 1)
#define ORDER_END   UINT32_MAX

static struct head *head_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static bool is_order(const struct head *head)
{
    return head->entry >= ORDER_ENROL;
}

static bool multicast_has_parts(const skua_msg *msg)
{
    return (msg->handler == SKI_HANDLER_SECTION || msg->handler == SKI_HANDLER_SECTION_ROOT ||
            msg->handler == SKI_HANDLER_SECTION_LATE) &&
           ((const struct head *)(msg + 1))->parts;
}

void ski_multicast_free(skua_msg *msg)
{
    ski_parts_free_any(msg, head_of(msg)->parts);
}

/* A copy will be made of it. */
static inline void count_copy(const struct head *head, size_t bytes)
{
    ski_parts_more_any(head, sizeof *head + bytes, head->parts);
}

/* ---- to one that is not here --------------------------------------------------------- */

static void send_after(struct ski_section *section, const skua_index *index,
                       const struct head *head, size_t bytes)
{
    struct ski_collection *all = section->of;

    count_copy(head, bytes);
    ski_element_post(all->self, ski_lookup_pe(all, index), SKI_HANDLER_SECTION_LATE, all->id, index,
                     head, sizeof *head + bytes);
}

void ski_multicast_enrol(struct ski_section *section, const skua_index *index)
{
    struct head head = {.id = section->id, .entry = ORDER_ENROL, .station = section->self->pe};

    send_after(section, index, &head, 0);
}

void ski_multicast_follow(struct ski_section *section, struct ski_enrolled *member)
{
    for (struct skua_msg *msg = member->early; msg; msg = msg->link)
        send_after(section, &member->index, head_of(msg), msg->bytes - sizeof(struct head));
}

/* ---- to one that is here -------------------------------------------------------------- */

/* Keeps a copy until its turn comes: in the order of numbers. */
static SKI_COLD void put_aside(struct ski_enrolled *member, const struct head *head, size_t bytes)
{
    struct skua_msg **at = &member->early;
    skua_msg         *msg;

    if (!ski_seqnum_before(member->seen, head->number))
        ski_fatal("multicast %u came twice", head->number);
    count_copy(head, bytes);
    msg = ski_msg_with_header(head, sizeof *head, head + 1, bytes);

    while (*at && ski_seqnum_before(head_of(*at)->number, head->number))
        at = &(*at)->link;
    msg->link = *at;
    *at       = msg;
}

static void run_entry(struct ski_object *object, const struct head *head, size_t bytes)
{
    const struct ski_entry *entry = &ski_entries[head->entry];

    if (SKI_UNLIKELY(head->parts))
        ski_entry_run(object, entry,
                      ski_parts_copy(head->entry, head, sizeof *head + bytes, sizeof *head));
    else
        ski_entry_run_on(object, entry, head->entry, head + 1, bytes);
}

/* It is its turn.  False: the member is in the section no more. */
static bool run(struct ski_section *section, struct ski_enrolled *member, const struct head *head,
                size_t bytes)
{
    struct ski_object *object = member->object;

    member->seen = head->number;
    if (head->entry == ORDER_ENROL)
        member->station = head->station;
    else if (head->entry == ORDER_END)
        ski_enrolled_forget(section, member);
    else if (object->state == SKI_ALIVE || object->state == SKI_LEAVING)
        run_entry(object, head, bytes);
    return head->entry != ORDER_END && !section->over;
}

/* What has waited for what a member just got. */
static SKI_COLD void catch_up(struct ski_section *section, struct ski_enrolled *member)
{
    skua_msg *msg;
    bool      more = true;

    while (more && (msg = member->early) && head_of(msg)->number == member->seen + 1) {
        member->early = msg->link;
        more          = run(section, member, head_of(msg), msg->bytes - sizeof(struct head));
        ski_multicast_free(msg);
    }
}

/* The member stays until it is through, and the section as long as its caller walks. */
static void hand_over(struct ski_section *section, struct ski_enrolled *member,
                      const struct head *head, size_t bytes)
{
    struct ski_object *object = member->object;

    if (SKI_UNLIKELY(head->number != member->seen + 1)) {
        put_aside(member, head, bytes);
        return;
    }
    ski_element_enter(object);
    if (run(section, member, head, bytes) && SKI_UNLIKELY(member->early != NULL))
        catch_up(section, member);
    ski_element_leave(object);
}

/* The entry, which may have come from elsewhere, is one of the members'. */
static void check_entry(const struct ski_collection *all, const struct head *head)
{
    skua_entry entry = {head->entry};

    if (!is_order(head))
        ski_check_entry("skua_section_invoke", all, ski_entry_find("skua_section_invoke", entry),
                        NULL);
}

/* It was deleted, and the order that enrols it found nobody to tell. */
static void lost(struct ski_collection *all, const skua_index *index, const struct head *head)
{
    if (head->entry == ORDER_ENROL)
        ski_gather_lost(all, index, head->id, head->station);
}

/* Whether it creates members that do not exist: at their homes, there is no one sender. */
static unsigned creates(const struct head *head)
{
    if (is_order(head) || !(ski_entries[(uint16_t)head->entry].flags & SKI_ENTRY_CREATES))
        return 0;
    return SKUA_ENTRY_CREATE_HOME;
}

/* The object that a message was sent after, if it is here; else the message is on its way,
 * or dropped. */
static struct ski_object *receiver(struct ski_collection *all, const skua_index *index,
                                   skua_msg *msg)
{
    struct ski_object *object = ski_element_here(all, index);
    bool               gone;

    if (object)
        return object;
    gone = head_of(msg)->entry == ORDER_ENROL ? ski_element_deleted(all, index)
                                              : ski_element_gone(all, index);
    if (!gone)
        return ski_forward_for(all, index, msg, creates(head_of(msg)));
    if (ski_closing_check(all, ski_absent_find(all, index), msg))
        return NULL;
    lost(all, index, head_of(msg));
    ski_multicast_free(msg);
    return NULL;
}

void ski_on_section_late(skua_msg *msg)
{
    struct head           *head = skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_section    *section;
    struct ski_enrolled   *member;
    struct ski_object     *object;
    skua_index             index;

    if (!ski_element_msg(msg, sizeof *head, &all, &index))
        return;
    if ((unsigned)head->station >= (unsigned)all->self->pes)
        ski_fatal("PE %d sent a multicast that makes no sense", msg->source);
    if (!(object = receiver(all, &index, msg)))
        return;
    check_entry(all, head);
    if (head->parts)
        ski_parts_hold(msg);
    section = ski_section_get(all->self->objects, head->id);
    ski_section_of(section, all);
    member = ski_enrolled_get(section, &index);
    if (head->entry == ORDER_END && ski_enrolled_known(section, member))
        ski_fatal("PE %d ended a section that has not ended here", msg->source);
    if (!member->object)
        ski_enrolled_here(member, object);
    ski_section_enter(section);
    hand_over(section, member, head, msg->bytes - sizeof *head);
    ski_section_leave(section);
    ski_multicast_free(msg);
}

/* ---- to all ------------------------------------------------------------------------------ */

static void give(struct ski_section *section, struct ski_enrolled *member, struct head *head,
                 size_t bytes)
{
    struct ski_object *object;

    if (member->gone)
        return;
    if (!member->object && (object = ski_element_here(section->of, &member->index)))
        ski_enrolled_here(member, object);
    if (SKI_LIKELY(member->object != NULL)) {
        hand_over(section, member, head, bytes);
        return;
    }
    head->station = section->self->pe;
    send_after(section, &member->index, head, bytes);
}

static void give_all(struct ski_section *section, skua_msg *msg)
{
    struct head *head  = skua_msg_data(msg);
    size_t       bytes = msg->bytes - sizeof *head;

    for (size_t i = 0; i < section->rosters && !section->over; i++)
        give(section, section->roster[i], head, bytes);
}

void ski_multicast_end(struct ski_section *section)
{
    skua_msg *msg = section->end;

    section->end = NULL;
    give_all(section, msg);
    skua_msg_free(msg);
    ski_section_quit(section);
}

/* To the children and the members. */
static void spread(struct ski_section *section, skua_msg *msg)
{
    struct head *head = skua_msg_data(msg);

    check_entry(section->of, head);
    section->number = head->number;
    if (head->parts)
        ski_parts_hold(msg);
    for (uint32_t i = 0; i < section->children; i++) {
        count_copy(head, msg->bytes - sizeof *head);
        skua_send_copy(section->child[i], (skua_handler){SKI_HANDLER_SECTION}, head, msg->bytes);
    }
    ski_section_enter(section);
    if (head->entry == ORDER_END) {
        section->end = msg; /* when those before it have gone to all */
    } else {
        give_all(section, msg);
        ski_multicast_free(msg);
    }
    ski_section_leave(section);
}

/* Whether it is not its turn: it waits until the parts of one before it are here, or its own. */
static bool has_to_wait(struct ski_section *section, skua_msg *msg)
{
    if (SKI_UNLIKELY(section->fetching && section->fetching != msg)) {
        ski_hold(section->self, &section->behind, msg);
        return true;
    }
    if (SKI_LIKELY(!head_of(msg)->parts))
        return false;
    section->fetching = msg;
    if (!ski_parts_near(msg))
        return true;
    section->fetching = NULL;
    if (section->behind.first)
        ski_unhold(section->self, &section->behind);
    return false;
}

void ski_on_section(skua_msg *msg)
{
    struct head        *head = skua_msg_data(msg);
    bool                ended;
    struct ski_section *section = ski_section_awaited(msg, head->id, &ended);

    if (!section && !ended)
        return;
    if (section && has_to_wait(section, msg))
        return;
    if (ended || msg->source != section->parent || head->number != section->number + 1 ||
        head->entry == ORDER_ENROL)
        ski_fatal("PE %d sent a multicast that makes no sense", msg->source);
    spread(section, msg);
}

static SKI_COLD _Noreturn void deleted(const struct head *head, int source)
{
    char text[SKI_SECTION_TEXT];

    ski_section_text(text, head->id);
    if (is_order(head))
        ski_misuse("skua_section_delete on PE %d: %s was deleted", source, text);
    ski_misuse("skua_section_invoke of %s::%s on PE %d: %s was deleted",
               ski_entry_find("skua_section_invoke", (skua_entry){head->entry})->of->def.name,
               ski_entries[head->entry].name, source, text);
}

void ski_on_section_root(skua_msg *msg)
{
    struct head        *head = skua_msg_data(msg);
    bool                ended;
    struct ski_section *section = ski_section_awaited(msg, head->id, &ended);

    if (ended || (section && section->end))
        deleted(head, msg->source);
    if (!section)
        return;
    if (section->parent >= 0 || head->entry == ORDER_ENROL)
        ski_fatal("PE %d sent a multicast that makes no sense", msg->source);
    if (has_to_wait(section, msg))
        return;
    head->number = section->number + 1;
    spread(section, msg);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* To the root, also if that is here: a queued one must not be overtaken. */
static void send_to_root(skua_msg *msg)
{
    skua_send(ski_section_root(head_of(msg)->id), (skua_handler){SKI_HANDLER_SECTION_ROOT}, msg);
}

static void order(const struct head *head, const void *data, size_t bytes)
{
    send_to_root(ski_msg_with_header(head, sizeof *head, data, bytes));
}

static void check_call(const char *call, const struct head *head)
{
    const struct ski_entry *what = ski_entry_find(call, (skua_entry){head->entry});

    if (ski_section_ended(SKI_SELF()->objects, call, head->id))
        deleted(head, skua_pe());
    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s gives an answer, which all cannot", call, what->of->def.name,
                   what->name);
}

void skua_section_invoke(skua_section target, skua_entry entry, const void *data, size_t bytes)
{
    struct head head = {.id = target.id, .entry = entry.id};

    check_call(__func__, &head);
    order(&head, data, bytes);
}

void ski_multicast_parts(skua_section target, skua_entry entry, skua_msg *msg)
{
    struct head head = {.id = target.id, .entry = entry.id, .parts = 1};

    check_call("skua_parts_invoke_section", &head);
    send_to_root(ski_parts_headed(&head, sizeof head, msg));
}

void skua_section_delete(skua_section section)
{
    struct head head = {.id = section.id, .entry = ORDER_END};

    if (ski_section_ended(SKI_SELF()->objects, __func__, section.id))
        deleted(&head, skua_pe());
    order(&head, NULL, 0);
}

static bool multicast_discard(skua_msg *msg)
{
    if (!multicast_has_parts(msg))
        return false;
    ski_parts_drop(msg);
    return true;
}

const struct ski_lifecycle ski_section_multicast_lifecycle = {.discard = multicast_discard};
