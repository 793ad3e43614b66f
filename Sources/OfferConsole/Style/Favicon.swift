import CConsole

/// `GET /favicon.svg`: the picture of the console in the tabs of browsers, embedded from `favicon.svg` in this folder.
package enum Favicon {
    package static let utf8: [UInt8] = (0..<offer_console_favicon_size()).map { offer_console_favicon_byte($0) }
}
