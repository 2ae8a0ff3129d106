// What of OpenSSL's libcrypto makes digests and authentication codes, and compares them.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

// To be called before anything else: the library is not taken down when the process exits, as other
// threads may still be using it then.
static inline void gb_keep_libcrypto(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

// A state of HMAC with SHA-256 that has taken in nothing yet, or NULL.
static inline EVP_MAC_CTX *gb_hmac_sha256(void) {
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *state = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    EVP_MAC_free(hmac);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string("digest", (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (state && EVP_MAC_CTX_set_params(state, parameters)) return state;
    EVP_MAC_CTX_free(state);
    return NULL;
}
