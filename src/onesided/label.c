/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.c - what errors call a region: its number, its name, and where it was made.
 *
 * Labels lie in the arena beside the table of regions, for all processes of the host.  The site is
 * kept as an offset in the program, which is the same in all processes that run it wherever it was
 * loaded; calls out of libraries, ours included, leave none.  A label outlives its region until the
 * place is used again, so that an error about a region that was freed can still name it.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "boot/crash_report.h"
#include "onesided/onesided.h"
#include "onesided/table.h"

/* Where the program lies in this process. */
struct program {
    uintptr_t bias, begin, end;
};

/* The program itself comes first: its return value ends the walk. */
static int label_find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct program *found = arg;

    (void)size;
    *found = (struct program){info->dlpi_addr, UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end   = begin + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        found->begin = begin < found->begin ? begin : found->begin;
        found->end   = end > found->end ? end : found->end;
    }
    return 1;
}

static struct program program;

static void label_init(void)
{
    dl_iterate_phdr(label_find_program, &program);
}

static const struct program *label_program(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, label_init);
    return &program;
}

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
    const struct program    *in = label_program();
    uintptr_t                at = (uintptr_t)site;
    struct ski_region_label *label;

    ski_lock_acquire(&ski_region_root->lock);
    label = label_for(id);
    if (!label->site && at >= in->begin && at < in->end)
        label->site = at - in->bias;
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

/* "function at file.c:12", or what else is known of a place in the program. */
static void label_site_text(uint64_t site, char *text, size_t size)
{
    struct ski_frame frame = {.offset = site};
    Dl_info          info;
    ssize_t          n = readlink("/proc/self/exe", frame.module, sizeof frame.module - 1);

    frame.module[n > 0 ? n : 0] = '\0';
    if (dladdr((void *)(label_program()->bias + site), &info) && info.dli_sname)
        snprintf(frame.symbol, sizeof frame.symbol, "%s", info.dli_sname);
    ski_frame_text(&frame, false, ski_config.backtrace, text, size);
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
        label_site_text(label.site, site, sizeof site);
    snprintf(text, SKI_REGION_TEXT, "region %#x (%s%s%s%s%s)", id, label.name[0] ? "\"" : "",
             label.name, label.name[0] ? "\"" : "",
             label.site ? (label.name[0] ? ", made by " : "made by ") : "", label.site ? site : "");
    return text;
}
