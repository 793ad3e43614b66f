/// The ID of a signing key, as shown in App Store Connect, such as `2X9R4HXF34`. It is the second field of the payload.
///
/// Every published example consists of ten capital letters and digits. Apple does not promise that form, and Xcode's
/// test keys differ. This type accepts 1 to 32 ASCII letters and digits, so an ID is also safe in a file name.
package struct KeyID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "keyID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...32)
        guard utf8.allSatisfy(\.isASCIIAlphanumeric) else { throw FieldError(field: field, reason: .notAlphanumeric) }
    }

    /// True if the ID consists of ten capital letters and digits, the form used by App Store Connect and in key file
    /// names.
    package var hasAppStoreConnectForm: Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }
}

extension KeyID: CustomStringConvertible {
    package var description: String { text.description }
}

extension KeyID: Comparable {
    package static func < (one: KeyID, other: KeyID) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}
