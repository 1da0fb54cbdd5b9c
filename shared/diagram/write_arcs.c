/* How an arc runs: from side to side, two elbows on the line in the middle. */
#include <math.h>

#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

#define LANES 5      /* arcs of one state whose middle lines differ */
#define LANE_STEP 14 /* pixels */
#define LOOP 40      /* how far an arc to its own state goes out */
#define MARGIN 10    /* of bounds around a path */

struct point {
    double x, y;
};

struct route {
    const char *from, *at; /* sides */
    struct point points[5];
    size_t len;
};

static struct point side_of(const struct box *b, const char *side)
{
    struct point p = { b->x + b->width / 2, b->y + b->height / 2 };

    switch (side[0]) {
    case 'R':
        p.x = b->x + b->width;
        break;
    case 'L':
        p.x = b->x;
        break;
    case 'D':
        p.y = b->y + b->height;
        break;
    default:
        p.y = b->y;
        break;
    }
    return p;
}

/* Out at the right side, back from above. */
static void route_loop(struct route *r, const struct box *b, double lane)
{
    struct point out, in;

    r->from = "Right";
    r->at = "Up";
    out = side_of(b, r->from);
    in = side_of(b, r->at);
    r->points[0] = out;
    r->points[1] = (struct point){ out.x + LOOP + lane, out.y };
    r->points[2] = (struct point){ out.x + LOOP + lane, in.y - LOOP - lane };
    r->points[3] = (struct point){ in.x, in.y - LOOP - lane };
    r->points[4] = in;
    r->len = 5;
}

static void route(struct route *r, const struct box *from, const struct box *at, double lane)
{
    double dx = at->x + at->width / 2 - from->x - from->width / 2;
    double dy = at->y + at->height / 2 - from->y - from->height / 2;
    bool across = fabs(dx) > fabs(dy);
    struct point out, in;

    r->from = across ? (dx > 0 ? "Right" : "Left") : (dy > 0 ? "Down" : "Up");
    r->at = across ? (dx > 0 ? "Left" : "Right") : (dy > 0 ? "Up" : "Down");
    out = side_of(from, r->from);
    in = side_of(at, r->at);
    r->points[0] = out;
    r->points[3] = in;
    if (across) {
        r->points[1] = (struct point){ (out.x + in.x) / 2 + lane, out.y };
        r->points[2] = (struct point){ (out.x + in.x) / 2 + lane, in.y };
    } else {
        r->points[1] = (struct point){ out.x, (out.y + in.y) / 2 + lane };
        r->points[2] = (struct point){ in.x, (out.y + in.y) / 2 + lane };
    }
    r->len = 4;
}

static void add_end(struct diagram_writer *w, cJSON *to, const char *key, const char *id, const char *side,
                    struct point p)
{
    cJSON *end = diagram_add_object(w, to, key);

    diagram_add_text(w, end, "direction", side);
    diagram_add_text(w, end, "element", id);
    diagram_add_bounds(w, end, &(struct box){ p.x, p.y, 0, 0 });
}

static struct box box_of(const struct route *r)
{
    struct point low = r->points[0], high = low;
    size_t i;

    for (i = 1; i < r->len; i++) {
        low.x = fmin(low.x, r->points[i].x);
        low.y = fmin(low.y, r->points[i].y);
        high.x = fmax(high.x, r->points[i].x);
        high.y = fmax(high.y, r->points[i].y);
    }
    return (struct box){ low.x - MARGIN, low.y - MARGIN, high.x - low.x + 2 * MARGIN, high.y - low.y + 2 * MARGIN };
}

static void add_route(struct diagram_writer *w, cJSON *to, const struct route *r, const char *from, const char *at)
{
    const struct box box = box_of(r);
    cJSON *path, *point;
    size_t i;

    diagram_add_bounds(w, to, &box);
    path = diagram_add_array(w, to, "path");
    for (i = 0; i < r->len; i++) {
        point = cJSON_CreateObject();
        diagram_add_number(w, point, "x", r->points[i].x);
        diagram_add_number(w, point, "y", r->points[i].y);
        if (!cJSON_AddItemToArray(path, point)) {
            cJSON_Delete(point);
            w->failed = true;
        }
    }
    add_end(w, to, "source", from, r->from, r->points[0]);
    add_end(w, to, "target", at, r->at, r->points[r->len - 1]);
    diagram_add_bool(w, to, "isManuallyLayouted", false);
}

void diagram_add_arc(struct diagram_writer *w, cJSON *to, const struct arc_end *from, const struct arc_end *at,
                     size_t nth)
{
    double lane = ((double)(nth % LANES) - LANES / 2) * LANE_STEP;
    bool loop = from->box.x == at->box.x && from->box.y == at->box.y;
    struct route r;

    if (loop)
        route_loop(&r, &from->box, (double)(nth % LANES) * LANE_STEP);
    else
        route(&r, &from->box, &at->box, nth ? lane : 0);
    add_route(w, to, &r, from->id, at->id);
}

#define START_DROP 35 /* below the top of the first state */

void diagram_add_start_arc(struct diagram_writer *w, cJSON *to, const struct arc_end *from, const struct arc_end *at)
{
    struct route r = { .from = "Right", .at = "Left", .len = 2 };

    r.points[0] = side_of(&from->box, "Right");
    r.points[1] = (struct point){ at->box.x, at->box.y + START_DROP };
    if (r.points[0].y != r.points[1].y) {
        r.points[3] = r.points[1];
        r.points[1] = (struct point){ (r.points[0].x + r.points[3].x) / 2, r.points[0].y };
        r.points[2] = (struct point){ r.points[1].x, r.points[3].y };
        r.len = 4;
    }
    add_route(w, to, &r, from->id, at->id);
}
