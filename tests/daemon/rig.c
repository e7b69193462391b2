#include "tests/daemon/rig.h"

#include "core/base/mem.h"
#include "tests/support/cmocka.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char rig_good[] = "party: 1\n"
                        "mesh:\n"
                        "  listen: 127.0.0.1:7001\n"
                        "  dial: [127.0.0.1:7000, 127.0.0.1:7001, 127.0.0.1:7002]\n"
                        "http:\n"
                        "  listen: 127.0.0.1:8001\n"
                        "  peers: [127.0.0.1:8000, 127.0.0.1:8001, 127.0.0.1:8002]\n"
                        "tls:\n"
                        "  enabled: false\n"
                        "keys:\n"
                        "  share_key: share.key\n"
                        "store:\n"
                        "  sqlite: party.db\n";

int rig_open(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    (void)snprintf(rig->folder, sizeof(rig->folder), "/tmp/uvea-daemon-XXXXXX");
    assert_non_null(mkdtemp(rig->folder));
    (void)snprintf(rig->file, sizeof(rig->file), "%s/uvead.yaml", rig->folder);
    *state = rig;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int rig_close(void **state)
{
    struct rig *rig = *state;

    uvea_config_deinit(&rig->config);
    uvea_complaints_deinit(&rig->complaints);
    assert_int_equal(nftw(rig->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    free(rig);
    return 0;
}

// The folders that a name inside the rig's stands in.
static void make_folders(const struct rig *rig, const char *name)
{
    char path[256];

    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        (void)snprintf(path, sizeof(path), "%s/%.*s", rig->folder, (int)(slash - name), name);
        (void)mkdir(path, 0700);
    }
}

void rig_write(const struct rig *rig, const char *name, const void *bytes, size_t count,
               unsigned mode)
{
    char path[256];
    int file;

    make_folders(rig, name);
    (void)snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
    (void)unlink(path);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), (ssize_t)count);
    assert_int_equal(fchmod(file, mode), 0);
    assert_int_equal(close(file), 0);
}

void rig_read(struct rig *rig, const char *text, char *const *environment)
{
    static char *const nothing[] = {NULL};

    uvea_config_deinit(&rig->config);
    uvea_complaints_deinit(&rig->complaints);
    if (text != NULL) {
        rig_write(rig, "uvead.yaml", text, strlen(text), 0600);
    }
    uvea_config_read(text != NULL ? rig->file : NULL, environment != NULL ? environment : nothing,
                     &rig->config, &rig->complaints);
}

const char *rig_said(struct rig *rig)
{
    if (rig->complaints.count == 0) {
        return "";
    }
    assert_int_equal(uvea_buf_append(&rig->complaints.text, "", 1), UVEA_OK);
    rig->complaints.text.len--;
    return (const char *)rig->complaints.text.data;
}
