#include "core/service/request.h"

#include "core/base/mem.h"

void uvea_response_free(struct uvea_response *response)
{
    if (response == NULL) {
        return;
    }
    uvea_buf_deinit(&response->json);
    uvea_policy_outcome_deinit(&response->outcome);
    uvea_search_result_deinit(&response->search);
    uvea_mem_free(response);
}
