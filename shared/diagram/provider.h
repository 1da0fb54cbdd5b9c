/* shared/diagram/provider.h -- the LLM providers a diagram may name, and what each is at run time
 * (section 2.5). */
#ifndef DIAGRAM_PROVIDER_H
#define DIAGRAM_PROVIDER_H

#include <stddef.h>

struct llm_provider {
    const char *name;         /* "openai" */
    const char *class_name;   /* "LLMOpenAI" */
    const char *module;       /* "llm_openai_api", below baf.nlp.llm */
    const char *key_property; /* "nlp.openai.api_key", NULL = none */
};

const struct llm_provider *llm_provider_find(const char *lower_name); /* NULL = unknown */
const struct llm_provider *llm_provider_at(size_t i);                 /* table order; NULL past the end */

#endif
