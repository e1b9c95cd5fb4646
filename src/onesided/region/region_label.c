/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_label.c - how errors describe a region: by its id, its name, and where it was created.
 *
 * Labels are in the arena beside the table of regions, for all processes of the host.  The site is
 * an offset in the program, which is the same in all processes that run it, wherever it was loaded;
 * calls from libraries leave none.  A label outlives its region until the slot is reused, so that
 * an error about a freed region can still name it.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "core/pe/code_address.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/region_table.h"

static struct ski_region_label *region_label_of(uint32_t id)
{
    ski_assert(ski_region_root);
    return &ski_region_root->labels[id & (ski_region_root->slots - 1)];
}

/* Returns the label of a region, cleared if it is that of another one.  The caller holds the
 * lock. */
static struct ski_region_label *region_label_for(uint32_t id)
{
    struct ski_region_label *label = region_label_of(id);

    if (label->id != id)
        *label = (struct ski_region_label){.id = id};
    return label;
}

void ski_region_set_site(uint32_t id, const void *site)
{
    uint64_t                 at = ski_code_address(site);
    struct ski_region_label *label;

    ski_lock_acquire(&ski_region_root->lock);
    label = region_label_for(id);
    if (!label->site && ski_code_in_program(at))
        label->site = at;
    ski_lock_release(&ski_region_root->lock);
}

skua_status skua_region_set_name(skua_region region, const char *name)
{
    struct ski_region_label *label;
    char                     text[SKI_REGION_STR];

    ski_onesided_check(__func__);
    if (!ski_region_table_find(region))
        return ski_refuse(SKUA_ERR_REGION, "%s: there is no %s (freed already?)", __func__,
                          ski_region_str(region.id, text));
    ski_lock_acquire(&ski_region_root->lock);
    label = region_label_for(region.id);
    snprintf(label->name, sizeof label->name, "%s", name ? name : "");
    ski_lock_release(&ski_region_root->lock);
    return SKUA_OK;
}

struct ski_region_label ski_region_label_get(uint32_t id)
{
    struct ski_region_label label;

    ski_lock_acquire(&ski_region_root->lock);
    label = *region_label_of(id);
    ski_lock_release(&ski_region_root->lock);
    return label.id == id ? label : (struct ski_region_label){.id = 0};
}

void ski_region_label_set(const struct ski_region_label *label)
{
    ski_lock_acquire(&ski_region_root->lock);
    *region_label_of(label->id) = *label;
    ski_lock_release(&ski_region_root->lock);
}

static SKI_COLD skua_status region_label_refuse(skua_region region, const char *why)
{
    char text[SKI_REGION_STR];

    return ski_refuse(SKUA_ERR_INVAL, "skua_region_set_restart: %s %s",
                      ski_region_str(region.id, text), why);
}

skua_status skua_region_set_restart(skua_region region, skua_region_restart how, size_t grain)
{
    const struct ski_region *found = (ski_onesided_check(__func__), ski_region_table_find(region));
    struct ski_region_label *label;
    bool                     locks;

    if (!found)
        return region_label_refuse(region, "does not exist (freed already?)");
    if ((unsigned)how > SKUA_REGION_TRANSIENT)
        return region_label_refuse(region, "is saved, redistributed or transient");
    if (how == SKUA_REGION_BLOCKS && (found->kind != SKI_REGION_SYMMETRIC || found->member_list ||
                                      found->pieces || grain == 0 || found->bytes % grain))
        return region_label_refuse(region, "is not one of all PEs whose pieces consist of whole "
                                           "grains, and cannot be redistributed in blocks");
    ski_lock_acquire(&ski_region_root->lock);
    label = region_label_for(region.id);
    locks = label->restart == SKI_REGION_LOCKS;
    if (!locks || how == SKUA_REGION_TRANSIENT) {
        label->restart = how;
        label->grain   = grain;
        label->total   = 0;
    }
    ski_lock_release(&ski_region_root->lock);
    if (locks && how == SKUA_REGION_BLOCKS)
        return region_label_refuse(region, "has locks, which are not redistributed");
    return SKUA_OK;
}

const char *ski_region_str(uint32_t id, char text[SKI_REGION_STR])
{
    struct ski_region_label label = {.id = 0};
    char                    site[160];

    if (ski_region_root) {
        ski_lock_acquire(&ski_region_root->lock);
        label = *region_label_of(id);
        ski_lock_release(&ski_region_root->lock);
    }
    snprintf(text, SKI_REGION_STR, "region %#x", id);
    if (label.id != id || !id || (!label.name[0] && !label.site))
        return text;
    if (label.site)
        ski_code_describe(label.site, ski_config.backtrace, site, sizeof site);
    snprintf(text, SKI_REGION_STR, "region %#x (%s%s%s%s%s)", id, label.name[0] ? "\"" : "",
             label.name, label.name[0] ? "\"" : "",
             label.site ? (label.name[0] ? ", created by " : "created by ") : "",
             label.site ? site : "");
    return text;
}
