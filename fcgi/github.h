/* fcgi/github.h -- asks GitHub who somebody is: the code of a sign-in becomes a token, the token a user, and the token
 * is overwritten. The only user of libcurl in a worker. Blocks, but never longer than GITHUB_TOTAL_MS; follows no
 * redirect, takes no long answer, verifies TLS. What GitHub says is as hostile as what a browser says. */
#ifndef FCGI_GITHUB_H
#define FCGI_GITHUB_H

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "shared/ipc/signin.h"

#define GITHUB_TOTAL_MS 8000
#define GITHUB_CODE_MAX 512
#define GITHUB_WORD_MAX 64

struct github_user {
    char login[SIGNIN_LOGIN_MAX + 1];
    char avatar[SIGNIN_AVATAR_MAX + 1]; /* "" when there is none that can be shown */
};

/* 0, or -1: word is what the browser is told ("no_access_token", "github_api_error", or GitHub's own), err is for the
 * log and has no secret. */
int github_sign_in(const struct config *c, const char *code, struct github_user *ret, char word[GITHUB_WORD_MAX + 1],
                   struct err *err);

/* GitHub's word for what went wrong, as far as it is one; "github_api_error" for what is none. */
void github_word(const char *said, char word[GITHUB_WORD_MAX + 1]);

/* Address of GitHub's page where a person agrees, appended to out. */
void github_authorize_url(const struct config *c, const char *state, struct buf *out);

#endif
