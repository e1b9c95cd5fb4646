/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist.c - see hostlist.h. */
#include "base/hostlist.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HOSTLIST_DIGITS 9 /* of a number in a range, at most */

/* The expansion of one name: what is written so far, and what follows. */
struct hostlist {
    bool (*each)(void *arg, const char *name);
    void        *arg;
    const char **why;
    const char  *end; /* of the name's pattern */
    char         name[SKI_HOSTLIST_NAME];
};

static bool hostlist_expand_from(struct hostlist *list, const char *at, size_t written);

static bool hostlist_refuse(struct hostlist *list, const char *why)
{
    *list->why = why;
    return false;
}

/* Reads a number of a range; *@p at moves past it.  Returns its digits, 0 if there are none or too
 * many. */
static int hostlist_number(const char **at, const char *end, long *value)
{
    int digits = 0;

    for (*value = 0; *at < end && isdigit((unsigned char)**at) && digits <= HOSTLIST_DIGITS;
         digits++)
        *value = *value * 10 + (*(*at)++ - '0');
    return digits <= HOSTLIST_DIGITS ? digits : 0;
}

/* Expands the numbers @p from to @p to, with at least @p digits digits, and what follows at @p
 * rest. */
static bool hostlist_expand_range(struct hostlist *list, long from, long to, int digits,
                                  const char *rest, size_t written)
{
    for (long i = from; i <= to; i++) {
        int n = snprintf(list->name + written, sizeof list->name - written, "%0*ld", digits, i);

        if (n < 0 || (size_t)n >= sizeof list->name - written)
            return hostlist_refuse(list, "a name is too long");
        if (!hostlist_expand_from(list, rest, written + (size_t)n))
            return false;
    }
    return true;
}

/* Expands the ranges in brackets at @p at; @p close is the bracket that ends them. */
static bool hostlist_expand_brackets(struct hostlist *list, const char *at, const char *close,
                                     size_t written)
{
    for (;;) {
        long from, to;
        int  digits = hostlist_number(&at, close, &from);

        to = from;
        if (digits == 0 || (*at == '-' && (at++, hostlist_number(&at, close, &to) == 0)) ||
            to < from || (at < close && *at != ','))
            return hostlist_refuse(list, "brackets contain numbers and ranges such as 0-3,7");
        if (!hostlist_expand_range(list, from, to, digits, close + 1, written))
            return false;
        if (at++ == close)
            return true;
    }
}

/* Expands the pattern from @p at on; the name has @p written characters. */
static bool hostlist_expand_from(struct hostlist *list, const char *at, size_t written)
{
    const char *close;

    for (; at < list->end && *at != '['; at++) {
        if (*at == ']' || written + 1 >= sizeof list->name)
            return hostlist_refuse(list, *at == ']' ? "a closing bracket has no opening one"
                                                    : "a name is too long");
        list->name[written++] = *at;
    }
    if (at < list->end) {
        close = memchr(at, ']', (size_t)(list->end - at));
        return close ? hostlist_expand_brackets(list, at + 1, close, written)
                     : hostlist_refuse(list, "a bracket is not closed");
    }
    list->name[written] = 0;
    return written > 0 ? list->each(list->arg, list->name)
                       : hostlist_refuse(list, "a name is empty");
}

/* Returns the end of the name at @p at: the next comma outside brackets. */
static const char *hostlist_name_end(const char *at, const char *end)
{
    int depth = 0;

    for (; at < end && (*at != ',' || depth > 0); at++)
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    return at;
}

bool ski_hostlist_expand(const char *list, size_t bytes, bool (*each)(void *arg, const char *name),
                         void *arg, const char **why)
{
    const char     *at = list, *end = list + bytes;
    struct hostlist run = {.each = each, .arg = arg, .why = why};

    *why = NULL;
    for (;;) {
        run.end = hostlist_name_end(at, end);
        if (!hostlist_expand_from(&run, at, 0))
            return false;
        if (run.end == end)
            return true;
        at = run.end + 1;
    }
}
