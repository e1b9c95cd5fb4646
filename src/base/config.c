/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - parsing, printing and spell-checking of settings.
 *
 * One table, generated from config_defs.h, drives all of it.  Each type T of setting has a function
 * config_parse_T() and a text config_expects_T for error messages.
 */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "base/topology.h"

#define CONFIG_PREFIX "SKUA_"

struct ski_config ski_config;

extern char **environ;

/* Variables with the prefix of Skua that are not settings: the launcher sets these for its children
 * (boot/boot.h). */
static const char *const config_reserved[] = {"SKUA_JOB", "SKUA_IMAGES"};

#define CONFIG_NUMBER_MAX 1e9 /* of seconds or microseconds: can be counted in nanoseconds */

static bool config_parse_number(const char *text, double *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    errno  = 0;
    *value = strtod(text, &end);
    return errno == 0 && *end == '\0' && *value <= CONFIG_NUMBER_MAX;
}

bool ski_config_parse_bytes(const char *text, size_t *bytes)
{
    static const char  units[] = "kmgt";
    char              *end;
    const char        *unit;
    unsigned long long n;
    unsigned           shift = 0;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    n     = strtoull(text, &end, 10);
    if (*end != '\0') {
        unit = strchr(units, tolower((unsigned char)*end));
        if (!unit || end[1] != '\0')
            return false;
        shift = 10u * (unsigned)(unit - units + 1);
    }
    if (errno != 0 || n > SIZE_MAX >> shift)
        return false;
    *bytes = (size_t)n << shift;
    return true;
}

static bool config_parse_bytes(const char *text, void *field)
{
    return ski_config_parse_bytes(text, field);
}

static bool config_parse_autobytes(const char *text, void *field)
{
    if (strcmp(text, "auto") != 0)
        return ski_config_parse_bytes(text, field);
    *(size_t *)field = 0;
    return true;
}

/* The bounds are the smallest arena of a job and the largest address range. */
static bool config_parse_arena(const char *text, void *field)
{
    size_t *bytes = field;

    return config_parse_autobytes(text, field) &&
           (*bytes == 0 || (*bytes >= (size_t)1 << 20 && *bytes <= (size_t)1 << 47)) &&
           (*bytes > 0 || strcmp(text, "auto") == 0);
}

static bool config_parse_address(const char *text, void *field)
{
    char              *end;
    unsigned long long n = 0;

    if (strcmp(text, "auto") != 0) {
        if (!isxdigit((unsigned char)text[0]))
            return false;
        errno = 0;
        n     = strtoull(text, &end, 16);
        if (errno != 0 || *end != '\0' || n % 65536 != 0)
            return false;
    }
    *(uintptr_t *)field = (uintptr_t)n;
    return true;
}

