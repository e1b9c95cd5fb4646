/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - see image.h. */
#include "checkpoint/image.h"

#include "checkpoint/parts.h"

const struct ski_image_part ski_image_parts[] = {
    /* First: other parts name addresses in the isomalloc range. */
    {"isomalloc", 1, true, ski_part_isomalloc_save, ski_part_isomalloc_restore},
    {"program", 2, true, ski_part_program_save, ski_part_program_restore},
    {"readonly", 1, true, ski_part_readonly_save, ski_part_readonly_restore},
    {"collections", 1, true, ski_part_collections_save, ski_part_collections_restore},
    {"memory", 1, false, ski_part_memory_save, ski_part_memory_restore},
    {"regions", 1, false, ski_part_regions_save, ski_part_regions_restore},
    {"teams", 1, false, ski_part_teams_save, ski_part_teams_restore},
    {"sections", 2, false, ski_part_sections_save, ski_part_sections_restore},
    {"reductions", 1, false, ski_part_reductions_save, ski_part_reductions_restore},
    {"elements", 2, false, ski_part_elements_save, ski_part_elements_restore},
    {"deleted", 1, false, ski_part_deleted_save, ski_part_deleted_restore},
    {NULL, 0, false, NULL, NULL},
};

void ski_image_save(struct ski_pe *self, struct ski_image_writer *to,
                    const struct ski_image_common *common)
{
    for (const struct ski_image_part *part = ski_image_parts; part->name; part++) {
        if (part->common && self->pe != 0)
            continue;
        ski_image_section_begin(to, part->name, part->version);
        part->save(self, to, common);
        ski_image_section_end(to);
    }
}
