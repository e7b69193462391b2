// One connection to a server of HTTP/1.1, through libcurl. Private to core/posix.
//
// libcurl repeats a request by itself when a kept connection turns out to be over before the answer
// began, POST too. It is stopped there (CURLOPT_PREREQFUNCTION is asked before each sending, and
// only the first is allowed), so that a request is carried out at most once. No redirect, no proxy,
// no configuration from the environment, no protocol but the one asked for.
#ifndef UVEA_CORE_POSIX_HTTP_CURL_H
#define UVEA_CORE_POSIX_HTTP_CURL_H

#include "core/base/error.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_posix;
struct uvea_posix_curl;

// Connects with the first call. USAGE when address is not "host:port", MEMORY.
UVEA_MUST_USE enum uvea_error uvea_posix_curl_open(struct uvea_posix *posix, const char *address,
                                                   struct uvea_posix_curl **curl);

// NULL is allowed.
void uvea_posix_curl_close(struct uvea_posix_curl *curl);

const char *uvea_posix_curl_address(const struct uvea_posix_curl *curl);

// Whether its connection, if there is one, was made with the TLS files now in force.
bool uvea_posix_curl_is_current(const struct uvea_posix_curl *curl);

// (blocks) As uvea_rt_http_call. A connection that was idle for long, or has ended already, is
// replaced by a new one first. CLOSED also when the runtime is stopped meanwhile, which is noticed
// within a second. After a failure it is to be closed.
UVEA_MUST_USE enum uvea_error uvea_posix_curl_call(struct uvea_posix_curl *curl,
                                                   const struct uvea_http_request *request,
                                                   struct uvea_http_response *response,
                                                   uint64_t deadline_ns);

#endif
