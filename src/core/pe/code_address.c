/* SPDX-License-Identifier: Apache-2.0 */
/* code_address.c - see code_address.h. */
#include "core/pe/code_address.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "base/assert.h"
#include "boot/crash_report.h"
#include "boot/job.h"

#define IN_PROGRAM (UINT64_C(1) << 63)

/* Where the program itself is, in this process. */
static struct {
    uintptr_t base, end;
} program;

/* The first of the objects that are loaded is the program. */
static int code_find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    program.base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t end          = info->dlpi_addr + part->p_vaddr + part->p_memsz;

        if (part->p_type == PT_LOAD && end > program.end)
            program.end = end;
    }
    return 1;
}

void ski_code_open(void)
{
    dl_iterate_phdr(code_find_program, NULL);
    ski_assert(program.base < program.end);
}

uint64_t ski_code_address(const void *code)
{
    uintptr_t at = (uintptr_t)code;

    return at - program.base < program.end - program.base ? (at - program.base) | IN_PROGRAM : at;
}

void ski_code_frame(struct ski_frame *frame, void *pc)
{
    Dl_info info;

    frame->offset = (uintptr_t)pc;
    if (!dladdr(pc, &info))
        return;
    frame->offset -= (uintptr_t)info.dli_fbase;
    snprintf(frame->module, sizeof frame->module, "%s", info.dli_fname);
    snprintf(frame->symbol, sizeof frame->symbol, "%s", info.dli_sname ? info.dli_sname : "");
}

void ski_code_describe(uint64_t address, bool line, char *text, size_t size)
{
    uintptr_t        at    = (uintptr_t)(address & ~IN_PROGRAM);
    struct ski_frame frame = {0};

    if (address & IN_PROGRAM)
        at += program.base;
    ski_code_frame(&frame, (void *)at);
    ski_frame_text(&frame, line, text, size);
}
