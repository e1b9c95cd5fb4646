/* SPDX-License-Identifier: Apache-2.0 */
/* compressor.c - see compressor.h. */
#include "checkpoint/compressor.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/module.h"

const struct ski_compressor *ski_compressor_load(char *reason, size_t size)
{
    void                        *module = ski_module_open("zstd", reason, size);
    const struct ski_compressor *found  = module ? dlsym(module, SKI_COMPRESSOR_SYMBOL) : NULL;

    if (!module)
        return NULL;
    if (!found || found->version != SKI_COMPRESSOR_VERSION) {
        snprintf(reason, size, "skua-zstd.so belongs to another version of Skua");
        return NULL;
    }
    return found;
}
