/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - parsing, printing and spell-checking of settings.
 *
 * One table, made from config_defs.h, drives all of it.  Each type has a
 * parse function; a parse function reports what it expects by a text, so that
 * an error can say it.
 */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/topology.h"

#define PREFIX "SKUA_"

struct ski_config ski_config;

extern char **environ;

/* Variables of the environment that are Skua's but no settings: the launcher's
 * word to its children (boot/boot.h). */
static const char *const reserved[] = {"SKUA_JOB"};

#define NUMBER_MOST 1e9 /* of seconds or microseconds: can be counted in nanoseconds */

static bool parse_number(const char *text, double *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    errno  = 0;
    *value = strtod(text, &end);
    return errno == 0 && *end == '\0' && *value <= NUMBER_MOST;
}

bool ski_parse_bytes(const char *text, size_t *bytes)
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

static bool parse_bytes(const char *text, void *field)
{
    return ski_parse_bytes(text, field);
}

static bool parse_autobytes(const char *text, void *field)
{
    if (strcmp(text, "auto") != 0)
        return ski_parse_bytes(text, field);
    *(size_t *)field = 0;
    return true;
}

/* What any address range holds, and no less than a job needs. */
static bool parse_arena(const char *text, void *field)
{
    size_t *bytes = field;

    return parse_autobytes(text, field) &&
           (*bytes == 0 || (*bytes >= (size_t)1 << 20 && *bytes <= (size_t)1 << 47)) &&
           (*bytes > 0 || strcmp(text, "auto") == 0);
}

static bool parse_address(const char *text, void *field)
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

/* Sets an enum of config.h to the place of @p text in @p words, which NULL ends. */
static bool parse_word(const char *text, const char *const *words, int *value)
{
    for (int i = 0; words[i]; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static bool parse_channels(const char *text, void *field)
{
    static const char *const words[] = {"auto", "message", NULL};

    return parse_word(text, words, field);
}

static bool parse_errors(const char *text, void *field)
{
    static const char *const words[] = {"log", "fatal", NULL};

    return parse_word(text, words, field);
}

static bool parse_cpus(const char *text, void *field)
{
    *(const char **)field = text;
    return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 || ski_topology_is_list(text);
}

/* The names of transport/select.c, or the part of them before a dash. */
static bool parse_driver(const char *text, void *field)
{
    static const char *const words[] = {"auto", "tcp",         "ucx",       "ofi",
                                        "mpi",  "mpi-openmpi", "mpi-mpich", NULL};
    int                      which;

    *(const char **)field = *text ? text : "auto"; /* scripts unset it by making it empty */
    return *text == '\0' || parse_word(text, words, &which);
}

static bool parse_ports(const char *text, void *field)
{
    unsigned first, last;
    int      end = 0;

    *(const char **)field = text;
    return strcmp(text, "any") == 0 || (sscanf(text, "%5u-%5u%n", &first, &last, &end) == 2 &&
                                        !text[end] && first >= 1 && first <= last && last <= 65535);
}

static bool parse_count(const char *text, void *field)
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

static bool parse_power(const char *text, void *field)
{
    uint64_t n;

    if (!parse_count(text, &n) || (n & (n - 1)) != 0)
        return false;
    *(uint64_t *)field = n;
    return true;
}

static bool parse_flag(const char *text, void *field)
{
    static const char *const words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *(bool *)field = i % 2;
            return true;
        }
    return false;
}

static bool parse_autoflag(const char *text, void *field)
{
    bool on;

    *(int *)field = -1;
    if (strcmp(text, "auto") == 0)
        return true;
    if (!parse_flag(text, &on))
        return false;
    *(int *)field = on;
    return true;
}

static bool parse_level(const char *text, void *field)
{
    for (int i = 0; i < SKI_LOG_LEVELS; i++)
        if (strcasecmp(text, ski_log_names[i]) == 0) {
            *(enum ski_log_level *)field = (enum ski_log_level)i;
            return true;
        }
    return false;
}

static bool parse_micros(const char *text, void *field)
{
    return parse_number(text, field);
}

static bool parse_order(const char *text, void *field)
{
    static const char *const words[] = {"default", "unordered", "partial", "strict", NULL};

    return parse_word(text, words, field) && *(int *)field > 0; /* as in skua/onesided.h */
}

static bool parse_seconds(const char *text, void *field)
{
    return parse_number(text, field);
}

static bool parse_security(const char *text, void *field)
{
    for (unsigned i = 0; i < SKI_SECURITIES; i++)
        if (strcasecmp(text, ski_security_name(i)) == 0) {
            *(int *)field = (int)i;
            return true;
        }
    return false;
}

static bool parse_text(const char *text, void *field)
{
    *(const char **)field = text;
    return true;
}

static const char expects_address[] =
    "auto or a multiple of 64 KiB in hexadecimal, such as 0x400000000000";
static const char expects_arena[]     = "auto or a size from 1m to 128t, such as 512m or 16g";
static const char expects_autobytes[] = "auto or a size such as 65536, 64k, 16m, 2g or 1t";
static const char expects_autoflag[]  = "auto, 0 or 1";
static const char expects_bytes[]     = "a size such as 65536, 64k, 16m, 2g or 1t";
static const char expects_channels[]  = "auto or message";
static const char expects_count[]     = "a whole number from 1 on";
static const char expects_cpus[]      = "auto, none or a list of CPUs such as 0,2,4-7";
static const char expects_driver[]    = "auto, tcp, ucx, ofi or mpi";
static const char expects_errors[]    = "log or fatal";
static const char expects_flag[]      = "0 or 1";
static const char expects_level[]     = "fatal, error, warn, info, debug or trace";
static const char expects_micros[]    = "a number of microseconds such as 50";
static const char expects_order[]     = "unordered, partial or strict";
static const char expects_ports[]     = "any or a range of ports such as 5000-5100";
static const char expects_power[]     = "a power of two";
static const char expects_security[]  = "job, auth or encrypt";
static const char expects_seconds[]   = "a number of seconds such as 0.5";
static const char expects_text[]      = "a text";

static const struct setting {
    const char *name, *preset, *doc, *expects;
    bool (*parse)(const char *text, void *field);
    size_t offset;
} settings[] = {
#define CONFIG(name, type, preset, doc)                                                            \
    {#name, preset, doc, expects_##type, parse_##type, offsetof(struct ski_config, name)},
#include "base/config_defs.h"
#undef CONFIG
};

#define SETTINGS (sizeof settings / sizeof *settings)

static void variable_name(const char *setting, char *variable, size_t size)
{
    size_t n = (size_t)snprintf(variable, size, PREFIX "%s", setting);
    for (size_t i = 0; i < n && i < size; i++)
        variable[i] = (char)toupper((unsigned char)variable[i]);
}

static const char *given_value(const struct setting *s)
{
    char variable[64];
    variable_name(s->name, variable, sizeof variable);
    return getenv(variable);
}

skua_status_t ski_config_load(void)
{
    skua_status_t status = ski_config_reject_renamed();

    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        const char *given = given_value(s);
        void       *field = (char *)&ski_config + s->offset;
        char        variable[64];

        if (given && s->parse(given, field))
            continue;
        s->parse(s->preset, field);
        if (given) {
            variable_name(s->name, variable, sizeof variable);
            ski_log(SKI_LOG_ERROR, "%s=%s: expected %s", variable, given, s->expects);
            status = SKUA_ERR_INVAL;
        }
    }
    ski_log_level = ski_config.log_level;
    return status;
}

/* Levenshtein distance: insertions, deletions and substitutions between a and b. */
static size_t distance(const char *a, const char *b)
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

static bool is_reserved(const char *variable)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(variable, reserved[i]) == 0)
            return true;
    return false;
}

