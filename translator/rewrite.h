/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.h - a file that is written completely, or not at all. */
#ifndef REWRITE_H
#define REWRITE_H

#include <stdio.h>

struct rewrite {
    FILE       *to;
    const char *path;      /* of the file */
    const char *temporary; /* beside it */
};

/** Begin: everything that is written to `to' will be the new content.  to NULL: it cannot be;
 *  errno says why. */
struct rewrite rewrite_begin(const char *path);

/** Put it in the place of the file.  False: it could not be written, and the file is as it
 *  was; errno says why. */
_Bool rewrite_end(struct rewrite *rewrite);

#endif
