/* SPDX-License-Identifier: Apache-2.0 */
#include "variables.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "owner.h"

/* The longest wait for another process. */
#define BUSY_MS 2000

/* Times before this one (2023-11-14) come from a clock that was not set yet. */
#define CLOCK_SET_S 1700000000

struct variables {
	sqlite3 *database;
	char path[];
};

static const char making[] =
	"PRAGMA temp_store = MEMORY;"
	"PRAGMA synchronous = FULL;"
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, owner TEXT NOT NULL,"
	" session TEXT NOT NULL, set_s INTEGER NOT NULL, UNIQUE (owner, session));"
	"CREATE TABLE IF NOT EXISTS variables (session INTEGER NOT NULL, name TEXT NOT NULL,"
	" value TEXT NOT NULL, PRIMARY KEY (session, name)) WITHOUT ROWID;"
	"CREATE TRIGGER IF NOT EXISTS forgotten AFTER DELETE ON sessions BEGIN"
	" DELETE FROM variables WHERE session = old.id; END;"
	"COMMIT";

/* ── statements ──────────────────────────────────────────────────────────────────────────────── */

static bool fail_database(struct variables *variables, struct text *why)
{
	int status = sqlite3_extended_errcode(variables->database);

	text_printf(
		why, "the database %s: %s", variables->path, sqlite3_errmsg(variables->database));
	if ((status & 0xFF) == SQLITE_CORRUPT || (status & 0xFF) == SQLITE_NOTADB)
		text_put(why, "; move the file away to begin a new one");
	if ((status & 0xFF) == SQLITE_BUSY)
		text_put(why, " by another process; try again");
	return false;
}

/* Prepare @sql, and bind @texts for the letters of @types: `s` a text, `i` an int64_t. Return NULL
 * with @why. */
static sqlite3_stmt *prepare(
	struct variables *variables, struct text *why, const char *sql, const char *types, ...)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(variables->database, sql, -1, &statement, NULL);
	va_list values;

	va_start(values, types);
	for (int i = 0; r == SQLITE_OK && types[i]; i++)
		r = types[i] == 's' ? sqlite3_bind_text(statement, i + 1,
					      va_arg(values, const char *), -1, SQLITE_STATIC)
				    : sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
	va_end(values);
	if (r == SQLITE_OK)
		return statement;
	fail_database(variables, why);
	sqlite3_finalize(statement);
	return NULL;
}

/* Run @statement, which may be NULL, to its end. Return false with @why. */
static bool run(struct variables *variables, sqlite3_stmt *statement, struct text *why)
{
	int r = SQLITE_ROW;

	if (!statement)
		return false;
	while (r == SQLITE_ROW)
		r = sqlite3_step(statement);
	if (r != SQLITE_DONE)
		fail_database(variables, why);
	sqlite3_finalize(statement);
	return r == SQLITE_DONE;
}

/* Take the number in the one row of @statement, which may be NULL. Return false with @why. */
static bool run_for_number(
	struct variables *variables, sqlite3_stmt *statement, int64_t *ret_number, struct text *why)
{
	if (!statement)
		return false;
	if (sqlite3_step(statement) != SQLITE_ROW) {
		fail_database(variables, why);
		sqlite3_finalize(statement);
		return false;
	}
	*ret_number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return true;
}

/* ── open, close ─────────────────────────────────────────────────────────────────────────────── */

struct variables *variables_open(const char *path, struct text *why)
{
	struct variables *variables = calloc(1, sizeof(*variables) + strlen(path) + 1);
	int r;

	if (!variables) {
		text_put(why, "out of memory");
		return NULL;
	}
	strcpy(variables->path, path);
	r = sqlite3_open_v2(path, &variables->database,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
			SQLITE_OPEN_EXRESCODE,
		NULL);
	if (r == SQLITE_OK)
		r = sqlite3_busy_timeout(variables->database, BUSY_MS);
	if (r == SQLITE_OK)
		r = sqlite3_exec(variables->database, making, NULL, NULL, NULL);
	if (r == SQLITE_OK)
		return variables;
	if (variables->database)
		fail_database(variables, why);
	else
		text_put(why, "out of memory");
	variables_close(variables);
	return NULL;
}

