#include "shared/diagram/provider.h"

#include <string.h>

#include "shared/base/mem.h"

static const struct llm_provider providers[] = {
    { "openai", "LLMOpenAI", "llm_openai_api", "nlp.openai.api_key" },
    { "huggingface", "LLMHuggingFace", "llm_huggingface", NULL },
    { "huggingface_api", "LLMHuggingFaceAPI", "llm_huggingface_api", "nlp.huggingface.token" },
    { "replicate", "LLMReplicate", "llm_replicate_api", "nlp.replicate.api_key" },
    { "ollama", "LLMOllama", "llm_ollama", NULL },
    { "mistral", "LLMMistral", "llm_mistral", "nlp.mistral.api_key" },
    { "deepseek", "LLMDeepSeek", "llm_deepseek", "nlp.deepseek.api_key" },
    { "google", "LLMGoogle", "llm_google", "nlp.google.api_key" },
    { "meta", "LLMMeta", "llm_meta", "nlp.meta.api_key" },
    { "anthropic", "LLMAnthropic", "llm_anthropic", "nlp.anthropic.api_key" },
    { "qwen", "LLMQwen", "llm_qwen", "nlp.qwen.api_key" },
    { "xai", "LLMxAI", "llm_xai", "nlp.xai.api_key" },
    { "groq", "LLMGroq", "llm_groq", "nlp.groq.api_key" },
    { "together", "LLMTogether", "llm_together", "nlp.together.api_key" },
    { "openrouter", "LLMOpenRouter", "llm_openrouter", "nlp.openrouter.api_key" },
};

const struct llm_provider *llm_provider_find(const char *lower_name)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(providers); i++)
        if (strcmp(providers[i].name, lower_name) == 0)
            return &providers[i];
    return NULL;
}

const struct llm_provider *llm_provider_at(size_t i)
{
    return i < ARRAY_LEN(providers) ? &providers[i] : NULL;
}
