// What of OpenSSL's libcrypto makes digests and authentication codes, and compares them.
//
// OpenSSL 3 advises against its functions for one digest alone, and has them. The ones that it advises
// look an algorithm up and allocate states: of a short message that is most of the time.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

// The library is not taken down when the process exits: threads of libpq may still be using it then.
static inline void gb_keep_libcrypto(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// The SHA-256 of some bytes, behind those that a state has taken in.
static inline void gb_sha256_end(SHA256_CTX state, const void *bytes, size_t count, unsigned char *digest) {
    SHA256_Update(&state, bytes, count);
    SHA256_Final(digest, &state);
}

static inline void gb_sha256(const void *bytes, size_t count, unsigned char *digest) {
    SHA256_CTX state;
    SHA256_Init(&state);
    gb_sha256_end(state, bytes, count, digest);
}

// A key of HMAC with SHA-256 (RFC 2104): what each of its two digests has taken in before a message.
typedef struct {
    SHA256_CTX inner, outer;
} gb_hmac_key;

static inline void gb_hmac_begin(SHA256_CTX *state, const unsigned char *block, unsigned char pad) {
    unsigned char padded[SHA256_CBLOCK];
    for (size_t i = 0; i < SHA256_CBLOCK; i++) padded[i] = block[i] ^ pad;
    SHA256_Init(state);
    SHA256_Update(state, padded, SHA256_CBLOCK);
}

static inline gb_hmac_key gb_hmac_key_of(const void *secret, size_t count) {
    unsigned char block[SHA256_CBLOCK] = {0};
    if (count > SHA256_CBLOCK) {
        gb_sha256(secret, count, block);
    } else if (count > 0) {
        memcpy(block, secret, count);
    }
    gb_hmac_key key;
    gb_hmac_begin(&key.inner, block, 0x36);
    gb_hmac_begin(&key.outer, block, 0x5c);
    return key;
}

static inline void gb_hmac(
    const gb_hmac_key *key, const void *message, size_t count, unsigned char *code
) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    gb_sha256_end(key->inner, message, count, digest);
    gb_sha256_end(key->outer, digest, SHA256_DIGEST_LENGTH, code);
}