void variables_close(struct variables *variables)
{
	if (!variables)
		return;
	/* A transaction that is open is undone. */
	sqlite3_close(variables->database);
	free(variables);
}

bool variables_has_moved(const struct variables *variables)
{
	int has_moved = 0;

	return sqlite3_file_control(variables->database, "main", SQLITE_FCNTL_HAS_MOVED,
		       &has_moved) == SQLITE_OK &&
	       has_moved;
}

/* ── set ─────────────────────────────────────────────────────────────────────────────────────── */

/* Refuse a name or a value in @json that is too long. */
static bool check_sizes(struct variables *variables, const char *json, struct text *why)
{
	sqlite3_stmt *statement = prepare(variables, why,
		"SELECT key, length(CAST(key AS BLOB)), length(CAST(value AS BLOB))"
		" FROM json_each(?) WHERE length(CAST(key AS BLOB)) NOT BETWEEN 1 AND ?"
		" OR length(CAST(value AS BLOB)) > ? LIMIT 1",
		"sii", json, (int64_t)VARIABLE_NAME_BYTES, (int64_t)VARIABLE_VALUE_BYTES);
	int r = statement ? sqlite3_step(statement) : SQLITE_ERROR;

	if (r == SQLITE_ROW) {
		text_printf(why,
			"the variable '%.60s' has a name of %d and a value of %d bytes; a name has "
			"1 to %d, a value at most %d",
			(const char *)sqlite3_column_text(statement, 0),
			sqlite3_column_int(statement, 1), sqlite3_column_int(statement, 2),
			VARIABLE_NAME_BYTES, VARIABLE_VALUE_BYTES);
	} else if (r != SQLITE_DONE && statement) {
		fail_database(variables, why);
	}
	sqlite3_finalize(statement);
	return r == SQLITE_DONE;
}

/* Forget sessions without a change for too long. Times of a clock that was not set count as now. */
static bool forget_old(struct variables *variables, int64_t now_s, struct text *why)
{
	if (now_s < CLOCK_SET_S)
		return true;
	return run(variables,
		       prepare(variables, why, "UPDATE sessions SET set_s = ? WHERE set_s < ?",
			       "ii", now_s, (int64_t)CLOCK_SET_S),
		       why) &&
	       run(variables,
		       prepare(variables, why, "DELETE FROM sessions WHERE set_s <= ?", "i",
			       now_s - VARIABLES_KEPT_S),
		       why);
}

/* Note the change of the session, which is made if it is new, and find its row. */
static bool touch_session(struct variables *variables, const struct variables_session *session,
	int64_t now_s, int64_t *ret_row, struct text *why)
{
	return run_for_number(variables,
		prepare(variables, why,
			"INSERT INTO sessions (owner, session, set_s) VALUES (?, ?, ?)"
			" ON CONFLICT (owner, session) DO UPDATE SET set_s = excluded.set_s"
			" RETURNING id",
			"ssi", session->owner, session->id, now_s),
		ret_row, why);
}

/* Set the variables, and count what the session has then. */
static bool set_all(struct variables *variables, int64_t row, const char *json, int64_t *ret_n,
	struct text *why)
{
	if (!run(variables,
		    prepare(variables, why,
			    "INSERT OR REPLACE INTO variables (session, name, value)"
			    " SELECT ?, key, value FROM json_each(?)",
			    "is", row, json),
		    why) ||
		!run_for_number(variables,
			prepare(variables, why, "SELECT count(*) FROM variables WHERE session = ?",
				"i", row),
			ret_n, why))
		return false;
	if (*ret_n <= VARIABLES_MAX)
		return true;
	text_printf(why, "the session would have %lld variables; at most %d are kept",
		(long long)*ret_n, VARIABLES_MAX);
	return false;
}

