// Access to libpq, PostgreSQL's client library. It is loaded at first use, so a service without PostgreSQL does not
// need it. A function with a parameter `milliseconds` waits for the server no longer than that.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A connection (PGconn).
typedef struct offer_pg_connection offer_pg_connection;
/// The result of a statement (PGresult).
typedef struct offer_pg_result offer_pg_result;

/// Loads the library. Returns NULL, or the reason why it cannot be loaded.
const char *_Nullable offer_pg_load(void);

/// Parses a connection URL or string and returns the value of one setting, or NULL if the setting is missing. Sets
/// `is_valid` to false if the text is invalid. The caller frees the result with free().
char *_Nullable offer_pg_setting(const char *text, const char *name, bool *is_valid);

/// Connects to a server. `names` and `values` are lists that end with NULL. The setting `dbname` can be a connection
/// URL. Returns NULL if there is no memory. Otherwise, call offer_pg_is_connected() to check for success.
offer_pg_connection *_Nullable offer_pg_connect(
    const char *_Nullable const *_Nonnull names, const char *_Nullable const *_Nonnull values);

bool offer_pg_is_connected(offer_pg_connection *connection);

/// Returns the reason why the last call failed. The text ends with a line break.
const char *offer_pg_error(offer_pg_connection *connection);


/// Returns the process ID of the server process.
int offer_pg_backend(offer_pg_connection *connection);

/// Returns the server version, such as 150018 for 15.18.
int offer_pg_server_version(offer_pg_connection *connection);

void offer_pg_close(offer_pg_connection *connection);

/// Begins a queue of statements that are sent to the server together, in libpq's pipeline mode. If the connection fails
/// or the server does not answer in time, this function and those up to offer_pg_run() return false or NULL. The
/// connection is then unusable.
bool offer_pg_begin(offer_pg_connection *connection);

/// Queues the preparation of a statement. A statement with an empty name is for one use.
bool offer_pg_queue_preparation(offer_pg_connection *connection, const char *name, const char *sql);

/// Queues the execution of a prepared statement. Parameter values are bytes where `formats` is 1, and otherwise text. A
/// NULL pointer is an SQL NULL. All columns of the result are in binary format.
bool offer_pg_queue(
    offer_pg_connection *connection, const char *name, int count, const char *_Nullable const *_Nullable values,
    const int *_Nullable lengths, const int *_Nullable formats);

/// Sends the queue. Call offer_pg_next() once for each entry, and then offer_pg_end().
bool offer_pg_send(offer_pg_connection *connection, int milliseconds);

/// Returns the result of the next entry. After a failed entry, all later entries fail too.
offer_pg_result *_Nullable offer_pg_next(offer_pg_connection *connection, int milliseconds);

/// Ends the queue. Call this after reading the last result.
bool offer_pg_end(offer_pg_connection *connection, int milliseconds);

/// Executes statements without parameters, such as `BEGIN; SET …`. Returns the result of the statement that failed, or
/// else of the last statement.
offer_pg_result *_Nullable offer_pg_run(offer_pg_connection *connection, const char *sql, int milliseconds);

bool offer_pg_succeeded(const offer_pg_result *result);

/// Returns the five-character SQLSTATE of the error, or NULL if there is none.
const char *_Nullable offer_pg_state(const offer_pg_result *result);

/// Returns the primary error message, or NULL if there is none.
const char *_Nullable offer_pg_message(const offer_pg_result *result);

int offer_pg_rows(const offer_pg_result *result);
int offer_pg_columns(const offer_pg_result *result);
const char *_Nullable offer_pg_column_name(const offer_pg_result *result, int column);

/// Returns the OID of a column's type.
uint32_t offer_pg_column_type(const offer_pg_result *result, int column);

bool offer_pg_is_null(const offer_pg_result *result, int row, int column);
const char *_Nullable offer_pg_value(const offer_pg_result *result, int row, int column);
int offer_pg_length(const offer_pg_result *result, int row, int column);

/// Returns the number of rows that the statement changed.
long offer_pg_changes(const offer_pg_result *result);

void offer_pg_free(offer_pg_result *result);

#pragma clang assume_nonnull end
