/* shared/base/log.h -- one line per event on standard error, as text or JSON.
 * The sink (program name, format, level) is the one file-scope state the project allows itself.
 * Library code logs at debug level at most; main, handlers and callbacks log once, at the edge.
 * Hostile text is safe in fields and messages: control characters are escaped, so a line stays a line. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

/* Audit lines say who started, attached or ended what; they are written at every level. */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_AUDIT, LOG__MAX };

/* program must outlive the process (a literal). Before the call: text, info, program "agentsim". */
void log_setup(const char *program, bool json, enum log_level least);

/* "debug", "info", "warn", "error" -> least level: 0, or -1. */
int log_level_parse(const char *name, enum log_level *ret);

/* Identity of what the following lines belong to (request or session id), both copied; NULL clears. */
void log_context(const char *request, const char *session);

/* An audit line about a session: who is an actor, what a verb in the past and what belongs to it. */
void log_audit(const char *session, const char *who, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
