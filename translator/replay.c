/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - runs the fuzzing target (fuzz.c) on the files of the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support/bump.h"
#include "support/source.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct source *source = source_read(argv[i]);
        char          *copy;

        if (!source) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            return 1;
        }
        copy = malloc(source->text.length +
                      1); /* exactly as long, so that a sanitizer detects an overrun */
        memcpy(copy, source->text.at, source->text.length);
        printf("# %s\n", argv[i]);
        fflush(stdout);
        LLVMFuzzerTestOneInput((const uint8_t *)copy, source->text.length);
        free(copy);
    }
    bump_free_all();
    return 0;
}
