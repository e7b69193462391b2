// Share objects: boxes that libsodium opens and boxes that libsodium made, keys of today and of
// before, and a sentence for every way in which an object can be bad.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/service/share_object.h"
#include "tests/iris/sample.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const box_names[] = {"iris_share_0", "iris_share_1", "iris_share_2"};
static const char *const hash_names[] = {"iris_hashes_0", "iris_hashes_1", "iris_hashes_2"};

struct fixture {
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    struct uvea_iris_upload found;
    struct uvea_iris_upload before;
    struct uvea_share_key_pair pairs[UVEA_PARTY_COUNT];
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_buf json;
    json_t *object; // json, to be changed
};

static struct uvea_share_key_pair pair_of(uint8_t value)
{
    struct uvea_share_key_pair pair;
    uint8_t seed[UVEA_SHARE_KEY_BYTES];
    memset(seed, value, sizeof(seed));
    assert_int_equal(uvea_share_key_pair_from_seed(seed, &pair), UVEA_OK);
    return pair;
}

static int setup(void **state)
{
    struct fixture *fixture = uvea_mem_alloc(1, sizeof(*fixture));
    struct sample_rng rng = {11};
    assert_non_null(fixture);
    assert_true(sodium_init() >= 0);
    uint16_t *value = (uint16_t *)fixture->uploads;
    for (size_t i = 0; i < sizeof(fixture->uploads) / 2; i++) {
        value[i] = sample_draw(&rng);
    }
    memset(&fixture->found, 0x5A, sizeof(fixture->found));
    memset(&fixture->before, 0x5A, sizeof(fixture->before));
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fixture->pairs[p] = pair_of((uint8_t)(40 + p));
        memcpy(fixture->public_keys[p], fixture->pairs[p].public_key, UVEA_SHARE_KEY_BYTES);
        memset(fixture->entropy[p], (int)(90 + p), UVEA_SHARE_KEY_BYTES);
    }
    assert_int_equal(uvea_share_object_encode(fixture->uploads, fixture->public_keys,
                                              fixture->entropy, &fixture->json),
                     UVEA_OK);
    fixture->object =
        json_loadb((char *)fixture->json.data, fixture->json.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(fixture->object);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    json_decref(fixture->object);
    uvea_buf_deinit(&fixture->json);
    uvea_mem_free(fixture);
    return 0;
}

static struct uvea_share_keys keys_of(const struct fixture *fixture, unsigned party)
{
    return (struct uvea_share_keys){.current = fixture->pairs[party]};
}

static enum uvea_error decode(struct fixture *fixture, unsigned party,
                              const struct uvea_share_keys *keys, const char *text, size_t bytes,
                              struct uvea_error_context *context)
{
    // A copy of exactly this size, so that a read past its end is seen.
    uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    enum uvea_error error =
        uvea_share_object_decode(uvea_party_at(party), keys, copy, bytes, &fixture->found, context);
    free(copy);
    return error;
}

static void assert_text_refused(struct fixture *fixture, const char *text, enum uvea_error want,
                                const char *sentence)
{
    const struct uvea_share_keys keys = keys_of(fixture, 1);
    struct uvea_error_context context = {{0}};
    assert_int_equal(decode(fixture, 1, &keys, text, strlen(text), &context), want);
    assert_string_equal(context.text, sentence);
    assert_memory_equal(&fixture->found, &fixture->before, sizeof(fixture->found));
}

// Party 1 refuses fixture->object as it now is.
static void assert_refused(struct fixture *fixture, enum uvea_error want, const char *sentence)
{
    char *text = json_dumps(fixture->object, JSON_COMPACT);
    assert_non_null(text);
    assert_text_refused(fixture, text, want, sentence);
    free(text);
}

static void assert_accepted(struct fixture *fixture, const struct uvea_iris_upload *want)
{
    const struct uvea_share_keys keys = keys_of(fixture, 1);
    struct uvea_error_context context = {{0}};
    char *text = json_dumps(fixture->object, JSON_INDENT(1));
    assert_non_null(text);
    assert_int_equal(decode(fixture, 1, &keys, text, strlen(text), &context), UVEA_OK);
    assert_memory_equal(&fixture->found, want, sizeof(*want));
    free(text);
}

