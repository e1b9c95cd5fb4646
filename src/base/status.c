/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the texts of the status list. */
#include <skua/status.h>

const char *skua_status_str(skua_status status)
{
    switch (status) {
#define TEXT(name, code, text)                                                                     \
    case SKUA_##name: return text;
        SKUA_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}
