/* supervisor/relay/auth.h -- the first frame of a browser (HTTP contract, section 3). Pure. */
#ifndef RELAY_AUTH_H
#define RELAY_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/ipc/signin.h"

#define AUTH_FRAME_MAX (16u << 10) /* more than any sign-in needs; nobody is known yet */

struct auth {
    bool signed_in;   /* a GitHub session was named; whether it exists is another question */
    bool well_formed; /* it looks like one, and signin is its digest */
    struct signin_hash signin;
    bool resumes;      /* "received" is there */
    uint64_t received; /* frames the client has got since its first auth_ok */
    bool wants_exit;   /* feature "exit" */
};

/* 0, or -1 (ERR_AUTH, a sentence for the client). */
int auth_parse(const char *text, size_t len, struct auth *ret, struct err *err);

#endif
