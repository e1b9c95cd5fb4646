/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - small questions about pieces of a source. */
#ifndef TEXT_H
#define TEXT_H

#include <string.h>

#include "tree.h"

static inline bool text_is(struct text text, const char *string)
{
    return text.length == strlen(string) && !memcmp(text.at, string, text.length);
}

static inline bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}

static inline bool text_begins(struct text text, const char *string)
{
    size_t length = strlen(string);

    return text.length >= length && !memcmp(text.at, string, length);
}

/** A string as a text, which points to it. */
static inline struct text text_of(const char *string)
{
    return (struct text){string, strlen(string)};
}

static inline const char *text_end(struct text text)
{
    return text.at + text.length;
}

/** From one byte to another. */
static inline struct text text_between(const char *at, const char *end)
{
    return (struct text){at, (size_t)(end - at)};
}

/** Its place in a list ended by NULL, or -1. */
static inline int text_among(struct text text, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (text_is(text, names[i]))
            return i;
    return -1;
}

/* Characters, whatever the locale. */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
