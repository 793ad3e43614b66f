#define _GNU_SOURCE
#include "CProcess.h"

#include <dirent.h>
#include <linux/filter.h>
#include <malloc.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool offer_keep_memory_private(void) {
  // After a crash, Swift's runtime starts a program that prints registers and the memory they point to.
  const int crashes[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++)
    if (signal(crashes[index], SIG_DFL) == SIG_ERR) return false;
  const struct rlimit none = {0, 0};
  // The limit applies to core files only. Only a cleared dumpable flag prevents the kernel from piping a core to
  // another program.
  return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

long offer_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return limit.rlim_cur > 1000000 ? 1000000 : (long)limit.rlim_cur;
}

void offer_return_memory(void) { malloc_trim(0); }

void offer_return_large_allocations(void) {
  mallopt(M_MMAP_THRESHOLD, 32 * 1024);
  mallopt(M_TRIM_THRESHOLD, 128 * 1024);
}

_Static_assert(sizeof(struct offer_socket_filter) == sizeof(struct sock_fprog), "must match struct sock_fprog");

struct offer_socket_filter offer_filter_of_everything(void) {
  static struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  return (struct offer_socket_filter){1, (uintptr_t)&drop};
}

const char *offer_build_day(void) { return __DATE__; }

const char *offer_user_name(uint32_t id) {
  const struct passwd *user = getpwuid(id);
  return user ? user->pw_name : NULL;
}

bool offer_run_only_when_idle(void) {
  const struct sched_param parameters = {0};
  // 0 means the calling thread.
  return sched_setscheduler(0, SCHED_IDLE, &parameters) == 0;
}

bool offer_run_after_others(void) {
  // A thread has a priority of its own on Linux.
  return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10) == 0;
}

bool offer_run_process_only_when_idle(void) {
  const struct sched_param parameters = {0};
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return false;
  bool succeeds = true;
  for (struct dirent *entry; (entry = readdir(threads));) {
    int thread = atoi(entry->d_name);
    if (thread > 0 && sched_setscheduler(thread, SCHED_IDLE, &parameters) != 0) succeeds = false;
  }
  closedir(threads);
  return succeeds;
}
