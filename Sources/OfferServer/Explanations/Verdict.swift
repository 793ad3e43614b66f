import OfferCore

/// What can be said of one presented signature.
package struct Verdict: Hashable, Sendable {
    /// Whether the signature, as it was presented, is one over what the App Store makes of the rest.
    package let verifies: Bool
    /// The key that it verifies with, as it was presented or in the variation that proves the cause.
    package let keyID: String?
    /// What is wrong, the first being the cause; none if nothing was found.
    package let findings: [Finding]
    /// The payload as the App Store puts it together from what was presented, marked by ``ReadableText``; of a JWS, its claims.
    package let payload: String
    /// The payload that was really signed, where that is another one and has been found.
    package let signedPayload: String?
    package let warnings: [ExplanationWarning]

    package var cause: Cause? { findings.first?.cause }

    /// Whether nothing keeps the App Store from taking it, as far as can be told from what was presented.
    package var isGood: Bool { verifies && findings.isEmpty }

    package var sentences: String {
        if isGood {
            return
                "The signature is good: it covers these values and was made with the key \(keyID ?? "that it names")."
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
