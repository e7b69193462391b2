// Addresses as people write them.
#include "core/posix/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, struct uvea_posix_address *address)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0' || strtoul(text, NULL, 10) > UINT16_MAX) {
        return false;
    }
    memcpy(address->port, text, digits + 1);
    return true;
}

enum uvea_error uvea_posix_address_parse(const char *text, struct uvea_posix_address *address)
{
    struct uvea_posix_address parsed = {.host = ""};
    const char *host = text;
    const char *end = strrchr(text, ':');
    if (text[0] == '[') {
        host = text + 1;
        end = strchr(text, ']');
        if (end == NULL || end[1] != ':' || !parse_port(end + 2, &parsed)) {
            return UVEA_ERR_USAGE;
        }
    } else if (end == NULL || end != strchr(text, ':') || !parse_port(end + 1, &parsed)) {
        return UVEA_ERR_USAGE; // several colons are those of an IPv6 address without brackets
    }
    size_t len = (size_t)(end - host);
    if (len == 0 || len >= sizeof(parsed.host)) {
        return UVEA_ERR_USAGE;
    }
    memcpy(parsed.host, host, len);
    *address = parsed;
    return UVEA_OK;
}

void uvea_posix_address_show(const struct sockaddr *address, char out[UVEA_POSIX_ADDRESS_BYTES])
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
        (void)snprintf(out, UVEA_POSIX_ADDRESS_BYTES, "[%s]:%u", host,
                       (unsigned)ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
        (void)snprintf(out, UVEA_POSIX_ADDRESS_BYTES, "%s:%u", host,
                       (unsigned)ntohs(four->sin_port));
    }
}
