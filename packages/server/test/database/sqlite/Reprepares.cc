// A loadable extension for tests: reprepares() returns how often SQLite prepared statements of the connection again.
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1

static void reprepares(sqlite3_context *context, int, sqlite3_value **) {
  sqlite3 *database = sqlite3_context_db_handle(context);
  sqlite3_int64 count = 0;
  for (sqlite3_stmt *each = 0; (each = sqlite3_next_stmt(database, each));)
    count += sqlite3_stmt_status(each, SQLITE_STMTSTATUS_REPREPARE, 0);
  sqlite3_result_int64(context, count);
}

extern "C" int sqlite3_reprepares_init(sqlite3 *database, char **, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  return sqlite3_create_function(database, "reprepares", 0, SQLITE_UTF8, 0, reprepares, 0, 0);
}
