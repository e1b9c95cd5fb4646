/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_addresses.h - the same addresses in all processes of a test, which user threads that
 * migrate between processes need. */
#ifndef FIXED_ADDRESSES_H
#define FIXED_ADDRESSES_H

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

/* Does what skuarun does for SKUA_ASLR=0, under another launcher: runs the program again without
 * random addresses. */
static inline void fix_addresses(char **argv)
{
    const char *aslr = getenv("SKUA_ASLR");
    int         now  = personality(0xffffffff);

    if (aslr && strcmp(aslr, "0") == 0 && !(now & ADDR_NO_RANDOMIZE) &&
        personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0)
        execv("/proc/self/exe", argv);
}

#endif