static void set(struct fixture *fixture, const char *name, const char *text)
{
    assert_int_equal(json_object_set_new(fixture->object, name, json_string(text)), 0);
}

static char *get(const struct fixture *fixture, const char *name)
{
    return (char *)json_string_value(json_object_get(fixture->object, name));
}

// Replaces party 1's box and hash by those of `plain`, in a box that libsodium seals.
static void set_plain(struct fixture *fixture, const void *plain, size_t bytes)
{
    uint8_t sha[crypto_hash_sha256_BYTES];
    char hash[2 * sizeof(sha) + 1];
    const size_t box_bytes = bytes + crypto_box_SEALBYTES;
    uint8_t *box = malloc(box_bytes);
    char *text = malloc(UVEA_BASE64_CHARS(box_bytes) + 1);
    assert_true(box != NULL && text != NULL);
    assert_int_equal(crypto_box_seal(box, plain, bytes, fixture->public_keys[1]), 0);
    uvea_iris_encode_base64(box, box_bytes, text);
    set(fixture, "iris_share_1", text);
    assert_int_equal(crypto_hash_sha256(sha, plain, bytes), 0);
    set(fixture, "iris_hashes_1", sodium_bin2hex(hash, sizeof(hash), sha, sizeof(sha)));
    free(text);
    free(box);
}

// ---- good objects

static void each_party_reads_its_own(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_share_keys keys = keys_of(fixture, p);
        assert_int_equal(
            decode(fixture, p, &keys, (char *)fixture->json.data, fixture->json.len, NULL),
            UVEA_OK);
        assert_memory_equal(&fixture->found, &fixture->uploads[p], sizeof(fixture->found));
    }
}

// The members in their order, and the boxes as libsodium takes them.
static void libsodium_opens_the_boxes(void **state)
{
    struct fixture *fixture = *state;
    const char *name;
    json_t *value;
    size_t at = 0;
    json_object_foreach(fixture->object, name, value)
    {
        assert_string_equal(name, at % 2 == 0 ? box_names[at / 2] : hash_names[at / 2]);
        at++;
    }
    assert_int_equal(at, 6);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_buf file = {0};
        uint8_t sha[crypto_hash_sha256_BYTES];
        char hash[2 * sizeof(sha) + 1];
        assert_int_equal(uvea_iris_encode_upload(uvea_party_at(p), &fixture->uploads[p], &file),
                         UVEA_OK);
        const char *text = get(fixture, box_names[p]);
        const size_t bytes = file.len + crypto_box_SEALBYTES;
        uint8_t *box = malloc(bytes);
        uint8_t *plain = malloc(file.len);
        assert_int_equal(uvea_iris_decode_base64(text, strlen(text), box, bytes, NULL), UVEA_OK);
        assert_int_equal(crypto_box_seal_open(plain, box, bytes, fixture->pairs[p].public_key,
                                              fixture->pairs[p].secret_key),
                         0);
        assert_memory_equal(plain, file.data, file.len);
        // The one-time key is the one that belongs to the entropy.
        const struct uvea_share_key_pair once = pair_of((uint8_t)(90 + p));
        assert_memory_equal(box, once.public_key, sizeof(once.public_key));
        assert_int_equal(crypto_hash_sha256(sha, plain, file.len), 0);
        sodium_bin2hex(hash, sizeof(hash), sha, sizeof(sha));
        assert_string_equal(get(fixture, hash_names[p]), hash);
        free(plain);
        free(box);
        uvea_buf_deinit(&file);
    }
}

static void keys_are_those_of_libsodium(void **state)
{
    uint8_t seed[UVEA_SHARE_KEY_BYTES];
    uint8_t public_key[UVEA_SHARE_KEY_BYTES];
    uint8_t secret_key[UVEA_SHARE_KEY_BYTES];
    const struct uvea_share_key_pair pair = pair_of(3);
    (void)state;
    memset(seed, 3, sizeof(seed));
    assert_int_equal(crypto_box_seed_keypair(public_key, secret_key, seed), 0);
    assert_memory_equal(pair.public_key, public_key, sizeof(public_key));
    assert_memory_equal(pair.secret_key, secret_key, sizeof(secret_key));
    assert_int_equal(crypto_scalarmult_base(public_key, pair.secret_key), 0);
    assert_memory_equal(pair.public_key, public_key, sizeof(public_key));
    struct uvea_share_key_pair again;
    assert_int_equal(uvea_share_key_pair_from_secret(pair.secret_key, &again), UVEA_OK);
    assert_memory_equal(&again, &pair, sizeof(pair));
}

