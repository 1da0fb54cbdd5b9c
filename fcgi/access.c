#include "fcgi/access.h"

#include "fcgi/supervisor.h"
#include "shared/base/str.h"

int access_token(const struct config *c, const struct request *rq, struct err *err)
{
    if (!*c->api_token)
        return err_set(err, ERR_UNAVAILABLE, 0, "AGENT_SIMULATOR_API_TOKEN is not set, so every request is refused");
    if (!str_eq_consttime(request_param(rq, "HTTP_X_AGENT_SIMULATOR_TOKEN"), c->api_token))
        return err_set(err, ERR_AUTH, 0, "The header X-Agent-Simulator-Token is missing or wrong");
    return 0;
}

int access_actor(const struct config *c, const char *supervisor_socket, const struct request *rq,
                 char ret[RPC_ACTOR_MAX + 1], struct err *err)
{
    const char *session = request_param(rq, "HTTP_X_GITHUB_SESSION");

    if (c->require_auth) {
        if (!*session)
            return err_set(err, ERR_AUTH, 0, "Sign in with GitHub to use the agent simulator");
        return supervisor_signin_check(supervisor_socket, session, ret, err);
    }
    actor_from_address(request_param(rq, "REMOTE_ADDR"), ret);
    return 0;
}
