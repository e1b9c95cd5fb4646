/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - creating and mapping the memfd (see arena.h).  Spans are in span.c. */
#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "base/sanitizer.h"

#define ARENA_MAGIC    UINT64_C(0x34616e657261616b) /* changes with the layout */
#define ARENA_KEEP_MIN ((size_t)64 << 20)

/* Addresses to try, best first.  They are clear of where Linux puts programs, heaps, libraries and
 * stacks under any randomization, and of AddressSanitizer's shadow memory; the third fits kernels
 * with 39-bit addresses.  ThreadSanitizer leaves little but the range below 8 GiB, which
 * position-independent programs do not use.  0 lets the kernel choose, which always works for one
 * process but for several only by chance. */
#ifdef SKI_TSAN
static const uintptr_t arena_addresses[] = {0x100000000, 0};
#else
static const uintptr_t arena_addresses[] = {0x400000000000, 0x200000000000, 0x3000000000, 0};
#endif

/* The isomalloc range: one address for all processes of all hosts, so it cannot be chosen at run
 * time.  It is clear of the addresses above, of programs and of shadow memory. */
#ifdef SKI_TSAN
#define ARENA_ISO_ADDRESS ((uintptr_t)0x180000000)
#define ARENA_ISO_BYTES   ((size_t)1 << 30)
#else
#define ARENA_ISO_ADDRESS ((uintptr_t)0x300000000000)
#define ARENA_ISO_BYTES   ((size_t)1 << 44)
#endif

/* The file of the arena that this process created or attached last, for ski_arena_map_iso(). */
static int    arena_iso_fd = -1;
static size_t arena_iso_offset;
static void  *arena_iso;

static struct ski_arena *arena_map_at(int fd, size_t bytes, uintptr_t address)
{
    int   flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at    = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (at == MAP_FAILED)
        return NULL;
    if ((uintptr_t)at != address) { /* kernels before 4.17 take it as a hint */
        munmap(at, bytes);
        return NULL;
    }
    return at;
}

/* Maps the arena where the kernel has room, at a multiple of SKI_UNIT_BYTES as everywhere. */
static struct ski_arena *arena_map_aligned(int fd, size_t bytes)
{
    size_t room  = bytes + SKI_UNIT_BYTES;
    void  *found = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t address = ((uintptr_t)found + SKI_UNIT_BYTES - 1) & ~(uintptr_t)(SKI_UNIT_BYTES - 1);

    if (found == MAP_FAILED)
        return NULL;
    munmap(found, room);
    return arena_map_at(fd, bytes, address);
}

static struct ski_arena *arena_map_anywhere(int fd, size_t bytes)
{
    size_t            n     = sizeof arena_addresses / sizeof *arena_addresses;
    struct ski_arena *arena = NULL;

    for (size_t i = 0; !arena && i < n; i++)
        arena = arena_addresses[i] ? arena_map_at(fd, bytes, arena_addresses[i])
                                   : arena_map_aligned(fd, bytes);
    return arena;
}

/* Sets the size of a file, if the process may have one of it: SIGXFSZ would end it. */
static bool arena_truncate(int fd, size_t bytes)
{
    if (bytes > ski_rlimit_file()) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(fd, (off_t)bytes) == 0;
}

/* Sets the size of the file: the arena, and after it the isomalloc range if there may be one.
 * Neither takes memory before it is used. */
static bool arena_set_size(int fd, size_t bytes)
{
    return arena_truncate(fd, bytes + ARENA_ISO_BYTES) || arena_truncate(fd, bytes);
}

