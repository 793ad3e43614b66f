package import OfferCore
import OfferCrypto

/// Known-answer tests of the cryptography, with answers computed by other programs.
///
/// The service relies on verification to catch its own bad signatures. If verification accepted everything, it would
/// let them through, so the tests also check that bad signatures are refused.
package struct KnownAnswers: Sendable {
    /// The functions under test.
    package struct Functions: Sendable {
        package var verify: @Sendable (_ signature: [UInt8], _ message: [UInt8], _ publicKey: [UInt8]) throws -> Bool
        package var sha256: @Sendable ([UInt8]) throws -> [UInt8]
        package var hmacSHA256: @Sendable (_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8]
        package var makeNonce: @Sendable () -> Nonce
        package var makeSecret: @Sendable () throws -> [UInt8]

        /// The functions that the service uses.
        package static let inUse = Functions(
            verify: { try VerifyingKey(der: $2).verify($0, of: $1) }, sha256: SHA256.hash,
            hmacSHA256: HMACSHA256.code(of:under:), makeNonce: SystemInputs.system.makeNonce,
            makeSecret: RandomSecret.make)
    }

    /// The result of a test.
    package enum Outcome: Sendable {
        case passed
        /// No answer is known to be wrong, but the cryptography reported an error. The cause may be temporary, such as
        /// a lack of memory.
        case untested(Diagnostic)
        /// An answer is wrong, so the machine can no longer be trusted.
        case wrong(Diagnostic)

        package var problem: Diagnostic? {
            switch self {
            case .passed: nil
            case .untested(let problem), .wrong(let problem): problem
            }
        }
    }

    private let functions: Functions
    /// The library that the hint names if a test fails, such as `libcrypto 3.0.15`.
    private let library: String

    package init(_ functions: Functions = .inUse, library: String = "libcrypto \(OpenSSLVersion.text)") {
        self.functions = functions
        self.library = library
    }

    /// Runs all tests, which takes less than a millisecond.
    package func run() -> Outcome {
        let (faults, errors) = ask()
        if !faults.isEmpty {
            return .wrong(
                Diagnostic(
                    "nothing is signed because the cryptography fails its known-answer tests: "
                        + faults.joined(separator: "; "),
                    hint: "start the service on another machine, and check this one's memory, processor and \(library)"
                ))
        }
        guard !errors.isEmpty else { return .passed }
        return .untested(
            Diagnostic(
                "the cryptography cannot be tested: " + errors.joined(separator: "; "),
                hint: "check that the process has enough memory; if it has, start the service on another machine"))
    }

    /// - Returns: the wrong answers, and the tests that ended in an error instead of an answer.
    private func ask() -> (faults: [String], errors: [String]) {
        let signature = Self.signature
        var (faults, errors): ([String], [String]) = ([], [])
        func ask(_ fault: String, _ isRight: () throws -> Bool) {
            do {
                if try !isRight() { faults.append(fault) }
            } catch { errors.append("whether \(fault) (\(error))") }
        }
        ask("a good signature is refused") { try functions.verify(signature, Self.payload(), Self.publicKey) }
        ask("a signature with one flipped bit is accepted") {
            try !functions.verify(signature.flippingLastBit, Self.payload(), Self.publicKey)
        }
        ask("a signature of another message, with one flipped bit, is accepted") {
            try !functions.verify(signature, Self.payload().flippingLastBit, Self.publicKey)
        }
        ask("SHA-256 is wrong") { try Hexadecimal.text(of: functions.sha256(Self.payload())) == Self.payloadSHA256 }
        ask("HMAC with SHA-256 is wrong") {
            try Hexadecimal.text(of: functions.hmacSHA256(Self.hmacMessage, Self.hmacKey)) == Self.hmac
        }
        ask("two nonces are the same") { functions.makeNonce() != functions.makeNonce() }
        ask("two secrets are the same") { try functions.makeSecret() != functions.makeSecret() }
        return (faults, errors)
    }
}

// Vector A in Tests/Vectors/promotional-offer-v1.json, computed by other programs. The key has no other use.
extension KnownAnswers {
    /// Builds the payload from its fields, so that their order and the separator are tested too.
    private static func payload() throws -> [UInt8] {
        try OfferPayload(
            appBundleID: BundleID(utf8: Array("com.example.app".utf8)),
            keyID: KeyID(utf8: Array("ABCDE12345".utf8)),
            productIdentifier: ProductID(utf8: Array("com.example.app.pro.monthly".utf8)),
            offerID: OfferID(utf8: Array("retention_50off_3m".utf8)),
            customer: Customer(appAccountToken: Array("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10".utf8)),
            nonce: Nonce(utf8: Array("7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b".utf8)),
            timestamp: Timestamp(milliseconds: 1_767_225_600_000)
        ).bytes
    }

    private static let payloadSHA256 = "23648de7a9aae4ecd5a4309c0543057b45168c1de0ef7da23a0beb7e0a35b2c7"

    /// The SubjectPublicKeyInfo of the key, in DER.
    private static let publicKey = base64(
        """
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+W+FukVKXECTlZxVm3jMd+duB4M4qv1xtcccq33XgGlZfSFIThPP14N5KpcESI9KxgJ1kwjkXm85\
        DcvJoQksSw==
        """)

    private static let signature = base64(
        "MEYCIQC6AjFdTN+1JqraxnQHBEEJASPC8yj3xfdtQid+J7ia7gIhAK2OpJ9H1mzD/g56pxkGYqWIvLOoB1LsAEdASW1bLXpC")

    /// - Returns: the decoded bytes; an empty array, with which the tests fail, if the text is not base64.
    private static func base64(_ text: String) -> [UInt8] { Base64.bytes(of: text.utf8) ?? [] }
}

// RFC 4231 section 4.3, test case 2.
extension KnownAnswers {
    private static let hmacKey = Array("Jefe".utf8)
    private static let hmacMessage = Array("what do ya want for nothing?".utf8)
    private static let hmac = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
}
