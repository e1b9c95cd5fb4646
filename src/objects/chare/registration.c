/* SPDX-License-Identifier: Apache-2.0 */
/* registration.c - the registration of entries: ski_on_invoke() is the handler of all. */
#include <skua/skuac_flow.h>

#include "objects/chare/invoke.h"

skua_entry skua_entry_register(skua_class of, const char *name, skua_entry_fn fn, unsigned flags)
{
    return ski_entry_add(__func__, of,
                         &(struct ski_entry){.name = name, .entry = fn, .flags = flags},
                         ski_on_invoke);
}

skua_entry skuac_entry_register(skua_class of, const char *name, skua_entry_fn fn,
                                skua_method_fn shared, unsigned flags)
{
    return ski_entry_add(
        __func__, of,
        &(struct ski_entry){.name = name, .entry = fn, .shared = shared, .flags = flags},
        ski_on_invoke);
}

skua_entry skua_method_register(skua_class of, const char *name, skua_method_fn fn, unsigned flags)
{
    return ski_entry_add(__func__, of,
                         &(struct ski_entry){.name = name, .method = fn, .flags = flags},
                         ski_on_invoke);
}