// Equal inputs, equal bytes; other entropy, other boxes; what stood in the buffer stays.
static void encoding_depends_on_its_inputs_alone(void **state)
{
    struct fixture *fixture = *state;
    struct uvea_buf again = {0};
    assert_int_equal(uvea_buf_append(&again, "kept", 4), UVEA_OK);
    assert_int_equal(
        uvea_share_object_encode(fixture->uploads, fixture->public_keys, fixture->entropy, &again),
        UVEA_OK);
    assert_int_equal(again.len, fixture->json.len + 4);
    assert_memory_equal(again.data, "kept", 4);
    assert_memory_equal(again.data + 4, fixture->json.data, fixture->json.len);
    uvea_buf_clear(&again);
    fixture->entropy[2][31] ^= 1;
    assert_int_equal(
        uvea_share_object_encode(fixture->uploads, fixture->public_keys, fixture->entropy, &again),
        UVEA_OK);
    json_t *other = json_loadb((char *)again.data, again.len, JSON_REJECT_DUPLICATES, NULL);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const char *box = json_string_value(json_object_get(other, box_names[p]));
        const bool same = strcmp(box, get(fixture, box_names[p])) == 0;
        assert_int_equal(same, p != 2);
    }
    json_decref(other);
    uvea_buf_deinit(&again);
}

static void a_bad_recipient_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, "kept", 4), UVEA_OK);
    memset(fixture->public_keys[2], 0, UVEA_SHARE_KEY_BYTES); // a point of small order
    assert_int_equal(
        uvea_share_object_encode(fixture->uploads, fixture->public_keys, fixture->entropy, &buf),
        UVEA_ERR_CRYPTO);
    assert_int_equal(buf.len, 4);
    uvea_buf_deinit(&buf);
}

// Only this party's part counts; unknown members do not matter.
static void other_parts_do_not_matter(void **state)
{
    struct fixture *fixture = *state;
    set(fixture, "iris_share_0", "!");
    json_object_del(fixture->object, "iris_hashes_0");
    json_object_set_new(fixture->object, "iris_share_2", json_null());
    json_object_set_new(fixture->object, "later", json_pack("[i,{s:n}]", 1, "x"));
    assert_accepted(fixture, &fixture->uploads[1]);
}

// A share file with members in another order and white space: what is hashed is what was sent.
static void the_file_is_hashed_as_it_came(void **state)
{
    struct fixture *fixture = *state;
    struct uvea_buf file = {0};
    assert_int_equal(uvea_iris_encode_upload(uvea_party_at(1), &fixture->uploads[2], &file),
                     UVEA_OK);
    json_t *tree = json_loadb((char *)file.data, file.len, 0, NULL);
    char *text = json_dumps(tree, JSON_SORT_KEYS | JSON_INDENT(4));
    set_plain(fixture, text, strlen(text));
    assert_accepted(fixture, &fixture->uploads[2]);
    free(text);
    json_decref(tree);
    uvea_buf_deinit(&file);
}

// ---- keys

