/* SPDX-License-Identifier: Apache-2.0 */
/* store_folder.h - names and lists of generations in a directory of checkpoints (store_file.h). */
#ifndef SKI_STORE_FOLDER_H
#define SKI_STORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKI_STORE_REASON     900    /* room for the reason of a failure, with its path */
#define SKI_STORE_GENERATION 32     /* room for the name of a generation or a file     */
#define SKI_STORE_TEMPORARY  ".tmp" /* the end of the name of a file that is being written */

/* Whether a generation has a manifest, which is not read.  Where the file system cannot tell, for
 * example because a server does not respond, the generation may be complete and is not removed. */
enum ski_store_state { SKI_STORE_UNFINISHED, SKI_STORE_COMMITTED, SKI_STORE_UNKNOWN };

/* A generation in a directory. */
struct ski_store_generation {
    uint64_t             number;
    enum ski_store_state state;
};

/** Writes the name of the directory of a generation, such as gen-000017. */
void ski_store_generation_name(uint64_t generation, char name[SKI_STORE_GENERATION]);

/** Writes the reason of a failure, "PATH: TEXT", of SKI_STORE_REASON bytes.  Returns false. */
bool ski_store_refuse(char *reason, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Writes the name of the image file of a process, such as image.0003. */
void ski_store_image_name(int32_t process, char name[SKI_STORE_GENERATION]);

/** Writes the name of the file that says that a process could not write its image file. */
void ski_store_failed_name(int32_t process, char name[SKI_STORE_GENERATION]);

/** Returns the path of the directory of a generation in @p path, which the caller frees. */
char *ski_store_generation_path(const char *path, uint64_t generation);

/** Returns the generation whose directory @p path names by its last name, or 0 if it names
 * something else. */
uint64_t ski_store_path_generation(const char *path);

/** Returns the length of the path of the directory that the last name of @p path is in; 0: the
 *  current one. */
size_t ski_store_path_folder(const char *path);

/** Returns a copy of the first @p length bytes of @p text, which the caller frees. */
char *ski_store_copy_text(const char *text, size_t length);

/** Lists the generations in the directory @p fd, oldest first.  Returns their number, or -1 with
 *  errno set; the caller frees @p list. */
int ski_store_folder_list(int fd, struct ski_store_generation **list);

#endif
