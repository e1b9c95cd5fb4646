/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_format_test.c - sections come back as they were written, in memory that moves; an image of
 * which any byte or the length has changed is refused, and a reader stays inside of its section.
 */
#include "checkpoint/image_format.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "checkpoint/checksum.h"
#include "tests/tap.h"

static const struct ski_image_id id = {.generation  = 7,
                                       .fingerprint = 42,
                                       .time_ns     = 1000,
                                       .pe          = 3,
                                       .pes         = 8,
                                       .process     = 1,
                                       .processes   = 4,
                                       .first_pe    = 2,
                                       .process_pes = 2};

static unsigned char pattern_at(size_t i)
{
    return (unsigned char)(i * 37 + (i >> 8) * 11);
}

/* Three sections: some words, nothing, and @p bytes bytes in pieces of all kinds. */
static size_t test_image_write(struct ski_image_memory *memory, size_t bytes, bool sums)
{
    struct ski_image_writer writer;
    unsigned char          *piece = ski_malloc(bytes + 1);
    size_t                  size  = 0;

    for (size_t i = 0; i < bytes; i++)
        piece[i] = pattern_at(i);
    ski_image_begin(&writer, memory, &id, sums);
    ski_image_section_begin(&writer, "words", 3);
    ski_image_write(&writer, "abc", 3);
    ski_image_align(&writer);
    ski_image_write(&writer, "defgh", 5);
    ski_image_section_end(&writer);
    ski_image_section_begin(&writer, "empty", 0);
    ski_image_section_end(&writer);
    ski_image_section_begin(&writer, "data", 9);
    ski_image_write(&writer, piece, bytes / 2);
    for (size_t at = bytes / 2, now; at < bytes; at += now) {
        now = bytes - at < 1000 ? bytes - at : 1000;
        memcpy(ski_image_reserve(&writer, now), piece + at, now);
    }
    ski_image_section_end(&writer);
    OK(ski_image_finish(&writer, &size) == SKUA_OK, "an image of %zu bytes is written", bytes);
    free(piece);
    return size;
}

static bool test_data_matches(struct ski_image_reader *reader, size_t bytes)
{
    const unsigned char *data = ski_image_read(reader, bytes);
    bool                 same = data != NULL;

    for (size_t i = 0; same && i < bytes; i++)
        same = data[i] == pattern_at(i);
    return same;
}

static void test_sections(struct ski_image_reader *reader, size_t bytes)
{
    uint32_t    version = 0;
    char        text[8];
    const char *name;

    OK(ski_image_section_find(reader, "words", &version) && version == 3, "a section is found");
    OK(ski_image_copy(reader, text, 3) && memcmp(text, "abc", 3) == 0, "with its bytes");
    ski_image_read_align(reader);
    OK(ski_image_left(reader) == 5 && !ski_image_read(reader, 6), "no read passes its end");
    OK(memcmp(ski_image_read(reader, 5), "defgh", 5) == 0, "aligned bytes are found again");
    ski_image_read_align(reader);
    OK(ski_image_left(reader) == 0, "alignment stops at the end");
    OK(ski_image_section_find(reader, "empty", &version) && ski_image_left(reader) == 0,
       "a section may be empty");
    OK(ski_image_section_find(reader, "data", &version) && version == 9 &&
           ski_image_left(reader) == bytes && test_data_matches(reader, bytes),
       "%zu bytes are as written", bytes);
    OK(!ski_image_section_find(reader, "absent", &version) && !ski_image_read(reader, 1),
       "a section that is not there has no bytes");
    name = ski_image_section_at(reader, 1, &version);
    OK(name && strcmp(name, "empty") == 0 && !ski_image_section_at(reader, 3, &version),
       "sections are found by number");
}

static void test_size(struct ski_image_memory *memory, size_t bytes)
{
    struct ski_image_reader reader;
    char                    reason[SKI_IMAGE_REASON] = "";
    size_t                  size                     = test_image_write(memory, bytes, true);

    OK(ski_image_open(&reader, memory->base, size, reason), "it is accepted: %s", reason);
    OK(memcmp(&reader.id, &id, sizeof id) == 0, "it says what it is of");
    test_sections(&reader, bytes);
    if (bytes < SKI_IMAGE_CHUNK || !ski_checksum_available())
        return;
    memory->base[SKI_IMAGE_HEADER + SKI_IMAGE_CHUNK + 5] ^= 1;
    OK(!ski_image_open(&reader, memory->base, size, reason) && strstr(reason, "damaged"),
       "a changed bit in its second chunk is found: %s", reason);
}

