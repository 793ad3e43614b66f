import OfferConfiguration
import OfferCore
import OfferHTTP
import OfferTelemetry

extension OfferSigner {
    /// The time in which the threads of keys must make all signatures of a request.
    private static let threadsLimit = Duration.seconds(1)

    /// Returns the admission with a time by which the threads of keys must have made its signatures.
    func beginningToSign(_ admission: Admission) -> Admission {
        guard admission.policy.hasKeysWithThreads else { return admission }
        var admission = admission
        admission.signingDeadline = .now + Self.threadsLimit
        return admission
    }

    /// Runs `work`, which signs for an app: on the threads of the app's key if it has any, such as a key in a token, and
    /// otherwise at once.
    /// - Parameter isWanted: returns false once the signature is useless. It is then not made.
    /// - Throws: `.overloaded` if the threads have too much to do; `.signingUnavailable` if they do not answer, or if the key was
    ///   taken out of service in the meantime.
    func whereKeySigns<Result: Sendable>(
        for app: BundleID, _ admission: Admission, isWanted: @escaping @Sendable () -> Bool = { true },
        _ work: @escaping @Sendable () throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        guard admission.policy.hasKeysWithThreads, let key = try? admission.policy.ring.signingKey(for: app),
            let threads = key.pair.threads
        else { return try work() }
        guard admission.hasOwnLane || waitersInSharedLanes.enter() else {
            metrics.refusedByToken(.full)
            throw .overloaded
        }
        defer { if !admission.hasOwnLane { waitersInSharedLanes.leave() } }
        let result: Swift.Result<Result, Problem>
        do throws(SigningThreadsFault) {
            result = try await threads.run(until: admission.signingDeadline ?? .now + Self.threadsLimit) {
                Swift.Result { () throws(Problem) in
                    guard isWanted() else { throw .overloaded }
                    try requireInService(key.id)
                    return try work()
                }
            }
        } catch {
            metrics.refusedByToken(error)
            switch error {
            case .full, .waitedTooLong: throw .overloaded
            case .noAnswer:
                if threads.areStuck {
                    keyHealth.note(.cannotSign(error), of: key.id, onlyFirst: true, admission.context.metadata([:]))
                }
                throw .signingUnavailable
            }
        }
        let value = try result.get()
        // Another signature of the key may have been bad since.
        try requireInService(key.id)
        keyHealth.noteSignature(of: key.id)
        return value
    }

    private func requireInService(_ id: KeyID) throws(Problem) {
        guard !policy.snapshot.ring.isOutOfService(id) else { throw .signingUnavailable }
    }

    /// Returns true if the key of an app signs on threads of its own, and so not on the event loop.
    func needsThreads(for app: BundleID, _ admission: Admission) -> Bool {
        admission.policy.hasKeysWithThreads && admission.policy.ring.threads(for: app) != nil
    }
}
