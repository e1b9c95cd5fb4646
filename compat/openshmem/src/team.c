/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.c - see team.h.
 *
 * A split is collective over the parent. Every PE publishes the bitmap of its free slots, the
 * members of the parent combine them, and the new team gets the first slot that is free on all; so
 * it is free on the members of the new team, as required. The members agree in the same way on the
 * number of the first call of the team (board.h).
 */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "context.h"
#include "rma.h"

static struct shmem_team_handle team_world, team_shared;
static uint64_t                 team_free[SHMEMI_SLOT_WORDS]; /* bit set: the slot is free */

/* ---- sets --------------------------------------------------------------- */

static bool team_is_mapped(int start, int stride, int size)
{
    for (int i = 0; i < size; i++)
        for (int s = 0; s < SHMEMI_SEGMENTS; s++)
            if (shmemi_job.segment[s].bytes && !shmemi_job.segment[s].peer[start + stride * i])
                return false;
    return true;
}

/* Returns the rank of @p pe in the set, or -1. */
static int team_rank(int start, int stride, int size, int pe)
{
    int rank = stride ? (pe - start) / stride : 0;

    return rank >= 0 && rank < size && start + stride * rank == pe ? rank : -1;
}

struct shmemi_set shmemi_set_make(int start, int stride, int size, int slot)
{
    return (struct shmemi_set){start, stride,
                               size,  team_rank(start, stride, size, shmemi_job.pe),
                               slot,  team_is_mapped(start, stride, size)};
}

/* Reports, once in a process, a call over an active set that this PE is not in. Other
 * implementations return from it, and there are programs that rely on that. */
static void team_report_outside(const char *call, const struct shmemi_set *set)
{
    static bool reported;

    if (!reported)
        fprintf(stderr,
                "%s: PE %d is not in the active set of %d PEs from %d on; its call has no effect\n",
                call, shmemi_job.pe, set->size, set->start);
    reported = true;
}

struct shmemi_set shmemi_active_set(const char *call, int start, int log_stride, int size)
{
    struct shmemi_set set;
    int64_t           last;

    shmemi_check_running(call);
    last = start + ((int64_t)size - 1) * ((int64_t)1 << (log_stride & 31));
    if (log_stride < 0 || log_stride > 30 || size < 1 || start < 0 || last >= shmemi_job.pes)
        skua_abort(
            "%s: %d PEs from %d on with a stride of 2 to the power of %d are not an active set "
            "of a job of %d PEs",
            call, size, start, log_stride, shmemi_job.pes);
    set = shmemi_set_make(start, 1 << log_stride, size,
                          size == shmemi_job.pes ? SHMEMI_SLOT_ACTIVE_ALL : SHMEMI_SLOT_ACTIVE_SET);
    if (set.me < 0)
        team_report_outside(call, &set);
    return set;
}

/* ---- predefined teams --------------------------------------------------- */

/* Returns the set of PEs whose memory is mapped in this process, if they have a constant stride;
 * otherwise the set of this PE alone. */
static struct shmemi_set team_find_shared(void)
{
    int first = -1, second = -1, count = 0;

    if (!team_is_mapped(shmemi_job.pe, 1, 1))
        return shmemi_set_make(shmemi_job.pe, 1, 1, SHMEMI_SLOT_SHARED);
    for (int pe = 0; pe < shmemi_job.pes; pe++) {
        if (!team_is_mapped(pe, 1, 1))
            continue;
        if (count == 0)
            first = pe;
        else if (count == 1)
            second = pe;
        else if (pe != first + count * (second - first))
            return shmemi_set_make(shmemi_job.pe, 1, 1, SHMEMI_SLOT_SHARED);
        count++;
    }
    return shmemi_set_make(first, count > 1 ? second - first : 1, count, SHMEMI_SLOT_SHARED);
}

void shmemi_teams_open(void)
{
    memset(team_free, 0xff, sizeof team_free);
    team_free[0] &= UINT64_MAX << SHMEMI_SLOT_CREATED;
    team_world      = (struct shmem_team_handle){0};
    team_shared     = (struct shmem_team_handle){0};
    team_world.set  = shmemi_set_make(0, 1, shmemi_job.pes, SHMEMI_SLOT_WORLD);
    team_shared.set = team_find_shared();
}

void shmemi_teams_close(void)
{
    shmemi_ctx_destroy_all(&team_world);
    shmemi_ctx_destroy_all(&team_shared);
}

struct shmem_team_handle *shmemi_team(shmem_team_t handle)
{
    if (handle == SHMEM_TEAM_WORLD)
        return &team_world;
    return handle == SHMEM_TEAM_SHARED ? &team_shared : handle;
}

shmem_team_t shmemi_team_handle(const struct shmem_team_handle *team)
{
    if (team == &team_world)
        return SHMEM_TEAM_WORLD;
    return team == &team_shared ? SHMEM_TEAM_SHARED : (shmem_team_t)(uintptr_t)team;
}

/* ---- queries ------------------------------------------------------------ */

int shmem_team_my_pe(shmem_team_t handle)
{
    shmemi_check_running(__func__);
    return handle == SHMEM_TEAM_INVALID ? -1 : shmemi_team(handle)->set.me;
}

int shmem_team_n_pes(shmem_team_t handle)
{
    shmemi_check_running(__func__);
    return handle == SHMEM_TEAM_INVALID ? -1 : shmemi_team(handle)->set.size;
}

int shmem_team_get_config(shmem_team_t handle, long config_mask, shmem_team_config_t *config)
{
    shmemi_check_running(__func__);
    if (handle == SHMEM_TEAM_INVALID || (config_mask & ~SHMEM_TEAM_NUM_CONTEXTS))
        return -1;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)
        config->num_contexts = shmemi_team(handle)->config.num_contexts;
    return 0;
}

