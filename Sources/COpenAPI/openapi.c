// Embeds openapi.json in the program. The compiler took over a minute for the same bytes as a Swift array.

#include "COpenAPI.h"

static const uint8_t bytes[] = {
#embed "../OfferService/OpenAPI/openapi.json"
};

size_t offer_openapi_size(void) { return sizeof bytes; }

uint8_t offer_openapi_byte(size_t index) { return bytes[index]; }