/* Return whether there are more sessions, or more bytes, than the bounds allow. */
static bool is_over(struct variables *variables, bool *ret_is_over, struct text *why)
{
	int64_t sessions;
	int64_t bytes;

	if (!run_for_number(variables, prepare(variables, why, "SELECT count(*) FROM sessions", ""),
		    &sessions, why) ||
		!run_for_number(variables,
			prepare(variables, why,
				"SELECT (page_count - freelist_count) * page_size FROM"
				" pragma_page_count, pragma_freelist_count, pragma_page_size",
				""),
			&bytes, why))
		return false;
	*ret_is_over = sessions > SESSIONS_MAX || bytes > (int64_t)VARIABLES_BYTES_MAX;
	return true;
}

/* Find whether @owner has more sessions, or more bytes, than its share. */
static bool has_much(
	struct variables *variables, const char *owner, int64_t *ret_has_much, struct text *why)
{
	return run_for_number(variables,
		prepare(variables, why,
			"SELECT (SELECT count(*) FROM sessions WHERE owner = ?1) > ?2 OR"
			" (SELECT total(length(CAST(name AS BLOB)) + length(CAST(value AS BLOB)))"
			" FROM variables JOIN sessions ON sessions.id = variables.session"
			" WHERE owner = ?1) > ?3",
			"sii", owner, (int64_t)(SESSIONS_MAX / OWNER_SHARE),
			(int64_t)(VARIABLES_BYTES_MAX / OWNER_SHARE)),
		ret_has_much, why);
}

/* Forget the session that was not changed for longest, but for @row, of @owner: of this owner alone
 * if it has more than its share. */
static bool forget_oldest(
	struct variables *variables, const char *owner, int64_t row, struct text *why)
{
	int64_t much;

	return has_much(variables, owner, &much, why) &&
	       run(variables,
		       prepare(variables, why,
			       "DELETE FROM sessions WHERE id = (SELECT id FROM sessions"
			       " WHERE id <> ? AND (NOT ? OR owner = ?)"
			       " ORDER BY set_s, id LIMIT 1)",
			       "iis", row, much, owner),
		       why);
}

/* Forget sessions, but for @row of @owner, until the rest has room. */
static bool make_room(struct variables *variables, const char *owner, int64_t row, struct text *why)
{
	bool over;
	int changes = 1;

	while (is_over(variables, &over, why)) {
		if (!over || changes == 0)
			return true;
		if (!forget_oldest(variables, owner, row, why))
			return false;
		changes = sqlite3_changes(variables->database);
	}
	return false;
}

int variables_set(struct variables *variables, const struct variables_session *session,
	const char *json, int64_t now_s, struct text *why)
{
	int64_t row;
	int64_t n = 0;

	if (!check_sizes(variables, json, why) ||
		!run(variables, prepare(variables, why, "BEGIN IMMEDIATE", ""), why))
		return -1;
	if (forget_old(variables, now_s, why) &&
		touch_session(variables, session, now_s, &row, why) &&
		set_all(variables, row, json, &n, why) &&
		make_room(variables, session->owner, row, why) &&
		run(variables, prepare(variables, why, "COMMIT", ""), why))
		return (int)n;
	/* SQLite has ended the transaction already where the disk is full. */
	sqlite3_exec(variables->database, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

/* ── get ─────────────────────────────────────────────────────────────────────────────────────── */

bool variables_get(struct variables *variables, const struct variables_session *session,
	int64_t now_s, variables_function function, void *data, struct text *why)
{
	sqlite3_stmt *statement = prepare(variables, why,
		"SELECT name, value FROM variables JOIN sessions ON sessions.id = variables.session"
		" WHERE owner = ? AND sessions.session = ? AND (set_s > ? OR set_s < ?)"
		" ORDER BY name",
		"ssii", session->owner, session->id, now_s - VARIABLES_KEPT_S,
		(int64_t)CLOCK_SET_S);
	int r = SQLITE_ROW;

	if (!statement)
		return false;
	while ((r = sqlite3_step(statement)) == SQLITE_ROW)
		function(data, (const char *)sqlite3_column_text(statement, 0),
			(const char *)sqlite3_column_text(statement, 1),
			(size_t)sqlite3_column_bytes(statement, 1));
	if (r != SQLITE_DONE)
		fail_database(variables, why);
	sqlite3_finalize(statement);
	return r == SQLITE_DONE;
}
