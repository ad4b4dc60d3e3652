// The load of `perf --relay`: N agents in one epoll process. Towards hubs that dial it listens on N ports and speaks frames; towards
// brokers, WebSocket servers among them, it is N clients. Every delivered message is attributed to its sender and counted; the first of
// each read (all with verify=1) is compared byte by byte with what that sender wrote at that place of its stream, so loss, repetition,
// disorder and damage show. Settings are key=value; it prints one line of ports, and one JSON line at the end.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  MAX_AGENTS = 256,
  READ_BYTES = 256 * 1024,
  CHUNK_BYTES = 128 * 1024,
  MAX_REST = 256,
  MAX_CYCLE = 1000,          // messages of one sender that differ
  TIMES = 1 << 16,           // intended sending times kept per sender
  SUB_BUCKETS = 64,          // per power of two: latencies are right to 1.6 %
  MAX_TENTHS = 1200
};

enum wire { FRAMES, BYTES, NATS, REDIS, MQTT, WS };

struct agent {
  int in, out;               // the same but for Redis, where a subscriber cannot publish
  char *cycle;               // its messages as they are sent, twice in a row
  char *plain;               // the first of them without what is before it; the others follow at every `plain_len`
  uint64_t sent_bytes;       // of the stream that repeats `cycle`
  uint64_t allowed;          // messages that it may have sent in all
  char rest[MAX_REST];       // of the last read, too little to be looked at
  size_t held, skip;         // bytes in `rest`; bytes of the current message still to be passed over
  uint32_t *got;             // messages received, by sender
  uint64_t got_bytes;        // towards a forwarder that tears frames: nothing else can be known
  uint64_t *intended;        // when message n should have been sent, ns
  int wants_out, is_gone;
};

static const uint64_t SILENCE_NS = 5000000000u, SETTLE_NS = 300000000u;

static struct agent agents[MAX_AGENTS];
static enum wire wire;
static int count = 4, size = 512, stuck, verify, in_flight;
static uint64_t window_bytes = 256 * 1024;
static double rate, warm_s = 0.5, run_s = 2;
static int port, pid;
static int epoll_fd;
static size_t cycle_len, tx_len, rx_len, rx_pre, look_len, plain_len;
static uint64_t delivered, bad, idle_ns, cut_ns;
static uint64_t tenths[MAX_TENTHS];
static uint64_t histogram[64 * SUB_BUCKETS], samples, latency_max;
static int measuring;
static uint64_t begin_ns;
static const size_t FROM_AT = sizeof("{\"type\":\"e\",\"from\":\"a") - 1, ID_AT = sizeof("{\"type\":\"e\",\"from\":\"a00\",\"id\":\"") - 1;

static void die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- messages

static const char HEAD[] = "{\"type\":\"e\",\"from\":\"a%02x\",\"id\":\"%05d\",\"task_id\":\"t\",\"token_used\":1,\"ts\":1700000000000,\"payload\":{\"t\":\"";

static int blob_of(char *at, int sender, int n) {
  int length = sprintf(at, HEAD, sender, n);
  if (length + 3 > size) {
    fprintf(stderr, "load: a packet has at least %d bytes\n", length + 3);
    exit(2);
  }
  memset(at + length, 'a' + (sender + n) % 26, (size_t)(size - length - 3));
  memcpy(at + size - 3, "\"}}", 3);
  return size;
}

static int mqtt_length(char *at, size_t n) {
  int i = 0;
  do {
    at[i++] = (char)((n % 128) | (n > 127 ? 128 : 0));
    n /= 128;
  } while (n > 0);
  return i;
}

// Clients of a WebSocket must mask what they send, servers must not.
static const char MASK[4] = {0x37, (char)0xfa, 0x21, 0x3d};

static int ws_head(char *at, int rx) {
  int n = 2;
  at[0] = (char)0x82;
  if (size < 126) at[1] = (char)size;
  else if (size < 65536) at[1] = 126, at[n++] = (char)(size >> 8), at[n++] = (char)size;
  else {
    at[1] = 127;
    for (int shift = 56; shift >= 0; shift -= 8) at[n++] = (char)((uint64_t)size >> shift);
  }
  if (rx) return n;
  at[1] |= (char)0x80;
  memcpy(at + n, MASK, 4);
  return n + 4;
}

