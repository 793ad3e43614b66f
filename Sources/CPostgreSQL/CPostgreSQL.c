#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The part of libpq's documented, stable interface that this file uses. Pipeline mode requires libpq 14.
enum { CONNECTION_OK = 0 };
enum { PGRES_EMPTY_QUERY = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2, PGRES_PIPELINE_SYNC = 10 };
enum { DIAG_SQLSTATE = 'C', DIAG_MESSAGE = 'M' };

typedef struct {
  char *keyword, *envvar, *compiled, *val, *label, *dispchar;
  int dispsize;
} conninfo_option;

typedef offer_pg_connection conn;
typedef offer_pg_result res;
typedef void notice_processor(void *, const char *);

static struct {
  conninfo_option *(*PQconninfoParse)(const char *, char **);
  void (*PQconninfoFree)(conninfo_option *);
  void (*PQfreemem)(void *);
  conn *(*PQconnectdbParams)(const char *const *, const char *const *, int);
  int (*PQstatus)(const conn *);
  char *(*PQerrorMessage)(const conn *);
  int (*PQbackendPID)(const conn *);
  int (*PQserverVersion)(const conn *);
  void (*PQfinish)(conn *);
  notice_processor *(*PQsetNoticeProcessor)(conn *, notice_processor *, void *);
  int (*PQsocket)(const conn *);
  int (*PQsetnonblocking)(conn *, int);
  int (*PQsendPrepare)(conn *, const char *, const char *, int, const unsigned *);
  int (*PQsendQueryPrepared)(conn *, const char *, int, const char *const *, const int *, const int *, int);
  int (*PQsendQuery)(conn *, const char *);
  int (*PQenterPipelineMode)(conn *);
  int (*PQexitPipelineMode)(conn *);
  int (*PQpipelineSync)(conn *);
  int (*PQflush)(conn *);
  int (*PQconsumeInput)(conn *);
  int (*PQisBusy)(conn *);
  res *(*PQgetResult)(conn *);
  int (*PQresultStatus)(const res *);
  char *(*PQresultErrorField)(const res *, int);
  int (*PQntuples)(const res *);
  int (*PQnfields)(const res *);
  char *(*PQfname)(const res *, int);
  unsigned (*PQftype)(const res *, int);
  int (*PQgetisnull)(const res *, int, int);
  char *(*PQgetvalue)(const res *, int, int);
  int (*PQgetlength)(const res *, int, int);
  char *(*PQcmdTuples)(res *);
  void (*PQclear)(res *);
} pq;

static const char *failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    failure = "libpq.so.5 is missing";
    return;
  }
