/// The reason a string is not a valid field value.
///
/// It contains the caller's name for the field, but never the string itself, which may be personal data.
package struct FieldError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case empty
        /// The string is not empty, but contains only white space (Unicode's property `White_Space`).
        case blank
        /// The string is longer than this many bytes of UTF-8.
        case tooLong(maximumBytes: Int)
        case notUTF8
        /// The string contains U+2063, which joins the signed fields. Inside a field, it would make one field look like
        /// two.
        case separator
        /// The string contains a control character (C0, DEL, C1) or a line or paragraph separator (U+2028, U+2029).
        case controlCharacter
        /// The string is not `8-4-4-4-12` hexadecimal digits.
        case notUUID
        /// The string contains a character other than an ASCII letter or digit.
        case notAlphanumeric
        /// The length of the list is outside this range.
        case wrongCount(ClosedRange<Int>)
        /// The string is not standard base64 with padding (RFC 4648 section 4).
        case notBase64
        /// The string is not a device identifier: 16 or 6 bytes in hexadecimal.
        case notDevice
        /// The string is not one of these words.
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
    /// The message for the caller, a complete sentence.
    package var description: String {
        switch reason {
        case .empty: "\(field) must not be empty."
        case .blank: "\(field) must not consist only of white space."
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
