/* SPDX-License-Identifier: Apache-2.0 */
/* former.c - see former.h. */
#include "checkpoint/former.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"

void ski_former_open(int pe, struct ski_image_reader *from)
{
    char        path[4200], reason[SKI_IMAGE_REASON];
    struct stat stat;
    void       *image;
    int         fd;

    snprintf(path, sizeof path, "%s/image.%04d", ski_config.restart, pe);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0)
        ski_fatal("restart: cannot open %s: %s", path, strerror(errno));
    image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (image == MAP_FAILED)
        ski_fatal("restart: cannot map %s: %s", path, strerror(errno));
    if (!ski_image_open(from, image, (size_t)stat.st_size, reason))
        ski_fatal("restart: %s: %s", path, reason);
}

void ski_former_close(struct ski_image_reader *from)
{
    (void)from;
}
