import OfferCore
import OfferEligibility

/// The defects of a V1 signature's fields that are visible without verifying it.
struct FieldDefects {
    private let presented: PresentedFields

    init(_ presented: PresentedFields) {
        self.presented = presented
    }

    /// Defects that make the App Store reject even a signature that verifies.
    var fatal: [Finding] {
        emptyFields + notUUIDs + timestamp + forbiddenCharacters + invisibleCharacters
            + fieldsWithWhiteSpace.filter { $0 != .customer || isCustomerStrict }.map { finding(.whiteSpace, $0) }
    }

    /// The defects in ``fatal`` and those that may be intentional.
    var all: [Finding] {
        fatal + (hasUndefinedCustomer ? [finding(.customerUndefined, .customer)] : [])
            + fieldsWithWhiteSpace.filter { $0 == .customer && !isCustomerStrict }.map { finding(.whiteSpace, $0) }
    }

    /// The finding for a missing or empty customer. This is allowed, but it is the most common mistake.
    var missingCustomer: Finding? { text(.customer).isEmpty ? finding(.customerMissing, .customer) : nil }

    /// Strings that programming languages produce for a missing value.
    static let undefinedTexts = ["undefined", "null", "nil", "None", "(null)"]

    /// Prefixes that programming languages produce for an object or an optional.
    private static let wrappedTexts = ["[object ", "Optional("]

    var hasUndefinedCustomer: Bool {
        let customer = text(.customer).trimmed
        return Self.undefinedTexts.contains { customer.isEqual(ignoringCaseOf: Array($0.utf8)) }
            || Self.wrappedTexts.contains { customer.starts(with: $0.utf8) }
    }

    /// The smallest number that is interpreted as microseconds. As milliseconds, it would be a time in the year 5138;
    /// as microseconds, it is a time in 1973.
    private static let microsecondsThreshold = 100_000_000_000_000

    private var emptyFields: [Finding] {
        PayloadField.allCases.filter { $0 != .customer && text($0).isEmpty }.map { finding(.emptyField, $0) }
    }

    private var forbiddenCharacters: [Finding] {
        PayloadField.allCases.filter { field in
            // White space at either end has its own cause.
            Self.hasForbiddenCharacter(text(field).trimmed)
        }.map { finding(.forbiddenCharacter, $0) }
    }

    /// Findings for identifiers with invisible characters. A username may contain such characters.
    private var invisibleCharacters: [Finding] {
        [PayloadField.appBundleID, .keyID, .productIdentifier, .offerID].filter { field in
            text(field) != ReadableText.withoutInvisible(text(field))
        }.map { finding(.invisibleCharacter, $0) }
    }

    /// Returns true if a string contains U+2063, a control character or a line separator.
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

    /// True if white space at either end of the customer is fatal. A username may begin or end with a space, but not
    /// with a line break. A token must not begin or end with either.
    private var isCustomerStrict: Bool { presented.hasToken || Self.hasForbiddenCharacter(text(.customer)) }

    private var notUUIDs: [Finding] {
        (presented.hasToken ? [.customer, .nonce] : [PayloadField.nonce]).filter { field in
            !text(field).isEmpty && UUIDText(parsing: text(field).trimmed) == nil
        }.map { finding(.notUUID, $0) }
    }

    /// The defects of the timestamp. If there are none, the timestamp is empty or a plausible time in milliseconds.
    var timestamp: [Finding] {
        if text(.timestamp).isEmpty { return [] }
        let milliseconds = presented.milliseconds ?? Int64(String(decoding: text(.timestamp).trimmed, as: UTF8.self))
        guard let milliseconds, milliseconds >= 0 else { return [finding(.timestampNotNumber, .timestamp)] }
        if presented.isInSeconds { return [finding(.timestampInSeconds, .timestamp)] }
        return milliseconds < Self.microsecondsThreshold ? [] : [finding(.timestampInMicroseconds, .timestamp)]
    }

    private func text(_ field: PayloadField) -> [UInt8] { presented.texts[field] ?? [] }

    private func finding(_ cause: Cause, _ field: PayloadField) -> Finding {
        Finding(cause, field: presented.name(field))
    }
}
