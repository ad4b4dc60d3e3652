// The packets of the load, as each wire carries them.
#include "load.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CYCLE = 1000, CYCLE_BYTES = 512 * 1024, TIMES = 1 << 16 };

size_t tx_len, rx_len, rx_pre, look_len, cycle_len;
const size_t from_at = sizeof("{\"type\":\"e\",\"from\":\"a") - 1;
static const size_t ID_END = sizeof("{\"type\":\"e\",\"from\":\"a00\",\"id\":\"00000") - 1;

static const char HEAD[] = "{\"type\":\"e\",\"from\":\"a%02x\",\"id\":\"%05d\",\"task_id\":\"t%02d\",\"token_used\":1,\"ts\":1700000000000,\"payload\":{\"t\":\"";

static void write_blob(char *at, int sender, int n) {
  int length = sprintf(at, HEAD, sender, n, n % set.tasks);
  if (length + 3 > set.size) {
    fprintf(stderr, "load: a packet has at least %d bytes\n", length + 3);
    exit(2);
  }
  memset(at + length, 'a' + (sender + n) % 26, (size_t)(set.size - length - 3));
  memcpy(at + set.size - 3, "\"}}", 3);
}

int before(char *at, int sender, int rx) {
  if (set.wire == NATS) return sprintf(at, rx ? "MSG m 1 %d\r\n" : "PUB m %d\r\n", set.size);
  if (set.wire == REDIS)
    return sprintf(at, "*3\r\n$7\r\n%s\r\n$3\r\nc%02x\r\n$%d\r\n", rx ? "message" : "PUBLISH", sender, set.size);
  uint32_t length = htonl((uint32_t)set.size);
  memcpy(at, &length, 4);
  return 4;
}

void make_messages(void) {
  char head[256];
  size_t size = (size_t)set.size, behind = set.wire == NATS || set.wire == REDIS ? 2 : 0;
  size_t tx_pre = (size_t)before(head, 0, 0);
  tx_len = tx_pre + size + behind;
  rx_pre = (size_t)before(head, 0, 1);
  rx_len = rx_pre + size + behind;
  look_len = rx_pre + ID_END;
  if (look_len > MAX_REST) exit(2);
  cycle_len = CYCLE_BYTES / tx_len;
  if (cycle_len > MAX_CYCLE) cycle_len = MAX_CYCLE;
  if (cycle_len < 2) cycle_len = 2;
  for (int i = 0; i < set.agents; i++) {
    struct agent *a = &agents[i];
    a->cycle = malloc(2 * cycle_len * tx_len + 1);
    for (size_t n = 0; n < 2 * cycle_len; n++) {
      char *at = a->cycle + n * tx_len;
      at += before(at, i, 0);
      write_blob(at, i, (int)(n % cycle_len));
      if (behind) memcpy(at + size, "\r\n", 2);
    }
    a->plain = a->cycle + tx_pre;
    a->got = calloc(MAX_AGENTS, sizeof *a->got);
    a->intended = set.rate > 0 ? calloc(TIMES, sizeof *a->intended) : NULL;
  }
}
