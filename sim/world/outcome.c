#include "sim/world/outcome.h"

#include <stdio.h>

void uvea_outcome_text(enum uvea_error error, unsigned status, char text[UVEA_OUTCOME_CHARS])
{
    if (error == UVEA_OK) {
        (void)snprintf(text, UVEA_OUTCOME_CHARS, "status %u", status);
    } else {
        (void)snprintf(text, UVEA_OUTCOME_CHARS, "%s",
                       error == UVEA_ERR_NOT_FOUND ? "nobody listens" : uvea_error_text(error));
    }
}
