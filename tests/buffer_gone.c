/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_gone.c - a put into a buffer whose memory has been unmapped ends the job with an error
 * that names the call.
 *
 * usage: buffer_gone [arena]: the source is memory that both processes reach
 */
#include <errno.h>
#include <skua/skua.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define BYTES ((size_t)1 << 20)

static skua_handler on_target;
static bool         in_arena;

/* Returns whether the system copies between processes, and so finds that memory is missing. */
static bool finds_missing(const skua_buffer *to)
{
    char         byte;
    struct iovec here = {&byte, 1}, there = {to->at, 1};

    return process_vm_readv(to->pid, &here, 1, &there, 1, 0) < 0 && errno == EFAULT;
}

static void put(skua_msg *msg)
{
    static char       memory[BYTES];
    char             *data = in_arena ? skua_buffer_alloc(BYTES) : memory;
    const skua_buffer to   = *(const skua_buffer *)skua_msg_data(msg);
    skua_buffer from = skua_buffer_make(data, BYTES, SKUA_REGISTER_LATER, skua_done_nothing(), 0);

    skua_msg_free(msg);
    if (!finds_missing(&to)) {
        puts("the system does not copy between processes");
        skua_exit(0);
    } else if (skua_buffer_put(&from, &to) < 0)
        skua_abort("the put failed at once");
}

static void start(int argc, char **argv)
{
    void *memory   = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    skua_buffer to = skua_buffer_make(memory, BYTES, SKUA_REGISTER_LATER, skua_done_nothing(), 0);

    (void)argv;
    in_arena = argc > 1;
    munmap(memory, BYTES);
    if (skua_pe() == 0)
        skua_send_copy(1, on_target, &to, sizeof to);
}

int main(int argc, char **argv)
{
    on_target = skua_handler_register("target", put);
    return skua_main(argc, argv, start);
}
