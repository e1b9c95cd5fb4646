/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_label.c - what errors call a region: its number, its name, and where it was made.
 *
 * Labels lie in the arena beside the table of regions, for all processes of the host.  The site is
 * kept as an offset in the program, which is the same in all processes that run it wherever it was
 * loaded; calls out of libraries, ours included, leave none.  A label outlives its region until the
 * place is used again, so that an error about a region that was freed can still name it.
 */
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "core/pe/code_address.h"
#include "onesided/onesided.h"
#include "onesided/region/region_table.h"

static struct ski_region_label *label_of(uint32_t id)
{
    return &ski_region_root->labels[id & (ski_region_root->places - 1)];
}

/* The label of a region, made anew if it is that of another one.  The caller holds the lock. */
static struct ski_region_label *label_for(uint32_t id)
{
    struct ski_region_label *label = label_of(id);

    if (label->id != id)
        *label = (struct ski_region_label){.id = id};
    return label;
}

void ski_region_made_at(uint32_t id, const void *site)
{
    uint64_t                 at = ski_crash_address(site);
    struct ski_region_label *label;

    ski_lock_acquire(&ski_region_root->lock);
    label = label_for(id);
    if (!label->site && ski_crash_in_program(at))
        label->site = at;
    ski_lock_release(&ski_region_root->lock);
}

skua_status_t skua_region_set_name(skua_region region, const char *name)
{
    struct ski_region_label *label;
    char                     text[SKI_REGION_TEXT];

    ski_onesided_check(__func__);
    if (!ski_table_find(region))
        return ski_refuse(SKUA_ERR_REGION, "%s: there is no %s (freed already?)", __func__,
                          ski_region_text(region.id, text));
    ski_lock_acquire(&ski_region_root->lock);
    label = label_for(region.id);
    snprintf(label->name, sizeof label->name, "%s", name ? name : "");
    ski_lock_release(&ski_region_root->lock);
    return SKUA_OK;
}

const char *ski_region_text(uint32_t id, char text[SKI_REGION_TEXT])
{
    struct ski_region_label label = {.id = 0};
    char                    site[160];

    if (ski_region_root) {
        ski_lock_acquire(&ski_region_root->lock);
        label = *label_of(id);
        ski_lock_release(&ski_region_root->lock);
    }
    snprintf(text, SKI_REGION_TEXT, "region %#x", id);
    if (label.id != id || !id || (!label.name[0] && !label.site))
        return text;
    if (label.site)
        ski_crash_place(label.site, ski_config.backtrace, site, sizeof site);
    snprintf(text, SKI_REGION_TEXT, "region %#x (%s%s%s%s%s)", id, label.name[0] ? "\"" : "",
             label.name, label.name[0] ? "\"" : "",
             label.site ? (label.name[0] ? ", made by " : "made by ") : "", label.site ? site : "");
    return text;
}
