/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_file.c - see image_file.h.
 *
 * Images are written while earlier bytes are being written back to the disk (sync_file_range()), so
 * the fsync() at the end has little left to wait for.  The head is written last, when the sizes of
 * compressed images are known; the name of the file becomes valid after that (store_file.c).
 *
 * A compressed image is a sequence of blocks of up to a chunk of the image: the number of stored
 * bytes, the number of bytes, and the stored ones, which are the bytes themselves if the two
 * numbers are equal.
 */
#include "checkpoint/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/memory.h"
#include "checkpoint/checksum.h"

#define IMAGE_FILE_MAGIC   UINT64_C(0x31464d4941554b53) /* "SKUAIMF1" */
#define IMAGE_FILE_VERSION 1
#define IMAGE_FILE_PIECE   ((size_t)8 << 20) /* bytes of one write()                    */
#define IMAGE_FILE_MAX     (1 << 20)         /* PEs of a process; a file with more is refused */

struct image_file_entry {
    uint64_t offset, stored, bytes;
    uint64_t packed; /* 1: stored in blocks, compressed */
};

struct image_file_head {
    uint64_t                magic;
    uint32_t                version;
    uint32_t                count;    /* number of entries: PEs of the process */
    uint64_t                bytes;    /* of the file                    */
    struct ski_image_id     id;       /* of the first image             */
    uint64_t                head_sum; /* of the head with this 0     */
    struct image_file_entry entry[];
};

struct image_file_block {
    uint32_t stored, bytes;
};

static size_t image_file_head_bytes(size_t count)
{
    return sizeof(struct image_file_head) + count * sizeof(struct image_file_entry);
}