/* Warns if @p variable is no setting.  Returns whether it did. */
static bool check_name(const char *variable)
{
    char   nearest[64] = "", candidate[64];
    size_t best        = SIZE_MAX;

    if (is_reserved(variable))
        return false;
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        variable_name(s->name, candidate, sizeof candidate);
        size_t d = distance(variable, candidate);
        if (d == 0)
            return false;
        if (d < best) {
            best = d;
            memcpy(nearest, candidate, sizeof nearest);
        }
    }
    ski_log(SKI_LOG_WARN, "%s is no setting; did you mean %s?  (skua info --config lists them)",
            variable, nearest);
    return true;
}

int ski_config_check_names(void)
{
    int strangers = 0;

    for (char **entry = environ; *entry; entry++) {
        size_t n = strcspn(*entry, "=");
        char   variable[128];

        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0 || n >= sizeof variable)
            continue;
        memcpy(variable, *entry, n);
        variable[n] = '\0';
        strangers += check_name(variable);
    }
    return strangers;
}

void ski_config_print(FILE *to)
{
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        const char *given = given_value(s);
        char        variable[64];

        variable_name(s->name, variable, sizeof variable);
        fprintf(to, "%s=%s%s\n    %s\n", variable, given ? given : s->preset,
                given ? "   (from the environment)" : "", s->doc);
    }
}

void ski_config_print_man(FILE *to)
{
    for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
        char variable[64];

        variable_name(s->name, variable, sizeof variable);
        fprintf(to, ".TP\n.BR %s \" (default: %s)\"\n%s\nTakes %s.\n", variable, s->preset, s->doc,
                s->expects);
    }
}
