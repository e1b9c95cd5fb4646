/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_addresses.h - the same addresses in all processes of a test, which user threads that
 * migrate between processes need. */
#ifndef FIXED_ADDRESSES_H
#define FIXED_ADDRESSES_H

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

/* AddressSanitizer of newer compilers keeps locals in memory of the process, where they would keep
 * threads. */
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0";
}
#endif

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