__attribute__((format(printf, 2, 3))) static bool image_file_refuse(char       *reason,
                                                                    const char *format, ...)
{
    __builtin_va_list args;

    __builtin_va_start(args, format);
    vsnprintf(reason, SKI_IMAGE_FILE_REASON, format, args);
    __builtin_va_end(args);
    return false;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

/* A file that is being written. */
struct image_file_out {
    int   fd;
    off_t at;
    off_t started; /* write-back of the bytes before this has begun */
    char *reason;
};

/* Writes bytes at an offset of the file.  The kernel begins to write back each piece that is
 * complete. */
static bool image_file_put(struct image_file_out *out, const void *from, size_t bytes, off_t at)
{
    const char *data = from;

    while (bytes > 0) {
        ssize_t n = pwrite(out->fd, data, bytes < IMAGE_FILE_PIECE ? bytes : IMAGE_FILE_PIECE, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return image_file_refuse(out->reason, "writing failed after %lld bytes: %s",
                                     (long long)at, n < 0 ? strerror(errno) : "no space");
        data += n;
        at += n;
        bytes -= (size_t)n;
        if (at - out->started >= (off_t)IMAGE_FILE_PIECE) {
            sync_file_range(out->fd, out->started, at - out->started, SYNC_FILE_RANGE_WRITE);
            out->started = at;
        }
    }
    return true;
}

static bool image_file_append(struct image_file_out *out, const void *from, size_t bytes)
{
    if (!image_file_put(out, from, bytes, out->at))
        return false;
    out->at += (off_t)bytes;
    return true;
}

/* Appends an image in compressed blocks.  A block that compression does not make shorter is stored
 * as it is. */
static bool image_file_append_packed(struct image_file_out *out, const struct ski_image_span *image,
                                     const struct ski_compressor *compressor, int level)
{
    size_t room = compressor->bound(SKI_IMAGE_CHUNK), now;
    char  *to   = ski_malloc(sizeof(struct image_file_block) + room);
    bool   ok   = true;

    for (size_t at = 0; ok && at < image->bytes; at += now) {
        const char             *from = (const char *)image->image + at;
        struct image_file_block block;
        size_t                  stored;

        now    = image->bytes - at < SKI_IMAGE_CHUNK ? image->bytes - at : SKI_IMAGE_CHUNK;
        stored = compressor->pack(to + sizeof block, room, from, now, level);
        if (stored == 0 || stored >= now) {
            memcpy(to + sizeof block, from, now);
            stored = now;
        }
        block = (struct image_file_block){(uint32_t)stored, (uint32_t)now};
        memcpy(to, &block, sizeof block);
        ok = image_file_append(out, to, sizeof block + stored);
    }
    free(to);
    return ok;
}

static bool image_file_append_image(struct image_file_out              *out,
                                    const struct ski_image_file_source *source, size_t i,
                                    struct image_file_entry *entry)
{
    const struct ski_image_span *image = &source->image[i];
    bool                         ok;

    entry->offset = (uint64_t)out->at;
    entry->bytes  = image->bytes;
    entry->packed = source->compressor != NULL;
    if (source->compressor)
        ok = image_file_append_packed(out, image, source->compressor, source->level);
    else
        ok = image_file_append(out, image->image, image->bytes);
    entry->stored = (uint64_t)out->at - entry->offset;
    return ok;
}

static bool image_file_write_head(struct image_file_out *out, struct image_file_head *head)
{
    size_t bytes = image_file_head_bytes(head->count);

    head->bytes    = (uint64_t)out->at;
    head->head_sum = 0;
    head->head_sum = ski_checksum(head, bytes);
    return image_file_put(out, head, bytes, 0);
}

/* Writes the images of all PEs of the process, then the head, which describes them. */
static bool image_file_write_all(struct image_file_out              *out,
                                 const struct ski_image_file_source *source,
                                 struct ski_image_file_written      *written)
{
    size_t                  count = (size_t)source->id.process_pes;
    struct image_file_head *head  = ski_calloc(1, image_file_head_bytes(count));
    bool                    ok    = true;

    head->magic   = IMAGE_FILE_MAGIC;
    head->version = IMAGE_FILE_VERSION;
    head->count   = (uint32_t)count;
    head->id      = source->id;
    out->at       = (off_t)image_file_head_bytes(count);
    for (size_t i = 0; ok && i < count; i++)
        ok = image_file_append_image(out, source, i, &head->entry[i]);
    ok = ok && image_file_write_head(out, head);
    if (ok && fsync(out->fd) != 0)
        ok = image_file_refuse(out->reason, "fsync() failed: %s", strerror(errno));
    *written = (struct ski_image_file_written){head->bytes, head->head_sum};
    free(head);
    return ok;
}

bool ski_image_file_write(int folder, const char *path, const struct ski_image_file_source *source,
                          struct ski_image_file_written *written, char *reason)
{
    struct image_file_out out = {.reason = reason};
    bool                  ok;

    out.fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out.fd < 0)
        return image_file_refuse(reason, "it cannot be created: %s", strerror(errno));
    ok = image_file_write_all(&out, source, written);
    if (close(out.fd) != 0 && ok)
        ok = image_file_refuse(reason, "close() failed: %s", strerror(errno));
    if (!ok)
        unlinkat(folder, path, 0);
    return ok;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/* Reads bytes from an offset of the file. */
static bool image_file_get(int fd, void *to, size_t bytes, uint64_t at, char *reason)
{
    char *data = to;

    while (bytes > 0) {
        ssize_t n = pread(fd, data, bytes < IMAGE_FILE_PIECE ? bytes : IMAGE_FILE_PIECE, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return image_file_refuse(reason, n < 0 ? "reading failed: %s" : "it is truncated%s",
                                     n < 0 ? strerror(errno) : "");
        data += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Entries follow the head and each other without a gap, up to the end of the file. */
static bool image_file_check_entries(const struct image_file_head *head)
{
    uint64_t at = image_file_head_bytes(head->count);

    for (uint32_t i = 0; i < head->count; i++) {
        const struct image_file_entry *entry = &head->entry[i];

        if (entry->offset != at || at > head->bytes || entry->stored > head->bytes - at ||
            entry->bytes < SKI_IMAGE_HEADER || entry->bytes > (uint64_t)1 << 48 ||
            entry->packed > 1 || (!entry->packed && entry->stored != entry->bytes))
            return false;
        at += entry->stored;
    }
    return at == head->bytes;
}

/* Checks what a head says of the file, before anything is allocated by it. */
static bool image_file_check_kind(const struct image_file_head *head, uint64_t size, char *reason)
{
    if (head->magic == __builtin_bswap64(IMAGE_FILE_MAGIC))
        return image_file_refuse(reason, "it was written on a CPU with the other byte order");
    if (head->magic != IMAGE_FILE_MAGIC)
        return image_file_refuse(reason, "it is not an image file of Skua");
    if (head->version != IMAGE_FILE_VERSION)
        return image_file_refuse(reason,
                                 "it has version %" PRIu32 " of the format; this Skua reads %d",
                                 head->version, IMAGE_FILE_VERSION);
    if (head->bytes != size)
        return image_file_refuse(
            reason, "it has %" PRIu64 " bytes, and its head says %" PRIu64 ": it is %s", size,
            head->bytes, size < head->bytes ? "truncated" : "damaged");
    if (head->count < 1 || head->count > IMAGE_FILE_MAX ||
        head->id.process_pes != (int32_t)head->count || image_file_head_bytes(head->count) > size)
        return image_file_refuse(reason, "its head has impossible values");
    return true;
}

/* Reads the rest of the head, whose first part is @p first, and checks all of it. */
static bool image_file_read_head(struct ski_image_file *file, const struct image_file_head *first,
                                 char *reason)
{
    size_t                  bytes = image_file_head_bytes(first->count);
    struct image_file_head *head  = ski_malloc(bytes);
    uint64_t                sum   = first->head_sum;
    bool                    ok    = image_file_get(file->fd, head, bytes, 0, reason);

    head->head_sum = 0;
    if (ok && ski_checksum(head, bytes) != sum)
        ok = image_file_refuse(reason, "its head is damaged (checksum)");
    if (ok && (head->count != first->count || head->bytes != first->bytes ||
               !image_file_check_entries(head)))
        ok = image_file_refuse(reason, "its head has impossible values");
    if (!ok) {
        free(head);
        return false;
    }
    file->head     = head;
    file->id       = head->id;
    file->bytes    = head->bytes;
    file->head_sum = sum;
    return true;
}

static bool image_file_open_head(struct ski_image_file *file, char *reason)
{
    struct image_file_head first;
    struct stat            found;

    if (!ski_checksum_available())
        return image_file_refuse(reason, "this Skua was built without xxHash, which reads it");
    if (fstat(file->fd, &found) != 0 || !S_ISREG(found.st_mode))
        return image_file_refuse(reason, "it is not a file");
    return image_file_get(file->fd, &first, sizeof first, 0, reason) &&
           image_file_check_kind(&first, (uint64_t)found.st_size, reason) &&
           image_file_read_head(file, &first, reason);
}

bool ski_image_file_open(struct ski_image_file *file, int folder, const char *path, char *reason)
{
    *file    = (struct ski_image_file){.head = NULL};
    file->fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return image_file_refuse(reason, "it cannot be opened: %s", strerror(errno));
    if (image_file_open_head(file, reason))
        return true;
    close(file->fd);
    return false;
}

void ski_image_file_close(struct ski_image_file *file)
{
    close(file->fd);
    free(file->head);
    file->head = NULL;
}

/* Reads one block of a compressed image, of which @p left stored bytes are at @p at.  Returns the
 * number of stored bytes of the block, or 0. */
static uint64_t image_file_unpack_block(struct ski_image_file *file, uint64_t at, uint64_t left,
                                        struct ski_image_span        room,
                                        const struct ski_compressor *compressor, uint32_t *got,
                                        char *reason)
{
    struct image_file_block block;
    char                   *stored;
    bool                    ok;

    if (left < sizeof block || !image_file_get(file->fd, &block, sizeof block, at, reason))
        return image_file_refuse(reason, "a compressed block is damaged");
    if (block.bytes == 0 || block.bytes > room.bytes || block.bytes > SKI_IMAGE_CHUNK ||
        block.stored == 0 || block.stored > block.bytes || block.stored > left - sizeof block)
        return image_file_refuse(reason, "a compressed block has impossible sizes");
    stored = ski_malloc(block.stored);
    ok     = image_file_get(file->fd, stored, block.stored, at + sizeof block, reason);
    if (ok && block.stored == block.bytes)
        memcpy((void *)(uintptr_t)room.image, stored, block.bytes);
    else if (ok &&
             !compressor->unpack((void *)(uintptr_t)room.image, block.bytes, stored, block.stored))
        ok = image_file_refuse(reason, "a compressed block is damaged");
    free(stored);
    *got = block.bytes;
    return ok ? sizeof block + block.stored : 0;
}

/* Decompresses the blocks of an image. */
static bool image_file_unpack(struct ski_image_file *file, const struct image_file_entry *entry,
                              char *to, char *reason)
{
    const struct ski_compressor *compressor;
    uint64_t                     stored = 0, bytes = 0, used;
    uint32_t                     got = 0;
    char                         why[SKI_IMAGE_FILE_REASON / 2];

    compressor = ski_compressor_load(why, sizeof why);
    if (!compressor)
        return image_file_refuse(reason, "it is compressed, and zstd cannot be used: %s", why);
    while (stored < entry->stored) {
        struct ski_image_span room = {to + bytes, (size_t)(entry->bytes - bytes)};

        used = image_file_unpack_block(file, entry->offset + stored, entry->stored - stored, room,
                                       compressor, &got, reason);
        if (used == 0)
            return false;
        stored += used;
        bytes += got;
    }
    return bytes == entry->bytes ||
           image_file_refuse(reason, "a compressed image has too few bytes");
}

/* Checks an image that was read, and that it is the one of @p pe. */
static bool image_file_check_image(const struct ski_image_file *file, int32_t pe, const void *image,
                                   size_t bytes, struct ski_image_reader *reader, char *reason)
{
    char                why[SKI_IMAGE_REASON];
    struct ski_image_id expected = file->id;

    if (!ski_image_open(reader, image, bytes, why))
        return image_file_refuse(reason, "the image of PE %" PRId32 ": %s", pe, why);
    expected.pe = pe;
    if (memcmp(&expected, &reader->id, sizeof expected) != 0)
        return image_file_refuse(reason,
                                 "the image of PE %" PRId32 " belongs to another checkpoint", pe);
    return true;
}

void *ski_image_file_load(struct ski_image_file *file, int32_t pe, struct ski_image_reader *reader,
                          size_t *bytes, char *reason)
{
    const struct image_file_entry *entry = &file->head->entry[pe - file->id.first_pe];
    void                          *image;
    bool                           ok;

    ski_assert(pe >= file->id.first_pe && pe - file->id.first_pe < file->id.process_pes);
    *bytes = (size_t)entry->bytes;
    image  = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (image == MAP_FAILED) {
        image_file_refuse(reason, "there is no memory for the %zu bytes of PE %" PRId32, *bytes,
                          pe);
        return NULL;
    }
    if (entry->packed)
        ok = image_file_unpack(file, entry, image, reason);
    else
        ok = image_file_get(file->fd, image, *bytes, entry->offset, reason);
    if (ok && image_file_check_image(file, pe, image, *bytes, reader, reason))
        return image;
    munmap(image, *bytes);
    return NULL;
}

void ski_image_file_unload(void *image, size_t bytes)
{
    if (image)
        munmap(image, bytes);
}
