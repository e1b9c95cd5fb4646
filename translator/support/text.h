/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a view of characters that are owned elsewhere, usually by a source file. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** A range of characters; not terminated by a NUL byte. */
struct text {
    const char *at;
    size_t      length;
};

/** The two arguments that a "%.*s" conversion needs to print a struct text. */
#define TEXT_ARGS(text) (int)(text).length, (text).at

/** Returns whether @p text consists of exactly the characters of @p string. */
static inline bool text_is(struct text text, const char *string)
{
    return text.length == strlen(string) && !memcmp(text.at, string, text.length);
}

/** Returns whether @p a and @p b have the same characters. */
static inline bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}

/** Returns whether @p text starts with the characters of @p string. */
static inline bool text_starts_with(struct text text, const char *string)
{
    size_t length = strlen(string);

    return text.length >= length && !memcmp(text.at, string, length);
}

/** Returns a text that views @p string. */
static inline struct text text_of(const char *string)
{
    return (struct text){string, strlen(string)};
}

/** Returns the address one past the last character of @p text. */
static inline const char *text_end(struct text text)
{
    return text.at + text.length;
}

/** Returns the characters from @p at up to, but not including, @p end. */
static inline struct text text_between(const char *at, const char *end)
{
    return (struct text){at, (size_t)(end - at)};
}

/** Returns the index of @p text in the NULL-terminated list @p names, or -1. */
static inline int text_index_in(struct text text, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (text_is(text, names[i]))
            return i;
    return -1;
}

/* Character classes of the C locale, whatever locale the user has set. */

/** Returns whether @p c is a decimal digit. */
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** Returns whether @p c is an ASCII letter or an underscore. */
static inline bool text_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/** Returns whether @p c is white space. */
static inline bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/** Returns @p text without the white space at its beginning and its end. */
static inline struct text text_trim(struct text text)
{
    for (; text.length && text_is_space(*text.at); text.length--)
        text.at++;
    while (text.length && text_is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

#endif