int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to)
{
    const struct shmemi_set *a, *b;

    shmemi_check_running(__func__);
    if (from == SHMEM_TEAM_INVALID || to == SHMEM_TEAM_INVALID)
        return -1;
    a = &shmemi_team(from)->set;
    b = &shmemi_team(to)->set;
    if (pe < 0 || pe >= a->size)
        return -1;
    return team_rank(b->start, b->stride, b->size, shmemi_set_pe(a, pe));
}

/* ---- split -------------------------------------------------------------- */

/* Stores what all members of @p parent offer in @p common. Collective over it. */
static void team_common_slots(const char *call, const struct shmemi_set *parent,
                              struct shmemi_slot_offer *common)
{
    struct shmemi_slot_offer *published = shmemi_slot_offer(parent->slot), other;

    memcpy(common->free, team_free, sizeof team_free);
    common->number = shmemi_board_last_number();
    *published     = *common;
    shmemi_sync(parent);
    for (int rank = 0; rank < parent->size; rank++) {
        shmemi_get(call, &other, published, sizeof other, shmemi_set_pe(parent, rank));
        for (int i = 0; i < SHMEMI_SLOT_WORDS; i++)
            common->free[i] &= other.free[i];
        if (other.number > common->number)
            common->number = other.number;
    }
    shmemi_sync(parent);
}

/* Takes the first slot of @p common. Returns -1 if there is none. */
static int team_take_slot(struct shmemi_slot_offer *common)
{
    for (int i = 0; i < SHMEMI_SLOT_WORDS; i++)
        if (common->free[i]) {
            int bit = __builtin_ctzll(common->free[i]);

            common->free[i] &= ~((uint64_t)1 << bit);
            shmemi_board_begin(i * 64 + bit, common->number);
            return i * 64 + bit;
        }
    return -1;
}

/* Creates a team from a set in which the caller is a member. */
static shmem_team_t team_handle_create(struct shmemi_set set, const shmem_team_config_t *config,
                                       long mask)
{
    struct shmem_team_handle *team = calloc(1, sizeof *team);

    if (!team)
        skua_abort("shmem_team_split: PE %d has no memory for a team", shmemi_job.pe);
    team->set = set;
    if (config && (mask & SHMEM_TEAM_NUM_CONTEXTS))
        team->config = *config;
    team_free[set.slot / 64] &= ~((uint64_t)1 << set.slot % 64);
    return team;
}

int shmem_team_split_strided(shmem_team_t handle, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask,
                             shmem_team_t *new_team)
{
    struct shmem_team_handle *parent = shmemi_team(handle);
    struct shmemi_slot_offer  common;
    struct shmemi_set         set;
    int64_t                   last = start + ((int64_t)size - 1) * stride;
    int                       slot;

    shmemi_check_running(__func__);
    *new_team = SHMEM_TEAM_INVALID;
    if (!parent)
        return -1;
    if (start < 0 || start >= parent->set.size || size < 1 || last < 0 ||
        last >= parent->set.size || (stride == 0 && size > 1))
        return -1; /* all members pass the same triplet */
    team_common_slots(__func__, &parent->set, &common);
    slot = team_take_slot(&common);
    if (slot < 0)
        return -1;
    set = shmemi_set_make(shmemi_set_pe(&parent->set, start), parent->set.stride * stride, size,
                          slot);
    if (set.me >= 0)
        *new_team = team_handle_create(set, config, config_mask);
    return 0;
}

int shmem_team_split_2d(shmem_team_t handle, int xrange, const shmem_team_config_t *xaxis_config,
                        long xaxis_mask, shmem_team_t *xaxis_team,
                        const shmem_team_config_t *yaxis_config, long yaxis_mask,
                        shmem_team_t *yaxis_team)
{
    struct shmem_team_handle *parent = shmemi_team(handle);
    struct shmemi_slot_offer  common;
    const struct shmemi_set  *p;
    int                       xslot, yslot, x, y, width, height;

    shmemi_check_running(__func__);
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!parent || xrange < 1)
        return -1;
    p = &parent->set;
    team_common_slots(__func__, p, &common);
    /* Rows have no PE in common, so one slot serves them all; the same holds for columns. */
    xslot = team_take_slot(&common);
    yslot = team_take_slot(&common);
    if (xslot < 0 || yslot < 0)
        return -1;
    if (xrange > p->size)
        xrange = p->size;
    x      = p->me % xrange;
    y      = p->me / xrange;
    width  = p->size - y * xrange < xrange ? p->size - y * xrange : xrange;
    height = (p->size - x + xrange - 1) / xrange;
    *xaxis_team =
        team_handle_create(shmemi_set_make(shmemi_set_pe(p, y * xrange), p->stride, width, xslot),
                           xaxis_config, xaxis_mask);
    *yaxis_team =
        team_handle_create(shmemi_set_make(shmemi_set_pe(p, x), p->stride * xrange, height, yslot),
                           yaxis_config, yaxis_mask);
    return 0;
}

void shmem_team_destroy(shmem_team_t handle)
{
    struct shmem_team_handle *team = handle;

    shmemi_check_running(__func__);
    if (handle == SHMEM_TEAM_INVALID)
        return;
    if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED)
        skua_abort("%s: a predefined team cannot be destroyed", __func__);
    shmemi_quiet();
    shmemi_sync(&team->set);
    team_free[team->set.slot / 64] |= (uint64_t)1 << team->set.slot % 64;
    shmemi_ctx_destroy_all(team);
    free(team);
}
