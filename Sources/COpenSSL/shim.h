// The one door to libcrypto. Swift can call neither C macros nor variadic functions, so what we need of those stands
// here as plain functions.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

static inline EVP_PKEY *offer_generate_p256_key(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

// 1 if the group has multiples of its base point then. The function for it is deprecated since OpenSSL 3.0, with nothing in
// its place.
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
