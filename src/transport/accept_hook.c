/* SPDX-License-Identifier: Apache-2.0 */
/* accept_hook.c - see accept_hook.h. */
#include "transport/accept_hook.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/driver.h"
#include "transport/fd_limit.h"

#define ACCEPT_CLOSE_MAX   4096 /* connections that are closed before the library goes on */
#define ACCEPT_ENTRIES_MAX 8

static const struct ski_net *accept_net;
static pthread_mutex_t       accept_spare_lock = PTHREAD_MUTEX_INITIALIZER;
static int accept_spare = -1; /* a descriptor to accept by when there is no other */

/* ---- accepting -------------------------------------------------------------------------- */

static void accept_warn_refused(void)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        accept_net->log(SKI_LOG_WARN, "connections are refused: " SKI_TOO_MANY_FILES);
}

/* Returns whether the other side has closed the connection without sending anything. */
static bool accept_is_over(int fd)
{
    struct tcp_info info  = {0};
    socklen_t       bytes = sizeof info;
    int             left  = 0;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
           (info.tcpi_state == TCP_CLOSE ||
            (info.tcpi_state == TCP_CLOSE_WAIT && ioctl(fd, FIONREAD, &left) == 0 && left == 0));
}

static bool accept_is_short_of_files(void)
{
    return errno == EMFILE || errno == ENFILE;
}

/* Accepts the oldest waiting connection by means of the spare descriptor and closes it.  Returns
 * false if none waits. */
static bool accept_turn_away(int listener)
{
    int fd;

    pthread_mutex_lock(&accept_spare_lock);
    if (accept_spare >= 0)
        close(accept_spare);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    accept_spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pthread_mutex_unlock(&accept_spare_lock);
    accept_warn_refused();
    return fd >= 0;
}

/* Replaces accept(). */
static int accept_filtered(int listener, struct sockaddr *name, socklen_t *bytes)
{
    socklen_t room = bytes ? *bytes : 0;

    for (int i = 0; i < ACCEPT_CLOSE_MAX; i++) {
        int fd = accept(listener, name, bytes);

        if (fd < 0 && !accept_is_short_of_files())
            return -1;
        if (fd < 0 && !accept_turn_away(listener))
            break;
        if (fd >= 0 && !accept_is_over(fd)) {
            if (!ski_fd_is_reserved(fd))
                return fd;
            accept_warn_refused();
        }
        if (fd >= 0)
            close(fd);
        if (bytes)
            *bytes = room;
    }
    errno = EAGAIN;
    return -1;
}

/* ---- the table of a library -------------------------------------------------------------- */

struct accept_search {
    const char *library;
    bool        found;
};

/* The tables in the dynamic section of a library. */
struct accept_tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * rela[2];
    size_t bytes[2];
};

static void accept_read_tables(const struct dl_phdr_info *info, struct accept_tables *to)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Dyn) * entry;

        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            switch (entry->d_tag) {
            case DT_SYMTAB: to->symbols = (const void *)entry->d_un.d_ptr; break;
            case DT_STRTAB: to->strings = (const void *)entry->d_un.d_ptr; break;
            case DT_JMPREL: to->rela[0] = (const void *)entry->d_un.d_ptr; break;
            case DT_PLTRELSZ: to->bytes[0] = entry->d_un.d_val; break;
            case DT_RELA: to->rela[1] = (const void *)entry->d_un.d_ptr; break;
            case DT_RELASZ: to->bytes[1] = entry->d_un.d_val; break;
            default: break;
            }
    }
}

typedef int accept_fn(int, struct sockaddr *, socklen_t *);

/* The entries that were replaced, and their previous values. */
static struct accept_entry {
    accept_fn **at, *before;
} accept_entries[ACCEPT_ENTRIES_MAX];
static int accept_entry_count;

/* Writes an entry of the table, which the loader may have made read-only. */
static bool accept_write_entry(accept_fn **at, accept_fn *fn)
{
    uintptr_t page = (uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

    if (mprotect((void *)page, (uintptr_t)(at + 1) - page, PROT_READ | PROT_WRITE) != 0)
        return false;
    *(accept_fn *volatile *)at = fn;
    return true;
}

static bool accept_replace_entry(accept_fn **at)
{
    accept_fn *before = *at;

    if (accept_entry_count == ACCEPT_ENTRIES_MAX || before == accept_filtered ||
        !accept_write_entry(at, accept_filtered))
        return before == accept_filtered;
    accept_entries[accept_entry_count++] = (struct accept_entry){at, before};
    return true;
}

void ski_accept_unhook(void)
{
    while (accept_entry_count > 0) {
        accept_entry_count--;
        accept_write_entry(accept_entries[accept_entry_count].at,
                           accept_entries[accept_entry_count].before);
    }
}

static bool accept_is_library(const struct dl_phdr_info *info, const char *library)
{
    const char *file = strrchr(info->dlpi_name, '/');

    return file && strncmp(file + 1, library, strlen(library)) == 0;
}

static int accept_search_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct accept_search *search = arg;
    struct accept_tables  tables = {0};

    (void)size;
    if (!accept_is_library(info, search->library))
        return 0;
    accept_read_tables(info, &tables);
    for (int t = 0; tables.symbols && tables.strings && t < 2; t++)
        for (size_t i = 0; i < tables.bytes[t] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *rela = &tables.rela[t][i];
            size_t symbol          = ELF64_R_SYM(rela->r_info);

            if (symbol && strcmp(tables.strings + tables.symbols[symbol].st_name, "accept") == 0)
                search->found |=
                    accept_replace_entry((accept_fn **)(info->dlpi_addr + rela->r_offset));
        }
    return 0;
}

bool ski_accept_hook(const struct ski_net *net, const char *library)
{
    struct accept_search search = {library, false};

    accept_net = net;
    if (accept_spare < 0)
        accept_spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dl_iterate_phdr(accept_search_library, &search);
    return search.found;
}
