/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_renamed.c - rejects the former names of settings.
 *
 * Every variable SKUA_OLD of config_renamed.h in the environment is an error.  It is not an alias:
 * a job would otherwise depend on a name that the documentation does not have.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"

/* The former and the present name of each renamed setting. */
static const struct renamed_setting {
    const char *former, *present;
} renamed_settings[] = {
#define RENAMED(former, present) {#former, #present},
#include "base/config_renamed.h"
#undef RENAMED
};

#define RENAMED_SETTINGS (sizeof renamed_settings / sizeof *renamed_settings)

static void renamed_variable(const char *setting, char *variable, size_t size)
{
    snprintf(variable, size, "SKUA_%s", setting);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

skua_status ski_config_reject_renamed(void)
{
    skua_status status = SKUA_OK;

    for (size_t i = 0; i < RENAMED_SETTINGS; i++) {
        char former[64], present[64];

        renamed_variable(renamed_settings[i].former, former, sizeof former);
        if (!getenv(former))
            continue;
        renamed_variable(renamed_settings[i].present, present, sizeof present);
        ski_log(SKI_LOG_ERROR, "%s was renamed: set %s instead", former, present);
        status = SKUA_ERR_INVAL;
    }
    return status;
}
