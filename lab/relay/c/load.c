// The load of `perf --relay`: N agents in one epoll process. Their sockets come from whoever starts it, connected to a hub; towards
// brokers it dials as N clients. Every delivered message is attributed to its sender and counted; the
// first of each read is compared byte by byte with what that sender wrote at that place of its stream, so loss, repetition, disorder and
// damage show. Settings are key=value; it prints one JSON line at the end.
#define _GNU_SOURCE
#include "load.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  READ_BYTES = 256 * 1024,
  CHUNK_BYTES = 128 * 1024,
  TIMES = 1 << 16,           // intended sending times kept per sender
  MAX_TENTHS = 1200
};

static const uint64_t SILENCE_NS = 5000000000u, SETTLE_NS = 300000000u;

struct settings set = {.agents = 4, .size = 512, .tasks = 1, .window = 256 * 1024, .warm_ms = 500, .run_ms = 2000};
struct agent agents[MAX_AGENTS];
static int epoll_fd;
static uint64_t delivered, bad, idle_ns, cut_ns;
static uint64_t tenths[MAX_TENTHS];
static int measuring;
static uint64_t begin_ns;

void die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int is_stuck(int i) { return set.stuck && i == set.agents - 1; }

static void watch(int i, int op) {
  struct agent *a = &agents[i];
  int reads = !is_stuck(i);
  struct epoll_event event = {.data.u32 = (uint32_t)i};
  event.events = (reads ? EPOLLIN : 0u) | (a->wants_out && a->in == a->out ? EPOLLOUT : 0u);
  if (epoll_ctl(epoll_fd, op, a->in, &event) < 0) die("epoll_ctl");
  if (a->in == a->out) return;
  event.events = EPOLLIN | (a->wants_out ? EPOLLOUT : 0u);
  event.data.u32 |= 1u << 16;
  if (epoll_ctl(epoll_fd, op, a->out, &event) < 0) die("epoll_ctl");
}