/* Sets *@p value to the index of @p text in @p words, which NULL terminates. */
static bool config_parse_word(const char *text, const char *const *words, int *value)
{
    for (int i = 0; words[i]; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static bool config_parse_channels(const char *text, void *field)
{
    static const char *const words[] = {"auto", "message", NULL};

    return config_parse_word(text, words, field);
}

static bool config_parse_errors(const char *text, void *field)
{
    static const char *const words[] = {"status", "fatal", NULL};

    return config_parse_word(text, words, field);
}

static bool config_parse_cpus(const char *text, void *field)
{
    *(const char **)field = text;
    return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 || ski_topology_is_list(text);
}

/* Accepts the names of transport/select.c, and their part before a dash. */
static bool config_parse_driver(const char *text, void *field)
{
    static const char *const words[] = {"auto", "tcp",         "ucx",       "ofi",
                                        "mpi",  "mpi-openmpi", "mpi-mpich", NULL};
    int                      which;

    *(const char **)field = *text ? text : "auto"; /* scripts unset a variable by an empty value */
    return *text == '\0' || config_parse_word(text, words, &which);
}

static bool config_parse_ports(const char *text, void *field)
{
    unsigned first, last;
    int      end = 0;

    *(const char **)field = text;
    return strcmp(text, "any") == 0 || (sscanf(text, "%5u-%5u%n", &first, &last, &end) == 2 &&
                                        !text[end] && first >= 1 && first <= last && last <= 65535);
}

static bool config_parse_count(const char *text, void *field)
{
    char              *end;
    unsigned long long n;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    n     = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || n == 0 || n > INT32_MAX)
        return false;
    *(uint64_t *)field = n;
    return true;
}

static bool config_parse_pes(const char *text, void *field)
{
    uint64_t n;

    if (!config_parse_count(text, &n) || n > SKI_CONFIG_PES_MAX)
        return false;
    *(uint64_t *)field = n;
    return true;
}

static bool config_parse_power(const char *text, void *field)
{
    uint64_t n;

    if (!config_parse_count(text, &n) || (n & (n - 1)) != 0)
        return false;
    *(uint64_t *)field = n;
    return true;
}

static bool config_parse_effort(const char *text, void *field)
{
    uint64_t n = 0;

    if (strcmp(text, "0") != 0 && (!config_parse_count(text, &n) || n > 22))
        return false;
    *(int *)field = (int)n;
    return true;
}

static bool config_parse_autocount(const char *text, void *field)
{
    uint64_t n = 0;

    if (strcmp(text, "auto") != 0 && !config_parse_count(text, &n))
        return false;
    *(uint64_t *)field = n;
    return true;
}

static bool config_parse_autofew(const char *text, void *field)
{
    uint64_t n;

    if (!config_parse_autocount(text, &n) || n > 8)
        return false;
    *(int *)field = (int)n;
    return true;
}

static bool config_parse_flag(const char *text, void *field)
{
    static const char *const words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *(bool *)field = i % 2;
            return true;
        }
    return false;
}

static bool config_parse_autoflag(const char *text, void *field)
{
    bool on;

    *(int *)field = -1;
    if (strcmp(text, "auto") == 0)
        return true;
    if (!config_parse_flag(text, &on))
        return false;
    *(int *)field = on;
    return true;
}

static bool config_parse_level(const char *text, void *field)
{
    for (int i = 0; i < SKI_LOG_LEVELS; i++)
        if (strcasecmp(text, ski_log_names[i]) == 0) {
            *(enum ski_log_level *)field = (enum ski_log_level)i;
            return true;
        }
    return false;
}

static bool config_parse_micros(const char *text, void *field)
{
    return config_parse_number(text, field);
}

static bool config_parse_order(const char *text, void *field)
{
    static const char *const words[] = {"default", "unordered", "partial", "strict", NULL};

    return config_parse_word(text, words, field) && *(int *)field > 0; /* as in skua/onesided.h */
}

static bool config_parse_seconds(const char *text, void *field)
{
    return config_parse_number(text, field);
}

static bool config_parse_security(const char *text, void *field)
{
    for (unsigned i = 0; i < SKI_SECURITIES; i++)
        if (strcasecmp(text, ski_security_name(i)) == 0) {
            *(int *)field = (int)i;
            return true;
        }
    return false;
}

static bool config_parse_text(const char *text, void *field)
{
    *(const char **)field = text;
    return true;
}

/* A job or a library could do nothing in less time. */
static bool config_parse_timeout(const char *text, void *field)
{
    return config_parse_number(text, field) && *(double *)field >= 0.1;
}

static const char config_expects_address[] =
    "auto or a multiple of 64 KiB in hexadecimal, such as 0x400000000000";
