/* The jail is the less trusted side: whatever it answers, the decoder stays whole. First byte: the message type. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/python/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct python_facts f = { 0 };
    struct err err = { 0 };
    size_t i, sum = 0;

    if (!size)
        return 0;
    if (python_answer_decode((enum python_answer)data[0], data + 1, size - 1, &f, &err) < 0)
        return 0;
    for (i = 0; i < f.functions_len; i++)
        sum += strlen(f.functions[i].name);
    for (i = 0; i < f.imports_len; i++)
        sum += strlen(f.imports[i].name);
    for (i = 0; i < f.calls_len; i++)
        sum += strlen(f.calls[i].name);
    python_facts_release(&f);
    return sum > size;
}
