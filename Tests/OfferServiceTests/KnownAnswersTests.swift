import OfferCore
import OfferCrypto
import OfferFiles
import OfferService
import TestSupport
import Testing

extension KnownAnswers {
    /// The real cryptography, except for what `change` replaces.
    static func test(_ change: (inout Functions) -> Void = { _ in }) -> KnownAnswers {
        var functions = Functions.inUse
        change(&functions)
        return KnownAnswers(functions, library: "libcrypto 3.0.0")
    }
}

@Suite("Known answers")
struct KnownAnswersTests {
    @Test("libcrypto passes every known-answer test")
    func right() throws {
        #expect(KnownAnswers.test().run().problem == nil)
        #expect(try SelfTest(.test()).holds)
    }

    private struct Fault: Error {}

    @Test(
        "an error is not a wrong answer, unless another answer is wrong",
        arguments: [
            (KnownAnswers.test { $0.sha256 = { _ in throw Fault() } }, "SHA-256 is wrong (Fault())"),
            (.test { $0.verify = { _, _, _ in throw Fault() } }, "a good signature is refused (Fault())"),
            (.test { $0.hmacSHA256 = { _, _ in throw Fault() } }, "HMAC with SHA-256 is wrong (Fault())"),
            (.test { $0.makeSecret = { throw Fault() } }, "two secrets are the same (Fault())"),
        ])
    func untested(answers: KnownAnswers, test: String) throws {
        guard case .untested(let problem) = answers.run() else {
            Issue.record("the error counts as an answer")
            return
        }
        #expect(problem.error.hasPrefix("the cryptography cannot be tested: whether \(test)"))
        #expect(throws: ConfigurationError.self, "nothing starts untested") { try SelfTest(answers) }
        let both = KnownAnswers.test {
            $0.sha256 = { _ in throw Fault() }
            $0.makeSecret = { [] }
        }
        guard case .wrong = both.run() else {
            Issue.record("the wrong answer went unnoticed")
            return
        }
    }

    @Test(
        "each broken function is reported with its own error and a hint",
        arguments: [
            (
                KnownAnswers.test { $0.verify = { _, _, _ in true } },
                [
                    "a signature with one flipped bit is accepted",
                    "of another message, with one flipped bit, is accepted",
                ]
            ),
            (.test { $0.verify = { _, _, _ in false } }, ["a good signature is refused"]),
            (
                .test {
                    $0.verify = { signature, _, key in
                        let vectors = try OfferVectors.load()
                        return try VerifyingKey(der: key).verify(signature, of: vectors.vectors[0].payload.bytes)
                    }
                }, ["of another message, with one flipped bit, is accepted"]
            ),
            (.test { $0.sha256 = { _ in [UInt8](repeating: 0, count: 32) } }, ["SHA-256 is wrong"]),
            (.test { $0.hmacSHA256 = { try HMACSHA256.code(of: $1, under: $0) } }, ["HMAC with SHA-256 is wrong"]),
            (
                .test {
                    $0.makeNonce = {
                        var random = SplitMix64(seed: 1)
                        return Nonce(using: &random)
                    }
                }, ["two nonces are the same"]
            ),
            (.test { $0.makeSecret = { [UInt8](repeating: 0, count: 32) } }, ["two secrets are the same"]),
        ])
    func wrong(answers: KnownAnswers, faults: [String]) throws {
        guard case .wrong(let problem) = answers.run() else {
            Issue.record("the wrong answer went unnoticed")
            return
        }
        for fault in faults { #expect(problem.error.contains(fault)) }
        #expect(problem.error.split(separator: ";").count == faults.count, "\(problem.error)")
        #expect(problem.hint.contains("another machine") && problem.hint.contains("libcrypto 3.0.0"))
        #expect(throws: ConfigurationError.self) { try SelfTest(answers) }
    }
}
