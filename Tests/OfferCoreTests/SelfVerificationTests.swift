import OfferCore
import TestSupport
import Testing

@Suite("Self-verification")
struct SelfVerificationTests {
    private struct Broken: Error, Equatable {}

    /// A key pair whose every answer a test decides.
    private final class ScriptedKeyPair: SigningKeyPair {
        let fingerprint = ""
        private let signature: Result<[UInt8], Broken>
        private let verdict: Result<Bool, Broken>

        init(signature: Result<[UInt8], Broken> = .success([1]), verdict: Result<Bool, Broken> = .success(true)) {
            self.signature = signature
            self.verdict = verdict
        }

        func sign(_ message: [UInt8]) throws -> [UInt8] { try signature.get() }
        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool { try verdict.get() }
    }

    @Test("a signature leaves only when the public key accepts it")
    func onlyWhenAccepted() throws {
        let payload = try Fixtures.payload()
        #expect(try ScriptedKeyPair().signature(for: payload).der == [1])
        for (pair, expected) in [
            (ScriptedKeyPair(verdict: .success(false)), "signatureRefused"),
            (ScriptedKeyPair(verdict: .failure(Broken())), "verificationFailed"),
            (ScriptedKeyPair(signature: .failure(Broken())), "signingFailed"),
        ] {
            do {
                _ = try pair.signature(for: payload)
                Issue.record("a signature left: \(expected)")
            } catch {
                #expect("\(error)".hasPrefix(expected))
            }
        }
    }

    @Test("a key that is taken out of service signs no more, and no other takes its place")
    func outOfService() throws {
        let id = try Fixtures.keyID()
        let current = CurrentSetup(Setup(ring: KeyRing(active: KeyRing.Key(id: id, pair: ScriptedKeyPair()))))
        let before = current.snapshot.ring
        let app = try BundleID(utf8: Array("com.example.app".utf8))
        let anotherID = try Fixtures.keyID("ANOTHERKEY")
        current.takeOutOfService(anotherID)
        #expect(try current.snapshot.ring.signingKey(for: app).id == id)
        current.takeOutOfService(id)
        #expect(throws: KeyRingError.outOfService(id)) { try current.snapshot.ring.signingKey(for: app) }
        #expect(try before.signingKey(for: app).id == id, "a snapshot does not change")
    }
}
