// What Swift cannot call or know by itself: a variadic function, and when this was built.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Keeps the memory of this process, and the keys in it, out of core files and crash reports, and from other processes of
/// the same user. Returns whether the system agreed.
bool offer_keep_memory_private(void);

/// Lets this process have as many descriptors as the system allows it, and returns how many that are.
long offer_descriptor_limit(void);

/// Gives the memory back to the system that nothing uses any more; the C library would keep it for later.
void offer_return_memory(void);

/// What SO_ATTACH_FILTER takes (struct sock_fprog), with the pointer as a number.
struct offer_socket_filter {
  uint16_t count;
  uint64_t instructions;
};

/// A filter that lets no packet through. On a socket that is listened on, nobody new gets a connection, and those that are
/// waiting to be accepted stay.
struct offer_socket_filter offer_filter_of_everything(void);

/// The day of the build as the compiler writes it, such as "Jan  1 2026".
const char *offer_build_day(void);
