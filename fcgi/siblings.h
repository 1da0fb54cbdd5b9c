/* fcgi/siblings.h -- how many workers run beside this one: processes of the same name with the same parent. */
#ifndef FCGI_SIBLINGS_H
#define FCGI_SIBLINGS_H

/* Number of them, this one included; -1 where /proc does not tell. */
int siblings_count(void);

#endif
