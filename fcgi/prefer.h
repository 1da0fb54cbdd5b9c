/* fcgi/prefer.h -- the request header Prefer (RFC 7240). Pure. */
#ifndef FCGI_PREFER_H
#define FCGI_PREFER_H

/* Seconds that the client is willing to wait: its first "wait", 60 at most; 0 without one, or when it makes no sense.
 */
unsigned prefer_wait(const char *header);

#endif
