import Logging
import OfferCore
import OfferCrypto
import OfferServer

/// The parts of an offer by themselves, without socket and HTTP, for `scripts/bench`: microseconds an offer for the
/// cryptography alone, and from the bytes of a request to the bytes of its answer.
@main
enum OfferBench {
    static func main() throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 2
        let key = try SigningKey(text: PrivateKeyPEM.generate())
        _ = try key.prepare()
        let request = IncomingRequest(
            method: "POST", target: "/offer", contentType: "application/json",
            body: Array(
                #"""
                {"appBundleID":"com.example.app","productIdentifier":"com.example.app.pro.monthly",
                "offerID":"retention_50off_3m","applicationUsername":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"}
                """#.utf8))
        let message = [UInt8](repeating: 0x61, count: 173)

        let cryptography = try microseconds(for: seconds) {
            guard try key.verifyOwn(key.sign(message), of: message) else { throw Refused() }
        }
        let routes = try routes(signingWith: key)
        let answer = try microseconds(for: seconds) {
            guard routes.answer(request).status == 200 else { throw Refused() }
        }
        print("cryptography \(cryptography)")
        print("answer \(answer)")
    }

    private struct Refused: Error {}

    private static func routes(signingWith key: SigningKey) throws -> Routes {
        let log = Logger(label: "offer-bench") { StreamLogHandler.standardError(label: $0) }
        let id = try KeyID(utf8: Array("BENCHKEY01".utf8))
        let setup = CurrentSetup(Setup(ring: KeyRing(active: KeyRing.Key(id: id, pair: key))))
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 1_767_225_600_000) }
        let metrics = ServiceMetrics()
        let limiter = Limiter(metrics: metrics, log: log)
        let authenticator = Authenticator(sha256: SHA256.hash, now: now, limiter: limiter)
        let signer = OfferSigner(
            setup: setup, authenticator: authenticator, limiter: limiter,
            makeNonce: {
                var random = SystemRandomNumbers()
                return Nonce(using: &random)
            },
            now: now, metrics: metrics, log: log)
        let explanations = Explanations(
            setup: setup, authenticator: authenticator, limiter: limiter, sha256: SHA256.hash, now: now, log: log)
        let health = Health(
            setup: setup, certificate: CurrentCertificate(nil), readiness: Readiness(), now: now,
            authenticator: authenticator)
        let metricsPage = MetricsPage(
            metrics: metrics, setup: setup, health: health, authenticator: authenticator, limiter: limiter,
            versions: BuildVersions(openSSL: OpenSSLVersion.text))
        return Routes(
            offers: signer, explanations: explanations, health: health, metrics: metrics, metricsPage: metricsPage,
            log: log)
    }

    /// How long one call of `work` takes, the best of several rounds: what disturbs a round only makes it longer.
    private static func microseconds(for seconds: Int, _ work: () throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var best = Double.infinity
        repeat {
            let calls = 1000
            let time = try clock.measure { for _ in 0..<calls { try work() } }
            best = min(best, time / .microseconds(calls))
        } while clock.now < end
        return (best * 10).rounded() / 10
    }
}
