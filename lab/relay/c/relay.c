// The yardstick in C: epoll, frames found in place, each turn's runs written to each destination with one writev.
// It looks at nothing but the lengths. Usage: relay PORT PORT …; it dials 127.0.0.1, says `ready` and relays until it is killed.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_LINKS = 300, READ_BYTES = 256 * 1024, MAX_QUEUE_BYTES = 4 * 1024 * 1024 };

struct link {
  int fd;
  char *in;              // bytes held, a whole number of frames and the beginning of one more
  size_t in_size, held;
  size_t run;            // bytes at the start of `in` that are whole frames of this turn
  char *queue;           // what the system has not taken
  size_t queued, sent, queue_size;
};

static struct link links[MAX_LINKS];
static int count, epoll_fd;
static int paused;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void watch(int i, int op) {
  struct epoll_event event = {.data.u32 = (unsigned)i};
  event.events = (paused ? 0u : EPOLLIN) | (links[i].queued > 0 ? EPOLLOUT : 0u);
  if (epoll_ctl(epoll_fd, op, links[i].fd, &event) < 0) die("epoll_ctl");
}

static void enqueue(struct link *to, const char *bytes, size_t length) {
  if (to->queued + length > to->queue_size) {
    to->queue_size = (to->queued + length) * 2;
    to->queue = realloc(to->queue, to->queue_size);
    if (to->queue == NULL) die("realloc");
  }
  memcpy(to->queue + to->queued, bytes, length);
  to->queued += length;
}

static void read_link(struct link *from) {
  ssize_t got = recv(from->fd, from->in + from->held, from->in_size - from->held, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) exit(0);
  from->held += (size_t)got;
  size_t at = 0;
  while (from->held - at >= 4) {
    unsigned length;
    memcpy(&length, from->in + at, 4);
    size_t frame = 4 + (size_t)ntohl(length);
    if (frame > from->held - at) {
      if (frame > from->in_size) {
        from->in_size = frame + READ_BYTES;
        from->in = realloc(from->in, from->in_size);
        if (from->in == NULL) die("realloc");
      }
      break;
    }
    at += frame;
  }
  from->run = at;
}

static void write_turn(int i) {
  struct link *to = &links[i];
  struct iovec parts[MAX_LINKS];
  int n = 0;
  size_t total = 0;
  for (int j = 0; j < count; j++) {
    if (j == i || links[j].run == 0) continue;
    parts[n].iov_base = links[j].in;
    parts[n++].iov_len = links[j].run;
    total += links[j].run;
  }
  if (total == 0) return;
  size_t written = 0;
  if (to->queued == 0) {
    ssize_t took = writev(to->fd, parts, n);
    if (took < 0 && errno != EAGAIN) exit(0);
    written = took < 0 ? 0 : (size_t)took;
    if (written == total) return;
  }
  for (int k = 0; k < n; k++) {
    size_t skip = written < parts[k].iov_len ? written : parts[k].iov_len;
    written -= skip;
    enqueue(to, (char *)parts[k].iov_base + skip, parts[k].iov_len - skip);
  }
  watch(i, EPOLL_CTL_MOD);
}

static void write_queue(int i) {
  struct link *to = &links[i];
  ssize_t took = send(to->fd, to->queue + to->sent, to->queued - to->sent, MSG_NOSIGNAL);
  if (took < 0 && errno == EAGAIN) return;
  if (took < 0) exit(0);
  to->sent += (size_t)took;
  if (to->sent < to->queued) return;
  to->sent = to->queued = 0;
  watch(i, EPOLL_CTL_MOD);
}

int main(int argc, char **argv) {
  epoll_fd = epoll_create1(0);
  count = argc - 1;
  if (count < 2 || count > MAX_LINKS) return fprintf(stderr, "usage: relay PORT PORT …\n"), 2;
  for (int i = 0; i < count; i++) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[i + 1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct link *link = &links[i];
    link->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(link->fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
    int one = 1;
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(link->fd, F_SETFL, O_NONBLOCK);
    link->in = malloc(link->in_size = READ_BYTES);
    watch(i, EPOLL_CTL_ADD);
  }
  printf("ready\n");
  fflush(stdout);
  struct epoll_event events[MAX_LINKS];
  for (;;) {
    int n = epoll_wait(epoll_fd, events, MAX_LINKS, -1);
    for (int k = 0; k < n; k++) {
      int i = (int)events[k].data.u32;
      if (events[k].events & EPOLLOUT) write_queue(i);
      if (!paused && (events[k].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) read_link(&links[i]);
    }
    size_t most = 0;
    for (int i = 0; i < count; i++) {
      write_turn(i);
      if (links[i].queued - links[i].sent > most) most = links[i].queued - links[i].sent;
    }
    for (int i = 0; i < count; i++) {
      struct link *from = &links[i];
      if (from->run == 0) continue;
      memmove(from->in, from->in + from->run, from->held -= from->run);
      from->run = 0;
    }
    int full = most > MAX_QUEUE_BYTES;
    if (full == paused) continue;
    paused = full;
    for (int i = 0; i < count; i++) watch(i, EPOLL_CTL_MOD);
  }
}
