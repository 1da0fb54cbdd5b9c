/* fcgi/body.h -- JSON bodies: parsed once, their shape judged by rows, faults answered as the contract says
 * (422 list; 400 for what no reader should take; 413). */
#ifndef FCGI_BODY_H
#define FCGI_BODY_H

#include <cjson/cJSON.h>

#include "fcgi/reply.h"
#include "fcgi/request.h"
#include "shared/json/json.h"

/* The body as an object that keeps the rules, the caller's to give to body_free(); NULL when rp holds the answer.
 * *ret_nul: a text holds U+0000 (it reads as U+FFFD); the caller refuses it where the order of checks says so. */
cJSON *body_parse(const struct request *rq, struct reply *rp, const struct field_rule *rules, size_t rules_len,
                  bool *ret_nul);

/* Frees, and wipes every text below the member secrets (NULL: none has any). */
void body_free(cJSON *body, const char *secrets);

/* Text of a member, NULL when absent or null. */
const char *body_text(const cJSON *body, const char *key);

#endif
