import OfferCore

/// What can be seen of the fields of a V1 signature without looking at the signature.
struct FieldDefects {
    private let presented: PresentedFields

    init(_ presented: PresentedFields) {
        self.presented = presented
    }

    /// What the App Store refuses although the signature verifies.
    var fatal: [Finding] {
        emptyFields + notUUIDs + timestamp + forbiddenCharacters + invisibleCharacters
            + fieldsWithWhiteSpace.filter { $0 != .customer || hasNoOrdinaryUsername }.map { finding(.whiteSpace, $0) }
    }

    /// ``fatal``, and what may be as it should.
    var all: [Finding] {
        fatal + (hasUndefinedCustomer ? [finding(.customerUndefined, .customer)] : [])
            + fieldsWithWhiteSpace.filter { $0 == .customer && !hasNoOrdinaryUsername }.map { finding(.whiteSpace, $0) }
    }

    /// That the app attaches none; allowed, and yet the commonest thing to go wrong.
    var noCustomer: Finding? { text(.customer).isEmpty ? finding(.customerMissing, .customer) : nil }

    /// What languages write for a value that is not there.
    static let undefinedTexts = ["undefined", "null", "nil", "None", "(null)"]

    /// What they write in place of one, or around it.
    private static let wrappedTexts = ["[object ", "Optional("]

    var hasUndefinedCustomer: Bool {
        let customer = text(.customer).trimmed
        return Self.undefinedTexts.contains { customer.isEqual(ignoringCaseOf: Array($0.utf8)) }
            || Self.wrappedTexts.contains { customer.starts(with: $0.utf8) }
    }

    /// As milliseconds it would be in the year 5138, as microseconds in 1973.
    private static let firstMicroseconds = 100_000_000_000_000

    private var emptyFields: [Finding] {
        PayloadField.allCases.filter { $0 != .customer && text($0).isEmpty }.map { finding(.emptyField, $0) }
    }

    private var forbiddenCharacters: [Finding] {
        PayloadField.allCases.filter { field in
            // White space at the ends has a name of its own.
            Self.hasForbiddenCharacter(text(field).trimmed)
        }.map { finding(.forbiddenCharacter, $0) }
    }

    /// A username may have what it likes.
    private var invisibleCharacters: [Finding] {
        [PayloadField.appBundleID, .keyID, .productIdentifier, .offerID].filter { field in
            text(field) != ReadableText.withoutInvisible(text(field))
        }.map { finding(.invisibleCharacter, $0) }
    }

    /// Whether there is U+2063, a control character or a line separator in it.
    static func hasForbiddenCharacter(_ text: [UInt8]) -> Bool {
        do {
            _ = try FieldText(utf8: text, field: "", sizes: 0...text.count)
            return false
        } catch {
            return error.reason == .separator || error.reason == .controlCharacter
        }
    }

    private var fieldsWithWhiteSpace: [PayloadField] {
        PayloadField.allCases.filter { text($0) != text($0).trimmed }
    }

    /// A username may have a space at its end; a token may not, and nothing a line end.
    private var hasNoOrdinaryUsername: Bool { presented.hasToken || Self.hasForbiddenCharacter(text(.customer)) }

    private var notUUIDs: [Finding] {
        (presented.hasToken ? [.customer, .nonce] : [PayloadField.nonce]).filter { field in
            !text(field).isEmpty && UUIDText(parsing: text(field).trimmed) == nil
        }.map { finding(.notUUID, $0) }
    }

    /// Where there are none, the timestamp is a time.
    var timestamp: [Finding] {
        if text(.timestamp).isEmpty { return [] }
        let milliseconds = presented.milliseconds ?? Int64(String(decoding: text(.timestamp).trimmed, as: UTF8.self))
        guard let milliseconds, milliseconds >= 0 else { return [finding(.timestampNotNumber, .timestamp)] }
        if presented.isInSeconds { return [finding(.timestampInSeconds, .timestamp)] }
        return milliseconds < Self.firstMicroseconds ? [] : [finding(.timestampInMicroseconds, .timestamp)]
    }

    private func text(_ field: PayloadField) -> [UInt8] { presented.texts[field] ?? [] }

    private func finding(_ cause: Cause, _ field: PayloadField) -> Finding {
        Finding(cause, field: presented.name(field))
    }
}
