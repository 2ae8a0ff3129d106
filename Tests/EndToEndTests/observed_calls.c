/* Counts comparisons in constant time, and moves the clock of TLS.
 *
 * Preloaded into the service. Each comparison by libcrypto adds a line to the file that COMPARISONS names. The file that
 * SHIFT names holds the seconds by which gettimeofday is ahead, which BoringSSL alone asks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int CRYPTO_memcmp(const void *a, const void *b, size_t count) {
    const unsigned char *x = a, *y = b;
    unsigned char difference = 0;
    for (size_t i = 0; i < count; i++) difference |= x[i] ^ y[i];
    const char *path = getenv("COMPARISONS");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        if (write(file, "\n", 1) < 0) abort();
        close(file);
    }
    return difference;
}

int gettimeofday(struct timeval *restrict value, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    value->tv_sec = now.tv_sec;
    value->tv_usec = now.tv_nsec / 1000;
    const char *path = getenv("SHIFT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        char text[32] = {0};
        if (read(file, text, sizeof text - 1) > 0) value->tv_sec += atol(text);
        close(file);
    }
    return 0;
}
