#ifndef CWEBFILES_H
#define CWEBFILES_H

#include <stddef.h>

/// A file of the pages in ../WebFiles.
struct web_file {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

/// All of them.
const struct web_file *_Nonnull web_files(void);

/// How many there are.
size_t web_file_count(void);

#endif
