import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferServer
import TestSupport
import Testing

@Suite("A signer that fails")
struct FaultySignerTests {
    /// Signs truly, but turns one bit of the signature now and then.
    private final class BitTurningKeyPair: SigningKeyPair {
        let key: SigningKey
        var fingerprint: String { key.fingerprint }
        private let state: NIOLockedValueBox<(random: SplitMix64, turned: Int)>

        init(key: SigningKey, seed: UInt64) {
            self.key = key
            state = NIOLockedValueBox((SplitMix64(seed: seed), 0))
        }

        var turned: Int { state.withLockedValue { $0.turned } }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            let signature = try key.sign(message)
            return state.withLockedValue { state in
                guard state.random.next() % 1000 == 0 else { return signature }
                state.turned += 1
                return signature.turningBit(Int.random(in: 0..<signature.count * 8, using: &state.random))
            }
        }

        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            try key.verify(signature, of: message)
        }
    }

    @Test("of a million signatures, some with a bit turned, no bad one gets out", arguments: [1, 2] as [UInt64])
    func noBadSignatureInAMillion(seed: UInt64) async throws {
        let pair = BitTurningKeyPair(key: try Fixtures.makeSigningKey(), seed: seed)
        let publicKey = try pair.key.verifyingKey
        let offer = try Self.offer()
        var routes = try TestRoutes(pair: pair)
        var refused = 0
        for round in 0..<500_000 {
            if round % 256 == 0 { await Task.yield() }  // the tests beside this one have connections that must not wait
            do {
                let signed = try routes.signer.sign(offer)
                guard try publicKey.verify(signed.signature.der, of: signed.payload.bytes) else {
                    Issue.record("a bad signature got out")
                    return
                }
            } catch let problem as Problem {
                #expect(problem == .signingUnavailable)
                #expect(routes.log.text.contains("critical ALARM"))
                refused += 1
                routes = try TestRoutes(pair: pair)  // the key is out of service: start anew, as an operator would
            }
        }
        #expect(refused > 300)
        #expect(refused == pair.turned)
    }

    @Test("the offer that met the fault is answered 503, alarms once, and takes the key out of service")
    func keyLeavesService() throws {
        final class Refusing: SigningKeyPair {
            let fingerprint = ""
            func sign(_ message: [UInt8]) -> [UInt8] { Array("marked-signature".utf8) }
            func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { false }
        }
        let routes = try TestRoutes(pair: Refusing())
        let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"marked-user"}"#
        for _ in 0..<3 {
            let answer = routes.post("/offer", body)
            #expect(answer.status == 503)
            #expect(answer.mediaType == .problem)
            #expect(answer.json["code"] as? String == "signing_unavailable")
            #expect(answer.retryAfter != nil)
            #expect(!answer.text.contains("signature\":"))
        }
        #expect(routes.log.text.split(separator: "\n").filter { $0.contains("critical ALARM") }.count == 1)
        #expect(!routes.log.text.contains("marked"), "neither user nor signature is logged")
    }

    @Test("a fault of the library is answered 503 without detail, logged with it, and may pass")
    func libraryFault() throws {
        final class Failing: SigningKeyPair {
            let fingerprint = ""
            struct Fault: Error, CustomStringConvertible { var description: String { "marked reason" } }
            func sign(_ message: [UInt8]) throws -> [UInt8] { throw Fault() }
            func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
        }
        let routes = try TestRoutes(pair: Failing())
        let answer = routes.post(
            "/offer", #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#)
        #expect(answer.status == 503)
        #expect(!answer.text.contains("marked"))
        #expect(routes.log.text.contains("marked reason"))
        #expect(routes.get("/health/ready").status == 200)
    }

    private static func offer() throws -> OfferRequest {
        let json = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        return try OfferRequest(OfferRouteTests.object(Array(json.utf8)), spelling: .sample)
    }
}