// What stands before the packet: sent (`rx` = 0) or received.
static int before(char *at, int sender, int rx) {
  switch (wire) {
    case FRAMES:
    case BYTES: {
      uint32_t length = htonl((uint32_t)size);
      memcpy(at, &length, 4);
      return 4;
    }
    case NATS:
      return sprintf(at, rx ? "MSG m 1 %d\r\n" : "PUB m %d\r\n", size);
    case REDIS:
      return sprintf(at, "*3\r\n$7\r\n%s\r\n$3\r\nc%02x\r\n$%d\r\n", rx ? "message" : "PUBLISH", sender, size);
    case WS:
      return ws_head(at, rx);
    default: {
      at[0] = 0x30;
      int n = 1 + mqtt_length(at + 1, (size_t)size + 5);
      memcpy(at + n, "\0\3", 2);
      sprintf(at + n + 2, "c%02x", sender);
      return n + 5;
    }
  }
}

static size_t behind(void) { return wire == NATS || wire == REDIS ? 2 : 0; }

static void make_messages(void) {
  char head[256];
  size_t tx_pre = (size_t)before(head, 0, 0);
  tx_len = tx_pre + (size_t)size + behind();
  rx_pre = (size_t)before(head, 0, 1);
  rx_len = rx_pre + (size_t)size + behind();
  look_len = rx_pre + ID_AT + 5;
  if (look_len > MAX_REST) exit(2);
  cycle_len = 512 * 1024 / tx_len;
  if (cycle_len > MAX_CYCLE) cycle_len = MAX_CYCLE;
  if (cycle_len < 2) cycle_len = 2;
  for (int i = 0; i < count; i++) {
    struct agent *a = &agents[i];
    a->cycle = malloc(2 * cycle_len * tx_len + 1);
    for (size_t n = 0; n < 2 * cycle_len; n++) {
      char *at = a->cycle + n * tx_len;
      at += before(at, i, 0);
      char *blob = at;
      at += blob_of(at, i, (int)(n % cycle_len));
      if (behind()) memcpy(at, "\r\n", 2);
      if (wire == WS)
        for (int k = 0; k < size; k++) blob[k] ^= MASK[k % 4];
    }
    a->plain = a->cycle + tx_pre;
    plain_len = tx_len;
    if (wire == WS) {
      plain_len = (size_t)size;
      a->plain = malloc(cycle_len * plain_len + 1);
      for (size_t n = 0; n < cycle_len; n++) blob_of(a->plain + n * plain_len, i, (int)n);
    }
    a->got = calloc(MAX_AGENTS, sizeof *a->got);
    a->intended = rate > 0 ? calloc(TIMES, sizeof *a->intended) : NULL;
  }
}

// ---- connections

static int tcp(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0) die("socket");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static int dial(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = tcp();
  if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
  return fd;
}

