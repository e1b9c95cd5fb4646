/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - see source.h. */
#include "support/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/bump.h"

#define SOURCE_BYTES_MAX                                                                           \
    ((size_t)1 << 30) /* bytes; guards against endless input such as /dev/zero */

static unsigned source_count_lines(struct text text)
{
    const char *end   = text.at + text.length;
    unsigned    lines = 1;

    for (const char *at = text.at; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

struct source *source_from_memory(const char *path, const char *text, size_t length)
{
    struct source *source = BUMP_NEW(struct source);
    const char    *at     = text;

    source->path  = bump_string((struct text){path, strlen(path)});
    source->text  = (struct text){text, length};
    source->lines = source_count_lines(source->text);
    source->line  = bump_alloc(source->lines * sizeof *source->line);
    for (unsigned i = 0; i < source->lines; i++) {
        source->line[i] = at;
        at              = memchr(at, '\n', length - (size_t)(at - text));
        at              = at ? at + 1 : text + length;
    }
    return source;
}

/* Returns all bytes of @p fd in malloc() memory, followed by a NUL byte.  NULL: see errno. */
static char *source_read_all(int fd, size_t *length)
{
    size_t  room = 64 * 1024, have = 0;
    char   *bytes = NULL, *more;
    ssize_t n     = 1;

    while (n > 0) {
        more = realloc(bytes, room + 1);
        if (!more)
            break;
        bytes = more;
        n     = read(fd, bytes + have, room - have);
        have += n > 0 ? (size_t)n : 0;
        room *= have == room ? 2 : 1;
        if (have > SOURCE_BYTES_MAX) {
            errno = EFBIG;
            n     = -1;
        }
    }
    if (n) {
        free(bytes);
        return NULL;
    }
    bytes[have] = 0;
    *length     = have;
    return bytes;
}

const char *source_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

struct source *source_read(const char *path)
{
    int            fd = open(path, O_RDONLY | O_CLOEXEC);
    int            error;
    size_t         length = 0;
    char          *bytes;
    struct source *source;

    if (fd < 0)
        return NULL;
    bytes = source_read_all(fd, &length);
    error = errno;
    close(fd);
    errno = error;
    if (!bytes)
        return NULL;
    source = source_from_memory(path, bump_string((struct text){bytes, length}), length);
    free(bytes);
    return source;
}

struct source_location source_locate(const struct source *source, const char *at)
{
    unsigned low = 0, high = source->lines; /* invariant: line[low] <= at < line[high] */

    assert(at >= source->text.at && at <= text_end(source->text));
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;

        if (source->line[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return (struct source_location){source, low + 1, (unsigned)(at - source->line[low]) + 1};
}

struct text source_line(const struct source *source, unsigned line)
{
    const char *at  = source->line[line - 1];
    const char *end = source->text.at + source->text.length;

    assert(line >= 1 && line <= source->lines);
    if (line < source->lines)
        end = source->line[line] - 1;
    if (end > at && end[-1] == '\r')
        end--;
    return (struct text){at, (size_t)(end - at)};
}
