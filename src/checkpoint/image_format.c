/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_format.c - see image_format.h.
 *
 * A chunk is summed when all bytes in it were written by earlier calls: room that
 * ski_image_reserve() returned is filled by the caller until the next call, so the bytes up to
 * `used` are complete at the beginning of each call and not at its end.
 *
 * The order in which header and data are written matters to other processes after this one has
 * died. The end of a process orders its stores, so the fences here bind the compiler alone.
 *
 * A reader checks the header, then directory and checksums as a whole, then each entry, then the
 * chunks.  A matching checksum is not enough: an entry that is not inside the data makes it refuse
 * the image.
 */
#include "checkpoint/image_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "checkpoint/checksum.h"

#define IMAGE_MAGIC UINT64_C(0x31474d4941554b53) /* "SKUAIMG1" */

/* A build without checksums omits the sums instead of writing zeros. */
enum { IMAGE_SUM_NONE, IMAGE_SUM_XXH3 };

struct image_header {
    uint64_t            magic;
    uint32_t            version;
    uint32_t            sum_kind;
    uint64_t            data_end; /* offset of the directory */
    uint64_t            sections;
    uint64_t            index_sum; /* of directory and checksums */
    struct ski_image_id id;
    uint64_t            zero[4];
    uint64_t            header_sum; /* of all bytes above */
};
_Static_assert(sizeof(struct image_header) == SKI_IMAGE_HEADER, "no padding, a fixed size");

struct ski_image_entry {
    char     name[SKI_IMAGE_NAME];
    uint32_t zero;
    uint32_t version;
    uint64_t offset, bytes;
};
_Static_assert(sizeof(struct ski_image_entry) == 64, "no padding");

static size_t image_align_up(size_t bytes)
{
    return (bytes + SKI_IMAGE_ALIGN - 1) & ~(size_t)(SKI_IMAGE_ALIGN - 1);
}

