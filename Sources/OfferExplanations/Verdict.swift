import OfferCore
import OfferEligibility

/// The result of examining one presented signature.
package struct Verdict: Hashable, Sendable {
    /// True if the signature, as presented, verifies over the payload that the App Store assembles.
    package let verifies: Bool
    /// The key that verifies the signature, over either the presented payload or the signed payload that was found.
    package let keyID: String?
    /// The defects; the first one is the cause.
    package let findings: [Finding]
    /// The payload that the App Store assembles from the evidence, or the claims of a JWS, as ``ReadableText``.
    package let payload: String
    /// The payload that was actually signed, if it differs and was found.
    package let signedPayload: String?
    package internal(set) var warnings: [ExplanationWarning]

    package var cause: Cause? { findings.first?.cause }

    /// True if the signature verifies and no defect was found.
    package var isGood: Bool { verifies && findings.isEmpty }

    package var sentences: String {
        if isGood {
            return
                "The signature is valid: it covers these values and was made with the key \(keyID ?? "that it names")."
        }
        return findings.map(\.sentence).joined(separator: " ")
    }

    func write(to writer: inout JSONWriter) {
        writer.member("verifies", verifies)
        if let keyID { writer.member("keyID", keyID) }
        if let first = findings.first {
            writer.member("cause", first.cause.rawValue)
            if let field = first.field { writer.member("field", field) }
        } else {
            writer.null("cause")
        }
        if findings.count > 1 { writer.member("otherCauses", findings.dropFirst().map(\.cause.rawValue)) }
        writer.member("explanation", sentences)
        writer.member("payload", payload)
        if let signedPayload { writer.member("signedPayload", signedPayload) }
        writer.objects("warnings", warnings) { writer, warning in
            writer.member("code", warning.rawValue)
            writer.member("explanation", warning.sentence)
        }
    }
}
