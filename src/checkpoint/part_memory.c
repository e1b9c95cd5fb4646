/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_memory.c - part `memory`: what the program has registered by skua_checkpoint_register(), of
 * a process, in the image of its first PE.
 *
 *      number of the process | of each block, in the order of registration: length, bytes
 *
 * The names of the blocks are among those of the program's handlers, which are compared first.
 */
#include <skua/checkpoint.h>
#include <string.h>

#include "base/memory.h"
#include "checkpoint/parts.h"
#include "core/pe/handler.h"

struct memory_block {
    void  *memory;
    size_t bytes;
};

static struct memory_block *memory_blocks; /* written before PEs begin */
static size_t               memory_count;

void skua_checkpoint_register(const char *name, void *memory, size_t bytes)
{
    if (!name || (!memory && bytes))
        ski_misuse("%s: memory has a name and an address", __func__);
    ski_register_name(__func__, "memory in checkpoints", name);
    memory_blocks = ski_realloc(memory_blocks, (memory_count + 1) * sizeof *memory_blocks);
    memory_blocks[memory_count++] = (struct memory_block){memory, bytes};
}

void ski_part_memory_save(struct ski_pe *self, struct ski_image_writer *to,
                          const struct ski_image_common *common)
{
    (void)common;
    if (self->pe != ski_job_first_pe(self->job, self->process))
        return;
    ski_image_write_number(to, (uint64_t)self->process);
    for (size_t i = 0; i < memory_count; i++) {
        ski_image_write_number(to, memory_blocks[i].bytes);
        ski_image_write(to, memory_blocks[i].memory, memory_blocks[i].bytes);
    }
}

const char *ski_record_memory(struct ski_pe *self, struct ski_image_reader *record)
{
    (void)self;
    for (size_t i = 0; i < memory_count; i++) {
        uint64_t bytes;

        if (!ski_image_get(record, &bytes) || bytes != memory_blocks[i].bytes ||
            !ski_image_copy(record, memory_blocks[i].memory, bytes))
            return "registered memory has another length";
    }
    return NULL;
}

const char *ski_part_memory_restore(struct ski_pe *self, struct ski_image_reader *from,
                                    struct ski_restart *restart)
{
    uint64_t process;
    size_t   bytes;

    if (ski_image_left(from) == 0)
        return NULL;
    if (!ski_image_get(from, &process) || process >= (uint64_t)restart->common.processes)
        return "the number of its process is not valid";
    bytes = ski_image_left(from);
    for (int to = (int)process; to < self->job->processes; to += restart->common.processes)
        ski_record_send(self, ski_job_first_pe(self->job, to), SKI_RECORD_MEMORY,
                        ski_image_read(from, 0), bytes, NULL, 0);
    return NULL;
}
