#ifndef CCONSOLE_H
#define CCONSOLE_H

#include <stddef.h>
#include <stdint.h>

/// The size of console.css, in bytes.
size_t offer_console_css_size(void);

/// The byte of console.css at an index below its size.
uint8_t offer_console_css_byte(size_t index);

/// The size of favicon.svg, in bytes.
size_t offer_console_favicon_size(void);

/// The byte of favicon.svg at an index below its size.
uint8_t offer_console_favicon_byte(size_t index);

#endif
