import OfferCore

/// What can be seen of the fields of a V1 signature without looking at the signature.
struct FieldDefects {
    private let presented: PresentedFields

    init(_ presented: PresentedFields) {
        self.presented = presented
    }

    /// What the App Store refuses although the signature verifies.
    var fatal: [Finding] { emptyFields + notUUIDs + timestamp }

    /// ``fatal``, and what may be as it should.
    var all: [Finding] {
        fatal + forbiddenCharacters + (hasUndefinedCustomer ? [finding(.customerUndefined, .customer)] : [])
            + PayloadField.allCases.filter { text($0) != text($0).trimmed }.map { finding(.whiteSpace, $0) }
    }

    /// That the app attaches none; allowed, and yet the commonest thing to go wrong.
    var noCustomer: Finding? { text(.customer).isEmpty ? finding(.customerMissing, .customer) : nil }

    /// What languages write for a value that is not there.
    static let undefinedTexts = ["undefined", "null", "nil", "None", "(null)"]

    var hasUndefinedCustomer: Bool {
        Self.undefinedTexts.contains { text(.customer).trimmed.isEqual(ignoringCaseOf: Array($0.utf8)) }
    }

    private var emptyFields: [Finding] {
        PayloadField.allCases.filter { $0 != .customer && text($0).isEmpty }.map { finding(.emptyField, $0) }
    }

    private var forbiddenCharacters: [Finding] {
        PayloadField.allCases.filter { field in
            // White space at the ends has a name of its own.
            switch Result(catching: { () throws(FieldError) in
                try FieldText(utf8: text(field).trimmed, field: "", sizes: 0...1024)
            }) {
            case .failure(let error): error.reason == .separator || error.reason == .controlCharacter
            case .success: false
            }
        }.map { finding(.forbiddenCharacter, $0) }
    }

    private var notUUIDs: [Finding] {
        (presented.hasToken ? [.customer, .nonce] : [PayloadField.nonce]).filter { field in
            !text(field).isEmpty && UUIDText(parsing: text(field).trimmed) == nil
        }.map { finding(.notUUID, $0) }
    }

    private var timestamp: [Finding] {
        if text(.timestamp).isEmpty { return [] }
        if presented.milliseconds == nil, Int64(String(decoding: text(.timestamp).trimmed, as: UTF8.self)) == nil {
            return [finding(.timestampNotNumber, .timestamp)]
        }
        return presented.isInSeconds ? [finding(.timestampInSeconds, .timestamp)] : []
    }

    private func text(_ field: PayloadField) -> [UInt8] { presented.texts[field] ?? [] }

    private func finding(_ cause: Cause, _ field: PayloadField) -> Finding {
        Finding(cause, field: presented.name(field))
    }
}
