import OfferCore
import OfferCrypto
import OfferEligibility

/// A search for the text that a JWS's signature actually covers, and for its key.
///
/// The search first tries the correct string, then the strings that common mistakes produce. It tries fewer keys with
/// those strings, so explaining a long JWS costs no more than explaining a V1 signature.
struct TokenSearch {
    /// The signed text, its key, and the differences from the evidence.
    struct Proof {
        let key: CandidateKey
        /// The differences from the evidence; empty if the signature verifies as presented.
        let findings: [Finding]
        /// The signed text; nil if it is the signing input.
        let signedText: String?
    }

    private struct Input {
        let finding: Finding?
        let message: [UInt8]
        let readableText: String?
        let digest: SignatureDigest

        init(_ message: [UInt8], _ cause: Cause? = nil, readableText: String? = nil) {
            finding = cause.map { Finding($0) }
            digest = .sha256
            self.message = message
            self.readableText = readableText
        }

        /// The correct string, hashed by another function.
        init(_ message: [UInt8], hashedBy digest: SignatureDigest, _ cause: Cause) {
            finding = Finding(cause, field: "compactJWS")
            self.digest = digest
            self.message = message
            readableText = nil
        }
    }

    /// The maximum numbers of keys tried with the correct string and with each other string.
    private static let maximumKeyCounts = (right: 32, other: 3)

    private let inputs: [Input]
    private let der: [UInt8]
    private let encodingFindings: [Finding]
    private let keys: [CandidateKey]
    private let named: [UInt8]?

    /// - Parameter named: the key ID in the header.
    /// - Returns: nil if the signature cannot be decoded.
    init?(_ parts: PresentedToken.Parts, named: [UInt8]?, keys: [CandidateKey]) throws {
        if let signature = RawSignature(bytes: parts.signature) {
            (der, encodingFindings) = (signature.der, [])
        } else if let signature = LenientDER.signature(in: parts.signature) {
            (der, encodingFindings) = (signature.der, [Finding(.jwsSignatureDER, field: "compactJWS")])
        } else {
            return nil
        }
        self.named = named
        self.keys = keys.sorted(bySimilarityTo: named ?? [])
        inputs = try Self.inputs(parts)
    }

    /// Searches for a proof.
    /// - Parameter budget: the remaining budget of the request.
    func proof(_ budget: inout VerificationBudget) throws -> Proof? {
        for input in inputs {
            let count = input.finding == nil ? Self.maximumKeyCounts.right : Self.maximumKeyCounts.other
            for key in keys.prefix(count) {
                guard try budget.accept(der, of: input.message, hashedBy: input.digest, by: key) else {
                    continue
                }
                return Proof(
                    key: key, findings: encodingFindings + otherKey(key) + (input.finding.map { [$0] } ?? []),
                    signedText: input.readableText)
            }
        }
        return nil
    }

    /// Returns the finding for a key other than the named key.
    private func otherKey(_ key: CandidateKey) -> [Finding] {
        guard let named, !named.isEmpty, named != key.id.text.utf8 else { return [] }
        return [Finding(key.id.typo(in: named) ?? .wrongKey, field: "kid", keyID: "\(key.id)")]
    }

    /// Lists the strings that may have been signed, the correct string first.
    private static func inputs(_ parts: PresentedToken.Parts) throws -> [Input] {
        let input = parts.signingInput
        func other(_ message: [UInt8]) -> Input {
            Input(message, .jwsSignedOverOtherText, readableText: ReadableText.marked(message))
        }
        let digest = try SHA256.hash(input)
        let text = String(decoding: input, as: UTF8.self)
        return [Input(input)] + (parts.normalizedSigningInput == input ? [] : [Input(parts.normalizedSigningInput)]) + [
            Input(digest, .hashedTwice, readableText: "SHA-256(\(text))"),
            Input(
                Array(Hexadecimal.text(of: digest).utf8), .hashedTwice, readableText: "hexadecimal(SHA-256(\(text)))"),
            other(parts.claimsText), other(parts.claimsSegment),
            other(parts.headerText + [UInt8(ascii: ".")] + parts.claimsText),
            other(parts.headerText + parts.claimsText),
            other(input + [UInt8(ascii: "\n")]),
        ]
            + SignatureDigest.allCases.compactMap { digest in
                digest.cause.map { Input(input, hashedBy: digest, $0) }
            }
    }
}
