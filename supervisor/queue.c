#include "supervisor/queue.h"

#include <string.h>

#include "shared/base/mem.h"

struct queue_line {
    struct list link; /* in queue.lines */
    struct list entries;
    size_t len;
    char owner[];
};

static struct queue_line *line_at(struct list *l)
{
    return list_entry(l, struct queue_line, link);
}

void queue_init(struct queue *q, size_t max, size_t max_of_one)
{
    *q = (struct queue){ .max = max, .max_of_one = max_of_one };
    list_init(&q->lines);
}

void queue_release(struct queue *q)
{
    if (!q->lines.next)
        return;
    while (q->count)
        queue_take(q);
}

static struct queue_line *line_of(const struct queue *q, const char *owner)
{
    struct list *l;

    for (l = q->lines.next; l != &q->lines; l = l->next)
        if (strcmp(line_at(l)->owner, owner) == 0)
            return line_at(l);
    return NULL;
}

static struct queue_line *add_line(struct queue *q, const char *owner)
{
    size_t len = strlen(owner) + 1;
    struct queue_line *line = mem_zalloc(1, sizeof(*line) + len);

    if (!line)
        return NULL;
    memcpy(line->owner, owner, len);
    list_init(&line->link);
    list_init(&line->entries);
    list_append(&q->lines, &line->link);
    return line;
}

int queue_join(struct queue *q, struct queue_entry *e, const char *owner)
{
    struct queue_line *line = line_of(q, owner);

    if (q->count >= q->max || (line && line->len >= q->max_of_one))
        return -1;
    if (!line)
        line = add_line(q, owner);
    if (!line)
        return -1;
    list_init(&e->link);
    list_append(&line->entries, &e->link);
    e->line = line;
    line->len++;
    q->count++;
    return 0;
}

void queue_leave(struct queue *q, struct queue_entry *e)
{
    struct queue_line *line = e->line;

    if (!line)
        return;
    list_remove(&e->link);
    e->line = NULL;
    q->count--;
    if (--line->len)
        return;
    list_remove(&line->link);
    mem_free(line);
}

struct queue_entry *queue_first(const struct queue *q)
{
    return q->count ? list_entry(line_at(q->lines.next)->entries.next, struct queue_entry, link) : NULL;
}

struct queue_entry *queue_take(struct queue *q)
{
    struct queue_entry *e = queue_first(q);

    if (!e)
        return NULL;
    list_append(&q->lines, &e->line->link);
    queue_leave(q, e);
    return e;
}

size_t queue_position(const struct queue *q, const struct queue_entry *e)
{
    struct list *l;
    size_t place = 1, position = 0;
    bool before = true;

    if (!e->line)
        return 0;
    for (l = e->line->entries.next; l != &e->link; l = l->next)
        place++; /* its turn comes in this round */
    for (l = q->lines.next; l != &q->lines; l = l->next) {
        const struct queue_line *line = line_at(l);
        size_t turns = line == e->line || before ? place : place - 1;

        position += line->len < turns ? line->len : turns;
        if (line == e->line)
            before = false;
    }
    return position;
}
