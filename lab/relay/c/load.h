// What the parts of the load generator share: see load.c.
#include <stddef.h>
#include <stdint.h>

enum { MAX_AGENTS = 256, MAX_REST = 256 };

enum wire { FRAMES, NATS, REDIS };

// From the command line, key=value.
struct settings {
  enum wire wire;
  int agents, size;    // `size`: bytes of a packet, without what its wire puts around it
  int tasks;           // packets name so many tasks in turn
  int in_flight;       // packets that each agent may have on the way; 0: as many as fit `window`
  int window;          // bytes
  int rate;            // packets a second, of all agents together; 0: as fast as they are delivered
  int gentle_ms;       // warm-up with one packet of each agent on the way, before that with all of them
  int warm_ms, run_ms;
  int stuck;           // the last agent takes no bytes
  int fds;             // the agents' sockets are this descriptor and those behind it; 0: they dial the broker on `port`
  int port, pid;       // of a broker; of the process that is measured
};

struct agent {
  int in, out;         // the same but for Redis, where a subscriber cannot publish
  char *cycle;         // its messages as they are sent, twice in a row
  char *plain;         // the first of them without what is before it; the others follow at every `tx_len`
  uint64_t sent_bytes; // of the stream that repeats `cycle`
  uint64_t allowed;    // messages that it may have sent in all
  char rest[MAX_REST]; // of the last read, too little to be looked at
  size_t held, skip;   // bytes in `rest`; bytes of the current message still to be passed over
  uint32_t *got;       // messages received, by sender
  uint64_t *intended;  // when message n should have been sent, ns
  int wants_out, is_gone;
};

extern struct settings set;
extern struct agent agents[MAX_AGENTS];

// Lengths of a message on the wire, sent and received; of what stands before a received packet; of what must be there to tell its sender.
extern size_t tx_len, rx_len, rx_pre, look_len;
// Messages of one sender that differ.
extern size_t cycle_len;
// Where the sender's number stands in a packet.
extern const size_t from_at;

void die(const char *what);
void say(int fd, const char *format, ...);
// What stands before a packet on the wire: sent (`rx` = 0) or received.
int before(char *at, int sender, int rx);
void make_messages(void);
void join_broker(int agent);

uint64_t now_ns(void);
void record(uint64_t ns);
// As a member of the JSON line, where there is any.
void print_latencies(void);
// Of the process that is measured: processor time so far, from clock ticks, and the most memory that it has held.
double hub_cpu(void);
double hub_peak_mb(void);
double own_cpu(void);
