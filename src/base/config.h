/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings of config_defs.h, which are read from the environment.
 */
#ifndef SKI_CONFIG_H
#define SKI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <skua/status.h>

#include "base/log.h"
#include "base/sanitizer.h"
#include "base/security.h"

/* The types of settings; config.c has a parser for each. */
typedef uintptr_t          ski_type_address;   /* 0x400000000000; auto is 0 */
typedef size_t             ski_type_arena;     /* 1m to 128t; auto is 0      */
typedef size_t             ski_type_autobytes; /* 4096, 64k, 2g; auto is 0  */
typedef uint64_t           ski_type_autocount; /* 12; auto is 0             */
typedef int                ski_type_autofew;   /* 1 to 8; auto is 0         */
typedef int                ski_type_autoflag;  /* 0, 1; auto is -1          */
typedef size_t             ski_type_bytes;     /* 4096, 64k, 16m, 2g, 1t    */
typedef int                ski_type_channels;  /* an enum below             */
typedef uint64_t           ski_type_count;     /* 12                        */
typedef int                ski_type_effort;    /* 0 to 22                   */
typedef int                ski_type_errors;    /* an enum below             */
typedef const char        *ski_type_cpus;      /* auto, none, 0,2,4-7       */
typedef const char        *ski_type_driver;    /* the variable itself       */
typedef bool               ski_type_flag;      /* 0, 1, yes, no, on, off    */
typedef enum ski_log_level ski_type_level;     /* a name of log.h           */
typedef double             ski_type_micros;    /* 2.5                       */
typedef int                ski_type_order;     /* a skua_order              */
typedef const char        *ski_type_ports;     /* any, 5000-5100            */
typedef uint64_t           ski_type_pes;       /* 1 to SKI_CONFIG_PES_MAX   */
typedef uint64_t           ski_type_power;     /* 512                       */
typedef int                ski_type_security;  /* an enum ski_security      */
typedef double             ski_type_seconds;   /* 0.5                       */
typedef const char        *ski_type_text;      /* the variable itself       */
typedef double             ski_type_timeout;   /* 30; at least 0.1          */

enum { SKI_CHANNELS_AUTO, SKI_CHANNELS_MESSAGE };
enum { SKI_ERRORS_STATUS, SKI_ERRORS_FATAL };

#define SKI_CONFIG_NAME    64    /* room for the variable of a setting */
#define SKI_CONFIG_PES_MAX 65535 /* PEs of a job: SKI_JOB_PES_MAX (boot/job.h) */

/* The default of the checks: on in builds with assertions. */
#ifdef NDEBUG
#define SKI_CHECKED "0"
#else
#define SKI_CHECKED "1"
#endif

/* The default of the time to exit.  AddressSanitizer looks for leaks at the end of a process, which
 * takes several seconds on aarch64. */
#ifdef SKI_ASAN
#define SKI_EXIT_GRACE "60"
#else
#define SKI_EXIT_GRACE "5"
#endif

/** The values of all settings, set by ski_config_load(). */
extern struct ski_config {
#define CONFIG(name, type, preset, doc) ski_type_##type name;
#include "base/config_defs.h"
#undef CONFIG
} ski_config;

/** Fills ski_config from the defaults and the SKUA_* variables of the environment.  Each invalid
 *  value is logged, and SKUA_ERR_INVAL is returned.  It may be called again. */
skua_status ski_config_load(void);

/** Fills ski_config as ski_config_load() does.  A setting in @p settings, "name=value" each, up to
 *  NULL, takes precedence over the environment.  @p settings may be NULL. */
skua_status ski_config_load_with(const char *const *settings);

/** Logs an error for every SKUA_* variable that is the former name of a setting, with the present
 *  name, and returns SKUA_ERR_INVAL if there is one. */
skua_status ski_config_reject_renamed(void);

/** Logs a warning for every SKUA_* variable that is not a setting, with the most similar name that
 *  is one.  Returns the number of these variables. */
int ski_config_check_names(void);

/** Returns whether @p variable, with the prefix SKUA_, is a setting.  Else writes the variable of
 * the most similar one to @p nearest if at most a third of its characters differ, or an empty text.
 */
bool ski_config_is_setting(const char *variable, char nearest[SKI_CONFIG_NAME]);

/** Prints every setting, its value, the origin of the value, and what the setting does. */
void ski_config_print(FILE *to);

/** Prints all settings as the body of a manual page (roff). */
void ski_config_print_man(FILE *to);

/** Parses a size such as "64k"; k, m, g and t are powers of 1024.  Returns whether it is one. */
bool ski_config_parse_bytes(const char *text, size_t *bytes);

#endif
