package import OfferCore
import OfferEligibility

/// An inspector that recognises the kind of App Store data, verifies and decodes the data, and names the failed check.
///
/// The verdict comes from ``AppStoreVerifier``. An ``Inspection`` also shows readable data that failed a check, so read
/// its verdict before you use anything else in it.
package struct Inspector: Sendable {
    let verifier: AppStoreVerifier
    let options: InspectionOptions
    let now: Timestamp

    /// - Parameter isDevelopment: true if a root may sign data itself, as Xcode does.
    package init(
        roots: TrustedRoots = .apple, isDevelopment: Bool = false, options: InspectionOptions = InspectionOptions(),
        now: Timestamp
    ) {
        verifier = AppStoreVerifier(roots: roots, isDevelopment: isDevelopment)
        self.options = options
        self.now = now
    }

    /// - Parameter input: a JWS, the body of a notification, or a receipt; see ``InspectedInput``.
    package func inspect(_ input: [UInt8]) -> Inspection {
        guard let input = InspectedInput(input) else { return Inspection(refusal: DataRefusal(.notRecognised)) }
        var inspection =
            switch input {
            case .jws(let text): inspect(jws: text)
            case .receipt(let ber): inspect(receipt: ber)
            case .legacyReceipt(let text): Self.inspect(legacyReceipt: text)
            }
        if let expected = options.kind, expected.form != input.form {
            inspection.refusal = DataRefusal(expected: expected, found: input.form)
        }
        return inspection
    }

    private static func inspect(legacyReceipt text: [UInt8]) -> Inspection {
        var inspection = Inspection(kind: .legacyReceipt, refusal: DataRefusal(.legacyReceiptNotVerified))
        do {
            guard let id = try LegacyTransactionReceipt(text).transactionID else { return inspection }
            var writer = JSONWriter()
            writer.member("transaction_id", utf8: id.transactionID.text.utf8)
            inspection.payload = writer.finish()
        } catch { inspection.refusal = DataRefusal(error) }
        return inspection
    }
}
