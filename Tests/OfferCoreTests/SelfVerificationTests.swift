import NIOConcurrencyHelpers
import OfferCore
import TestSupport
import Testing

@Suite("Self-verification")
struct SelfVerificationTests {
    private struct Broken: Error, Equatable {}

    /// A key pair whose results the test sets.
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

    @Test("a signature is returned only if the public key accepts it")
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
                Issue.record("a signature was returned despite \(expected)")
            } catch {
                #expect("\(error)".hasPrefix(expected))
            }
        }
    }

    @Test("a JWS is returned only if the public key accepts its signature; a malformed signature is refused")
    func jwsOnlyWhenAccepted() throws {
        let jws = try Fixtures.unsignedJWS(Fixtures.promotionalOffer())
        let der: [UInt8] = [0x30, 0x06, 2, 1, 1, 2, 1, 2]
        let made = try ScriptedKeyPair(signature: .success(der)).compactJWS(for: jws)
        #expect(made.content == jws && made.signature.der == der)
        for (pair, expected) in [
            (ScriptedKeyPair(signature: .success(der), verdict: .success(false)), "signatureRefused"),
            (ScriptedKeyPair(signature: .success(der), verdict: .failure(Broken())), "verificationFailed"),
            (ScriptedKeyPair(signature: .failure(Broken())), "signingFailed"),
            (ScriptedKeyPair(signature: .success([1])), "signatureRefused"),
            (ScriptedKeyPair(signature: .success([])), "signatureRefused"),
            (ScriptedKeyPair(signature: .success([0x30, 0x06, 2, 1, 0, 2, 1, 2])), "signatureRefused"),
        ] {
            do {
                _ = try pair.compactJWS(for: jws)
                Issue.record("a JWS was returned despite \(expected)")
            } catch {
                #expect("\(error)".hasPrefix(expected))
            }
        }
    }

    @Test("a JWS is verified from its final text: the third part against the first two")
    func verifiedFromText() throws {
        final class Recording: SigningKeyPair {
            let fingerprint = ""
            let seen = NIOLockedValueBox<[[UInt8]]>([])
            func sign(_ message: [UInt8]) -> [UInt8] { [0x30, 0x07, 2, 2, 0, 0x80, 2, 1, 2] }
            func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
                seen.withLockedValue { $0 += [signature, message] }
                return true
            }
        }
        let pair = Recording()
        let text = try pair.compactJWS(for: Fixtures.unsignedJWS(Fixtures.promotionalOffer())).text
        let parts = text.split(separator: UInt8(ascii: "."))
        let seen = pair.seen.withLockedValue { $0 }
        #expect(seen == [[0x30, 0x07, 2, 2, 0, 0x80, 2, 1, 2], Array(parts[0] + [UInt8(ascii: ".")] + parts[1])])
    }
}
