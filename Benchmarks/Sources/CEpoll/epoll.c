#define _GNU_SOURCE
#include "CEpoll.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

int gb_epoll_wait(int epoll, struct epoll_event *events, int capacity, long long nanoseconds) {
    struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return epoll_pwait2(epoll, events, capacity, nanoseconds < 0 ? NULL : &timeout, NULL);
}

int gb_epoll_add(int epoll, int fd, unsigned key) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = key};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

unsigned gb_epoll_key(const struct epoll_event *event) { return event->data.u32; }

void gb_precise_timers(void) { prctl(PR_SET_TIMERSLACK, 1); }
