// The one door to libcrypto. Swift can call neither C macros nor variadic functions, so what we need of those stands
// here as plain functions.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

static inline EVP_PKEY *offer_generate_p256_key(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
