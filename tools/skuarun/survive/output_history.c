/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_history.c - see output_history.h.
 *
 * Invariant: kept holds the output of the present timeline from mark[0] on: position <= end of
 * kept, and the bytes after position are those that the process is expected to print again.
 */
#include "survive/output_history.h"

#include <stdlib.h>

#include "base/assert.h"
#include "boot/image_slots.h"

static size_t output_history_end(const struct output_history *h)
{
    return buffer_bytes(&h->kept);
}

/* Forgets the first @p bytes of the kept output. */
static void output_history_forget(struct output_history *h, size_t bytes)
{
    buffer_drop(&h->kept, bytes);
    h->position -= bytes;
    for (int i = 0; i < h->marks; i++)
        h->mark[i].at -= bytes;
}

/* ---- marks ------------------------------------------------------------------------- */

static void output_history_mark(struct output_history *h, uint64_t generation)
{
    if (h->overflowed) { /* a new mark begins a new history */
        buffer_drop(&h->kept, output_history_end(h));
        h->position = 0;
        h->marks    = 0;
    }
    h->overflowed = false;
    if (h->marks == 2) {
        h->mark[0] = h->mark[1];
        h->marks   = 1;
        output_history_forget(h, h->mark[0].at);
    }
    h->mark[h->marks++] = (struct output_mark){generation, h->position};
}

/* Returns whether @p bytes are the beginning of a mark, or a whole one: then *@p generation is
 * set. */
static bool output_history_is_mark(const char *text, size_t bytes, uint64_t *generation)
{
    static const char begin[] = SKI_OUTPUT_MARK, end[] = SKI_OUTPUT_MARK_END;
    size_t            head  = sizeof begin - 1;
    size_t            digit = head;

    *generation = 0;
    if (memcmp(text, begin, bytes < head ? bytes : head) != 0)
        return false;
    while (digit < bytes && text[digit] >= '0' && text[digit] <= '9' && digit < head + 20)
        digit++;
    if (digit >= bytes)
        return true;
    if (digit == head || memcmp(text + digit, end, bytes - digit) != 0)
        return false;
    if (bytes - digit == sizeof end - 1)
        *generation = strtoull(text + head, NULL, 10);
    return true;
}

/* ---- comparison --------------------------------------------------------------------- */

/* The output differs from what was printed at position: what was printed of this line is printed
 * once more. */
static void output_history_differs(struct output_history *h, struct buffer *to)
{
    size_t      line = h->position;
    const char *text = buffer_text(&h->kept);

    while (line > 0 && text[line - 1] != '\n')
        line--;
    buffer_add(to, text + line, h->position - line);
    h->kept.end = h->kept.begin + h->position; /* the rest belongs to the other timeline */
    if (h->kept.end == h->kept.begin)
        h->kept.begin = h->kept.end = 0;
}

/* Drops the bytes that were printed before.  Returns how many. */
static size_t output_history_drop_equal(struct output_history *h, const char *text, size_t bytes)
{
    size_t      left = output_history_end(h) - h->position, n = 0;
    const char *old = left ? buffer_text(&h->kept) + h->position : NULL;

    while (n < bytes && n < left && text[n] == old[n])
        n++;
    h->position += n;
    return n;
}

static void output_history_keep(struct output_history *h, const char *text, size_t bytes)
{
    ski_assert(h->position == output_history_end(h) || h->overflowed);
    if (h->overflowed)
        return;
    if (output_history_end(h) + bytes > OUTPUT_HISTORY_MAX) {
        h->overflowed = true;
        return;
    }
    buffer_add(&h->kept, text, bytes);
    h->position += bytes;
}

/* Filters output without marks. */
static bool output_history_pass(struct output_history *h, const char *text, size_t bytes,
                                struct buffer *to)
{
    size_t equal = output_history_drop_equal(h, text, bytes);
    bool   same  = equal == bytes || h->position == output_history_end(h);

    if (equal == bytes)
        return true;
    if (!same)
        output_history_differs(h, to);
    output_history_keep(h, text + equal, bytes - equal);
    buffer_add(to, text + equal, bytes - equal);
    return same;
}

/* ---- the filter --------------------------------------------------------------------- */

/* Adds a byte to what may become a mark.  Returns whether the output is as before. */
static bool output_history_byte(struct output_history *h, char c, struct buffer *to)
{
    uint64_t generation;
    bool     same = true;

    h->part[h->part_bytes++] = c;
    while (h->part_bytes > 0 && !output_history_is_mark(h->part, h->part_bytes, &generation)) {
        same &= output_history_pass(h, h->part, 1, to);
        memmove(h->part, h->part + 1, --h->part_bytes);
    }
    if (h->part_bytes > 0 && generation) {
        output_history_mark(h, generation);
        h->part_bytes = 0;
    }
    return same;
}

bool output_history_filter(struct output_history *h, const char *text, size_t bytes,
                           struct buffer *to)
{
    bool same = true;

    if (h->marks == 0)
        output_history_mark(h, 0);
    while (bytes > 0) {
        const char *escape = h->part_bytes ? text : memchr(text, '\033', bytes);
        size_t      n      = escape ? (size_t)(escape - text) : bytes;

        if (n > 0)
            same &= output_history_pass(h, text, n, to);
        else
            same &= output_history_byte(h, text[n++], to);
        text += n;
        bytes -= n;
    }
    return same;
}

/* Restarts the history at the mark of @p generation. */
static void output_history_restart(struct output_history *h, uint64_t generation)
{
    output_history_free(h);
    output_history_mark(h, generation);
}

size_t output_history_rewind(struct output_history *h, uint64_t generation, size_t unprinted)
{
    size_t end = output_history_end(h), printed, at;

    h->part_bytes = 0;
    if (h->marks > 0 && generation > h->mark[h->marks - 1].generation) {
        /* The process died after its image was complete, before it could mark the place.  The
         * program does not run in between, so the place is where its output ends: in the middle of
         * what was printed before, if it was repeating that. */
        ski_assert(unprinted == 0 || h->position == end || h->overflowed);
        output_history_mark(h, generation);
        return unprinted;
    }
    while (h->marks > 0 && h->mark[h->marks - 1].generation != generation)
        h->marks--;
    if (h->marks == 0 || h->overflowed || unprinted > end) {
        output_history_restart(h, generation);
        return 0;
    }
    at      = h->mark[h->marks - 1].at;
    printed = end - unprinted;
    if (h->position < end) { /* the end was printed in an earlier epoch */
        printed   = end;
        unprinted = 0;
    }
    h->kept.end = h->kept.begin + (printed > at ? printed : at);
    h->position = at;
    return at > printed ? at - printed : 0;
}

void output_history_free(struct output_history *h)
{
    buffer_free(&h->kept);
    buffer_free(&h->unprinted);
    *h = (struct output_history){0};
}
