/* shared/python/answer.h -- what parser.c and the jail say to each other, over frame.h on one socket.
 * The jail is the less trusted side: its answers are bounded, decoded once, and nothing else is believed.
 * Not for other users of the parser: they read parser.h. */
#ifndef PYTHON_ANSWER_H
#define PYTHON_ANSWER_H

#include <stddef.h>

#include "shared/base/err.h"
#include "shared/python/parser.h"

#define ANSWER_FRAME_MAX (9u << 20) /* one message of the jail */
#define ANSWER_FACTS_MAX (8u << 20) /* facts in wire form */
#define ANSWER_TREE_MAX (64u << 20) /* tree text, all chunks together */
#define ANSWER_ERROR_MAX 400        /* bytes of CPython's message */

/* Parser -> jail; payload: the source. */
enum python_ask {
    ASK_FACTS = 1,
    ASK_TREE,
    ASK_VERDICT,
};

/* Jail -> parser. */
enum python_answer {
    ANSWER_READY = 64, /* nothing: once, when the walls stand; questions may come */
    ANSWER_FACTS,      /* answer to ASK_FACTS, see facts.c for the fields */
    ANSWER_VALID,      /* nothing: answer to ASK_VERDICT */
    ANSWER_INVALID,    /* u32 line, u32 column, str message: answer to each, it does not compile */
    ANSWER_CHUNK,      /* part of a tree's JSON text */
    ANSWER_END,        /* nothing: the tree is whole */
    ANSWER_REFUSED,    /* str sentence: valid, but too large or too deep to describe */
};

/* Bits of a function's flags on the wire. */
enum answer_function {
    FUNCTION_ASYNC = 1,
    FUNCTION_VARARGS = 2,
    FUNCTION_KEYWORDS_REQUIRED = 4,
    FUNCTION_HAS_FIRST = 8
};

/* Bits of a source's flags on the wire. */
enum answer_source { SOURCE_FIRST_IS_DEF = 1, SOURCE_GLOBAL_STATEMENT = 2 };

/* Bits of a name's flags: enum python_name_flag of parser.h. */

/* Payload of ANSWER_FACTS, _VALID or _INVALID -> facts, to be released. -1: malformed (ERR_UPSTREAM) or no memory. */
int python_answer_decode(enum python_answer type, const void *data, size_t len, struct python_facts *ret,
                         struct err *err);

#endif
