/* SPDX-License-Identifier: Apache-2.0 */
/*
 * security.h - the values of the setting security: what protects a job between hosts.
 *
 *   job       both ends of a connection prove that they know the secret of the job
 *   auth      and every byte on it is authenticated, in its order
 *   encrypt   and encrypted
 *
 * All processes of a job have the same: docs/guide/security.md says what each is for.
 */
#ifndef SKI_SECURITY_H
#define SKI_SECURITY_H

enum ski_security { SKI_SECURITY_JOB, SKI_SECURITY_AUTH, SKI_SECURITY_ENCRYPT, SKI_SECURITIES };

/** The word for a level, as in the setting; a number that is none comes from a process of another
 *  version. */
static inline const char *ski_security_name(unsigned level)
{
    static const char *const names[SKI_SECURITIES] = {"job", "auth", "encrypt"};

    return level < SKI_SECURITIES ? names[level] : "unknown";
}

#endif
