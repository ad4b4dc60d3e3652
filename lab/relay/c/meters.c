// What the load generator reads off: latencies, and what a process has used.
#include "load.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SUB_BUCKETS = 64 }; // per power of two: latencies are right to 1.6 %

static uint64_t histogram[64 * SUB_BUCKETS], samples, latency_max;

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void record(uint64_t ns) {
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

void print_latencies(void) {
  if (samples == 0) return;
  printf("\"latency_us\":{\"samples\":%llu,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f},", (unsigned long long)samples,
         quantile(0.5), quantile(0.99), quantile(0.999), (double)latency_max / 1000);
}

// Its processor time in seconds, from clock ticks.
double hub_cpu(void) {
  char path[64], text[1024];
  sprintf(path, "/proc/%d/stat", set.pid);
  FILE *file = fopen(path, "r");
  if (file == NULL || set.pid == 0) return 0;
  size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = 0;
  unsigned long user = 0, system = 0;
  char *behind_name = strrchr(text, ')');
  if (behind_name) sscanf(behind_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double hub_peak_mb(void) {
  char path[64], line[256];
  sprintf(path, "/proc/%d/status", set.pid);
  FILE *file = fopen(path, "r");
  if (file == NULL || set.pid == 0) return 0;
  long kb = 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
  fclose(file);
  return (double)kb / 1024;
}

double own_cpu(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}
