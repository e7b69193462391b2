// Ports for the processes of a test.
#ifndef UVEA_TESTS_INTEGRATION_PORTS_H
#define UVEA_TESTS_INTEGRATION_PORTS_H

enum { PORTS_RANGE = 64 };

// The first of PORTS_RANGE ports that nobody has, and that no other test takes while this process
// runs. Below those that the system gives to outgoing connections, and below the fixed ones of
// other tests.
unsigned ports_reserve(void);

#endif
