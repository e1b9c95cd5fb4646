/* SPDX-License-Identifier: Apache-2.0 */
/* section_reduction_member.c - see section_reduction_member.h. */
#include "objects/collective/section_reduction_member.h"

#include "base/assert.h"
#include "core/pe/handler.h"
#include "objects/collective/section_contributors.h"
#include "objects/collective/section_reduction.h"
#include "objects/model/seqnum.h"

/* The kinds of messages of a contributor; "number" is that of the message. */
enum section_reduction_change {
    SECTION_REDUCTION_DELETED,  /* a member was destroyed, or all contributors of a child have left:
                                   it  contributes to no reduction from number on */
    SECTION_REDUCTION_LOST,     /* a member was destroyed before it was enrolled.  If it has
                                   contributed, another message says when it left */
    SECTION_REDUCTION_SWITCHED, /* a member contributes to the next generation from number on */
    SECTION_REDUCTION_JOINED,   /* a member contributes to this generation from number on */
    SECTION_REDUCTION_NEVER,    /* a member never contributes to this generation */
    SECTION_REDUCTION_LATE,     /* a member of a restored section has contributed to the reductions
                                   before number */
};

/* A contributor leaves or joins. */
struct section_reduction_leave_msg {
    uint64_t id;
    uint32_t number;
    uint32_t generation;
    uint32_t change; /* enum section_reduction_change */
    uint32_t zero;
};

_Static_assert(sizeof(struct section_reduction_leave_msg) == SKI_SECTION_REDUCTION_LEAVE_MIN,
               "see section_reduction_member.h");

/* ---- contributors ---------------------------------------------------------------------------- */

static void section_reduction_contributor_left(struct ski_section *section, uint32_t number);

/* Makes this delegate leave its parent, or the next generation: all its contributors have left. */
static void section_reduction_all_left(struct ski_section *section)
{
    struct section_reduction_leave_msg all  = {section->id,
                                               ski_section_contributors_last(&section->reduction),
                                               section->generation, SECTION_REDUCTION_DELETED, 0};
    struct ski_section                *next = ski_section_reduction_successor(section);

    if (section->parent >= 0)
        skua_send_copy(section->parent, (skua_handler){SKI_HANDLER_SECTION_REDUCTION_LEAVE}, &all,
                       sizeof all);
    else if (next)
        section_reduction_contributor_left(next, all.number);
}

/* A contributor contributes to reductions before @p number only. */
static void section_reduction_contributor_left(struct ski_section *section, uint32_t number)
{
    struct ski_section_reduction *reduction = &section->reduction;

    if (ski_section_contributors_all_left(reduction))
        ski_fatal("PE %d: more contributors leave a section than it has", section->self->pe);
    ski_section_contributors_leave(reduction, number);
    ski_section_enter(section);
    if (ski_section_contributors_all_left(reduction))
        section_reduction_all_left(section);
    ski_section_reduction_advance(section);
    ski_section_leave(section);
}

/* ---- members --------------------------------------------------------------------------------- */

/* Sends @p leave, about a member, to its delegate, or to the root, which forwards the message. */
static void section_reduction_send_leave(struct ski_collection *all, int pe,
                                         const skua_index                         *index,
                                         const struct section_reduction_leave_msg *leave)
{
    ski_element_post(all->self, pe, SKI_HANDLER_SECTION_REDUCTION_LEAVE, all->id, index, leave,
                     sizeof *leave);
}

static void section_reduction_member_left(struct ski_section        *section,
                                          struct ski_section_member *member, uint32_t number)
{
    member->gone  = true;
    member->until = number;
    section_reduction_contributor_left(section, number);
}

/* At the delegate of a member in this generation: reports to its delegate in the next one that the
 * member never joins. */
static void section_reduction_send_never(struct ski_section              *section,
                                         const struct ski_section_member *member)
{
    struct section_reduction_leave_msg never = {section->id, 0, section->generation + 1,
                                                SECTION_REDUCTION_NEVER, 0};

    if (member->successor >= 0)
        section_reduction_send_leave(section->of, member->successor, &member->index, &never);
}

/* At the delegate of a member that was destroyed. */
static void section_reduction_member_deleted(struct ski_section        *section,
                                             struct ski_section_member *member, uint32_t number)
{
    section_reduction_member_left(section, member, number);
    if (section->switched)
        section_reduction_send_never(section, member);
}

/* Reports to the delegate of a member on this PE that the member leaves. */
static void section_reduction_leave(struct ski_section *section, struct ski_section_member *member,
                                    enum section_reduction_change change)
{
    struct section_reduction_leave_msg leave = {section->id, member->next, section->generation,
                                                (uint32_t)change, 0};

    if (section->state != SKI_SECTION_JOINED || member->delegate != section->self->pe)
        section_reduction_send_leave(section->of, member->delegate, &member->index, &leave);
    else if (change == SECTION_REDUCTION_SWITCHED)
        section_reduction_member_left(section, member, member->next);
    else
        section_reduction_member_deleted(section, member, member->next);
}

bool ski_section_reduction_deleted(struct ski_section *section, struct ski_section_member *member)
{
    bool contributed = section->generation == 0 && member->next != 0;

    /* Else the order that enrolls the member does not find it, or finds a later element of its
     * index, which is the member then; or, of a later generation, it has not joined. */
    if (member->seen == SKI_SECTION_UNSEEN && !contributed)
        return false;
    section_reduction_leave(section, member, SECTION_REDUCTION_DELETED);
    return true;
}

void ski_section_reduction_switched(struct ski_section *section, struct ski_section_member *member)
{
    section_reduction_leave(section, member, SECTION_REDUCTION_SWITCHED);
}

/* ---- the next generation --------------------------------------------------------------------- */