static const char config_expects_arena[] = "auto or a size from 1m to 128t, such as 512m or 16g";
static const char config_expects_autobytes[] = "auto or a size such as 65536, 64k, 16m, 2g or 1t";
static const char config_expects_autocount[] = "auto or a whole number from 1 on";
static const char config_expects_autofew[]   = "auto or a whole number from 1 to 8";
static const char config_expects_autoflag[]  = "auto, 0 or 1";
static const char config_expects_bytes[]     = "a size such as 65536, 64k, 16m, 2g or 1t";
static const char config_expects_channels[]  = "auto or message";
static const char config_expects_count[]     = "a whole number from 1 on";
static const char config_expects_cpus[]      = "auto, none or a list of CPUs such as 0,2,4-7";
static const char config_expects_driver[]    = "auto, tcp, ucx, ofi or mpi";
static const char config_expects_effort[]    = "a whole number from 0 to 22";
static const char config_expects_errors[]    = "status or fatal";
static const char config_expects_flag[]      = "0 or 1";
static const char config_expects_level[]     = "fatal, error, warn, info, debug or trace";
static const char config_expects_micros[]    = "a number of microseconds such as 50";
static const char config_expects_order[]     = "unordered, partial or strict";
static const char config_expects_pes[]       = "a number of PEs from 1 to 65535";
static const char config_expects_ports[]     = "any or a range of ports such as 5000-5100";
static const char config_expects_power[]     = "a power of two";
static const char config_expects_security[]  = "job, auth or encrypt";
static const char config_expects_seconds[]   = "a number of seconds such as 0.5";
static const char config_expects_text[]      = "a text";
static const char config_expects_timeout[]   = "a number of seconds from 0.1 on";

static const struct config_setting {
    const char *name, *preset, *doc, *expects;
    bool (*parse)(const char *text, void *field);
    size_t offset;
} config_settings[] = {
#define CONFIG(name, type, preset, doc)                                                            \
    {#name,                                                                                        \
     preset,                                                                                       \
     doc,                                                                                          \
     config_expects_##type,                                                                        \
     config_parse_##type,                                                                          \
     offsetof(struct ski_config, name)},
#include "base/config_defs.h"
#undef CONFIG
};

#define CONFIG_SETTINGS (sizeof config_settings / sizeof *config_settings)

static void config_variable_name(const char *setting, char *variable, size_t size)
{
    size_t n = (size_t)snprintf(variable, size, CONFIG_PREFIX "%s", setting);

    ski_assert(n < size);
    for (size_t i = 0; i < n && i < size; i++)
        variable[i] = (char)toupper((unsigned char)variable[i]);
}

/* Copies of the values of the last load: settings that are texts point to them, while the program
 * may change its environment. */
static char *config_given[CONFIG_SETTINGS];

static const char *config_given_value(const struct config_setting *s)
{
    char variable[64];
    config_variable_name(s->name, variable, sizeof variable);
    return getenv(variable);
}

/* Returns the setting that @p text, "name=value", names; NULL if there is none. */
static const struct config_setting *config_find_named(const char *text)
{
    size_t n = strcspn(text, "=");

    for (const struct config_setting *s = config_settings; s < config_settings + CONFIG_SETTINGS;
         s++)
        if (text[n] && strlen(s->name) == n && strncasecmp(text, s->name, n) == 0)
            return s;
    return NULL;
}

/* Returns the value of a setting in @p settings, of which the last counts, or in the environment;
 * NULL: its default, which an empty text stands for, too: scripts unset a variable in this way. */
static const char *config_find_value(const struct config_setting *s, const char *const *settings)
{
    const char *found = config_given_value(s);

    for (; settings && *settings; settings++)
        if (config_find_named(*settings) == s)
            found = strchr(*settings, '=') + 1;
    return found && !*found && s->parse == config_parse_text ? NULL : found;
}

/* Copies the value of a setting, which stays valid until the next load. */
static const char *config_keep_value(const struct config_setting *s, const char *value)
{
    char **kept = &config_given[s - config_settings];
    char  *copy = value ? strdup(value) : NULL; /* NULL without memory: the default */

    free(*kept);
    return *kept = copy;
}

static skua_status config_check_settings(const char *const *settings)
{
    for (; settings && *settings; settings++)
        if (!config_find_named(*settings))
            return ski_refuse(SKUA_ERR_INVAL,
                              "skua_init: \"%s\" is not a setting; expected name=value with a "
                              "name that skua info --config lists, without " CONFIG_PREFIX,
                              *settings);
    return SKUA_OK;
}

skua_status ski_config_load(void)
{
    return ski_config_load_with(NULL);
}

