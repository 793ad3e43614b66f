import CConsole

/// `GET /console.css`: the style sheet of every page, embedded from `console.css` in this folder.
package enum StyleSheet {
    package static let utf8: [UInt8] = (0..<offer_console_css_size()).map { offer_console_css_byte($0) }
}
