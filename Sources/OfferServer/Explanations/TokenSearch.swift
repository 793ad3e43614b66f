import OfferCore

/// Looks for what the signature of a JWS was really made over, and with which key: the right text, and the seven that come of
/// mistakes with fewer keys, so that a long JWS costs no more than the fields of V1 do.
struct TokenSearch {
    /// What was signed.
    struct Proof {
        let key: CandidateKey
        /// What differs from what was presented; none if nothing does.
        let findings: [Finding]
        /// nil if it is the first two segments.
        let signedText: String?
    }

    private struct Input {
        let finding: Finding?
        let message: [UInt8]
        let readableText: String?

        init(_ message: [UInt8], _ cause: Cause? = nil, readableText: String? = nil) {
            finding = cause.map { Finding($0) }
            self.message = message
            self.readableText = readableText
        }
    }

    /// At most so many keys are tried with the right text, and so many with the others.
    private static let maximumKeyCounts = (right: 32, other: 3)

    private let inputs: [Input]
    private let der: [UInt8]
    private let formFindings: [Finding]
    private let keys: [CandidateKey]
    private let named: [UInt8]?

    /// - Returns: nil if the signature has no form that could be one.
    init?(
        _ parts: PresentedToken.Parts, named: [UInt8]?, keys: [CandidateKey],
        sha256: ([UInt8]) throws -> [UInt8]
    ) rethrows {
        if let signature = RawSignature(bytes: parts.signature) {
            (der, formFindings) = (signature.der, [])
        } else if let signature = SignatureForm.signature(inNearly: parts.signature) {
            (der, formFindings) = (signature.der, [Finding(.jwsSignatureDER, field: "compactJWS")])
        } else {
            return nil
        }
        self.named = named
        self.keys = keys.sorted(byLikenessTo: named ?? [])
        inputs = try Self.inputs(parts, sha256: sha256)
    }

    /// - Parameter verifications: those of the request so far.
    func proof(_ verifications: inout Verifications) throws -> Proof? {
        for input in inputs {
            let count = input.finding == nil ? Self.maximumKeyCounts.right : Self.maximumKeyCounts.other
            for key in keys.prefix(count) {
                guard try verifications.accept(der, of: input.message, by: key) else { continue }
                return Proof(
                    key: key, findings: formFindings + otherKey(key) + (input.finding.map { [$0] } ?? []),
                    signedText: input.readableText)
            }
        }
        return nil
    }

    /// What is wrong where another key made it than the one that is named.
    private func otherKey(_ key: CandidateKey) -> [Finding] {
        guard let named, !named.isEmpty, named != key.id.text.utf8 else { return [] }
        return [Finding(key.id.slip(in: named) ?? .wrongKey, field: "kid", keyID: "\(key.id)")]
    }

    /// What may have been signed, the right text first.
    private static func inputs(
        _ parts: PresentedToken.Parts, sha256: ([UInt8]) throws -> [UInt8]
    ) rethrows -> [Input] {
        let input = parts.signingInput
        func other(_ message: [UInt8]) -> Input {
            Input(message, .jwsSignedOverOtherText, readableText: ReadableText.marked(message))
        }
        let digest = try sha256(input)
        let text = String(decoding: input, as: UTF8.self)
        return [Input(input)] + (parts.mendedSigningInput == input ? [] : [Input(parts.mendedSigningInput)]) + [
            Input(digest, .hashedTwice, readableText: "SHA-256(\(text))"),
            Input(
                Array(Hexadecimal.text(of: digest).utf8), .hashedTwice, readableText: "hexadecimal(SHA-256(\(text)))"),
            other(parts.claimsText), other(parts.claimsSegment),
            other(parts.headerText + [UInt8(ascii: ".")] + parts.claimsText),
            other(parts.headerText + parts.claimsText),
            other(input + [UInt8(ascii: "\n")]),
        ]
    }
}
