// Embeds console.css in the program, as COpenAPI embeds openapi.json.

#include "CConsole.h"

static const uint8_t css[] = {
#embed "../OfferConsole/Style/console.css"
};

size_t offer_console_css_size(void) { return sizeof css; }

uint8_t offer_console_css_byte(size_t index) { return css[index]; }
