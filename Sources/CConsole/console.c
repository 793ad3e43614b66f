// Embeds console.css and favicon.svg in the program, as COpenAPI embeds openapi.json.

#include "CConsole.h"

static const uint8_t css[] = {
#embed "../OfferConsole/Style/console.css"
};

static const uint8_t favicon[] = {
#embed "../OfferConsole/Style/favicon.svg"
};

size_t offer_console_css_size(void) { return sizeof css; }

uint8_t offer_console_css_byte(size_t index) { return css[index]; }

size_t offer_console_favicon_size(void) { return sizeof favicon; }

uint8_t offer_console_favicon_byte(size_t index) { return favicon[index]; }
