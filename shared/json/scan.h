/* shared/json/scan.h -- the strict reader in front of cJSON, which by itself takes too much (control characters,
 * 01, 1.) and too little (numbers of more than 63 characters, unpaired surrogates). Only json.c calls it. Owns nothing,
 * allocates nothing, recurses not. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include "shared/json/json.h"

#define JSON_DEPTH_MAX 1000      /* also cJSON's own limit */
#define JSON_VALUES_MAX 1500000u /* a tree node takes about 80 bytes: 120 MB; 25 000 states have as many */

struct json_scan {
    bool nul;     /* an escaped U+0000 was seen */
    bool repair;  /* cJSON needs the text changed as json_scan() does with fix */
    size_t exact; /* numbers of which a double does not tell all: how many digits, that 1.0 is no integer */
};

/* One of those: the how manieth number of the text, and where it stands. */
struct json_exact {
    size_t ordinal, offset, len;
};

/* Checks text (valid UTF-8) against RFC 8259 and the limits: 0, or -1 and *ret_error.
 * fix NULL: only looks. fix: a writable copy of text in which unpaired surrogates and U+0000 become \ufffd and long
 * numbers short ones followed by blanks, so that all offsets stay. exact NULL: they are only
 * counted; else room for as many as a first look counted. */
int json_scan(const char *text, size_t len, char *fix, struct json_exact *exact, struct json_scan *ret,
              struct json_error *ret_error);

#endif
