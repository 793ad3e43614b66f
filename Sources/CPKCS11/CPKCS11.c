#include "CPKCS11.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The part of PKCS#11 2.40 that this file uses. Later versions keep this layout. On Unix, structures are not packed.
typedef unsigned long rv, handle, ulong;
typedef unsigned char byte;

typedef struct {
  byte major, minor;
} version;

typedef struct {
  byte label[32], manufacturer[32], model[16], serial[16];
  ulong flags;
  ulong maximum_sessions, sessions, maximum_write_sessions, write_sessions, maximum_pin, minimum_pin;
  ulong total_public, free_public, total_private, free_private;
  version hardware, firmware;
  byte time[16];
} token_info;

typedef struct {
  ulong slot, state, flags, device_error;
} session_info;

typedef struct {
  ulong type;
  void *value;
  ulong count;
} attribute;

typedef struct {
  ulong type;
  void *parameter;
  ulong count;
} mechanism;

typedef struct {
  void *create, *destroy, *lock, *unlock;
  ulong flags;
  void *reserved;
} initialize_args;

typedef void *unused;

typedef struct function_list {
  version version;
  rv (*C_Initialize)(void *);
  rv (*C_Finalize)(void *);
  unused C_GetInfo, C_GetFunctionList;
  rv (*C_GetSlotList)(byte, handle *, ulong *);
  unused C_GetSlotInfo;
  rv (*C_GetTokenInfo)(handle, token_info *);
  unused C_GetMechanismList, C_GetMechanismInfo, C_InitToken, C_InitPIN, C_SetPIN;
  rv (*C_OpenSession)(handle, ulong, void *, void *, handle *);
  rv (*C_CloseSession)(handle);
  unused C_CloseAllSessions;
  rv (*C_GetSessionInfo)(handle, session_info *);
  unused C_GetOperationState, C_SetOperationState;
  rv (*C_Login)(handle, ulong, byte *, ulong);
  unused C_Logout;
  rv (*C_CreateObject)(handle, attribute *, ulong, handle *);
  unused C_CopyObject;
  rv (*C_DestroyObject)(handle, handle);
  unused C_GetObjectSize;
  rv (*C_GetAttributeValue)(handle, handle, attribute *, ulong);
  unused C_SetAttributeValue;
  rv (*C_FindObjectsInit)(handle, attribute *, ulong);
  rv (*C_FindObjects)(handle, handle *, ulong, ulong *);
  rv (*C_FindObjectsFinal)(handle);
  unused C_EncryptInit, C_Encrypt, C_EncryptUpdate, C_EncryptFinal;
  unused C_DecryptInit, C_Decrypt, C_DecryptUpdate, C_DecryptFinal;
  unused C_DigestInit, C_Digest, C_DigestUpdate, C_DigestKey, C_DigestFinal;
  rv (*C_SignInit)(handle, mechanism *, handle);
  rv (*C_Sign)(handle, byte *, ulong, byte *, ulong *);
  // Further functions follow, which are not used.
} function_list;

enum { CKR_OK = 0, CKR_FUNCTION_NOT_SUPPORTED = 0x54, CKR_CRYPTOKI_NOT_INITIALIZED = 0x190 };
enum { CKF_OS_LOCKING_OK = 2, CKF_RW_SESSION = 2, CKF_SERIAL_SESSION = 4 };
enum { CKS_RO_USER_FUNCTIONS = 1, CKS_RW_USER_FUNCTIONS = 3 };
enum { CKU_USER = 1, CKM_ECDSA = 0x1041 };
enum {
  CKA_CLASS = 0,
  CKA_TOKEN = 1,
  CKA_PRIVATE = 2,
  CKA_LABEL = 3,
  CKA_VALUE = 0x11,
  CKA_ENCRYPT = 0x104,
  CKA_DECRYPT = 0x105,
  CKA_WRAP = 0x106,
  CKA_UNWRAP = 0x107,
  CKA_VERIFY = 0x10A,
  CKA_DERIVE = 0x10C,
};

struct offer_pkcs11_module {
  const function_list *functions;
  offer_pkcs11_module *next;
};

/// The loaded modules. One library can have several paths.
static offer_pkcs11_module *modules;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static atomic_int calls;
static atomic_bool is_exiting;