static size_t image_chunk_count(size_t data_end)
{
    return (data_end - SKI_IMAGE_HEADER + SKI_IMAGE_CHUNK - 1) / SKI_IMAGE_CHUNK;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

/* Makes the bytes up to @p to accessible.  A failure is kept: nothing is written after it. */
static bool image_make_room(struct ski_image_writer *writer, size_t to)
{
    if (!writer->error && !ski_image_memory_grow(writer->memory, to))
        writer->error = errno ? errno : ENOMEM;
    return !writer->error;
}

static void image_add_sum(struct ski_image_writer *writer, uint64_t sum)
{
    writer->sum = ski_grow(writer->sum, writer->chunks, &writer->room_chunks, sizeof *writer->sum);
    writer->sum[writer->chunks++] = sum;
}

/* Sums the chunks that are complete. */
static void image_sum_chunks(struct ski_image_writer *writer)
{
    size_t at = SKI_IMAGE_HEADER + writer->chunks * SKI_IMAGE_CHUNK;

    if (!writer->sums)
        return;
    for (; at + SKI_IMAGE_CHUNK <= writer->used; at += SKI_IMAGE_CHUNK)
        image_add_sum(writer, ski_checksum(writer->memory->base + at, SKI_IMAGE_CHUNK));
}

/* Keeps the compiler from moving writes across.  An image is read by another process, after the one
 * that wrote it has died or ended.  A process dies between two instructions: what it wrote before
 * is all there, and nothing of what follows, as the agent that noticed the death continues only
 * when the kernel has ended it.  So the order of the instructions is all that matters. */
static inline void image_order_writes(void)
{
    atomic_signal_fence(memory_order_acq_rel);
}

/* Invalidates the former image first: a process that dies now leaves none. */
void ski_image_begin(struct ski_image_writer *writer, struct ski_image_memory *memory,
                     const struct ski_image_id *id, bool sums)
{
    *writer = (struct ski_image_writer){.memory = memory,
                                        .id     = *id,
                                        .used   = SKI_IMAGE_HEADER,
                                        .sums   = sums && ski_checksum_available()};
    if (image_make_room(writer, SKI_IMAGE_HEADER))
        memset(memory->base, 0, SKI_IMAGE_HEADER);
    image_order_writes(); /* before any byte of the new image */
}

/* Returns whether the image has a section of this name; for assertions. */
static __attribute__((unused)) bool image_has_section(const struct ski_image_writer *writer,
                                                      const char                    *name)
{
    for (size_t i = 0; i < writer->sections; i++)
        if (strcmp(writer->entry[i].name, name) == 0)
            return true;
    return false;
}

void ski_image_section_begin(struct ski_image_writer *writer, const char *name, uint32_t version)
{
    struct ski_image_entry *entry;

    ski_assert(!writer->open && strlen(name) < SKI_IMAGE_NAME && !image_has_section(writer, name));
    ski_image_align(writer);
    writer->entry =
        ski_grow(writer->entry, writer->sections, &writer->room_sections, sizeof *writer->entry);
    entry  = &writer->entry[writer->sections++];
    *entry = (struct ski_image_entry){.version = version, .offset = writer->used};
    snprintf(entry->name, sizeof entry->name, "%s", name);
    writer->open = true;
}

void *ski_image_reserve(struct ski_image_writer *writer, size_t bytes)
{
    void *room;

    image_sum_chunks(writer);
    if (SKI_UNLIKELY(writer->used + bytes > writer->memory->bytes) &&
        !image_make_room(writer, writer->used + bytes))
        return NULL;
    if (SKI_UNLIKELY(writer->error != 0))
        return NULL;
    room = writer->memory->base + writer->used;
    writer->used += bytes;
    return room;
}

/* Copies at most to the end of the present chunk at once, so that the chunk is summed from the
 * cache. */
void ski_image_write(struct ski_image_writer *writer, const void *from, size_t bytes)
{
    const unsigned char *at = from;

    while (bytes > 0) {
        size_t in_chunk = (writer->used - SKI_IMAGE_HEADER) % SKI_IMAGE_CHUNK;
        size_t now      = bytes < SKI_IMAGE_CHUNK - in_chunk ? bytes : SKI_IMAGE_CHUNK - in_chunk;
        void  *to       = ski_image_reserve(writer, now);

        if (!to)
            return;
        memcpy(to, at, now);
        at += now;
        bytes -= now;
    }
}

void ski_image_align(struct ski_image_writer *writer)
{
    static const char zeros[SKI_IMAGE_ALIGN];

    ski_image_write(writer, zeros, image_align_up(writer->used) - writer->used);
}

void ski_image_section_end(struct ski_image_writer *writer)
{
    struct ski_image_entry *entry = &writer->entry[writer->sections - 1];

    ski_assert(writer->open);
    entry->bytes = writer->used - entry->offset;
    writer->open = false;
}

/* Sums the chunk that is not full. */
static void image_sum_rest(struct ski_image_writer *writer)
{
    size_t at;

    image_sum_chunks(writer);
    at = SKI_IMAGE_HEADER + writer->chunks * SKI_IMAGE_CHUNK;
    if (writer->sums && at < writer->used)
        image_add_sum(writer, ski_checksum(writer->memory->base + at, writer->used - at));
}

/* Writes the header, the magic number last: an image without it is not complete. */
static void image_write_header(struct ski_image_writer *writer, size_t data_end)
{
    unsigned char      *base   = writer->memory->base;
    struct image_header header = {
        .magic     = IMAGE_MAGIC,
        .version   = SKI_IMAGE_VERSION,
        .sum_kind  = writer->sums ? IMAGE_SUM_XXH3 : IMAGE_SUM_NONE,
        .data_end  = data_end,
        .sections  = writer->sections,
        .index_sum = ski_checksum(base + data_end, writer->used - data_end),
        .id        = writer->id,
    };

    header.header_sum = ski_checksum(&header, offsetof(struct image_header, header_sum));
    image_order_writes(); /* after all bytes of the image */
    memcpy(base + sizeof header.magic, (char *)&header + sizeof header.magic,
           sizeof header - sizeof header.magic);
    atomic_store_explicit((_Atomic uint64_t *)(void *)base, header.magic, memory_order_release);
}

static void image_writer_free(struct ski_image_writer *writer)
{
    free(writer->entry);
    free(writer->sum);
    writer->entry    = NULL;
    writer->sum      = NULL;
    writer->sections = writer->room_sections = writer->chunks = writer->room_chunks = 0;
}

/* Appends directory and checksums, which index_sum covers, and the header.  There is room for
 * checksums in any case. */
static void image_write_index(struct ski_image_writer *writer)
{
    size_t         data_end = writer->used;
    size_t         entries  = writer->sections * sizeof *writer->entry;
    size_t         sums     = writer->chunks * sizeof *writer->sum;
    unsigned char *to;

    if (!image_make_room(writer,
                         data_end + entries + image_chunk_count(data_end) * sizeof *writer->sum))
        return;
    to = writer->memory->base + data_end;
    if (entries)
        memcpy(to, writer->entry, entries);
    if (sums)
        memcpy(to + entries, writer->sum, sums);
    writer->used += entries + sums;
    image_write_header(writer, data_end);
}

skua_status ski_image_finish(struct ski_image_writer *writer, size_t *bytes)
{
    ski_assert(!writer->open);
    ski_image_align(writer);
    if (!writer->error) {
        image_sum_rest(writer);
        image_write_index(writer);
    }
    image_writer_free(writer);
    *bytes = writer->error ? 0 : writer->used;
    return writer->error ? SKUA_ERR_NOMEM : SKUA_OK;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static bool image_refuse(char *reason, const char *format,
                                                               ...)
{
    __builtin_va_list args;

    __builtin_va_start(args, format);
    vsnprintf(reason, SKI_IMAGE_REASON, format, args);
    __builtin_va_end(args);
    return false;
}

static bool image_sums_match(const struct image_header *header, uint64_t expected, const void *data,
                             size_t bytes)
{
    return header->sum_kind == IMAGE_SUM_NONE || ski_checksum(data, bytes) == expected;
}

static bool image_check_id(const struct ski_image_id *id)
{
    return id->generation > 0 && id->pes > 0 && id->pe >= 0 && id->pe < id->pes &&
           id->processes > 0 && id->processes <= id->pes && id->process >= 0 &&
           id->process < id->processes && id->process_pes > 0 && id->first_pe >= 0 &&
           id->process_pes <= id->pes && id->first_pe <= id->pes - id->process_pes &&
           id->pe >= id->first_pe && id->pe - id->first_pe < id->process_pes;
}

static bool image_check_kind(const struct image_header *header, char *reason)
{
    if (header->magic == __builtin_bswap64(IMAGE_MAGIC))
        return image_refuse(reason, "it was written on a CPU with the other byte order");
    if (header->magic != IMAGE_MAGIC)
        return image_refuse(reason, "it is not an image of Skua, or not a complete one");
    if (header->version != SKI_IMAGE_VERSION)
        return image_refuse(reason, "it has version %" PRIu32 " of the format; this Skua reads %d",
                            header->version, SKI_IMAGE_VERSION);
    if (header->sum_kind > IMAGE_SUM_XXH3)
        return image_refuse(reason, "it has checksums of an unknown kind");
    if (header->sum_kind == IMAGE_SUM_XXH3 && !ski_checksum_available())
        return image_refuse(reason, "it has checksums, and this Skua was built without xxHash");
    return true;
}

static bool image_check_header(const struct image_header *header, char *reason)
{
    if (!image_check_kind(header, reason))
        return false;
    if (!image_sums_match(header, header->header_sum, header,
                          offsetof(struct image_header, header_sum)))
        return image_refuse(reason, "its header is damaged (checksum)");
    if (!image_check_id(&header->id) || header->data_end < SKI_IMAGE_HEADER ||
        header->data_end % SKI_IMAGE_ALIGN != 0 || header->data_end > (uint64_t)1 << 60 ||
        header->sections > (uint64_t)1 << 32)
        return image_refuse(reason, "its header has impossible values");
    return true;
}

/* Returns the bytes of directory and checksums. */
static size_t image_index_bytes(const struct image_header *header)
{
    size_t chunks =
        header->sum_kind == IMAGE_SUM_NONE ? 0 : image_chunk_count((size_t)header->data_end);

    return (size_t)header->sections * sizeof(struct ski_image_entry) + chunks * sizeof(uint64_t);
}

size_t ski_image_add_sums(void *image)
{
    unsigned char      *base = image;
    struct image_header header;
    size_t              data_end, chunks, entries;
    uint64_t           *sum;

    memcpy(&header, base, sizeof header);
    data_end = (size_t)header.data_end;
    chunks   = image_chunk_count(data_end);
    entries  = (size_t)header.sections * sizeof(struct ski_image_entry);
    sum      = (void *)(base + data_end + entries);
    ski_assert(header.magic == IMAGE_MAGIC);
    if (header.sum_kind != IMAGE_SUM_NONE || !ski_checksum_available())
        return data_end + image_index_bytes(&header);
    for (size_t i = 0; i < chunks; i++) {
        size_t at = SKI_IMAGE_HEADER + i * SKI_IMAGE_CHUNK;

        sum[i] = ski_checksum(base + at,
                              data_end - at < SKI_IMAGE_CHUNK ? data_end - at : SKI_IMAGE_CHUNK);
    }
    header.sum_kind   = IMAGE_SUM_XXH3;
    header.index_sum  = ski_checksum(base + data_end, entries + chunks * sizeof *sum);
    header.header_sum = ski_checksum(&header, offsetof(struct image_header, header_sum));
    memcpy(base, &header, sizeof header);
    return data_end + entries + chunks * sizeof *sum;
}

size_t ski_image_size(const void *image, size_t bytes, struct ski_image_id *id, char *reason)
{
    struct image_header header;

    if (bytes < sizeof header) {
        image_refuse(reason, "it has %zu bytes, fewer than a header", bytes);
        return 0;
    }
    memcpy(&header, image, sizeof header);
    if (!image_check_header(&header, reason))
        return 0;
    *id = header.id;
    return (size_t)header.data_end + image_index_bytes(&header);
}

static bool image_check_entry(const struct ski_image_entry *entry, uint64_t data_end)
{
    return memchr(entry->name, 0, sizeof entry->name) && entry->offset >= SKI_IMAGE_HEADER &&
           entry->offset % SKI_IMAGE_ALIGN == 0 && entry->offset <= data_end &&
           entry->bytes <= data_end - entry->offset;
}

static bool image_check_chunks(const struct image_header *header, const unsigned char *base,
                               char *reason)
{
    size_t          data_end = (size_t)header->data_end, count = image_chunk_count(data_end);
    const uint64_t *sum =
        (const void *)(base + data_end + header->sections * sizeof(struct ski_image_entry));

    for (size_t i = 0; i < count; i++) {
        size_t at    = SKI_IMAGE_HEADER + i * SKI_IMAGE_CHUNK;
        size_t bytes = data_end - at < SKI_IMAGE_CHUNK ? data_end - at : SKI_IMAGE_CHUNK;

        if (ski_checksum(base + at, bytes) != sum[i])
            return image_refuse(reason, "it is damaged in its bytes %zu to %zu (checksum)", at,
                                at + bytes);
    }
    return true;
}

static bool image_check_index(const struct image_header *header, const unsigned char *base,
                              char *reason)
{
    const struct ski_image_entry *entry = (const void *)(base + header->data_end);

    if (!image_sums_match(header, header->index_sum, base + header->data_end,
                          image_index_bytes(header)))
        return image_refuse(reason, "its directory is damaged (checksum)");
    for (size_t i = 0; i < header->sections; i++)
        if (!image_check_entry(&entry[i], header->data_end))
            return image_refuse(reason, "entry %zu of its directory is outside of the image", i);
    return true;
}

bool ski_image_open(struct ski_image_reader *reader, const void *image, size_t bytes, char *reason)
{
    struct ski_image_id  id;
    struct image_header  header;
    const unsigned char *base = image;
    size_t               size;

    size = ski_image_size(image, bytes, &id, reason);
    if (size == 0)
        return false;
    if (size != bytes)
        return image_refuse(reason, "it has %zu bytes, and its header says %zu: it is %s", bytes,
                            size, bytes < size ? "truncated" : "longer than it was written");
    memcpy(&header, image, sizeof header);
    if (!image_check_index(&header, base, reason) ||
        (header.sum_kind != IMAGE_SUM_NONE && !image_check_chunks(&header, base, reason)))
        return false;
    *reader = (struct ski_image_reader){
        .id       = id,
        .base     = base,
        .entry    = (const void *)(base + header.data_end),
        .sections = (size_t)header.sections,
    };
    return true;
}

const char *ski_image_section_at(struct ski_image_reader *reader, size_t i, uint32_t *version)
{
    const struct ski_image_entry *entry = &reader->entry[i];

    if (i >= reader->sections)
        return NULL;
    *version    = entry->version;
    reader->at  = (size_t)entry->offset;
    reader->end = (size_t)(entry->offset + entry->bytes);
    return entry->name;
}

bool ski_image_section_find(struct ski_image_reader *reader, const char *name, uint32_t *version)
{
    reader->at = reader->end = 0;
    for (size_t i = 0; i < reader->sections; i++)
        if (strcmp(reader->entry[i].name, name) == 0)
            return ski_image_section_at(reader, i, version) != NULL;
    return false;
}

const void *ski_image_read(struct ski_image_reader *reader, size_t bytes)
{
    const void *at = reader->base + reader->at;

    if (bytes > ski_image_left(reader))
        return NULL;
    reader->at += bytes;
    return at;
}

bool ski_image_copy(struct ski_image_reader *reader, void *to, size_t bytes)
{
    const void *from = ski_image_read(reader, bytes);

    if (!from)
        return false;
    if (bytes)
        memcpy(to, from, bytes);
    return true;
}

void ski_image_read_align(struct ski_image_reader *reader)
{
    size_t at = image_align_up(reader->at);

    reader->at = at < reader->end ? at : reader->end;
}

size_t ski_image_left(const struct ski_image_reader *reader)
{
    return reader->end - reader->at;
}
