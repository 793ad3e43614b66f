/// The reason a JSON text was rejected, with the position of the error. It never quotes the text.
package struct JSONError: Error, Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        case notUTF8 = "invalid UTF-8"
        case endsTooEarly = "unexpected end"
        case unexpectedByte = "unexpected character"
        case trailingText = "text after the end of the value"
        case duplicateName = "duplicate member name"
        case controlCharacter = "unescaped control character in a string"
        case badEscape = "invalid escape in a string"
        case unpairedSurrogate = "unpaired surrogate in a string"
        case tooDeep = "nested too deeply"
        case tooMany = "too many members or elements"
    }

    package let reason: Reason
    /// The offset from the start of the text, in bytes.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        reason == .notUTF8 ? "\(reason.rawValue)" : "\(reason.rawValue) (byte \(offset))"
    }
}
