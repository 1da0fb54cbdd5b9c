/* Why an agent ended, and the words for it. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/cgroup_fs.h"
#include "supervisor/holder/holder.h"

int64_t verdict_memory_kills(const struct holder *h)
{
    char text[2048];
    ssize_t n = h->memory_events < 0 ? -1 : pread(h->memory_events, text, sizeof(text) - 1, 0);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    return cgroup_counter(text, "oom_kill");
}

/* Has the kernel killed something of the agent for want of memory? */
static bool was_short_of_memory(const struct holder *h)
{
    return verdict_memory_kills(h) > h->kills;
}

/* The kernel names nobody whom it kills for memory: SIGKILL, which nobody else sends but for processor time. */
static enum hold_reason reason_of_signal(const struct holder *h, uint32_t signal_number, uint32_t cpu_ms)
{
    if (signal_number == SIGXCPU || (signal_number == SIGKILL && cpu_ms >= (uint32_t)(h->config.rlimit_cpu_s * 1000)))
        return HOLD_REASON_CPU;
    return signal_number == SIGKILL && was_short_of_memory(h) ? HOLD_REASON_MEMORY : HOLD_REASON_SIGNALED;
}

/* What pid1 saw. A process that was killed for its processor time got SIGXCPU, or SIGKILL a second later. */
void verdict_find(struct holder *h)
{
    const struct agent *a = &h->agent;
    int status = a->end.value;

    if (!a->running) {
        h->reason = HOLD_REASON_START_FAILED;
    } else if (!a->ended || a->end.kind != PID1_ENDED) {
        h->code = SIGKILL; /* the sandbox itself was ended from outside */
        h->reason = reason_of_signal(h, SIGKILL, 0);
    } else if (WIFEXITED(status)) {
        h->reason = HOLD_REASON_EXITED;
        h->code = (uint32_t)WEXITSTATUS(status);
    } else {
        h->code = (uint32_t)WTERMSIG(status);
        h->reason = reason_of_signal(h, h->code, a->end.cpu_ms);
    }
}

void verdict_sentence(const struct holder *h, const struct err *start_error, char *text, size_t size)
{
    if (start_error)
        (void)snprintf(text, size, "The agent could not be started: %s.", start_error->msg);
    else if (!h->agent.running)
        (void)snprintf(text, size, "The agent could not be started.");
    else if (h->reason == HOLD_REASON_START_FAILED)
        (void)snprintf(text, size, "The agent was not ready after %lld seconds.", (long long)h->config.ready_s);
    else if (h->reason == HOLD_REASON_EXITED)
        (void)snprintf(text, size, "The agent ended before it was ready (exit code %u).", h->code);
    else if (h->reason == HOLD_REASON_MEMORY)
        (void)snprintf(text, size, "The agent needed more memory than it may have before it was ready.");
    else if (h->reason == HOLD_REASON_CPU)
        (void)snprintf(text, size, "The agent used up its processor time before it was ready.");
    else
        (void)snprintf(text, size, "The agent was ended by signal %u before it was ready.", h->code);
}

void verdict_of_start(const struct holder *h, const struct err *start_error, struct err *err)
{
    if (start_error)
        *err = *start_error;
    else if (h->agent.ended && h->agent.end.kind == PID1_FAILED)
        err_set(err, ERR_UNAVAILABLE, h->agent.end.value, "start the interpreter inside the sandbox");
    else if (h->agent.ended && h->agent.end.kind == PID1_DEAF)
        err_set(err, ERR_UNAVAILABLE, h->agent.end.value, "listen for the egress proxy inside the sandbox");
    else if (h->tail.len)
        err_set(err, ERR_UNAVAILABLE, 0, "the sandbox could not be built: %.300s", h->tail.data);
    else
        err_set(err, ERR_UNAVAILABLE, 0, "the sandbox could not be built (wait status 0x%x)", h->agent.status);
}
