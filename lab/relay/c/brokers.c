// The agents as clients of a broker: each hears all others, and not itself.
#include "load.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int dial(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)set.port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

void say(int fd, const char *format, ...) {
  char text[8192];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (write(fd, text, (size_t)n) != n) die("write");
}

// Reads until `text` came `times` times.
static void await(int fd, const char *text, int times) {
  static char seen[1 << 20];
  size_t n = 0;
  for (;;) {
    ssize_t got = read(fd, seen + n, sizeof seen - 1 - n);
    if (got <= 0) die("the broker hung up");
    n += (size_t)got;
    seen[n] = 0;
    int found = 0;
    for (const char *at = seen; (at = strstr(at, text)) != NULL; at++) found++;
    if (found >= times) return;
  }
}

void join_broker(int i) {
  struct agent *a = &agents[i];
  int fd = a->in = a->out = dial();
  if (set.wire == NATS) {
    await(fd, "INFO", 1);
    say(fd, "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false}\r\nSUB m 1\r\nPING\r\n");
    await(fd, "PONG\r\n", 1);
    return;
  }
  say(fd, "*%d\r\n$9\r\nSUBSCRIBE\r\n", set.agents);
  for (int j = 0; j < set.agents; j++)
    if (j != i) say(fd, "$3\r\nc%02x\r\n", j);
  await(fd, "subscribe", set.agents - 1);
  a->out = dial();
}
