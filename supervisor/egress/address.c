#include "supervisor/egress/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "shared/base/mem.h"

struct prefix {
    uint8_t bytes[16];
    unsigned bits;
    const char *kind; /* NULL: public, rows below do not count */
};

static const char loopback[] = "a loopback address";
static const char private[] = "a private address";
static const char link_local[] = "a link-local address";
static const char metadata[] = "a cloud's metadata address";
static const char multicast[] = "a multicast address";
static const char unspecified[] = "the unspecified address";
static const char shared_space[] = "an address of a provider's inner network";
static const char reserved[] = "a reserved address";
static const char documentation[] = "an address for documentation";
static const char benchmark[] = "an address for benchmarks";
static const char carries[] = "an IPv4 address in IPv6 form";

/* The first row that fits decides. */
static const struct prefix v4[] = {
    { { 0, 0, 0, 0 }, 32, unspecified },
    { { 0 }, 8, reserved }, /* "this network": Linux takes some of it for itself */
    { { 10 }, 8, private },
    { { 100, 64 }, 10, shared_space }, /* also the metadata service of Alibaba Cloud, and Tailscale */
    { { 127 }, 8, loopback },
    { { 168, 63, 129, 16 }, 32, metadata },   /* Azure's, outside of every special range */
    { { 169, 254, 169, 254 }, 32, metadata }, /* nearly everybody's */
    { { 169, 254 }, 16, link_local },
    { { 172, 16 }, 12, private },
    { { 192, 0, 0 }, 24, reserved }, /* Oracle's metadata service is here */
    { { 192, 0, 2 }, 24, documentation },
    { { 192, 88, 99 }, 24, reserved }, /* relays between IPv4 and IPv6, withdrawn */
    { { 192, 168 }, 16, private },
    { { 198, 18 }, 15, benchmark },
    { { 198, 51, 100 }, 24, documentation },
    { { 203, 0, 113 }, 24, documentation },
    { { 224 }, 4, multicast },
    { { 240 }, 4, reserved },
};

/* Only 2000::/3 is handed out to the public network, so what no row names is refused at the end. */
static const struct prefix v6[] = {
    { { 0 }, 128, unspecified },
    { { [15] = 1 }, 128, loopback },
    { { [10] = 0xff, [11] = 0xff }, 96, carries },      /* ::ffff:a.b.c.d, mapped */
    { { [8] = 0xff, [9] = 0xff }, 96, carries },        /* ::ffff:0:a.b.c.d, translated */
    { { 0 }, 96, carries },                             /* ::a.b.c.d, compatible */
    { { 0x00, 0x64, 0xff, 0x9b, 0, 1 }, 48, reserved }, /* translation of a site's own */
    { { 0x01, 0x00 }, 64, reserved },                   /* is discarded */
    { { 0x20, 0x01, 0, 0 }, 32, carries },              /* Teredo */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32, documentation },
    { { 0x20, 0x01, 0, 2 }, 48, benchmark },
    { { 0x20, 0x01 }, 23, reserved }, /* protocol assignments */
    { { 0x20, 0x02 }, 16, carries },  /* 6to4 */
    { { 0x3f, 0xff, 0 }, 20, documentation },
    { { 0x20 }, 3, NULL },
    { { 0xfc }, 7, private }, /* unique local; metadata of AWS and Google are here */
    { { 0xfe, 0x80 }, 10, link_local },
    { { 0xfe, 0xc0 }, 10, private }, /* site-local, withdrawn */
    { { 0xff }, 8, multicast },
    { { 0 }, 0, reserved },
};

/* 64:ff9b::/96 leads to the public IPv4 address in its last four bytes: hosts without IPv4 reach the world this way. */
static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

/* Interface part of tunnels between the hosts of a site, in any prefix: its last four bytes are an IPv4 address. */
static const uint8_t isatap[4] = { 0x00, 0x00, 0x5e, 0xfe };

