/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - the size that a parameter struct of the public interface begins with.
 *
 * A program sets the member `size` to sizeof the struct as it was compiled; 0 stands for the size
 * in version 1.0.  A member that a later version adds is used only if the size of the program
 * covers it. A size beyond the library's own means that the program was compiled against a newer
 * version. The member itself makes the size of every such struct a multiple of its own.
 */
#ifndef SKI_PARAMS_H
#define SKI_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

/** Returns whether this library knows all members of a parameter struct whose member `size` is @p
 *  size; @p now is the size of the struct in this version. */
static inline bool ski_params_known(size_t size, size_t now)
{
    return size <= now && size % sizeof size == 0;
}

#endif
