// Access to PKCS#11 modules, the libraries of tokens (OASIS PKCS #11 Cryptographic Token Interface Base Specification 2.40). A
// module is loaded at first use, so a service without token keys does not need one. The declarations are our own. Most
// functions return the module's CK_RV, which is 0 for success.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A loaded module.
typedef struct offer_pkcs11_module offer_pkcs11_module;

/// The part of CK_TOKEN_INFO that names a token. The texts are padded with blanks and have no terminating zero.
typedef struct {
  uint8_t label[32];
  uint8_t manufacturer[32];
  uint8_t model[16];
  uint8_t serial[16];
  unsigned long flags;
} offer_pkcs11_token;

/// Values of CK_RV that need a reaction of their own.
enum {
  offer_pkcs11_pin_locked = 0xA4,
  offer_pkcs11_already_logged_in = 0x100,
  offer_pkcs11_already_initialized = 0x191,
};

/// Bits of the token's flags.
enum {
  offer_pkcs11_login_required = 0x4,
  offer_pkcs11_pin_count_low = 0x10000,
  offer_pkcs11_pin_final_try = 0x20000,
  offer_pkcs11_pin_is_locked = 0x40000,
};

/// Classes of objects (CKO).
enum { offer_pkcs11_public_key = 2, offer_pkcs11_private_key = 3 };

/// Types of attributes (CKA).
enum {
  offer_pkcs11_key_type = 0x100,
  offer_pkcs11_id = 0x102,
  offer_pkcs11_sensitive = 0x103,
  offer_pkcs11_sign_attribute = 0x108,
  offer_pkcs11_extractable = 0x162,
  offer_pkcs11_ec_parameters = 0x180,
  offer_pkcs11_ec_point = 0x181,
  offer_pkcs11_always_authenticate = 0x202,
};

/// The only type of key here (CKK_EC).
enum { offer_pkcs11_ec = 3 };

/// Loads the module at `path` and never unloads it. Several paths of one library give the same module. Returns NULL on failure,
/// and sets `reason` to the loader's text, which is valid until this thread calls the loader again.
offer_pkcs11_module *_Nullable offer_pkcs11_load(const char *path, const char *_Nullable *_Nonnull reason);

/// Initializes the module for use by several threads.
unsigned long offer_pkcs11_initialize(offer_pkcs11_module *module);

/// Ends all sessions. No other call may be in progress.
unsigned long offer_pkcs11_finalize(offer_pkcs11_module *module);

/// Lists the slots with a token, or only counts them if `slots` is NULL. On return, `count` is the number of slots, which may
/// exceed its value before the call.
unsigned long offer_pkcs11_slots(offer_pkcs11_module *module, unsigned long *_Nullable slots, unsigned long *count);

unsigned long offer_pkcs11_read_token(offer_pkcs11_module *module, unsigned long slot, offer_pkcs11_token *token);

unsigned long offer_pkcs11_open(
    offer_pkcs11_module *module, unsigned long slot, bool can_write, unsigned long *session);

unsigned long offer_pkcs11_close(offer_pkcs11_module *module, unsigned long session);

/// Sets `is_logged_in` to true if the user is logged in, in this session and so in all of them.
unsigned long offer_pkcs11_state(offer_pkcs11_module *module, unsigned long session, bool *is_logged_in);

/// Logs in as the user.
unsigned long offer_pkcs11_login(
    offer_pkcs11_module *module, unsigned long session, const uint8_t *_Nullable pin, unsigned long count);

/// Finds objects of a class. A NULL label or ID matches any. On return, `count` is the number of objects, at most its value
/// before the call.
unsigned long offer_pkcs11_find(
    offer_pkcs11_module *module, unsigned long session, unsigned long object_class, const uint8_t *_Nullable label,
    unsigned long label_count, const uint8_t *_Nullable identifier, unsigned long identifier_count,
    unsigned long *objects, unsigned long *count);

/// Reads an attribute. On return, `count` is its size, at most its value before the call.
unsigned long offer_pkcs11_attribute(
    offer_pkcs11_module *module, unsigned long session, unsigned long object, unsigned long type, uint8_t *value,
    unsigned long *count);

/// Signs a hash with CKM_ECDSA. On return, `count` is the size of the signature, at most its value before the call.
unsigned long offer_pkcs11_sign(
    offer_pkcs11_module *module, unsigned long session, unsigned long key, const uint8_t *hash,
    unsigned long hash_count, uint8_t *signature, unsigned long *count);

/// Both halves of a P-256 key, for offer_pkcs11_import().
typedef struct {
  const uint8_t *label;
  unsigned long label_count;
  const uint8_t *identifier;
  unsigned long identifier_count;
  /// The private number, 32 bytes.
  const uint8_t *number;
  /// The point in a DER OCTET STRING, 67 bytes.
  const uint8_t *point;
} offer_pkcs11_key_pair;

/// Creates the private key, which can only sign and cannot be extracted, and the public key. If the second fails, the first is
/// destroyed.
unsigned long offer_pkcs11_import(
    offer_pkcs11_module *module, unsigned long session, const offer_pkcs11_key_pair *pair, unsigned long *private_key,
    unsigned long *public_key);

unsigned long offer_pkcs11_destroy(offer_pkcs11_module *module, unsigned long session, unsigned long object);

#pragma clang assume_nonnull end