static void say(int fd, const char *format, ...) {
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

static void join_broker(int i) {
  struct agent *a = &agents[i];
  a->in = a->out = dial();
  if (wire == NATS) {
    await(a->in, "INFO", 1);
    say(a->in, "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false}\r\nSUB m 1\r\nPING\r\n");
    await(a->in, "PONG\r\n", 1);
  } else if (wire == REDIS) {
    say(a->in, "*%d\r\n$9\r\nSUBSCRIBE\r\n", count);
    for (int j = 0; j < count; j++)
      if (j != i) say(a->in, "$3\r\nc%02x\r\n", j);
    await(a->in, "subscribe", count - 1);
    a->out = dial();
  } else if (wire == WS) {
    say(a->in, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n", port);
    // A server that does not agree hangs up behind its answer.
    await(a->in, "\r\n\r\n", 1);
  } else {
    char packet[8192], body[8192];
    int n = sprintf(body, "%c%cMQTT%c%c%c%c%c%ca%02x", 0, 4, 4, 2, 0, 0, 0, 3, i);
    packet[0] = 0x10;
    int at = 1 + mqtt_length(packet + 1, (size_t)n);
    memcpy(packet + at, body, (size_t)n);
    if (write(a->in, packet, (size_t)(at + n)) < 0) die("write");
    await_bytes(a->in, 4);
    n = 2;
    body[0] = 0, body[1] = 1;
    for (int j = 0; j < count; j++)
      if (j != i) n += sprintf(body + n, "%c%cc%02x%c", 0, 3, j, 0);
    packet[0] = (char)0x82;
    at = 1 + mqtt_length(packet + 1, (size_t)n);
    memcpy(packet + at, body, (size_t)n);
    if (write(a->in, packet, (size_t)(at + n)) < 0) die("write");
    char length[4];
    await_bytes(a->in, 1 + (size_t)mqtt_length(length, (size_t)count + 1) + 2 + (size_t)count - 1);
  }
}

static void await_hub(void) {
  int servers[MAX_AGENTS];
  for (int i = 0; i < count; i++) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    servers[i] = tcp();
    if (bind(servers[i], (struct sockaddr *)&at, sizeof at) < 0 || listen(servers[i], 1) < 0) die("listen");
    getsockname(servers[i], (struct sockaddr *)&at, &length);
    printf("%s%d", i == 0 ? "" : ",", ntohs(at.sin_port));
  }
  printf("\n");
  fflush(stdout);
  for (int i = 0; i < count; i++) {
    agents[i].in = agents[i].out = accept(servers[i], NULL, NULL);
    if (agents[i].in < 0) die("accept");
    int one = 1;
    setsockopt(agents[i].in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(servers[i]);
  }
  // When the hub is ready its process id comes on stdin.
  if (scanf("%d", &pid) != 1) die("stdin");
}

static void watch(int i, int op) {
  struct agent *a = &agents[i];
  int reads = !(stuck && i == count - 1);
  struct epoll_event event = {.data.u32 = (uint32_t)i};
  event.events = (reads ? EPOLLIN : 0u) | (a->wants_out && a->in == a->out ? EPOLLOUT : 0u);
  if (epoll_ctl(epoll_fd, op, a->in, &event) < 0) die("epoll_ctl");
  if (a->in == a->out) return;
  event.events = EPOLLIN | (a->wants_out ? EPOLLOUT : 0u);
  event.data.u32 |= 1u << 16;
  if (epoll_ctl(epoll_fd, op, a->out, &event) < 0) die("epoll_ctl");
}

// ---- sending

static int is_reader(int i) { return !(stuck && i == count - 1) && !agents[i].is_gone; }

// Messages of `sender` that everybody who reads has.
static uint64_t heard(int sender) {
  uint64_t least = UINT64_MAX;
  for (int j = 0; j < count; j++)
    if (j != sender && is_reader(j) && agents[j].got[sender] < least) least = agents[j].got[sender];
  return least;
}

// The same bound where senders cannot be told apart: what all may have on the way to the slowest.
static uint64_t on_the_way(void) {
  uint64_t all = 0, most = 0;
  for (int i = 0; i < count; i++) all += agents[i].sent_bytes;
  for (int j = 0; j < count; j++)
    if (is_reader(j) && all - agents[j].sent_bytes - agents[j].got_bytes > most) most = all - agents[j].sent_bytes - agents[j].got_bytes;
  return most;
}

// Whether anything was sent.
static int send_some(int i) {
  struct agent *a = &agents[i];
  if (a->is_gone || (stuck && i == count - 1)) return 0;
  uint64_t end = a->allowed * tx_len;
  if (a->sent_bytes >= end) return 0;
  size_t at = a->sent_bytes % (cycle_len * tx_len), n = end - a->sent_bytes;
  size_t most = CHUNK_BYTES < cycle_len * tx_len ? CHUNK_BYTES : cycle_len * tx_len;
  if (n > most) n = most;
  ssize_t took = send(a->out, a->cycle + at, n, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (took < 0 && errno != EAGAIN) {
    a->is_gone = 1;
    return 0;
  }
  if (took > 0) a->sent_bytes += (uint64_t)took;
  int blocked = took < (ssize_t)n;
  if (blocked != a->wants_out) {
    a->wants_out = blocked;
    watch(i, EPOLL_CTL_MOD);
  }
  return took > 0 && !blocked;
}

// ---- receiving

static void record(uint64_t ns) {
  int power = ns < 2 * SUB_BUCKETS ? 0 : 57 - __builtin_clzll(ns);
  size_t bucket = (size_t)power * SUB_BUCKETS + (ns >> power);
  if (bucket < sizeof histogram / sizeof *histogram) histogram[bucket]++;
  if (ns > latency_max) latency_max = ns;
  samples++;
}

static double quantile(double q) {
  uint64_t rank = (uint64_t)(q * (double)samples), seen = 0;
  for (size_t bucket = 0; bucket < sizeof histogram / sizeof *histogram; bucket++) {
    seen += histogram[bucket];
    if (seen <= rank) continue;
    if (bucket < 2 * SUB_BUCKETS) return (double)bucket / 1000;
    size_t power = bucket / SUB_BUCKETS - 1;
    uint64_t base = (bucket - power * SUB_BUCKETS) << power;
    return ((double)base + (double)(1ull << power) / 2) / 1000;
  }
  return (double)latency_max / 1000;
}

static int hex(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void damaged(int i, const char *at, const char *what) {
  if (bad++ < 3) fprintf(stderr, "load: agent %d: %s: %.60s\n", i, what, at);
}

static void read_some(int i) {
  struct agent *a = &agents[i];
  // One for all of them, which stays in the processor's cache: of what is read nearly all is done with at once.
  static char inbox[MAX_REST + READ_BYTES];
  memcpy(inbox, a->rest, a->held);
  ssize_t got = recv(a->in, inbox + a->held, READ_BYTES, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    a->is_gone = 1;
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, a->in, NULL);
    return;
  }
  if (wire == BYTES) {
    uint64_t whole = a->got_bytes / rx_len;
    a->got_bytes += (uint64_t)got;
    delivered += a->got_bytes / rx_len - whole;
    return;
  }
  uint64_t now = rate > 0 ? now_ns() : 0;
  char *at = inbox, *end = inbox + a->held + got;
  uint32_t prefix = htonl((uint32_t)size);
  char ws_before[16];
  if (wire == WS) ws_head(ws_before, 1);
  uint64_t before_count = delivered;
  int samples_left = verify ? INT32_MAX : 1;
  for (;;) {
    if (a->skip > 0) {
      size_t n = a->skip < (size_t)(end - at) ? a->skip : (size_t)(end - at);
      at += n;
      a->skip -= n;
    }
    if ((size_t)(end - at) < look_len) {
      if (wire != NATS || end - at < 6 || memcmp(at, "PING\r\n", 6) != 0) break;
    }
    if (wire == NATS && memcmp(at, "PING\r\n", 6) == 0) {
      say(a->out, "PONG\r\n");
      at += 6;
      continue;
    }
    if ((wire == FRAMES && memcmp(at, &prefix, 4) != 0) || (wire == WS && memcmp(at, ws_before, rx_pre) != 0)) {
      damaged(i, at, "another length than was sent");
      a->is_gone = 1;
      return;
    }
    char *from = at + rx_pre + FROM_AT;
    int sender = hex(from[0]) * 16 + hex(from[1]);
    if (sender < 0 || sender >= count || sender == i) {
      damaged(i, at, "from nobody");
      a->is_gone = 1;
      return;
    }
    uint32_t number = a->got[sender]++;
    if (samples_left > 0) {
      samples_left--;
      size_t whole = (size_t)(end - at) < rx_len ? (size_t)(end - at) : rx_len;
      size_t blob = whole - rx_pre < (size_t)size ? whole - rx_pre : (size_t)size;
      struct agent *s = &agents[sender];
      if (memcmp(at + rx_pre, s->plain + (number % cycle_len) * plain_len, blob) != 0)
        damaged(i, at + rx_pre, "not what was sent at this place");
    }
    if (rate > 0 && measuring) record(now - agents[sender].intended[number % TIMES]);
    delivered++;
    a->skip = rx_len;
  }
  a->held = (size_t)(end - at);
  memcpy(a->rest, at, a->held);
  if (measuring) {
    uint64_t tenth = (now_ns() - begin_ns) / 100000000u;
    if (tenth < MAX_TENTHS) tenths[tenth] += delivered - before_count;
  }
}

// ---- the hub's process

// Its processor time in seconds, from clock ticks.
static double hub_cpu(void) {
  char path[64], text[1024];
  sprintf(path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL || pid == 0) return 0;
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = 0;
  unsigned long user = 0, system = 0;
  char *behind_name = strrchr(text, ')');
  if (behind_name) sscanf(behind_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double hub_peak_mb(void) {
  char path[64], line[256];
  sprintf(path, "/proc/%d/status", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL || pid == 0) return 0;
  long kb = 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
  fclose(file);
  return (double)kb / 1024;
}

static double own_cpu(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

// ---- the run

static uint64_t planned;
static int at_rate;

// Lets senders go on: as far as the window allows, or as the clock says.
static void allow(uint64_t now) {
  if (at_rate) {
    // The first packet is due at once, each later one an interval behind the one before.
    uint64_t due = (uint64_t)((double)(now - begin_ns) * rate / 1e9) + 1;
    for (; planned < due; planned++) {
      struct agent *a = &agents[planned % (uint64_t)count];
      a->intended[a->allowed % TIMES] = begin_ns + (uint64_t)((double)planned * 1e9 / rate);
      a->allowed++;
    }
    return;
  }
  // Before a fixed rate, what a single packet makes run gets hot as quickly as it can.
  uint64_t ahead = rate > 0 ? 1 : in_flight > 0 ? (uint64_t)in_flight : window_bytes / tx_len;
  if (ahead < 1) ahead = 1;
  if (wire == BYTES) {
    uint64_t most = on_the_way(), bound = ahead * tx_len * (uint64_t)(count - 1);
    for (int i = 0; i < count; i++)
      agents[i].allowed = agents[i].sent_bytes / tx_len + (most < bound ? ahead : 0);
    return;
  }
  for (int i = 0; i < count; i++) agents[i].allowed = heard(i) + ahead;
}

static void turn(int may_send) {
  struct epoll_event events[2 * MAX_AGENTS];
  int more = 0;
  if (may_send) {
    allow(at_rate ? now_ns() : 0);
    for (int i = 0; i < count; i++)
      if (!agents[i].wants_out) more |= send_some(i);
  }
  int wait = more || at_rate ? 0 : 50;
  uint64_t before_wait = wait ? now_ns() : 0;
  int n = epoll_wait(epoll_fd, events, 2 * MAX_AGENTS, wait);
  if (wait && measuring) idle_ns += now_ns() - before_wait;
  for (int k = 0; k < n; k++) {
    int i = (int)(events[k].data.u32 & 0xffff);
    struct agent *a = &agents[i];
    if (events[k].events & EPOLLOUT) {
      a->wants_out = 0;
      watch(i, EPOLL_CTL_MOD);
    }
    if (events[k].data.u32 >> 16) {
      // What a broker answers to a publisher.
      static char answers[READ_BYTES];
      if (recv(a->out, answers, sizeof answers, MSG_DONTWAIT) == 0) a->is_gone = 1;
    } else if (!is_reader(i) && !a->is_gone) {
      if (events[k].events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) {
        a->is_gone = 1;
        cut_ns = now_ns();
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, a->in, NULL);
      }
    } else if (events[k].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
      read_some(i);
    }
  }
}

static void setting(const char *text) {
  char key[32];
  const char *value = strchr(text, '=');
  if (value == NULL || value - text > 31) exit(2);
  memcpy(key, text, (size_t)(value - text));
  key[value - text] = 0;
  value++;
  if (!strcmp(key, "agents")) count = atoi(value);
  else if (!strcmp(key, "size")) size = atoi(value);
  else if (!strcmp(key, "window")) window_bytes = strtoull(value, NULL, 10);
  else if (!strcmp(key, "inflight")) in_flight = atoi(value);
  else if (!strcmp(key, "rate")) rate = atof(value);
  else if (!strcmp(key, "warm")) warm_s = atof(value);
  else if (!strcmp(key, "seconds")) run_s = atof(value);
  else if (!strcmp(key, "stuck")) stuck = atoi(value);
  else if (!strcmp(key, "verify")) verify = atoi(value);
  else if (!strcmp(key, "port")) port = atoi(value);
  else if (!strcmp(key, "pid")) pid = atoi(value);
  else if (!strcmp(key, "wire"))
    wire = !strcmp(value, "nats") ? NATS : !strcmp(value, "redis") ? REDIS : !strcmp(value, "mqtt") ? MQTT : !strcmp(value, "ws") ? WS : !strcmp(value, "bytes") ? BYTES : FRAMES;
  else {
    fprintf(stderr, "load: no setting %s\n", key);
    exit(2);
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) setting(argv[i]);
  if (count < 2 || count > MAX_AGENTS) return 2;
  // Nobody may come, or go on: then it ends, and whoever started it sees that.
  alarm((unsigned)(warm_s + run_s) + 30);
  make_messages();
  if (wire <= BYTES) await_hub();
  else
    for (int i = 0; i < count; i++) join_broker(i);
  epoll_fd = epoll_create1(0);
  for (int i = 0; i < count; i++) watch(i, EPOLL_CTL_ADD);
  begin_ns = now_ns();
  uint64_t start = begin_ns, warm_end = start + (uint64_t)(warm_s * 1e9);
  while (now_ns() < warm_end) turn(1);
  if (rate > 0) {
    at_rate = 1;
    begin_ns = now_ns();
    while (now_ns() < begin_ns + SETTLE_NS) turn(1);
  }
  measuring = 1;
  uint64_t first = delivered, from = now_ns(), end = from + (uint64_t)(run_s * 1e9);
  if (rate <= 0) begin_ns = from;
  double hub_before = hub_cpu(), own_before = own_cpu();
  while (now_ns() < end) turn(1);
  double seconds = (double)(now_ns() - from) / 1e9;
  uint64_t in_time = delivered - first;
  double hub_used = hub_cpu() - hub_before, own_used = own_cpu() - own_before;
  measuring = 0;
  // Whole messages only, then all that is on its way.
  for (int i = 0; i < count; i++) agents[i].allowed = (agents[i].sent_bytes + tx_len - 1) / tx_len;
  uint64_t sent = 0, wanted = 0, came = 0;
  int readers = 0;
  for (int i = 0; i < count; i++) readers += is_reader(i);
  // What does not come while nothing else does is lost.
  uint64_t deadline = now_ns() + SILENCE_NS, before_turn = 0;
  for (;;) {
    int more = 0;
    for (int i = 0; i < count; i++) {
      if (!agents[i].wants_out) send_some(i);
      more |= agents[i].sent_bytes < agents[i].allowed * tx_len && !agents[i].is_gone;
    }
    sent = wanted = came = 0;
    for (int i = 0; i < count; i++) {
      sent += agents[i].allowed;
      for (int j = 0; j < count; j++)
        if (j != i && is_reader(j)) wanted += agents[i].allowed, came += agents[j].got[i];
    }
    if (wire == BYTES) {
      came = 0;
      for (int j = 0; j < count; j++) came += agents[j].got_bytes / tx_len;
    }
    if (came != before_turn) deadline = now_ns() + SILENCE_NS;
    before_turn = came;
    if ((!more && came >= wanted) || now_ns() > deadline) break;
    turn(0);
  }
  printf("{\"seconds\":%.4f,\"delivered\":%llu,\"rate\":%.1f,\"sent\":%llu,\"wanted\":%llu,\"came\":%llu,\"bad\":%llu,\"readers\":%d,\"hub_cpu_s\":%.3f,\"own_cpu_s\":%.3f,\"idle_s\":%.4f,\"hub_peak_mb\":%.1f,",
         seconds, (unsigned long long)in_time, (double)in_time / seconds, (unsigned long long)sent,
         (unsigned long long)wanted, (unsigned long long)came, (unsigned long long)bad, readers, hub_used, own_used,
         (double)idle_ns / 1e9, hub_peak_mb());
  printf("\"bytes_per_message\":%zu,\"cut_s\":%.3f,", tx_len, cut_ns ? (double)(cut_ns - from) / 1e9 : -1);
  if (samples > 0)
    printf("\"latency_us\":{\"samples\":%llu,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f},", (unsigned long long)samples,
           quantile(0.5), quantile(0.99), quantile(0.999), (double)latency_max / 1000);
  printf("\"tenths\":[");
  int last = (int)(seconds * 10);
  for (int i = 0; i < last && i < MAX_TENTHS; i++) printf("%s%llu", i ? "," : "", (unsigned long long)tenths[i]);
  printf("]}\n");
  return bad > 0 || came != wanted ? 3 : 0;
}