/* At the delegate of a member: the member contributes from @p number on. */
static void section_reduction_member_joined(struct ski_section        *section,
                                            struct ski_section_member *member, uint32_t number)
{
    struct ski_section_reduction *reduction = &section->reduction;

    if (member->joined || reduction->unjoined == 0)
        ski_fatal("PE %d: a member joins a section twice", section->self->pe);
    member->joined = true;
    reduction->unjoined--;
    if (ski_seqnum_before(reduction->first, number))
        ski_section_contributors_begin_late(reduction, number);
    ski_section_reduction_advance(section);
}

/* At the delegate of a member that has contributed to the reductions before @p number, in the
 * former job.  The PE of such a member has a record of it, and reports the destruction of the
 * member, so the member cannot be lost.  If it was found lost before, it is left out of all
 * reductions already: those before @p number must not leave it out twice. */
static void section_reduction_member_late(struct ski_section        *section,
                                          struct ski_section_member *member, uint32_t number)
{
    struct ski_section_reduction *reduction = &section->reduction;
    bool left_out = member->gone && ski_seqnum_before(member->until, number);

    member->came = true;
    if (!left_out && ski_seqnum_before(reduction->first, number))
        ski_section_contributors_begin_late(reduction, number);
    ski_section_reduction_advance(section);
}

void ski_section_reduction_late(struct ski_section *section, const skua_index *index,
                                uint32_t number)
{
    struct ski_section_member         *member = ski_section_member_find(section, index);
    struct section_reduction_leave_msg late   = {section->id, number, section->generation,
                                                 SECTION_REDUCTION_LATE, 0};

    if (!member || !member->listed || !ski_seqnum_before(section->reduction.first, number))
        return;
    if (member->delegate == section->self->pe)
        section_reduction_member_late(section, member, number);
    else
        section_reduction_send_leave(section->of, member->delegate, index, &late);
}

void ski_section_reduction_joined(struct ski_section *section, struct ski_section_member *member)
{
    struct section_reduction_leave_msg joined = {section->id, member->next, section->generation,
                                                 SECTION_REDUCTION_JOINED, 0};

    if (section->state == SKI_SECTION_JOINED && member->delegate == section->self->pe)
        section_reduction_member_joined(section, member, member->next);
    else
        section_reduction_send_leave(section->of, member->delegate, &member->index, &joined);
}

void ski_section_reduction_switch_gone(struct ski_section *section)
{
    section->switched = true;
    for (size_t i = 0; i < section->own_count; i++)
        if (section->own[i]->gone)
            section_reduction_send_never(section, section->own[i]);
}

void ski_section_reduction_succeed(struct ski_section *section, struct ski_section *next)
{
    ski_assert(section->parent < 0 && next->parent < 0 && next->state == SKI_SECTION_JOINED);
    next->reduction.contributors++;
    section->switched = true;
    if (ski_section_contributors_all_left(&section->reduction))
        section_reduction_all_left(section);
}

void ski_section_reduction_lost(struct ski_collection *all, const skua_index *index, uint64_t id,
                                int delegate)
{
    struct section_reduction_leave_msg leave = {id, 0, 0, SECTION_REDUCTION_LOST, 0};

    section_reduction_send_leave(all, delegate, index, &leave);
}

/* ---- handler --------------------------------------------------------------------------------- */

/* At the delegate of a member that leaves or joins. */
static void section_reduction_member_changed(struct ski_section                       *section,
                                             struct ski_section_member                *member,
                                             const struct section_reduction_leave_msg *leave)
{
    ski_section_enter(section);
    switch (leave->change) {
    case SECTION_REDUCTION_JOINED:
        section_reduction_member_joined(section, member, leave->number);
        break;
    case SECTION_REDUCTION_NEVER:
        section_reduction_member_joined(section, member, section->reduction.first);
        section_reduction_member_deleted(section, member, section->reduction.first);
        break;
    case SECTION_REDUCTION_SWITCHED:
        section_reduction_member_left(section, member, leave->number);
        break;
    case SECTION_REDUCTION_LATE:
        section_reduction_member_late(section, member, leave->number);
        break;
    default:
        if (!member->gone && !(leave->change == SECTION_REDUCTION_LOST && member->came))
            section_reduction_member_deleted(section, member, leave->number);
    }
    ski_section_leave(section);
}

/* Returns whether a lost member must have reported its destruction itself: its delegate, which had
 * sent the order that did not find the member, has left the tree since. */
static bool section_reduction_told_before(const struct section_reduction_leave_msg *leave)
{
    const struct ski_section *section =
        ski_section_find(ski_self->objects, leave->id, leave->generation);

    return leave->change == SECTION_REDUCTION_LOST &&
           (!section || section->state != SKI_SECTION_JOINED);
}

void ski_on_section_reduction_leave(skua_msg *msg)
{
    struct section_reduction_leave_msg leave =
        *(struct section_reduction_leave_msg *)skua_msg_data(msg);
    struct ski_section_member *member;
    bool                       ended   = section_reduction_told_before(&leave);
    struct ski_section        *section = NULL;

    if (!ended)
        section = ski_section_awaited(msg, leave.id, leave.generation, &ended);
    if (ended)
        skua_msg_free(msg);
    if (!section)
        return;
    if (msg->flags & SKI_MSG_OBJECT) {
        if (!(member = ski_section_reduction_named_member(section, msg)))
            return;
        section_reduction_member_changed(section, member, &leave);
    } else if (ski_section_reduction_is_child(section, msg->source)) {
        section_reduction_contributor_left(section, leave.number);
    } else {
        ski_fatal("PE %d leaves a section, but is not a child", msg->source);
    }
    skua_msg_free(msg);
}
