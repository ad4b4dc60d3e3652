// What a wake costs whoever causes it: how long one write on a loopback connection takes when its reader sleeps, and when its reader is
// awake. Usage: wake; it prints one JSON line, medians in µs.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 1000, MAX_BYTES = 64 * 1024 };

// Between two writes: a reader has read the one and gone to sleep when the next comes.
static const uint64_t GAP_NS = 200000;
static char bytes[MAX_BYTES];

static void die(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void read_all(int fd, int sleeps) {
  int epoll_fd = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
  for (;;)
    if (epoll_wait(epoll_fd, &event, 1, sleeps ? -1 : 0) == 1 && recv(fd, bytes, sizeof bytes, 0) <= 0) _exit(0);
}

static double median_us(size_t size, int sleeps) {
  int server = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t length = sizeof at;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(server, (struct sockaddr *)&at, sizeof at) < 0 || listen(server, 1) < 0) die("listen");
  getsockname(server, (struct sockaddr *)&at, &length);
  pid_t reader = fork();
  if (reader < 0) die("fork");
  if (reader == 0) {
    close(fd);
    read_all(accept(server, NULL, NULL), sleeps);
  }
  if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  static uint64_t times[WRITES];
  for (int i = 0; i < WRITES; i++) {
    uint64_t begin = now_ns();
    if (write(fd, bytes, size) != (ssize_t)size) die("write");
    times[i] = now_ns() - begin;
    while (now_ns() < begin + times[i] + GAP_NS) {}
  }
  close(fd);
  close(server);
  waitpid(reader, NULL, 0);
  qsort(times, WRITES, sizeof *times, ascending);
  return (double)times[WRITES / 2] / 1000;
}

int main(void) {
  // A reader ends when its connection does.
  alarm(20);
  const size_t small = 64;
  printf("{\"small\":{\"asleep\":%.2f,\"awake\":%.2f},", median_us(small, 1), median_us(small, 0));
  printf("\"large\":{\"asleep\":%.2f,\"awake\":%.2f}}\n", median_us(MAX_BYTES, 1), median_us(MAX_BYTES, 0));
  return 0;
}
