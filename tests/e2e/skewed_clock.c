/*
 * Preloaded into a process, it makes the clock of the day run ahead: by SKEW_US_<n> microseconds at the moment SKEW_FROM_NS of
 * CLOCK_MONOTONIC, and by SKEW_PPM_<n> more as time passes. <n> is the name of the working folder, which for an executor is its id.
 * The file SKEW_STEP_<n> has eight bytes, and is mapped: whoever writes nanoseconds into it sets the clock by so much.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static long long skew_ns, ppm, from_ns, none;
static volatile long long *step_ns = &none;

static const char *text(const char *name, const char *of) {
    char key[64];
    snprintf(key, sizeof key, "%s%.16s", name, of);
    return getenv(key);
}

static long long setting(const char *name, const char *of) {
    const char *value = text(name, of);
    return value ? atoll(value) : 0;
}

static volatile long long *mapped(const char *file) {
    int opened = file ? open(file, O_RDONLY) : -1;
    if (opened < 0) return &none;
    void *there = mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, opened, 0);
    close(opened);
    return there == MAP_FAILED ? &none : there;
}

__attribute__((constructor)) static void prepare(void) {
    char folder[4096];
    const char *id = getcwd(folder, sizeof folder) ? strrchr(folder, '/') + 1 : "";
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    skew_ns = setting("SKEW_US_", id) * 1000;
    ppm = setting("SKEW_PPM_", id);
    from_ns = setting("SKEW_FROM_NS", "");
    step_ns = mapped(text("SKEW_STEP_", id));
}

static long long nanos(const struct timespec *time) { return time->tv_sec * 1000000000LL + time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!real) prepare();
    int failed = real(clock, time);
    if (failed || clock != CLOCK_REALTIME) return failed;
    struct timespec steady;
    real(CLOCK_MONOTONIC, &steady);
    long long now = nanos(time) + skew_ns + *step_ns + (nanos(&steady) - from_ns) / 1000000 * ppm;
    time->tv_sec = now / 1000000000LL;
    time->tv_nsec = now % 1000000000LL;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return failed;
}
