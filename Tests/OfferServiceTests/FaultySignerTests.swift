import Logging
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferFiles
import OfferHTTP
import OfferService
import TestSupport
import Testing

@Suite("Faulty signers")
struct FaultySignerTests {
    /// A signer that sometimes flips one bit of the signature.
    private final class BitTurningKeyPair: SigningKeyPair {
        let key: SigningKey
        var fingerprint: String { key.fingerprint }
        private let state: NIOLockedValueBox<(random: SplitMix64, turned: Int)>
        /// On average, one in this many signatures has a flipped bit.
        private let interval: UInt64

        init(key: SigningKey, seed: UInt64, interval: UInt64 = 1000) {
            self.key = key
            self.interval = interval
            state = NIOLockedValueBox((SplitMix64(seed: seed), 0))
        }

        var turned: Int { state.withLockedValue { $0.turned } }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            let signature = try key.sign(message)
            return state.withLockedValue { state in
                guard state.random.next() % interval == 0 else { return signature }
                state.turned += 1
                return signature.turningBit(Int.random(in: 0..<signature.count * 8, using: &state.random))
            }
        }

        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            try key.verify(signature, of: message)
        }

        func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            try key.verifyOwn(signature, of: message)
        }
    }

    @Test("no bad signature gets out of a million made by a faulty signer", arguments: [1, 2] as [UInt64])
    func noBadSignatureInAMillion(seed: UInt64) async throws {
        let pair = BitTurningKeyPair(key: try Fixtures.makeSigningKey(), seed: seed)
        // The second key verifies its signatures with a precomputed public key, as the service's keys do.
        if seed == 2 { _ = try pair.key.precompute() }
        let publicKey = try pair.key.verifyingKey
        let offer = try Self.offer()
        // Logging each signature would take longer than anything but the cryptography.
        let refused = try await Self.refusals(
            of: pair, rounds: 500_000, yieldingAfter: 256, service: { try TestService(pair: pair, logLevel: .critical) }
        ) { signer in
            let signed = try signer.signForCommand(offer).offer
            guard let signature = signed.signature else { return false }
            return try publicKey.verify(signature.der, of: signed.payload.bytes)
        }
        #expect(refused > 300)
    }

    /// Signs again and again, and expects each good signature to verify, and each bad one to be refused with an alarm.
    /// - Parameters:
    ///   - rounds: how often to sign.
    ///   - interval: the rounds after which concurrent tests may serve their connections.
    ///   - sign: signs, and returns whether the signature verifies.
    /// - Returns: the number of refusals.
    private static func refusals(
        of pair: BitTurningKeyPair, rounds: Int, yieldingAfter interval: Int, service: () throws -> TestService,
        sign: (OfferSigner) throws -> Bool
    ) async throws -> Int {
        var routes = try service()
        var refused = 0
        for round in 0..<rounds {
            if round % interval == 0 { await Task.yield() }
            do {
                try #require(try sign(routes.signer), "a bad signature got out")
            } catch let problem as Problem {
                #expect(problem == .signingUnavailable)
                #expect(routes.log.text.contains("critical ALARM"))
                refused += 1
                // The key is out of service, so restart as an operator would.
                routes = try service()
            }
        }
        #expect(refused == pair.turned)
        return refused
    }

    @Test("no bad JWS gets out of 5,000 made by a faulty signer", arguments: [3] as [UInt64])
    func noBadJWS(seed: UInt64) async throws {
        let pair = BitTurningKeyPair(key: try Fixtures.makeSigningKey(), seed: seed, interval: 50)
        let publicKey = try pair.key.verifyingKey
        let issuerIDs = IssuerIDs(ofAllApps: try Fixtures.issuerID())
        let json =
            #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"","transactionID":"1"}"#
        let offer = try OfferRequest(OfferRouteTests.object(Array(json.utf8)), spelling: .command)
        let refused = try await Self.refusals(
            of: pair, rounds: 5_000, yieldingAfter: 16, service: { try TestService(pair: pair, issuerIDs: issuerIDs) }
        ) { signer in
            guard case .made(let jws) = try signer.signForCommand(offer).offer.jws else { return false }
            return try jws == CompactJWS(jws.text) && jws.signingInput == jws.content.signingInput
                && publicKey.verify(jws.signature.der, of: jws.signingInput)
        }
        #expect(refused > 100)
    }

    @Test("a JWS that does not verify gets 503, raises an alarm and takes the key out of service")
    func jwsTakesKeyOutOfService() throws {
        let key = try Fixtures.makeSigningKey()
        // Signs V1 payloads correctly, but JWSs, which start with `eyJ`, incorrectly.
        let pair = StubKeyPair(
            sign: { try $0.starts(with: "eyJ".utf8) ? key.sign([]) : key.sign($0) }, verify: key.verify)
        let bodies = [
            "promotional-offers":
                #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"","transactionID":"1"}"#,
            "introductory-offers":
                #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"1"}"#,
            "advanced-commerce": #"{"bundleID":"a","request":{"a":1}}"#,
        ]
        for (path, body) in bodies {
            let routes = try TestService(pair: pair, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
            let sample = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#
            #expect(routes.post("/offer", sample).status == 200)
            if path == "promotional-offers" {
                let list = routes.post("/v1/" + path, #"{"offers":[\#(body),\#(body)]}"#)
                #expect(list.status == 200 && list.text.ranges(of: "signing_unavailable").count == 2)
                #expect(!list.text.contains("signature\":") && !list.text.contains("eyJ"))
            }
            let answer = routes.post("/v1/" + path, body)
            #expect(answer.status == 503)
            #expect(answer.json["code"] as? String == "signing_unavailable")
            #expect(!answer.text.contains("eyJ"))
            #expect(routes.post("/offer", sample).status == 503)
            #expect(routes.get("/health/ready").status == 503)
            #expect(routes.log.lines(with: "critical ALARM").count == 1)
            #expect(!routes.log.text.contains("eyJ"), "no JWS is logged")
        }
    }

    @Test("a bad signature gets 503, raises one alarm and takes the key out of service")
    func keyLeavesService() throws {
        let routes = try TestService(pair: StubKeyPair(sign: { _ in Array("marked-signature".utf8) }))
        let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"marked-user"}"#
        for _ in 0..<3 {
            let answer = routes.post("/offer", body)
            #expect(answer.status == 503)
            #expect(answer.mediaType == .problem)
            #expect(answer.json["code"] as? String == "signing_unavailable")
            #expect(answer.retryAfter != nil)
            #expect(!answer.text.contains("signature\":"))
        }
        #expect(routes.log.lines(with: "critical ALARM").count == 1)
        #expect(!routes.log.text.contains("marked"), "neither the user nor the signature is logged")
    }

    @Test("a library error gets 503 without details, is logged in full, and fails readiness until the key signs again")
    func libraryFault() throws {
        struct Fault: Error, CustomStringConvertible { var description: String { "marked reason" } }
        let routes = try TestService(pair: StubKeyPair(sign: { _ in throw Fault() }))
        let answer = routes.post(
            "/offer", #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#)
        #expect(answer.status == 503)
        #expect(!answer.text.contains("marked"))
        #expect(routes.log.text.contains("marked reason"))
        #expect(routes.get("/health/ready").status == 503)
        #expect(!routes.log.text.contains("critical ALARM"), "the key stays in service")
    }

    private static func offer() throws -> OfferRequest {
        let json = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        return try OfferRequest(OfferRouteTests.object(Array(json.utf8)), spelling: .sample)
    }
}
