/// The reason a string is not a valid field value.
///
/// It names the field as the caller spelled it. It never contains the text, which may be personal data.
package struct FieldError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case empty
        /// Not empty, but nothing except white space (Unicode's property `White_Space`).
        case blank
        /// Longer than this many bytes of UTF-8.
        case tooLong(maximumBytes: Int)
        case notUTF8
        /// U+2063, which joins the signed fields. Inside a field, it would make one field look like two.
        case separator
        /// A control character (C0, DEL, C1) or a line or paragraph separator (U+2028, U+2029).
        case controlCharacter
        /// Not `8-4-4-4-12` hexadecimal digits.
        case notUUID
        /// A character other than an ASCII letter or digit.
        case notAlphanumeric
        /// A list whose length is outside this range.
        case wrongCount(ClosedRange<Int>)
        /// Not standard base64 with padding (RFC 4648 section 4).
        case notBase64
        /// Not the 16 or 6 bytes of a device identifier in hexadecimal.
        case notDevice
        /// Not one of these words.
        case notOneOf([String])
    }

    package let field: String
    package let reason: Reason

    package init(field: String, reason: Reason) {
        self.field = field
        self.reason = reason
    }
}

extension FieldError: CustomStringConvertible {
    /// A sentence for the caller.
    package var description: String {
        switch reason {
        case .empty: "\(field) must not be empty."
        case .blank: "\(field) must not consist of white space only."
        case .tooLong(let maximum): "\(field) must not be longer than \(maximum) bytes of UTF-8."
        case .notUTF8: "\(field) is not valid UTF-8."
        case .separator: "\(field) must not contain U+2063, the character that joins the signed fields."
        case .controlCharacter: "\(field) must not contain control characters or line separators."
        case .notUUID: "\(field) must be a UUID such as d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10."
        case .notAlphanumeric: "\(field) must consist of ASCII letters and digits."
        case .wrongCount(let range): "\(field) must have \(range.lowerBound) to \(range.upperBound) items."
        case .notBase64: "\(field) must be standard base64 with padding, without line breaks."
        case .notDevice: "\(field) must be 32 or 12 hexadecimal digits: identifierForVendor, or a MAC address."
        case .notOneOf(let words): "\(field) must be \(words.joined(separator: " or "))."
        }
    }
}