/* Any change of a byte, and any length but the right one, is refused; so is another image's end. */
static void test_damage(void)
{
    struct ski_image_memory memory;
    struct ski_image_reader reader;
    char                    reason[SKI_IMAGE_REASON];
    size_t                  size, wrong = 0;
    unsigned char          *copy;

    ski_image_memory_anonymous(&memory);
    size = test_image_write(&memory, 500, true);
    copy = aligned_alloc(SKI_IMAGE_ALIGN, (size + 15) / 16 * 16);
    memcpy(copy, memory.base, size);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            copy[i] ^= (unsigned char)(1 << bit);
            wrong += ski_image_open(&reader, copy, size, reason);
            copy[i] = memory.base[i];
        }
    OK(!ski_checksum_available() || wrong == 0, "every changed bit is refused (%zu were not)",
       wrong);
    wrong = 0;
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *exact = aligned_alloc(SKI_IMAGE_ALIGN, (cut + 16) / 16 * 16);

        memcpy(exact, memory.base, cut);
        wrong += ski_image_open(&reader, exact, cut, reason);
        free(exact);
    }
    OK(wrong == 0, "every truncation is refused (%zu were not)", wrong);
    free(copy);
    ski_image_memory_unmap(&memory);
}

/* Checksums that are added later are those of an image that had them from the beginning. */
static void test_sums_later(void)
{
    struct ski_image_memory first, later;
    size_t                  size, plain;

    ski_image_memory_anonymous(&first);
    ski_image_memory_anonymous(&later);
    size  = test_image_write(&first, 600000, true);
    plain = test_image_write(&later, 600000, false);
    OK(!ski_checksum_available() || plain < size, "an image may have no checksums");
    OK(ski_image_add_sums(later.base) == size && memcmp(first.base, later.base, size) == 0,
       "they are added later");
    OK(ski_image_add_sums(later.base) == size, "once");
    ski_image_memory_unmap(&first);
    ski_image_memory_unmap(&later);
}

static void test_incomplete(void)
{
    struct ski_image_memory memory;
    struct ski_image_writer writer;
    struct ski_image_id     found;
    char                    reason[SKI_IMAGE_REASON];
    size_t                  size;

    ski_image_memory_anonymous(&memory);
    size = test_image_write(&memory, 100, true);
    OK(ski_image_size(memory.base, memory.bytes, &found, reason) == size,
       "the header has the size");
    ski_image_begin(&writer, &memory, &id, true);
    ski_image_section_begin(&writer, "data", 1);
    ski_image_write(&writer, "x", 1);
    OK(ski_image_size(memory.base, memory.bytes, &found, reason) == 0 && strstr(reason, "complete"),
       "memory that is being written holds no image: %s", reason);
    ski_image_section_end(&writer);
    OK(ski_image_finish(&writer, &size) == SKUA_OK && size > 0, "until it is finished");
    ski_image_memory_unmap(&memory);
}

/* Memory that ends is a failure of the image, not of the process. */
static void test_exhausted(void)
{
    struct ski_image_memory memory;
    struct ski_image_writer writer;
    size_t                  size;
    int                     fd = memfd_create("image_format_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    OK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0, "a memfd that does not grow");
    ski_image_memory_shared(&memory, fd, 0);
    ski_image_begin(&writer, &memory, &id, true);
    ski_image_section_begin(&writer, "data", 1);
    ski_image_write(&writer, "x", 1);
    OK(!ski_image_reserve(&writer, 10), "no room in memory that does not grow");
    ski_image_section_end(&writer);
    OK(ski_image_finish(&writer, &size) == SKUA_ERR_NOMEM && size == 0 && writer.error,
       "the image fails");
    ski_image_memory_unmap(&memory);
    close(fd);
}

int main(void)
{
    static const size_t     sizes[] = {0, 1, 500, SKI_IMAGE_CHUNK, 3 * SKI_IMAGE_CHUNK + 77};
    struct ski_image_memory anonymous, shared;
    int                     fd = memfd_create("image_format_test", MFD_CLOEXEC);

    ski_image_memory_anonymous(&anonymous);
    ski_image_memory_shared(&shared, fd, 1 << 16);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_size(&anonymous, sizes[i]);
        test_size(&shared, sizes[i]);
    }
    ski_image_memory_unmap(&anonymous);
    ski_image_memory_unmap(&shared);
    close(fd);
    test_damage();
    test_sums_later();
    test_incomplete();
    test_exhausted();
    return tap_end();
}
