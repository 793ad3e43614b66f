// PostgreSQL's client library libpq, which is loaded when it is first needed, so that a service without PostgreSQL does not
// need it. Its functions wait for the server no longer than a deadline.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A connection (PGconn).
typedef struct offer_pg_connection offer_pg_connection;
/// The result of a statement (PGresult).
typedef struct offer_pg_result offer_pg_result;

/// Loads the library. Returns NULL, or why it cannot be loaded.
const char *_Nullable offer_pg_load(void);

/// Reads a connection URL or string and returns the value of one of its settings, or NULL if it has none. If the text is
/// invalid, `is_valid` becomes false. The caller frees the result with free().
char *_Nullable offer_pg_setting(const char *text, const char *name, bool *is_valid);

/// Connects. `names` and `values` are settings and end with NULL. A setting `dbname` can be a connection URL.
/// Returns NULL if there is no memory. Otherwise, see offer_pg_is_connected().
offer_pg_connection *_Nullable offer_pg_connect(
    const char *_Nullable const *_Nonnull names, const char *_Nullable const *_Nonnull values);

bool offer_pg_is_connected(offer_pg_connection *connection);

/// Why the last call failed. It ends with a line break.
const char *offer_pg_error(offer_pg_connection *connection);


/// The number of the server process.
int offer_pg_backend(offer_pg_connection *connection);

/// The version of the server, such as 150018 for 15.18.
int offer_pg_server_version(offer_pg_connection *connection);

void offer_pg_close(offer_pg_connection *connection);

/// Begins a queue of statements, which travel to the server together: libpq's pipeline mode. The functions below that return
/// bool return false, and those that return a result NULL, if the connection failed or the server did not answer in time. The
/// connection is then of no more use.
bool offer_pg_begin(offer_pg_connection *connection);

/// Queues the preparation of a statement. An empty name stands for one that is used once.
bool offer_pg_queue_preparation(offer_pg_connection *connection, const char *name, const char *sql);

/// Queues the execution of a prepared statement. Values of parameters are text or, where `formats` has 1, bytes; NULL is NULL.
/// The result has all columns in binary form.
bool offer_pg_queue(
    offer_pg_connection *connection, const char *name, int count, const char *_Nullable const *_Nullable values,
    const int *_Nullable lengths, const int *_Nullable formats);

/// Sends the queue. Call offer_pg_next() once for each entry of it, and then offer_pg_end().
bool offer_pg_send(offer_pg_connection *connection, int milliseconds);

/// Returns the result of the next entry. After a failed entry, all others fail too.
offer_pg_result *_Nullable offer_pg_next(offer_pg_connection *connection, int milliseconds);

/// Ends the queue after its last result.
bool offer_pg_end(offer_pg_connection *connection, int milliseconds);

/// Executes statements without parameters, such as `BEGIN; SET …`. The result is that of the last one, or of the one that failed.
offer_pg_result *_Nullable offer_pg_run(offer_pg_connection *connection, const char *sql, int milliseconds);

bool offer_pg_succeeded(const offer_pg_result *result);

/// The SQLSTATE of the error: five characters, or NULL.
const char *_Nullable offer_pg_state(const offer_pg_result *result);

/// The first line of the server's message, or NULL.
const char *_Nullable offer_pg_message(const offer_pg_result *result);

int offer_pg_rows(const offer_pg_result *result);
int offer_pg_columns(const offer_pg_result *result);
const char *_Nullable offer_pg_column_name(const offer_pg_result *result, int column);

/// The type of a column, as a number of the server's catalogue.
uint32_t offer_pg_column_type(const offer_pg_result *result, int column);

bool offer_pg_is_null(const offer_pg_result *result, int row, int column);
const char *_Nullable offer_pg_value(const offer_pg_result *result, int row, int column);
int offer_pg_length(const offer_pg_result *result, int row, int column);

/// The number of rows that the statement changed.
long offer_pg_changes(const offer_pg_result *result);

void offer_pg_free(offer_pg_result *result);

#pragma clang assume_nonnull end