static bool fits(const struct prefix *p, const uint8_t *bytes)
{
    unsigned whole = p->bits / 8, rest = p->bits % 8;
    uint8_t mask = (uint8_t)(0xff00 >> rest);

    return memcmp(p->bytes, bytes, whole) == 0 && (!rest || ((p->bytes[whole] ^ bytes[whole]) & mask) == 0);
}

bool address_shares(const struct address *a, const struct address *b, unsigned bits)
{
    struct prefix p = { .bits = bits };

    memcpy(p.bytes, a->bytes, sizeof(p.bytes));
    return a->family == b->family && fits(&p, b->bytes);
}

static const char *kind_of(const struct prefix *table, size_t n, const uint8_t *bytes)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (fits(&table[i], bytes))
            return table[i].kind;
    return NULL;
}

static bool is_isatap(const uint8_t *bytes)
{
    /* the universal bit may be set */
    return (bytes[8] & 0xfdU) == isatap[0] && memcmp(bytes + 9, isatap + 1, sizeof(isatap) - 1) == 0;
}

const char *address_kind_refused(const struct address *a)
{
    if (a->family == AF_INET)
        return kind_of(v4, ARRAY_LEN(v4), a->bytes);
    if (memcmp(a->bytes, nat64, sizeof(nat64)) == 0)
        return kind_of(v4, ARRAY_LEN(v4), a->bytes + sizeof(nat64));
    if (is_isatap(a->bytes))
        return carries;
    return kind_of(v6, ARRAY_LEN(v6), a->bytes);
}

/* inet_pton() takes "01.2.3.4" as decimal in some libraries, as octal in others: no leading zeros here. */
static bool is_plain_quad(const char *text)
{
    const char *p;

    for (p = text; *p; p++)
        if (*p == '0' && (p == text || p[-1] == '.') && isdigit((unsigned char)p[1]))
            return false;
    return true;
}

int address_parse(const char *text, struct address *ret)
{
    struct address a = { 0 };

    if (inet_pton(AF_INET, text, a.bytes) == 1 && is_plain_quad(text))
        a.family = AF_INET;
    else if (inet_pton(AF_INET6, text, a.bytes) == 1)
        a.family = AF_INET6;
    else
        return -1;
    *ret = a;
    return 0;
}

bool address_looks_numeric(const char *host)
{
    size_t len = strlen(host);
    const char *label, *p;

    if (len && host[len - 1] == '.')
        len--;
    for (label = host + len; label > host && label[-1] != '.'; label--)
        ;
    if (label[0] == '0' && (label[1] == 'x' || label[1] == 'X')) {
        for (p = label + 2; p < host + len && isxdigit((unsigned char)*p); p++)
            ;
        return p == host + len;
    }
    for (p = label; p < host + len && isdigit((unsigned char)*p); p++)
        ;
    return p == host + len && p > label;
}

void address_format(const struct address *a, char out[ADDRESS_TEXT_MAX])
{
    if (!inet_ntop(a->family, a->bytes, out, ADDRESS_TEXT_MAX))
        memcpy(out, "?", 2);
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16) == 0;
}

int address_from_sockaddr(const struct sockaddr *sa, struct address *ret)
{
    struct address a = { .family = sa->sa_family };

    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, sa, sizeof(in));
        memcpy(a.bytes, &in.sin_addr, 4);
    } else if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, sa, sizeof(in6));
        memcpy(a.bytes, &in6.sin6_addr, 16);
    } else {
        return -1;
    }
    *ret = a;
    return 0;
}

socklen_t address_to_sockaddr(const struct address *a, uint16_t port, struct sockaddr_storage *ret)
{
    *ret = (struct sockaddr_storage){ 0 };
    if (a->family == AF_INET) {
        struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

        memcpy(&in.sin_addr, a->bytes, 4);
        memcpy(ret, &in, sizeof(in));
        return sizeof(in);
    } else {
        struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

        memcpy(&in6.sin6_addr, a->bytes, 16);
        memcpy(ret, &in6, sizeof(in6));
        return sizeof(in6);
    }
}
