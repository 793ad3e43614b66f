import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferKeys
import OfferPKCS11

/// Measures how much of a token's speed the service reaches: signatures per second of the module alone, each thread in a session
/// of its own, and of the service's way to it, which verifies each signature.
struct TokenBench {
    private let settings: TokenKeySettings
    private let key: TokenKey
    private let connection: TokenConnection

    private struct Failed: Error {}

    /// - Parameters:
    ///   - arguments: the URI of a key, the module, and the PIN file.
    ///   - threads: the number of signatures at a time.
    init(_ arguments: [String], threads: Int) throws {
        let uri = try PKCS11URI(arguments[0])
        let pin = PINFile(path: arguments[2], allowsReadableByOthers: false)
        let place = TokenPlace(module: arguments[1], token: uri.token, pin: pin, sessions: threads)
        settings = TokenKeySettings(id: try KeyID(utf8: Array("BENCHKEY01".utf8)), uri: uri, place: place)
        connection = TokenConnection(place)
        key = try TokenKey(settings, in: connection)
        _ = try key.precompute()
    }

    /// Returns the signatures per second of the module and of the service, in alternation, and the median of their ratios.
    func measure(seconds: Int) async throws -> (module: Int, service: Int, ratio: Double) {
        var (modules, services, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<5 {
            let (before, service) = (try ofModule(seconds: seconds), try await ofService(seconds: seconds))
            let after = try ofModule(seconds: seconds)
            modules += [before, after]
            services.append(service)
            ratios.append(service / ((before + after) / 2))
        }
        return (Int(modules.sorted()[5]), Int(services.sorted()[2]), ratios.sorted()[2])
    }

    private func ofModule(seconds: Int) throws -> Double {
        let module = try PKCS11Module.load(settings.place.module)
        guard let token = try module.tokens().first(where: { $0.matches(settings.place.token) }) else { throw Failed() }
        let count = NIOLockedValueBox(0)
        let end = ContinuousClock.now + .seconds(seconds)
        let group = DispatchGroup()
        for _ in 0..<settings.place.sessions {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                guard let session = try? PKCS11Session(module, token),
                    let object = try? session.objects(.privateKey, settings.uri.key).first
                else { return }
                var signatures = 0
                let hash = [UInt8](repeating: 0x61, count: 32)
                while ContinuousClock.now < end, (try? session.sign(hash: hash, with: object)) != nil {
                    signatures += 1
                }
                count.withLockedValue { $0 += signatures }
            }
        }
        group.wait()
        return Double(count.withLockedValue { $0 }) / Double(seconds)
    }

    private func ofService(seconds: Int) async throws -> Double {
        let end = ContinuousClock.now + .seconds(seconds)
        let message = [UInt8](repeating: 0x61, count: 173)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            // More callers than threads, so that a thread always has a job.
            for _ in 0..<4 * settings.place.sessions {
                group.addTask { [key, connection] in
                    var signatures = 0
                    while ContinuousClock.now < end {
                        let isGood = try await connection.threads.run(until: .now + .seconds(1)) {
                            (try? key.verifyOwn(key.sign(message), of: message)) == true
                        }
                        guard isGood else { throw Failed() }
                        signatures += 1
                    }
                    return signatures
                }
            }
            var sum = 0
            for try await signatures in group { sum += signatures }
            return Double(sum) / Double(seconds)
        }
    }
}
