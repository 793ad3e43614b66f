// The only import of libcrypto. Swift can call neither C macros nor variadic functions, so plain functions here wrap
// the few that are needed.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/ocsp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline EVP_PKEY *offer_generate_p256_key(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

// An OSSL_PARAM keeps a pointer to its name. Swift imports the name macros as String and passes a pointer that is valid
// for one call only, so C code builds the parameters.
static inline OSSL_PARAM offer_mac_digest_parameter(char *name) {
  return OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0);
}

static inline OSSL_PARAM offer_group_name_parameter(char *name) {
  return OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0);
}

static inline OSSL_PARAM offer_public_point_parameter(unsigned char *point, size_t size) {
  return OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, size);
}

// The modulus and the exponent are in native byte order.
static inline OSSL_PARAM offer_rsa_modulus_parameter(unsigned char *number, size_t size) {
  return OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_N, number, size);
}

static inline OSSL_PARAM offer_rsa_exponent_parameter(unsigned char *number, size_t size) {
  return OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_RSA_E, number, size);
}

static inline EVP_PKEY *offer_public_key(EVP_PKEY_CTX *context, OSSL_PARAM *parameters) {
  EVP_PKEY *key = NULL;
  if (EVP_PKEY_fromdata_init(context) != 1) return NULL;
  return EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1 ? key : NULL;
}

// Prints a name in the form of RFC 2253 and returns a negative number on failure.
static inline int offer_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
}

// Frees a stack and the certificates that it owns.
static inline void offer_free_certificates(STACK_OF(X509) *certificates) {
  sk_X509_pop_free(certificates, X509_free);
}

// Returns a chain of two BIOs that only computes a digest of the data written to it; NULL on failure. Free it with
// BIO_free_all.
static inline BIO *offer_digest_bio(const EVP_MD *digest) {
  BIO *filter = BIO_new(BIO_f_md());
  BIO *sink = BIO_new(BIO_s_null());
  if (filter != NULL && sink != NULL && BIO_set_md(filter, digest) == 1) return BIO_push(filter, sink);
  BIO_free(filter);
  BIO_free(sink);
  return NULL;
}

// Precomputes multiples of the group's base point and returns 1 on success. libcrypto's function is deprecated since
// OpenSSL 3.0 and has no replacement.
static inline int offer_precompute_multiples(EC_GROUP *group) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
  return 0;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return EC_GROUP_precompute_mult(group, NULL);
#pragma GCC diagnostic pop
#endif
}
