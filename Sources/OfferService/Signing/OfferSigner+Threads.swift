import OfferConfiguration
import OfferCore
import OfferHTTP
import OfferTelemetry

extension OfferSigner {
    /// Runs `work`, which signs for an app: on the threads of the app's key if it has any, such as a key in a token, and
    /// otherwise at once.
    /// - Throws: `.overloaded` if the threads have too much to do; `.signingUnavailable` if they do not answer.
    func whereKeySigns<Result: Sendable>(
        for app: BundleID, _ admission: Admission, _ work: @escaping @Sendable () throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        guard admission.policy.hasKeysWithThreads, let key = try? admission.policy.ring.signingKey(for: app),
            let threads = key.pair.threads
        else { return try work() }
        let result: Swift.Result<Result, Problem>
        do throws(SigningThreadsFault) {
            result = try await threads.run { Swift.Result { () throws(Problem) in try work() } }
        } catch {
            metrics.refusedByToken(error)
            switch error {
            case .full, .waitedTooLong: throw .overloaded
            case .noAnswer:
                keyHealth.note(.cannotSign(error), of: key.id, onlyFirst: true, admission.context.metadata([:]))
                throw .signingUnavailable
            }
        }
        return try result.get()
    }

    /// Returns true if the key of an app signs on threads of its own, and so not on the event loop.
    func needsThreads(for app: BundleID, _ admission: Admission) -> Bool {
        admission.policy.hasKeysWithThreads && admission.policy.ring.threads(for: app) != nil
    }
}