/* Creates a memfd of @p bytes, sealed so that no process can resize it. */
static int arena_memfd(size_t bytes)
{
    int fd = memfd_create("skua-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 || !arena_set_size(fd, bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void arena_drop_iso(void)
{
    if (arena_iso)
        munmap(arena_iso, ARENA_ISO_BYTES);
    if (arena_iso_fd >= 0)
        close(arena_iso_fd);
    arena_iso    = NULL;
    arena_iso_fd = -1;
}

/* Remembers where the isomalloc range is, until ski_arena_detach(). */
static void arena_keep_iso(int fd, size_t bytes)
{
    arena_drop_iso();
    arena_iso_fd     = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    arena_iso_offset = bytes;
}

void *ski_arena_map_iso(size_t *bytes)
{
    struct stat file;
    int         flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void       *at;

    *bytes = ARENA_ISO_BYTES;
    if (arena_iso)
        return arena_iso;
    if (arena_iso_fd < 0 || fstat(arena_iso_fd, &file) < 0 ||
        (size_t)file.st_size != arena_iso_offset + ARENA_ISO_BYTES)
        return NULL;
    at = mmap((void *)ARENA_ISO_ADDRESS, ARENA_ISO_BYTES, PROT_READ | PROT_WRITE, flags,
              arena_iso_fd, (off_t)arena_iso_offset);
    if (at == MAP_FAILED)
        return NULL;
    if ((uintptr_t)at != ARENA_ISO_ADDRESS) {
        munmap(at, ARENA_ISO_BYTES);
        return NULL;
    }
    /* A core dump looks at each page of a mapping, a huge page would join a stack with its guard.
     */
    madvise(at, ARENA_ISO_BYTES, MADV_DONTDUMP);
    madvise(at, ARENA_ISO_BYTES, MADV_NOHUGEPAGE);
    return arena_iso = at;
}

static uint32_t arena_whole_units(const struct ski_arena *arena, size_t bytes)
{
    return (uint32_t)((bytes < arena->bytes ? bytes : arena->bytes) >> SKI_UNIT_SHIFT);
}

/* A bound given by the setting is fixed; the default may grow to a quarter of the memory that the
 * arena can have. */
static void arena_init_keep(struct ski_arena *arena, size_t keep)
{
    size_t   memory  = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    uint32_t quarter = arena_whole_units(arena, memory) / 4;

    arena->keep     = arena_whole_units(arena, keep ? keep : ARENA_KEEP_MIN);
    arena->keep_max = keep || quarter < arena->keep ? arena->keep : quarter;
}

static void arena_init(struct ski_arena *arena, size_t bytes, size_t keep)
{
    uint32_t units = (uint32_t)(bytes >> SKI_UNIT_SHIFT);
    size_t   table = sizeof *arena + (size_t)units * sizeof(struct ski_unit);
    uint32_t first = (uint32_t)((table + SKI_UNIT_BYTES - 1) >> SKI_UNIT_SHIFT);

    ski_assert(first > 0 && first < units); /* the table leaves room for spans */
    arena->base  = (uintptr_t)arena;
    arena->bytes = bytes;
    arena->units = units;
    arena->magic = ARENA_MAGIC;
    arena_init_keep(arena, keep);
    ski_span_init(arena, first, units - first);
}

skua_status ski_arena_create(size_t bytes, uintptr_t address, size_t keep, struct ski_arena **arena,
                             int *fd)
{
    struct ski_arena *made;
    int               memfd;

    if (bytes <= SIZE_MAX - SKI_UNIT_BYTES) /* a larger value is refused below */
        bytes = (bytes + SKI_UNIT_BYTES - 1) & ~(SKI_UNIT_BYTES - 1);
    if (bytes < 16 * SKI_UNIT_BYTES || bytes >> SKI_UNIT_SHIFT > UINT32_MAX) {
        ski_log(SKI_LOG_ERROR, "an arena of %zu bytes is %s; set SKUA_ARENA_SIZE", bytes,
                bytes < 16 * SKI_UNIT_BYTES ? "too small (the minimum is 1m)" : "too large");
        return SKUA_ERR_INVAL;
    }
    memfd = arena_memfd(bytes);
    if (memfd < 0) {
        ski_log(SKI_LOG_ERROR, "cannot create an arena of %zu MiB (%s); see SKUA_ARENA_SIZE%s",
                bytes >> 20, strerror(errno), ski_rlimit_advice(errno));
        return SKUA_ERR_SYSTEM;
    }
    made = address ? arena_map_at(memfd, bytes, address) : arena_map_anywhere(memfd, bytes);
    if (!made) {
        ski_log(SKI_LOG_ERROR,
                "cannot map an arena of %zu MiB%s (%s); see SKUA_ARENA_SIZE and "
                "SKUA_ARENA_ADDRESS%s",
                bytes >> 20, address ? " at that address" : "", strerror(errno),
                ski_rlimit_advice(errno));
        close(memfd);
        return SKUA_ERR_ADDRESS;
    }
    ski_assert((uintptr_t)made % SKI_UNIT_BYTES == 0);
    arena_init(made, bytes, keep);
    arena_keep_iso(memfd, bytes);
    *arena = made;
    *fd    = memfd;
    return SKUA_OK;
}

skua_status ski_arena_attach(int fd, struct ski_arena **arena)
{
    struct ski_arena  head;
    struct stat       file;
    struct ski_arena *mapped;

    if (fstat(fd, &file) < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.magic != ARENA_MAGIC || head.bytes > (size_t)file.st_size ||
        head.base % SKI_UNIT_BYTES != 0 || head.base == 0) {
        ski_log(SKI_LOG_ERROR,
                "descriptor %d is not an arena of this version of Skua: were the program and its "
                "launcher built together? If mpirun or another launcher has started it inside of a "
                "job of skuarun, start that launcher by `env -u SKUA_JOB'",
                fd);
        return SKUA_ERR_INVAL;
    }
    mapped = arena_map_at(fd, head.bytes, head.base);
    if (!mapped) {
        ski_log(SKI_LOG_ERROR,
                "cannot map the arena at %#zx, where the other processes of the job have it (%s); "
                "set SKUA_ARENA_ADDRESS to an address that is free in every process%s",
                (size_t)head.base, strerror(errno), ski_rlimit_advice(errno));
        return SKUA_ERR_ADDRESS;
    }
    ski_assert((uintptr_t)mapped == mapped->base);
    arena_keep_iso(fd, head.bytes);
    *arena = mapped;
    return SKUA_OK;
}

bool ski_arena_use_huge_pages(struct ski_arena *arena)
{
    return madvise(arena, arena->bytes, MADV_HUGEPAGE) == 0;
}

void ski_arena_detach(struct ski_arena *arena)
{
    ski_assert(arena->magic == ARENA_MAGIC);
    arena_drop_iso();
    munmap(arena, arena->bytes);
}
