/* shared/generate/personalize.h -- a model with profiles (6.6) becomes one model: the agent's own states, behind a
 * router, and the states and intents of every profile that has a conversation of its own. */
#ifndef GENERATE_PERSONALIZE_H
#define GENERATE_PERSONALIZE_H

#include "shared/base/err.h"
#include "shared/diagram/model.h"

/* Nothing without profiles. Else m has the router as its first and only initial state, the agent's first state behind
 * it, and what the profiles' agents had: states, intents and conditions under names of their own, LLMs, stores, GUIs,
 * tools, skills and workspaces unless the agent has one of that name. What shows a model as it was drawn has to be
 * written before. 0, or -1 and m is only good for model_release(). */
int personalize(struct model *m, struct err *err);

#endif