/// Waits for the calls in progress, and refuses others. When a process exits, modules in C++ destroy what their calls use, so a
/// call in another thread would crash.
static void end_calls(int status, void *argument) {
  (void)argument;
  atomic_store(&is_exiting, true);
  for (int wait = 0; atomic_load(&calls) > 0 && wait < 1000; wait++) usleep(1000);
  if (atomic_load(&calls) == 0) return;
  // A module that hangs must not crash the process either.
  fflush(NULL);
  _exit(status);
}

static bool begin_call(void) {
  atomic_fetch_add(&calls, 1);
  if (!atomic_load(&is_exiting)) return true;
  atomic_fetch_sub(&calls, 1);
  return false;
}

static rv end_call(rv result) {
  atomic_fetch_sub(&calls, 1);
  return result;
}

offer_pkcs11_module *offer_pkcs11_load(const char *path, const char **reason) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *reason = dlerror();
    return NULL;
  }
  rv (*get)(function_list **) = (rv(*)(function_list **))dlsym(library, "C_GetFunctionList");
  function_list *functions = NULL;
  if (!get || get(&functions) != CKR_OK || !functions || functions->version.major < 2) {
    *reason = "it is not a PKCS#11 module of version 2 or later";
    return NULL;
  }
  pthread_mutex_lock(&loading);
  offer_pkcs11_module *module = modules;
  while (module && module->functions != functions) module = module->next;
  if (!module && (module = malloc(sizeof *module))) {
    *module = (offer_pkcs11_module){functions, modules};
    modules = module;
    // What is registered last runs first, and so before the destructors of the module.
    on_exit(end_calls, NULL);
  }
  pthread_mutex_unlock(&loading);
  *reason = "there is no memory";
  return module;
}

// A module may leave out a function.
#define CALL(function, ...)                                                                                            \
  (!module->functions->function ? CKR_FUNCTION_NOT_SUPPORTED                                                           \
   : begin_call()               ? end_call(module->functions->function(__VA_ARGS__))                                   \
                                : CKR_CRYPTOKI_NOT_INITIALIZED)

ulong offer_pkcs11_initialize(offer_pkcs11_module *module) {
  initialize_args args = {.flags = CKF_OS_LOCKING_OK};
  return CALL(C_Initialize, &args);
}

ulong offer_pkcs11_finalize(offer_pkcs11_module *module) { return CALL(C_Finalize, NULL); }

ulong offer_pkcs11_slots(offer_pkcs11_module *module, ulong *slots, ulong *count) {
  return CALL(C_GetSlotList, 1, slots, count);
}

ulong offer_pkcs11_read_token(offer_pkcs11_module *module, ulong slot, offer_pkcs11_token *token) {
  token_info info;
  memset(&info, 0, sizeof info);
  rv result = CALL(C_GetTokenInfo, slot, &info);
  memcpy(token->label, info.label, sizeof token->label);
  memcpy(token->manufacturer, info.manufacturer, sizeof token->manufacturer);
  memcpy(token->model, info.model, sizeof token->model);
  memcpy(token->serial, info.serial, sizeof token->serial);
  token->flags = info.flags;
  return result;
}

ulong offer_pkcs11_open(offer_pkcs11_module *module, ulong slot, bool can_write, ulong *session) {
  ulong flags = CKF_SERIAL_SESSION | (can_write ? CKF_RW_SESSION : 0);
  return CALL(C_OpenSession, slot, flags, NULL, NULL, session);
}

ulong offer_pkcs11_close(offer_pkcs11_module *module, ulong session) { return CALL(C_CloseSession, session); }

ulong offer_pkcs11_state(offer_pkcs11_module *module, ulong session, bool *is_logged_in) {
  session_info info;
  memset(&info, 0, sizeof info);
  rv result = CALL(C_GetSessionInfo, session, &info);
  *is_logged_in = info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS;
  return result;
}

ulong offer_pkcs11_login(offer_pkcs11_module *module, ulong session, const uint8_t *pin, ulong count) {
  return CALL(C_Login, session, CKU_USER, (byte *)pin, count);
}

