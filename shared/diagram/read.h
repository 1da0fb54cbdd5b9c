/* shared/diagram/read.h -- the JSON of a diagram request -> struct model (sections 1 to 4 and 6;
 * rules 1 to 11). Pure: no file, no network, nothing is executed. */
#ifndef DIAGRAM_READ_H
#define DIAGRAM_READ_H

#include <cjson/cJSON.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"

struct python_parser; /* shared/python/parser.h: judges custom code (rules 1 to 5 of section 9) */

/* request: the whole request object ({title, model, config, configYaml, agentComponents}). 0 and
 * *ret filled (warnings may be among the findings), or -1 with *ret untouched: the last finding is
 * an error that says why (phase A stops at the first), or err is filled because the machine failed
 * (memory, parser). parser NULL: custom code is taken unseen, its function names stay NULL. */
int diagram_read(const cJSON *request, struct python_parser *parser, struct model *ret, struct findings *f,
                 struct err *err);

/* The profiles of a download (6.6): config.personalizationMapping of the request that m was read from, each agent_model
 * read like the model. 0 and m->profiles filled, or -1 as above; m can be released either way. */
int diagram_read_profiles(const cJSON *request, struct python_parser *parser, struct model *m, struct findings *f,
                          struct err *err);

#define PROFILES_MAX 100     /* entries of a mapping */
#define PROFILE_SLUG_MAX 200 /* bytes; it is part of the name of every state */

/* Moves what was found in the agent model of profile i to f, saying whose it is. */
void profile_findings(struct findings *f, struct findings *part, const char *name, size_t i);

/* True when the merged working set uses custom code: an actionType CustomCodeAction or replyType
 * code [V22]. Never fails. */
bool diagram_uses_custom_code(const cJSON *request);

#endif
