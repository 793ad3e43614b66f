// Wrappers for C functions that Swift cannot call directly, and the build date.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Keeps this process's memory, including its keys, out of core files and crash reports, and hides it from other
/// processes running as the same user. Returns false on failure.
bool offer_keep_memory_private(void);

/// Raises the limit on open descriptors to the maximum that the system allows, and returns it.
long offer_descriptor_limit(void);

/// Returns unused heap memory to the system. The C library would otherwise keep it for reuse.
void offer_return_memory(void);

/// Makes the C library return each allocation of at least 32 KiB to the system when it is freed. By default, the
/// library keeps allocations of up to 32 MiB for reuse after the first one is freed. Allocations between them fragment
/// the heap.
void offer_return_large_allocations(void);

/// The argument of SO_ATTACH_FILTER (struct sock_fprog), with the pointer as a number.
struct offer_socket_filter {
  uint16_t count;
  uint64_t instructions;
};

/// Returns a filter that drops every packet. A listening socket with this filter gets no new connections, but keeps the
/// connections that wait to be accepted.
struct offer_socket_filter offer_filter_of_everything(void);

/// Returns the build date as the compiler formats it, such as "Jan  1 2026".
const char *offer_build_day(void);

/// Returns the name of the user with an ID, valid until the next call; NULL if there is none. Not for several threads.
const char *offer_user_name(uint32_t id);

/// Lets the calling thread run only when no other thread needs the processor. Returns false if the system refuses.
bool offer_run_only_when_idle(void);

/// Lets the calling thread run after others that need the processor, with a tenth of their share. Returns false if the system
/// refuses.
bool offer_run_after_others(void);

/// Lets all threads of this process, and those that they start later, run only when no other thread of its control group
/// needs the processor. Returns false if the system refuses.
bool offer_run_process_only_when_idle(void);
