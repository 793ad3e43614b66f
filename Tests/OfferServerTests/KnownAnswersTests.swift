import OfferCore
import OfferCrypto
import OfferServer
import TestSupport
import Testing

extension KnownAnswers {
    /// The real cryptography, but for what is given.
    static func test(
        verify: @escaping @Sendable ([UInt8], [UInt8], [UInt8]) throws -> Bool = {
            try VerifyingKey(der: $2).verify($0, of: $1)
        },
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8] = SHA256.hash,
        hmacSHA256: @escaping @Sendable ([UInt8], [UInt8]) throws -> [UInt8] = HMACSHA256.code(of:under:),
        makeNonce: @escaping @Sendable () -> Nonce = {
            var random = SystemRandomNumbers()
            return Nonce(using: &random)
        },
        makeSecret: @escaping @Sendable () throws -> [UInt8] = RandomSecret.make
    ) -> KnownAnswers {
        KnownAnswers(
            verify: verify, sha256: sha256, hmacSHA256: hmacSHA256, makeNonce: makeNonce, makeSecret: makeSecret,
            library: "libcrypto 3.0.0")
    }
}

@Suite("Known answers")
struct KnownAnswersTests {
    @Test("libcrypto gives them all")
    func right() throws {
        #expect(KnownAnswers.test().problem == nil)
        #expect(try SelfTest(.test()).holds)
    }

    private struct Fault: Error {}

    @Test(
        "each function that is broken is told, by what it does wrong and nothing else, with what to do",
        arguments: [
            (
                KnownAnswers.test(verify: { _, _, _ in true }),
                ["a signature with one bit turned is accepted", "of another message, with one bit turned, is accepted"]
            ),
            (.test(verify: { _, _, _ in false }), ["a good signature is refused"]),
            (
                .test(verify: { signature, _, key in
                    let vectors = try OfferVectors.load()
                    return try VerifyingKey(der: key).verify(signature, of: vectors.vectors[0].payload.bytes)
                }), ["of another message, with one bit turned, is accepted"]
            ),
            (.test(sha256: { _ in [UInt8](repeating: 0, count: 32) }), ["SHA-256 is wrong"]),
            (.test(sha256: { _ in throw Fault() }), ["SHA-256 is wrong (Fault())"]),
            (.test(hmacSHA256: { try HMACSHA256.code(of: $1, under: $0) }), ["HMAC with SHA-256 is wrong"]),
            (
                .test(makeNonce: {
                    var random = SplitMix64(seed: 1)
                    return Nonce(using: &random)
                }), ["two nonces are the same"]
            ),
            (.test(makeSecret: { [UInt8](repeating: 0, count: 32) }), ["two secrets are the same"]),
        ])
    func wrong(answers: KnownAnswers, faults: [String]) throws {
        let problem = try #require(answers.problem)
        for fault in faults { #expect(problem.error.contains(fault)) }
        #expect(problem.error.split(separator: ";").count == faults.count, "\(problem.error)")
        #expect(problem.hint.contains("another machine") && problem.hint.contains("libcrypto 3.0.0"))
        #expect(throws: ConfigurationError.self) { try SelfTest(answers) }
    }
}