#define LOAD(name)                                                                                                     \
  if (!(*(void **)&pq.name = dlsym(library, #name))) {                                                                 \
    failure = "libpq.so.5 is older than version 14, or damaged: it has no " #name;                                     \
    return;                                                                                                            \
  }
  LOAD(PQconninfoParse)
  LOAD(PQconninfoFree)
  LOAD(PQfreemem)
  LOAD(PQconnectdbParams)
  LOAD(PQstatus)
  LOAD(PQerrorMessage)
  LOAD(PQbackendPID)
  LOAD(PQserverVersion)
  LOAD(PQfinish)
  LOAD(PQsetNoticeProcessor)
  LOAD(PQsocket)
  LOAD(PQsetnonblocking)
  LOAD(PQsendPrepare)
  LOAD(PQsendQueryPrepared)
  LOAD(PQsendQuery)
  LOAD(PQenterPipelineMode)
  LOAD(PQexitPipelineMode)
  LOAD(PQpipelineSync)
  LOAD(PQflush)
  LOAD(PQconsumeInput)
  LOAD(PQisBusy)
  LOAD(PQgetResult)
  LOAD(PQresultStatus)
  LOAD(PQresultErrorField)
  LOAD(PQntuples)
  LOAD(PQnfields)
  LOAD(PQfname)
  LOAD(PQftype)
  LOAD(PQgetisnull)
  LOAD(PQgetvalue)
  LOAD(PQgetlength)
  LOAD(PQcmdTuples)
  LOAD(PQclear)
#undef LOAD
}

const char *offer_pg_load(void) {
  pthread_once(&once, load);
  return failure;
}

char *offer_pg_setting(const char *text, const char *name, bool *is_valid) {
  char *error = NULL;
  conninfo_option *options = pq.PQconninfoParse(text, &error);
  *is_valid = options != NULL;
  if (error) pq.PQfreemem(error);
  char *value = NULL;
  for (conninfo_option *option = options; option && option->keyword; option++) {
    if (option->val && strcmp(option->keyword, name) == 0) value = strdup(option->val);
  }
  if (options) pq.PQconninfoFree(options);
  return value;
}

static void ignore(void *context, const char *message) {}

conn *offer_pg_connect(const char *const *names, const char *const *values) {
  conn *connection = pq.PQconnectdbParams(names, values, 1);
  if (!connection) return NULL;
  // By default, libpq writes notices to standard error.
  pq.PQsetNoticeProcessor(connection, ignore, NULL);
  if (pq.PQstatus(connection) == CONNECTION_OK) pq.PQsetnonblocking(connection, 1);
  return connection;
}

bool offer_pg_is_connected(conn *connection) { return pq.PQstatus(connection) == CONNECTION_OK; }
const char *offer_pg_error(conn *connection) { return pq.PQerrorMessage(connection); }
int offer_pg_backend(conn *connection) { return pq.PQbackendPID(connection); }
int offer_pg_server_version(conn *connection) { return pq.PQserverVersion(connection); }
void offer_pg_close(conn *connection) { pq.PQfinish(connection); }

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits until the socket is ready. Returns false after the deadline or an error.
static bool wait_for(conn *connection, short events, int64_t deadline) {
  struct pollfd socket = {.fd = pq.PQsocket(connection), .events = events};
  for (;;) {
    int64_t rest = deadline - now();
    if (rest <= 0 || socket.fd < 0) return false;
    int count = poll(&socket, 1, (int)rest);
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

/// Sends everything in libpq's output buffer.
static bool flush(conn *connection, int64_t deadline) {
  for (;;) {
    int unsent = pq.PQflush(connection);
    if (unsent <= 0) return unsent == 0;
    // The server may be waiting for the client to read.
    if (!wait_for(connection, POLLIN | POLLOUT, deadline) || !pq.PQconsumeInput(connection)) return false;
  }
}

/// Waits for the next result, which is NULL after the last result of a statement.
static bool take(conn *connection, int64_t deadline, res **result) {
  while (pq.PQisBusy(connection)) {
    if (!wait_for(connection, POLLIN, deadline) || !pq.PQconsumeInput(connection)) return false;
  }
  *result = pq.PQgetResult(connection);
  return true;
}

bool offer_pg_begin(conn *connection) { return pq.PQenterPipelineMode(connection) != 0; }

bool offer_pg_queue_preparation(conn *connection, const char *name, const char *sql) {
  return pq.PQsendPrepare(connection, name, sql, 0, NULL) != 0;
}

bool offer_pg_queue(conn *connection, const char *name, int count, const char *const *values, const int *lengths,
                    const int *formats) {
  return pq.PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) != 0;
}

bool offer_pg_send(conn *connection, int milliseconds) {
  return pq.PQpipelineSync(connection) && flush(connection, now() + milliseconds);
}

res *offer_pg_next(conn *connection, int milliseconds) {
  int64_t deadline = now() + milliseconds;
  res *result = NULL, *end = NULL;
  if (!take(connection, deadline, &result) || !result) return NULL;
  if (take(connection, deadline, &end) && !end) return result;
  if (end) pq.PQclear(end);
  pq.PQclear(result);
  return NULL;
}

bool offer_pg_end(conn *connection, int milliseconds) {
  res *mark = NULL;
  if (!take(connection, now() + milliseconds, &mark) || !mark) return false;
  bool is_mark = pq.PQresultStatus(mark) == PGRES_PIPELINE_SYNC;
  pq.PQclear(mark);
  return is_mark && pq.PQexitPipelineMode(connection);
}

res *offer_pg_run(conn *connection, const char *sql, int milliseconds) {
  int64_t deadline = now() + milliseconds;
  if (!pq.PQsendQuery(connection, sql) || !flush(connection, deadline)) return NULL;
  res *last = NULL;
  bool has_failed = false;
  for (;;) {
    res *next = NULL;
    if (!take(connection, deadline, &next)) {
      if (last) pq.PQclear(last);
      return NULL;
    }
    if (!next) return last;
    if (has_failed) {
      pq.PQclear(next);
    } else {
      if (last) pq.PQclear(last);
      last = next;
      has_failed = !offer_pg_succeeded(next);
    }
  }
}

bool offer_pg_succeeded(const res *result) {
  int status = pq.PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

const char *offer_pg_state(const res *result) { return pq.PQresultErrorField(result, DIAG_SQLSTATE); }
const char *offer_pg_message(const res *result) { return pq.PQresultErrorField(result, DIAG_MESSAGE); }
int offer_pg_rows(const res *result) { return pq.PQntuples(result); }
int offer_pg_columns(const res *result) { return pq.PQnfields(result); }
const char *offer_pg_column_name(const res *result, int column) { return pq.PQfname(result, column); }
uint32_t offer_pg_column_type(const res *result, int column) { return pq.PQftype(result, column); }
bool offer_pg_is_null(const res *result, int row, int column) { return pq.PQgetisnull(result, row, column) != 0; }
const char *offer_pg_value(const res *result, int row, int column) { return pq.PQgetvalue(result, row, column); }
int offer_pg_length(const res *result, int row, int column) { return pq.PQgetlength(result, row, column); }
long offer_pg_changes(const res *result) { return strtol(pq.PQcmdTuples((res *)result), NULL, 10); }
void offer_pg_free(res *result) { pq.PQclear(result); }