ulong offer_pkcs11_find(offer_pkcs11_module *module, ulong session, ulong object_class, const uint8_t *label,
                        ulong label_count, const uint8_t *identifier, ulong identifier_count, ulong *objects,
                        ulong *count) {
  attribute template[3] = {{CKA_CLASS, &object_class, sizeof object_class}};
  ulong attributes = 1, maximum = *count, found = 0;
  if (label) template[attributes++] = (attribute){CKA_LABEL, (void *)label, label_count};
  if (identifier) template[attributes++] = (attribute){offer_pkcs11_id, (void *)identifier, identifier_count};
  *count = 0;
  rv result = CALL(C_FindObjectsInit, session, template, attributes);
  if (result != CKR_OK) return result;
  // A module may return fewer objects than it could.
  while (result == CKR_OK && *count < maximum) {
    result = CALL(C_FindObjects, session, objects + *count, maximum - *count, &found);
    if (result != CKR_OK || found == 0 || found > maximum - *count) break;
    *count += found;
  }
  rv end = CALL(C_FindObjectsFinal, session);
  return result != CKR_OK ? result : end;
}

ulong offer_pkcs11_attribute(offer_pkcs11_module *module, ulong session, ulong object, ulong type, uint8_t *value,
                             ulong *count) {
  attribute attribute = {type, value, *count};
  rv result = CALL(C_GetAttributeValue, session, object, &attribute, 1);
  *count = result == CKR_OK && attribute.count <= *count ? attribute.count : 0;
  return result;
}

ulong offer_pkcs11_sign(offer_pkcs11_module *module, ulong session, ulong key, const uint8_t *hash, ulong hash_count,
                        uint8_t *signature, ulong *count) {
  ulong size = *count;
  mechanism ecdsa = {CKM_ECDSA, NULL, 0};
  *count = 0;
  rv result = CALL(C_SignInit, session, &ecdsa, key);
  if (result != CKR_OK) return result;
  ulong written = size;
  result = CALL(C_Sign, session, (byte *)hash, hash_count, signature, &written);
  if (result == CKR_OK && written <= size) *count = written;
  return result;
}

ulong offer_pkcs11_import(offer_pkcs11_module *module, ulong session, const offer_pkcs11_key_pair *pair,
                          ulong *private_key, ulong *public_key) {
  static const byte p256[] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};
  byte yes = 1, no = 0;
  ulong private_class = offer_pkcs11_private_key, public_class = offer_pkcs11_public_key, type = offer_pkcs11_ec;
#define SHARED(class)                                                                                                  \
  {CKA_CLASS, &class, sizeof class}, {offer_pkcs11_key_type, &type, sizeof type}, {CKA_TOKEN, &yes, 1},                \
      {CKA_LABEL, (void *)pair->label, pair->label_count},                                                             \
      {offer_pkcs11_id, (void *)pair->identifier, pair->identifier_count}, {                                           \
    offer_pkcs11_ec_parameters, (void *)p256, sizeof p256                                                              \
  }
  attribute private_template[] = {
      SHARED(private_class),
      {CKA_PRIVATE, &yes, 1},
      {offer_pkcs11_sensitive, &yes, 1},
      {offer_pkcs11_extractable, &no, 1},
      {offer_pkcs11_sign_attribute, &yes, 1},
      {CKA_DECRYPT, &no, 1},
      {CKA_UNWRAP, &no, 1},
      {CKA_DERIVE, &no, 1},
      {CKA_VALUE, (void *)pair->number, 32},
  };
  attribute public_template[] = {
      SHARED(public_class),
      {CKA_PRIVATE, &no, 1},
      {CKA_VERIFY, &yes, 1},
      {CKA_ENCRYPT, &no, 1},
      {CKA_WRAP, &no, 1},
      {offer_pkcs11_ec_point, (void *)pair->point, 67},
  };
  rv result = CALL(C_CreateObject, session, private_template, sizeof private_template / sizeof *private_template,
                   private_key);
  if (result != CKR_OK) return result;
  result = CALL(C_CreateObject, session, public_template, sizeof public_template / sizeof *public_template, public_key);
  // If this fails too, the next import reports that the key exists.
  if (result != CKR_OK) CALL(C_DestroyObject, session, *private_key);
  return result;
}

ulong offer_pkcs11_destroy(offer_pkcs11_module *module, ulong session, ulong object) {
  return CALL(C_DestroyObject, session, object);
}
