import Logging
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService

/// Measures the cost of an offer without sockets or HTTP, for `scripts/bench`. It prints the microseconds per offer for
/// the cryptography alone and for the whole path from request to response.
///
/// Arguments: seconds per measurement. With the path of Tests/Vectors/app-store as second argument, it measures the
/// reading of App Store data instead. With `--token` and, as further arguments, the number of threads, a PKCS#11 URI, a module
/// and a PIN file, it measures a key in a token instead. With `--library`, it measures the library OfferSigning instead.
@main
enum OfferBench {
    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 2
        if CommandLine.arguments.count == 7, CommandLine.arguments[2] == "--token",
            let threads = Int(CommandLine.arguments[3])
        {
            let bench = try TokenBench(Array(CommandLine.arguments.dropFirst(4)), threads: threads)
            let result = try await bench.measure(seconds: seconds)
            return print("\(result.module) \(result.service) \((result.ratio * 100).rounded() / 100)")
        }
        if CommandLine.arguments.dropFirst(2).first == "--library" {
            return print(try microseconds(for: seconds, LibraryBench().sign))
        }
        if let folder = CommandLine.arguments.dropFirst(2).first {
            for (name, work) in try AppStoreBench(folder: folder).measurements() {
                print("\(name) \(try microseconds(for: seconds, calls: 100, work))")
            }
            return
        }
        let key = try SigningKey(text: PrivateKeyPEM.generate())
        _ = try key.precompute()
        let request = HTTPRequest(
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
        let router = try router(signingWith: key)
        let answer = try microseconds(for: seconds) {
            guard case .now(let response) = router.reply(to: request, shedding: .none), response.status == 200 else {
                throw Refused()
            }
        }
        print("cryptography \(cryptography)")
        print("answer \(answer)")
    }

    private struct Refused: Error {}

    private static func router(signingWith key: SigningKey) throws -> Router {
        let log = Logger(label: "offer-bench") { StreamLogHandler.standardError(label: $0) }
        let id = try KeyID(utf8: Array("BENCHKEY01".utf8))
        let policy = CurrentPolicy(Policy(ring: KeyRing(active: KeyRing.Key(id: id, pair: key))))
        var sources = SystemInputs.system
        sources.now = { Timestamp(milliseconds: 1_767_225_600_000) }
        return Application(.init(policy: policy, sources: sources, log: log)).router(
            for: .all, isOnLoopback: false)
    }

    /// Returns the time per call of `work` in the fastest of several rounds, because interference only makes a round
    /// slower.
    private static func microseconds(
        for seconds: Int, calls: Int = 1000, _ work: () throws -> Void
    ) throws -> Double {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var best = Double.infinity
        repeat {
            let time = try clock.measure { for _ in 0..<calls { try work() } }
            best = min(best, time / .microseconds(calls))
        } while clock.now < end
        return (best * 10).rounded() / 10
    }
}
