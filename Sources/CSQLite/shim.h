// The only import of SQLite. Swift cannot call the macro SQLITE_TRANSIENT, so plain functions here wrap what needs it.
#pragma once
#include <sqlite3.h>

// SQLite copies the text, which is UTF-8.
static inline int offer_sqlite_bind_text(sqlite3_stmt *statement, int place, const void *text, int size) {
  return sqlite3_bind_text(statement, place, size == 0 ? "" : (const char *)text, size, SQLITE_TRANSIENT);
}

// SQLite copies the bytes.
static inline int offer_sqlite_bind_bytes(sqlite3_stmt *statement, int place, const void *bytes, int size) {
  return size == 0 ? sqlite3_bind_zeroblob(statement, place, 0)
                   : sqlite3_bind_blob(statement, place, bytes, size, SQLITE_TRANSIENT);
}

static inline void offer_sqlite_return_bytes(sqlite3_context *context, const void *bytes, int size) {
  sqlite3_result_blob(context, bytes, size, SQLITE_TRANSIENT);
}

// Without statistics about memory, threads do not wait for each other whenever they allocate. SQLite accepts this only before its
// first use.
static inline int offer_sqlite_keep_no_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
