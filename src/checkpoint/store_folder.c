/* SPDX-License-Identifier: Apache-2.0 */
/* store_folder.c - see store_folder.h. */
#include "checkpoint/store_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "checkpoint/manifest.h"

bool ski_store_refuse(char *reason, const char *path, const char *format, ...)
{
    __builtin_va_list args;
    int               used = snprintf(reason, SKI_STORE_REASON, "%.400s: ", path);

    __builtin_va_start(args, format);
    vsnprintf(reason + used, (size_t)(SKI_STORE_REASON - used), format, args);
    __builtin_va_end(args);
    return false;
}

void ski_store_generation_name(uint64_t generation, char name[SKI_STORE_GENERATION])
{
    snprintf(name, SKI_STORE_GENERATION, "gen-%06" PRIu64, generation);
}

char *ski_store_generation_path(const char *path, uint64_t generation)
{
    size_t room  = strlen(path) + 1 + SKI_STORE_GENERATION;
    char  *whole = ski_malloc(room), name[SKI_STORE_GENERATION];

    ski_store_generation_name(generation, name);
    snprintf(whole, room, "%s/%s", path, name);
    return whole;
}

char *ski_store_copy_text(const char *text, size_t length)
{
    char *copy = ski_malloc(length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void ski_store_image_name(int32_t process, char name[SKI_STORE_GENERATION])
{
    snprintf(name, SKI_STORE_GENERATION, "image.%04" PRId32, process);
}

void ski_store_failed_name(int32_t process, char name[SKI_STORE_GENERATION])
{
    snprintf(name, SKI_STORE_GENERATION, "image.%04" PRId32 ".failed", process);
}

/* Returns the number of a generation by the name of its directory, of @p length bytes, or 0 if it
 * is another name. */
static uint64_t store_folder_number(const char *name, size_t length)
{
    char     expected[SKI_STORE_GENERATION];
    uint64_t number;

    if (sscanf(name, "gen-%" SCNu64, &number) != 1)
        return 0;
    ski_store_generation_name(number, expected);
    return strlen(expected) == length && strncmp(name, expected, length) == 0 ? number : 0;
}

/* Returns the length of a path without the slashes at its end. */
static size_t store_folder_trim(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Returns where the last name of a path begins. */
static size_t store_folder_name(const char *path)
{
    size_t at = store_folder_trim(path, strlen(path));

    while (at > 0 && path[at - 1] != '/')
        at--;
    return at;
}

uint64_t ski_store_path_generation(const char *path)
{
    size_t at = store_folder_name(path);

    return store_folder_number(path + at, store_folder_trim(path, strlen(path)) - at);
}

size_t ski_store_path_folder(const char *path)
{
    return store_folder_trim(path, store_folder_name(path));
}

static int store_folder_compare(const void *a, const void *b)
{
    uint64_t x = ((const struct ski_store_generation *)a)->number;
    uint64_t y = ((const struct ski_store_generation *)b)->number;

    return x < y ? -1 : x > y;
}

static enum ski_store_state store_folder_state(int fd, const char *name)
{
    char        path[SKI_STORE_GENERATION + sizeof SKI_MANIFEST_NAME + 1];
    struct stat found;

    snprintf(path, sizeof path, "%.*s/" SKI_MANIFEST_NAME, SKI_STORE_GENERATION - 1, name);
    if (fstatat(fd, path, &found, 0) == 0)
        return SKI_STORE_COMMITTED;
    return errno == ENOENT ? SKI_STORE_UNFINISHED : SKI_STORE_UNKNOWN;
}

int ski_store_folder_list(int fd, struct ski_store_generation **list)
{
    int            copy   = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR           *folder = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    size_t         count = 0, room = 0;
    uint64_t       number;

    *list = NULL;
    if (!folder) {
        if (copy >= 0)
            close(copy);
        return -1;
    }
    while ((entry = readdir(folder))) {
        number = store_folder_number(entry->d_name, strlen(entry->d_name));
        if (number == 0)
            continue;
        *list = ski_grow(*list, count, &room, sizeof **list);
        (*list)[count++] =
            (struct ski_store_generation){number, store_folder_state(fd, entry->d_name)};
    }
    closedir(folder);
    if (count)
        qsort(*list, count, sizeof **list, store_folder_compare);
    return (int)count;
}
