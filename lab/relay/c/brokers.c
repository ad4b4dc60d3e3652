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

static void await_bytes(int fd, size_t n) {
  char byte;
  while (n-- > 0)
    if (read(fd, &byte, 1) != 1) die("the broker hung up");
}

static void write_mqtt(int fd, int type, const char *body, int length) {
  char packet[8192];
  packet[0] = (char)type;
  int at = 1 + mqtt_length(packet + 1, (size_t)length);
  memcpy(packet + at, body, (size_t)length);
  if (write(fd, packet, (size_t)(at + length)) < 0) die("write");
}

void join_broker(int i) {
  struct agent *a = &agents[i];
  int fd = a->in = a->out = dial();
  switch (set.wire) {
    case NATS:
      await(fd, "INFO", 1);
      say(fd, "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false}\r\nSUB m 1\r\nPING\r\n");
      await(fd, "PONG\r\n", 1);
      break;
    case REDIS:
      say(fd, "*%d\r\n$9\r\nSUBSCRIBE\r\n", set.agents);
      for (int j = 0; j < set.agents; j++)
        if (j != i) say(fd, "$3\r\nc%02x\r\n", j);
      await(fd, "subscribe", set.agents - 1);
      a->out = dial();
      break;
    case WS:
      say(fd, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n", set.port);
      // A server that does not agree hangs up behind its answer.
      await(fd, "\r\n\r\n", 1);
      break;
    default: {
      char body[8192], length[4];
      int n = sprintf(body, "%c%cMQTT%c%c%c%c%c%ca%02x", 0, 4, 4, 2, 0, 0, 0, 3, i);
      write_mqtt(fd, 0x10, body, n);
      await_bytes(fd, 4);
      n = 2;
      body[0] = 0, body[1] = 1;
      for (int j = 0; j < set.agents; j++)
        if (j != i) n += sprintf(body + n, "%c%cc%02x%c", 0, 3, j, 0);
      write_mqtt(fd, 0x82, body, n);
      await_bytes(fd, 1 + (size_t)mqtt_length(length, (size_t)set.agents + 1) + 2 + (size_t)set.agents - 1);
    }
  }
}