static void take_socket(int i) {
  int one = 1;
  agents[i].in = agents[i].out = set.fds + i;
  if (setsockopt(set.fds + i, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0) die("an agent's socket");
}

// ---- sending

static int is_reader(int i) { return !is_stuck(i) && !agents[i].is_gone; }

// Messages of `sender` that everybody who reads has.
static uint64_t heard(int sender) {
  uint64_t least = UINT64_MAX;
  for (int j = 0; j < set.agents; j++)
    if (j != sender && is_reader(j) && agents[j].got[sender] < least) least = agents[j].got[sender];
  return least;
}

// Whether anything was sent.
static int send_some(int i) {
  struct agent *a = &agents[i];
  if (a->is_gone || is_stuck(i)) return 0;
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
  uint64_t now = set.rate > 0 ? now_ns() : 0;
  char *at = inbox, *end = inbox + a->held + got;
  char head[MAX_REST];
  before(head, 0, 1);
  uint64_t before_count = delivered;
  int is_compared = 0;
  for (;;) {
    if (a->skip > 0) {
      size_t n = a->skip < (size_t)(end - at) ? a->skip : (size_t)(end - at);
      at += n;
      a->skip -= n;
    }
    if ((size_t)(end - at) < look_len) {
      if (set.wire != NATS || end - at < 6 || memcmp(at, "PING\r\n", 6) != 0) break;
    }
    if (set.wire == NATS && memcmp(at, "PING\r\n", 6) == 0) {
      say(a->out, "PONG\r\n");
      at += 6;
      continue;
    }
    if (set.wire == FRAMES && memcmp(at, head, rx_pre) != 0) {
      // In a run the hub says something, too.
      if (memmem(at, look_len, "\"from\":\"hub\"", 12) != NULL) {
        uint32_t length;
        memcpy(&length, at, 4);
        a->skip = 4 + (size_t)ntohl(length);
        continue;
      }
      damaged(i, at, "another length than was sent");
      a->is_gone = 1;
      return;
    }
    char *from = at + rx_pre + from_at;
    int sender = hex(from[0]) * 16 + hex(from[1]);
    if (sender < 0 || sender >= set.agents || sender == i) {
      damaged(i, at, "from nobody");
      a->is_gone = 1;
      return;
    }
    uint32_t number = a->got[sender]++;
    if (!is_compared) {
      is_compared = 1;
      size_t whole = (size_t)(end - at) < rx_len ? (size_t)(end - at) : rx_len;
      size_t blob = whole - rx_pre < (size_t)set.size ? whole - rx_pre : (size_t)set.size;
      struct agent *s = &agents[sender];
      if (memcmp(at + rx_pre, s->plain + (number % cycle_len) * tx_len, blob) != 0)
        damaged(i, at + rx_pre, "not what was sent at this place");
    }
    if (set.rate > 0 && measuring) record(now - agents[sender].intended[number % TIMES]);
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

// ---- the run

static uint64_t planned;
static int at_rate;
// One packet at a time: what a single packet makes run gets hot, and few are recorded.
static int is_gentle;

// Lets senders go on: as far as the window allows, or as the clock says.
static void allow(uint64_t now) {
  if (at_rate) {
    // The first packet is due at once, each later one an interval behind the one before.
    uint64_t due = (uint64_t)((double)(now - begin_ns) * set.rate / 1e9) + 1;
    for (; planned < due; planned++) {
      struct agent *a = &agents[planned % (uint64_t)set.agents];
      a->intended[a->allowed % TIMES] = begin_ns + (uint64_t)((double)planned * 1e9 / set.rate);
      a->allowed++;
    }
    return;
  }
  uint64_t ahead = is_gentle ? 1 : set.in_flight > 0 ? (uint64_t)set.in_flight : (uint64_t)set.window / tx_len;
  if (ahead < 1) ahead = 1;
  for (int i = 0; i < set.agents; i++) agents[i].allowed = heard(i) + ahead;
}

// When the next packet is due, as agents that sleep between their packets set their timers.
static struct timespec until_due(void) {
  uint64_t due = begin_ns + (uint64_t)((double)planned * 1e9 / set.rate), now = now_ns();
  uint64_t ns = due > now ? due - now : 0;
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

static void turn(int may_send) {
  struct epoll_event events[2 * MAX_AGENTS];
  int more = 0;
  if (may_send) {
    allow(at_rate ? now_ns() : 0);
    for (int i = 0; i < set.agents; i++)
      if (!agents[i].wants_out) more |= send_some(i);
  }
  struct timespec wait = more ? (struct timespec){0} : at_rate && may_send ? until_due() : (struct timespec){.tv_nsec = 50000000};
  uint64_t before_wait = more ? 0 : now_ns();
  int n = epoll_pwait2(epoll_fd, events, 2 * MAX_AGENTS, &wait, NULL);
  if (!more && measuring) idle_ns += now_ns() - before_wait;
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

static const char *const WIRES[] = {"frames", "nats", "redis"};
static const struct {
  const char *key;
  int *value;
} SETTINGS[] = {
    {"agents", &set.agents}, {"size", &set.size},   {"tasks", &set.tasks},     {"window", &set.window},
    {"inflight", &set.in_flight}, {"rate", &set.rate}, {"warm_ms", &set.warm_ms}, {"run_ms", &set.run_ms},
    {"gentle_ms", &set.gentle_ms}, {"stuck", &set.stuck},   {"fds", &set.fds},     {"port", &set.port},       {"pid", &set.pid},
};

static void setting(const char *text) {
  for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
    size_t length = strlen(SETTINGS[i].key);
    if (strncmp(text, SETTINGS[i].key, length) != 0 || text[length] != '=') continue;
    *SETTINGS[i].value = atoi(text + length + 1);
    return;
  }
  for (size_t i = 0; i < sizeof WIRES / sizeof *WIRES; i++) {
    if (strncmp(text, "wire=", 5) != 0 || strcmp(text + 5, WIRES[i]) != 0) continue;
    set.wire = (enum wire)i;
    return;
  }
  fprintf(stderr, "load: no setting %s\n", text);
  exit(2);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) setting(argv[i]);
  if (set.agents < 2 || set.agents > MAX_AGENTS) return 2;
  // Nobody may come, or go on: then it ends, and whoever started it sees that.
  alarm((unsigned)((set.gentle_ms + set.warm_ms + set.run_ms) / 1000) + 30);
  // The kernel may wake a process up to this much after its timer; its default is 50 µs.
  if (prctl(PR_SET_TIMERSLACK, 1) < 0) die("PR_SET_TIMERSLACK");
  make_messages();
  for (int i = 0; i < set.agents; i++) {
    if (set.fds > 0) take_socket(i);
    else join_broker(i);
  }
  epoll_fd = epoll_create1(0);
  for (int i = 0; i < set.agents; i++) watch(i, EPOLL_CTL_ADD);
  begin_ns = now_ns();
  is_gentle = 1;
  uint64_t gentle_end = begin_ns + (uint64_t)set.gentle_ms * 1000000u;
  while (now_ns() < gentle_end) turn(1);
  is_gentle = 0;
  uint64_t warm_end = now_ns() + (uint64_t)set.warm_ms * 1000000u;
  while (now_ns() < warm_end) turn(1);
  if (set.rate > 0) {
    at_rate = 1;
    begin_ns = now_ns();
    while (now_ns() < begin_ns + SETTLE_NS) turn(1);
  }
  measuring = 1;
  uint64_t first = delivered, from = now_ns(), end = from + (uint64_t)set.run_ms * 1000000u;
  if (set.rate <= 0) begin_ns = from;
  double hub_before = hub_cpu(), own_before = own_cpu();
  while (now_ns() < end) turn(1);
  double seconds = (double)(now_ns() - from) / 1e9;
  uint64_t in_time = delivered - first;
  double hub_used = hub_cpu() - hub_before, own_used = own_cpu() - own_before;
  measuring = 0;
  // Whole messages only, then all that is on its way.
  for (int i = 0; i < set.agents; i++) agents[i].allowed = (agents[i].sent_bytes + tx_len - 1) / tx_len;
  uint64_t sent = 0, wanted = 0, came = 0;
  // What does not come while nothing else does is lost.
  uint64_t deadline = now_ns() + SILENCE_NS, before_turn = 0;
  for (;;) {
    int more = 0;
    for (int i = 0; i < set.agents; i++) {
      if (!agents[i].wants_out) send_some(i);
      more |= agents[i].sent_bytes < agents[i].allowed * tx_len && !agents[i].is_gone;
    }
    sent = wanted = came = 0;
    for (int i = 0; i < set.agents; i++) {
      sent += agents[i].allowed;
      for (int j = 0; j < set.agents; j++)
        if (j != i && is_reader(j)) wanted += agents[i].allowed, came += agents[j].got[i];
    }
    if (came != before_turn) deadline = now_ns() + SILENCE_NS;
    before_turn = came;
    if ((!more && came >= wanted) || now_ns() > deadline) break;
    turn(0);
  }
  printf("{\"seconds\":%.4f,\"delivered\":%llu,\"rate\":%.1f,\"sent\":%llu,\"wanted\":%llu,\"came\":%llu,\"bad\":%llu,\"hub_cpu_s\":%.3f,\"own_cpu_s\":%.3f,\"idle_s\":%.4f,\"hub_peak_mb\":%.1f,",
         seconds, (unsigned long long)in_time, (double)in_time / seconds, (unsigned long long)sent,
         (unsigned long long)wanted, (unsigned long long)came, (unsigned long long)bad, hub_used, own_used,
         (double)idle_ns / 1e9, hub_peak_mb());
  printf("\"cut_s\":%.3f,", cut_ns ? (double)(cut_ns - from) / 1e9 : -1);
  print_latencies();
  printf("\"tenths\":[");
  int last = (int)(seconds * 10);
  for (int i = 0; i < last && i < MAX_TENTHS; i++) printf("%s%llu", i ? "," : "", (unsigned long long)tenths[i]);
  printf("]}\n");
  return bad > 0 || came != wanted ? 3 : 0;
}
