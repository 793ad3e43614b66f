#ifndef COPENAPI_H
#define COPENAPI_H

#include <stddef.h>
#include <stdint.h>

/// The size of openapi.json, in bytes.
size_t offer_openapi_size(void);

/// The byte of openapi.json at an index below its size.
uint8_t offer_openapi_byte(size_t index);

#endif