skua_status ski_config_load_with(const char *const *settings)
{
    skua_status status = ski_config_reject_renamed();

    for (const struct config_setting *s = config_settings; s < config_settings + CONFIG_SETTINGS;
         s++) {
        const char *given = config_keep_value(s, config_find_value(s, settings));
        void       *field = (char *)&ski_config + s->offset;
        char        variable[64];

        bool parsed;

        if (given && s->parse(given, field))
            continue;
        parsed = s->parse(s->preset, field);
        ski_assert(parsed);
        (void)parsed;
        if (given) {
            config_variable_name(s->name, variable, sizeof variable);
            ski_log(SKI_LOG_ERROR, "%s=%s: expected %s", variable, given, s->expects);
            status = SKUA_ERR_INVAL;
        }
    }
    ski_log_level = ski_config.log_level;
    return status == SKUA_OK ? config_check_settings(settings) : status;
}

/* Returns the Levenshtein distance of @p a and @p b. */
static size_t config_edit_distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);

    if (n >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0]          = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal      = row[j];
            row[j]        = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j]        = change < row[j] ? change : row[j];
        }
    }
    return row[n];
}

static bool config_is_reserved(const char *variable)
{
    for (size_t i = 0; i < sizeof config_reserved / sizeof *config_reserved; i++)
        if (strcmp(variable, config_reserved[i]) == 0)
            return true;
    return false;
}

bool ski_config_is_setting(const char *variable, char nearest[SKI_CONFIG_NAME])
{
    char   candidate[SKI_CONFIG_NAME];
    size_t best = SIZE_MAX;

    nearest[0] = '\0';
    for (const struct config_setting *s = config_settings; s < config_settings + CONFIG_SETTINGS;
         s++) {
        config_variable_name(s->name, candidate, sizeof candidate);
        size_t d = config_edit_distance(variable, candidate);
        if (d == 0)
            return true;
        if (d < best && 3 * d <= strlen(s->name)) {
            best = d;
            memcpy(nearest, candidate, sizeof candidate);
        }
    }
    return false;
}

/* Warns if @p variable is not a setting, and suggests the most similar one.  Returns whether it
 * warned. */
static bool config_check_name(const char *variable)
{
    char nearest[SKI_CONFIG_NAME];

    if (config_is_reserved(variable) || ski_config_is_setting(variable, nearest))
        return false;
    if (*nearest)
        ski_log(SKI_LOG_WARN,
                "%s is not a setting; did you mean %s?  (skua info --config lists them)", variable,
                nearest);
    else
        ski_log(SKI_LOG_WARN,
                "%s is not a setting and has no effect; skua info --config lists them", variable);
    return true;
}

int ski_config_check_names(void)
{
    int unknown = 0;

    for (char **entry = environ; *entry; entry++) {
        size_t n = strcspn(*entry, "=");
        char   variable[128];

        if (strncmp(*entry, CONFIG_PREFIX, strlen(CONFIG_PREFIX)) != 0 || n >= sizeof variable)
            continue;
        memcpy(variable, *entry, n);
        variable[n] = '\0';
        unknown += config_check_name(variable);
    }
    return unknown;
}

void ski_config_print(FILE *to)
{
    for (const struct config_setting *s = config_settings; s < config_settings + CONFIG_SETTINGS;
         s++) {
        const char *given = config_find_value(s, NULL);
        char        variable[64];

        config_variable_name(s->name, variable, sizeof variable);
        fprintf(to, "%s=%s%s\n    %s Takes %s.\n", variable, given ? given : s->preset,
                given ? "   (from the environment)" : "", s->doc, s->expects);
    }
}

void ski_config_print_man(FILE *to)
{
    for (const struct config_setting *s = config_settings; s < config_settings + CONFIG_SETTINGS;
         s++) {
        char variable[64];

        config_variable_name(s->name, variable, sizeof variable);
        fprintf(to, ".TP\n.BR %s \" (default: %s)\"\n%s\nTakes %s.\n", variable, s->preset, s->doc,
                s->expects);
    }
}
