/// A piece of an HTML page, in UTF-8.
///
/// Markup comes only from literals in the source code. Interpolated text is escaped, and interpolated HTML is not:
///
///     let cell: HTML = "<td>\(username)</td>"
///
/// There is no way to turn a string that is made at run time into markup. An interpolated value of an attribute must be
/// between quotation marks; `appendInterpolation` asserts it.
///
/// Nothing is inlined: the pages have hundreds of interpolations, and the code would be twice the size.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    package private(set) var utf8: [UInt8]

    /// - Parameter value: can only be a literal, because no other `StaticString` can be made.
    @inline(never)
    package init(stringLiteral value: StaticString) {
        utf8 = Array(value.description.utf8)
    }

    @inline(never)
    package init(stringInterpolation: StringInterpolation) {
        utf8 = stringInterpolation.utf8
    }

    package static let empty: HTML = ""

    /// The console's style sheet, for a page that is a file of its own. It is embedded when the program is built.
    static let styleSheet = HTML(styleSheet: StyleSheet.utf8)

    private init(styleSheet utf8: [UInt8]) { self.utf8 = utf8 }

    package var isEmpty: Bool { utf8.isEmpty }

    /// The markup as text, for tests.
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    package static func += (left: inout HTML, right: HTML) { left.utf8 += right.utf8 }

    package struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var utf8: [UInt8] = []

        @inline(never)
        package init(literalCapacity: Int, interpolationCount: Int) {
            utf8.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        // The compiler passes an empty literal between two interpolations. This leaves the call out.
        @inline(__always)
        package mutating func appendLiteral(_ literal: StaticString) {
            if literal.utf8CodeUnitCount > 0 { append(literal) }
        }

        @inline(never)
        private mutating func append(_ literal: StaticString) { utf8.append(contentsOf: literal.description.utf8) }

        /// Markup from a literal.
        package mutating func appendInterpolation(_ literal: StaticString) { appendLiteral(literal) }

        package mutating func appendInterpolation(_ literal: StaticString?) {
            if let literal { appendLiteral(literal) }
        }

        @inline(never)
        package mutating func appendInterpolation(_ html: consuming HTML) { utf8 += html.utf8 }

        @inline(never)
        package mutating func appendInterpolation(_ html: consuming HTML?) {
            if let html { utf8 += html.utf8 }
        }

        @inline(never)
        package mutating func appendInterpolation(_ html: consuming [HTML]) {
            for piece in html { utf8 += piece.utf8 }
        }

        @inline(never)
        package mutating func appendInterpolation(_ text: String) {
            assert(utf8.last != UInt8(ascii: "="), "quote the value of an attribute")
            Escaping.append(text, to: &utf8)
        }

        @inline(never)
        package mutating func appendInterpolation(_ text: Substring) { appendInterpolation(String(text)) }
        @inline(never)
        package mutating func appendInterpolation(_ number: Int) { appendInterpolation(Int64(number)) }

        @inline(never)
        package mutating func appendInterpolation(_ number: Int64) {
            assert(utf8.last != UInt8(ascii: "="), "quote the value of an attribute")
            utf8.append(contentsOf: String(number).utf8)
        }
    }
}

// Markup in a `String` would be its debug description. This also finds literals that became strings, because an
// expression inside an interpolation has no other type. They are deprecated because the compiler passes over unavailable
// overloads; warnings are errors here.
extension DefaultStringInterpolation {
    @available(*, deprecated, message: "give the literal the type HTML")
    package mutating func appendInterpolation(_ html: HTML) {}

    @available(*, deprecated, message: "give the literal the type HTML")
    package mutating func appendInterpolation(_ html: HTML?) {}

    @available(*, deprecated, message: "give the literal the type HTML")
    package mutating func appendInterpolation(_ html: [HTML]) {}
}

extension Sequence {
    /// The markup of each element.
    func html(_ markup: (Element) -> HTML) -> [HTML] { map(markup) }
}