static void current_then_previous_key(void **state)
{
    struct fixture *fixture = *state;
    const struct uvea_share_key_pair right = fixture->pairs[1];
    const struct uvea_share_key_pair wrong = pair_of(77);
    const struct {
        struct uvea_share_keys keys;
        const char *sentence; // NULL: it opens
    } cases[] = {
        {{.current = right}, NULL},
        {{.current = right, .previous = wrong, .has_previous = true}, NULL},
        {{.current = wrong, .previous = right, .has_previous = true}, NULL},
        {{.current = wrong}, "member iris_share_1: the box opens with no key"},
        {{.current = wrong, .previous = right}, "member iris_share_1: the box opens with no key"},
        {{.current = wrong, .previous = wrong, .has_previous = true},
         "member iris_share_1: the box opens with neither key"},
        {{.has_previous = true}, "member iris_share_1: the box opens with neither key"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_error_context context = {{0}};
        memset(&fixture->found, 0x5A, sizeof(fixture->found));
        enum uvea_error error = decode(fixture, 1, &cases[i].keys, (char *)fixture->json.data,
                                       fixture->json.len, &context);
        if (cases[i].sentence == NULL) {
            assert_int_equal(error, UVEA_OK);
            assert_memory_equal(&fixture->found, &fixture->uploads[1], sizeof(fixture->found));
        } else {
            assert_int_equal(error, UVEA_ERR_FORMAT);
            assert_string_equal(context.text, cases[i].sentence);
            assert_memory_equal(&fixture->found, &fixture->before, sizeof(fixture->found));
        }
    }
}

// ---- bad objects

static void texts_that_are_no_object(void **state)
{
    struct fixture *fixture = *state;
    assert_text_refused(fixture, "", UVEA_ERR_FORMAT,
                        "JSON: there is no text, an object is wanted");
    assert_text_refused(fixture, "[]", UVEA_ERR_FORMAT, "JSON: the text is not an object");
    assert_text_refused(fixture, "{\"iris_share_1\":\"\",\"iris_share_1\":\"\"}", UVEA_ERR_FORMAT,
                        "JSON: an object has a member twice (line 1, column 33)");
    assert_text_refused(fixture, "{\"iris_share_1\":[[[[[[[[[[[[[[[[[", UVEA_ERR_LIMIT,
                        "JSON: nested more than 16 deep");
    const struct uvea_share_keys keys = keys_of(fixture, 1);
    assert_int_equal(
        decode(fixture, 1, &keys, (char *)fixture->json.data, fixture->json.len - 1, NULL),
        UVEA_ERR_FORMAT);
    assert_memory_equal(&fixture->found, &fixture->before, sizeof(fixture->found));
}

static void members_missing_or_of_another_type(void **state)
{
    struct fixture *fixture = *state;
    json_t *hash = json_incref(json_object_get(fixture->object, "iris_hashes_1"));
    json_object_del(fixture->object, "iris_hashes_1");
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_hashes_1 is missing");
    json_object_set_new(fixture->object, "iris_hashes_1", json_integer(1));
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_hashes_1 is not a string");
    json_object_set_new(fixture->object, "iris_hashes_1", hash);
    json_object_set_new(fixture->object, "iris_share_1", json_null());
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1 is not a string");
    json_object_del(fixture->object, "iris_share_1");
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1 is missing");
}

static void base64_that_is_none(void **state)
{
    struct fixture *fixture = *state;
    char *text = strdup(get(fixture, "iris_share_1"));
    const char first = text[0];
    text[0] = '-';
    set(fixture, "iris_share_1", text);
    assert_refused(fixture, UVEA_ERR_FORMAT,
                   "member iris_share_1: base64: character 1 is not in the alphabet");
    text[0] = first;
    text[strlen(text) - 1] = '\0';
    set(fixture, "iris_share_1", text);
    assert_text_refused(fixture, "{\"iris_share_1\":\"\"}", UVEA_ERR_FORMAT,
                        "member iris_share_1: too short for a sealed box");
    const struct uvea_share_keys keys = keys_of(fixture, 1);
    char *json = json_dumps(fixture->object, 0);
    assert_int_equal(decode(fixture, 1, &keys, json, strlen(json), NULL), UVEA_ERR_FORMAT);
    free(json);
    free(text);
}

static void boxes_of_the_wrong_size(void **state)
{
    struct fixture *fixture = *state;
    char *text = malloc((2 << 20) + 1);
    memset(text, 'A', 2 << 20);
    text[2 << 20] = '\0';
    set(fixture, "iris_share_1", text);
    assert_refused(fixture, UVEA_ERR_LIMIT, "member iris_share_1: more than 1048576 bytes");
    text[60] = '\0'; // 45 bytes; the smallest box has 48
    set(fixture, "iris_share_1", text);
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1: too short for a sealed box");
    set(fixture, "iris_share_1", "==");
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1: too short for a sealed box");
    free(text);
}

// Any changed byte of the box: key, tag, contents.
static void changed_boxes_do_not_open(void **state)
{
    struct fixture *fixture = *state;
    static const size_t places[] = {0, 42, 43, 63, 64, 1000, 100000};
    char *text = strdup(get(fixture, "iris_share_1"));
    for (size_t i = 0; i < UVEA_COUNT_OF(places); i++) {
        const char good = text[places[i]];
        text[places[i]] = good == 'A' ? 'B' : 'A';
        set(fixture, "iris_share_1", text);
        assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1: the box opens with no key");
        text[places[i]] = good;
    }
    set(fixture, "iris_share_1", get(fixture, "iris_share_0")); // sealed for somebody else
    assert_refused(fixture, UVEA_ERR_FORMAT, "member iris_share_1: the box opens with no key");
    free(text);
}

static void hashes_that_differ(void **state)
{
    struct fixture *fixture = *state;
    static const char sentence[] =
        "member iris_hashes_1: not the lower-case SHA-256 of the share file";
    char hash[65];
    memcpy(hash, get(fixture, "iris_hashes_1"), sizeof(hash));
    hash[63] = hash[63] == '0' ? '1' : '0';
    set(fixture, "iris_hashes_1", hash);
    assert_refused(fixture, UVEA_ERR_FORMAT, sentence);
    set(fixture, "iris_hashes_1", get(fixture, "iris_hashes_0"));
    assert_refused(fixture, UVEA_ERR_FORMAT, sentence);
    hash[63] = '\0';
    set(fixture, "iris_hashes_1", hash);
    assert_refused(fixture, UVEA_ERR_FORMAT, sentence);
    set(fixture, "iris_hashes_1", "");
    assert_refused(fixture, UVEA_ERR_FORMAT, sentence);
}

static void hashes_are_lower_case(void **state)
{
    struct fixture *fixture = *state;
    char hash[65];
    memcpy(hash, get(fixture, "iris_hashes_1"), sizeof(hash));
    for (size_t i = 0; i < 64; i++) {
        hash[i] = (char)(hash[i] >= 'a' ? hash[i] - 'a' + 'A' : hash[i]);
    }
    set(fixture, "iris_hashes_1", hash);
    assert_refused(fixture, UVEA_ERR_FORMAT,
                   "member iris_hashes_1: not the lower-case SHA-256 of the share file");
}

// Boxes that open, hashes that hold, and inside no share file of this party's.
static void files_that_are_none(void **state)
{
    struct fixture *fixture = *state;
    struct uvea_buf file = {0};
    set_plain(fixture, "", 0);
    assert_refused(fixture, UVEA_ERR_FORMAT,
                   "share file: JSON: there is no text, an object is wanted");
    set_plain(fixture, "{}", 2);
    assert_refused(fixture, UVEA_ERR_FORMAT, "share file: member IRIS_version is missing");
    assert_int_equal(uvea_iris_encode_upload(uvea_party_at(0), &fixture->uploads[0], &file),
                     UVEA_OK);
    set_plain(fixture, file.data, file.len);
    assert_refused(fixture, UVEA_ERR_FORMAT,
                   "share file: member left_iris_code_shares: share id 1, party 1 wants 2");
    uvea_buf_clear(&file);
    assert_int_equal(uvea_iris_encode_upload(uvea_party_at(1), &fixture->uploads[1], &file),
                     UVEA_OK);
    set_plain(fixture, file.data, file.len);
    assert_accepted(fixture, &fixture->uploads[1]);
    memset(&fixture->found, 0x5A, sizeof(fixture->found));
    set_plain(fixture, file.data, file.len - 1);
    assert_refused(fixture, UVEA_ERR_FORMAT,
                   "share file: JSON: the text ends early (line 1, column 136735)");
    uvea_buf_deinit(&file);
}

#define WITH_OBJECT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_OBJECT(each_party_reads_its_own),
        WITH_OBJECT(libsodium_opens_the_boxes),
        WITH_OBJECT(keys_are_those_of_libsodium),
        WITH_OBJECT(encoding_depends_on_its_inputs_alone),
        WITH_OBJECT(a_bad_recipient_is_refused),
        WITH_OBJECT(other_parts_do_not_matter),
        WITH_OBJECT(the_file_is_hashed_as_it_came),
        WITH_OBJECT(current_then_previous_key),
        WITH_OBJECT(texts_that_are_no_object),
        WITH_OBJECT(members_missing_or_of_another_type),
        WITH_OBJECT(base64_that_is_none),
        WITH_OBJECT(boxes_of_the_wrong_size),
        WITH_OBJECT(changed_boxes_do_not_open),
        WITH_OBJECT(hashes_that_differ),
        WITH_OBJECT(hashes_are_lower_case),
        WITH_OBJECT(files_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
