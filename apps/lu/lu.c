/* SPDX-License-Identifier: Apache-2.0 */
/* lu.c - the creation of the objects of lu.ci. */
#include <skua/skua.h>

#include "common/gemm.h"
#include "lu.ci.h"

static uint32_t block_map;
static skua_op  pivot_op;

int64_t padded_size(void)
{
    return options.blocks * options.block;
}

size_t block_number(int64_t i, int64_t j)
{
    return (size_t)(i * (options.blocks + 1) + j);
}

int64_t column_width(int64_t j)
{
    return j < options.blocks ? options.block : 1;
}

static int map_block(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return scheduler_here()->pe[block_number(index->at.x[0], index->at.x[1])];
}

static void choose_pivot(void *into, const void *from, size_t count, skua_type type)
{
    (void)type;
    panel_choose(into, from, (int)(count - PANEL_ROWS) / 2);
}

skua_op lu_pivot_op(void)
{
    return pivot_op;
}

void lu_prepare(void)
{
    gemm_prepare();
    block_map = skua_map_register("block", map_block);
    pivot_op  = skua_op_register("pivot", choose_pivot);
}

/* Returns the section of the Schedulers that have blocks of a panel. */
static skua_section create_section(int64_t k, const int32_t *table)
{
    skua_index  *pes  = malloc((size_t)skua_pes() * sizeof *pes);
    bool        *seen = calloc((size_t)skua_pes(), sizeof *seen);
    size_t       n    = 0;
    skua_section section;

    if (!pes || !seen)
        skua_abort("no memory for the sections of the panels");
    for (int64_t i = k; i < options.blocks; i++)
        seen[table[block_number(i, k)]] = true;
    for (int pe = 0; pe < skua_pes(); pe++)
        if (seen[pe])
            pes[n++] = skua_index1(pe);
    section = Scheduler_section_of(schedulers, pes, n).section;
    free(pes);
    free(seen);
    return section;
}

bool create_objects(int argc, char **argv)
{
    int32_t      *table = NULL;
    skua_section *panel;
    bool          good = lu_options_read(&options, &table, argc, argv);

    if (good) {
        schedulers = Scheduler_new((int)(options.blocks * (options.blocks + 1)), table);
        matrix     = Block_new_with(
                &(skua_array_def){.dims  = 2,
                                  .range = {2, {0, 0}, {(int)options.blocks, (int)options.blocks + 1}},
                                  .map   = {.kind = block_map}});
        panel = malloc((size_t)options.blocks * sizeof *panel);
        for (int64_t k = 0; panel && k < options.blocks; k++)
            panel[k] = create_section(k, table);
        Scheduler_prepare_all(schedulers, (int)options.blocks, panel);
        free(panel);
    }
    free(table);
    return good;
}
