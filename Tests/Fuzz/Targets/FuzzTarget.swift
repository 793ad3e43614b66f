/// A parser of untrusted bytes and the properties that must hold for every input.
///
/// To add a target, write a file with a `static let`, add it to ``all``, and create a folder with the target's name and
/// a few small inputs in `Tests/Fuzz/Corpora`.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    private let check: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    /// - Parameter check: reads the bytes and throws if a property is violated.
    init(_ name: String, check: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.check = check
    }

    package static let all: [FuzzTarget] = [
        .requestReader, .requestFields, .keyText, .pkcs11URI, .userToken, .keySet, .configuration, .evidence, .jws,
        .auditLines,
        .decision, .decisionRequest, .grantRequest, .factsRequest, .alternatives, .linkText, .csv, .offerEvents,
        .idempotencyKey, .formReader,
        .multipartReader,
        .cookieReader,
        .pendingSignIn,
        .appStoreJWS, .transaction, .renewalInfo, .appTransaction, .notification, .retentionRequest, .retentionBody,
        .certificate, .cms,
        .receiptPayload, .legacyReceipt, .legacyNotification, .ocspResponse, .notificationIntake, .apiAnswer,
        .verifyReceiptAnswer, .connectDocument, .appleEvents,
    ]

    package func run(_ input: [UInt8]) throws(BrokenPromise) { try check(input) }

    package var description: String { name }
}

/// A property that an input violates.
package struct BrokenPromise: Error {
    package let promise: String
}

/// Checks that a property holds.
/// - Parameter promise: a description of the property.
func promise(_ promise: String, _ holds: Bool) throws(BrokenPromise) {
    guard holds else { throw BrokenPromise(promise: promise) }
}
