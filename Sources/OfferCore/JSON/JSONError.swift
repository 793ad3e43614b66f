/// Why a text is not the JSON that is read here. It holds a place, never any of the text.
package struct JSONError: Error, Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        case notUTF8 = "it is not valid UTF-8"
        case endsTooEarly = "it ends too early"
        case unexpectedByte = "there is something that JSON does not allow there"
        case trailingText = "something follows the end of the value"
        case duplicateName = "an object has the same member name twice"
        case controlCharacter = "a string has a control character that is not escaped"
        case badEscape = "a string has an escape that JSON does not know"
        case unpairedSurrogate = "a string has half of a surrogate pair"
        case tooDeep = "it is nested too deeply"
        case tooMany = "an object or array has too many members"
    }

    package let reason: Reason
    /// Offset from the start of the text, in bytes.
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
