/* SPDX-License-Identifier: Apache-2.0 */
/*
 * security.h - the levels of the setting security, which protects a job between hosts.
 *
 *   job       both ends of a connection prove that they know the secret of the job
 *   auth      in addition, all bytes on it and their order are authenticated
 *   encrypt   in addition, they are encrypted
 *
 * All processes of a job use the same level (docs/guide/security.md).
 */
#ifndef SKI_SECURITY_H
#define SKI_SECURITY_H

enum ski_security { SKI_SECURITY_JOB, SKI_SECURITY_AUTH, SKI_SECURITY_ENCRYPT, SKI_SECURITIES };

/** Returns the word of the setting for a level; "unknown" for a number that is not a level, which a
 *  process of another version may send. */
static inline const char *ski_security_name(unsigned level)
{
    static const char *const names[SKI_SECURITIES] = {"job", "auth", "encrypt"};

    return level < SKI_SECURITIES ? names[level] : "unknown";
}

#endif
