// What the C library declares to GNU sources alone, and so not to Swift: epoll with nanoseconds.
#ifndef GEOBUCKET_CEPOLL_H
#define GEOBUCKET_CEPOLL_H

#include <sys/epoll.h>

// epoll_pwait2(2); `nanoseconds` below 0 waits without end. The number of events, or -1 (errno).
int gb_epoll_wait(int epoll, struct epoll_event *events, int capacity, long long nanoseconds);

// Registers `fd` for reading, with `key` as its data; 0, or -1 (errno).
int gb_epoll_add(int epoll, int fd, unsigned key);

// The data of an event.
unsigned gb_epoll_key(const struct epoll_event *event);

// Lets timeouts of this thread end on time instead of within 50 microseconds.
void gb_precise_timers(void);

#endif
