/* SPDX-License-Identifier: Apache-2.0 */
/* arena_test.c - creating an arena, mapping it in two processes, and what is refused. */
#include "base/arena.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static void test_arena_sharing(struct ski_arena *arena, int fd)
{
    int  *number = ski_span_try(arena, 4096, SKI_UNIT_LARGE);
    int   status;
    pid_t child;

    *number = 1;
    child   = fork();
    if (child == 0) {
        struct ski_arena *mine;
        ski_arena_detach(arena);
        if (ski_arena_attach(fd, &mine) != SKUA_OK || mine != arena || *number != 1)
            _exit(1);
        *number = 2;
        _exit(0);
    }
    waitpid(child, &status, 0);
    OK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "another process maps it at the same address");
    OK(*number == 2, "and what it writes is seen here");
    ski_span_free(arena, number);
}

static void test_arena_descriptor(int fd)
{
    struct stat file;

    OK(fstat(fd, &file) == 0 && (file.st_mode & 0777) == 0600, "no other user may open it");
    OK(ftruncate(fd, 4096) < 0, "no process can shrink it");
}

static void test_arena_failures(struct ski_arena *arena, int fd)
{
    struct ski_arena *other;
    int               other_fd = open("/dev/null", O_RDONLY);
    int               empty    = memfd_create("empty", 0);

    OK(ski_arena_attach(fd, &other) == SKUA_ERR_ADDRESS, "an address that is taken is an error");
    OK(ski_arena_attach(other_fd, &other) == SKUA_ERR_INVAL,
       "a descriptor of something else is one");
    OK(ski_arena_attach(empty, &other) == SKUA_ERR_INVAL, "so is an empty memfd");
    OK(ski_arena_attach(-1, &other) == SKUA_ERR_INVAL, "and none at all");
    OK(ski_arena_create(4096, 0, 0, &other, &other_fd) == SKUA_ERR_INVAL, "too small an arena");
    OK(ski_arena_create(MIB, (uintptr_t)arena, 0, &other, &other_fd) == SKUA_ERR_ADDRESS,
       "creating one where another is");
    close(empty);
}

/* Returns whether the flags of the mapping at @p address, in /proc/self/smaps, contain @p flag. */
static bool arena_mapping_has(const void *address, const char *flag)
{
    FILE *in = fopen("/proc/self/smaps", "re");
    char  line[512], head[40];
    bool  inside = false, has = false;

    snprintf(head, sizeof head, "%zx-", (size_t)(uintptr_t)address);
    while (in && fgets(line, sizeof line, in)) {
        if (strncmp(line, head, strlen(head)) == 0)
            inside = true;
        if (strncmp(line, "VmFlags:", 8) != 0)
            continue;
        has |= inside && strstr(line, flag);
        inside = false;
    }
    if (in)
        fclose(in);
    return has;
}

static void test_arena_huge_pages(struct ski_arena *arena)
{
    OK(!arena_mapping_has(arena, " hg"), "pages are small unless the setting asks for huge ones");
    if (ski_arena_use_huge_pages(arena))
        OK(arena_mapping_has(arena, " hg"), "huge pages are asked for");
    else
        printf("# the kernel has no huge pages\n");
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;

    OK(ski_arena_create(256 * MIB, 0, 8 * MIB, &arena, &fd) == SKUA_OK, "create");
    test_arena_descriptor(fd);
    test_arena_sharing(arena, fd);
    test_arena_failures(arena, fd);
    test_arena_huge_pages(arena);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
