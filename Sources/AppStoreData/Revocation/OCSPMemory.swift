import OfferCrypto

/// A bounded cache of the responders' latest answers about certificates.
struct OCSPMemory {
    private var standings: [RevocationRequest.ID: Standing] = [:]
    private let limit: Int

    private enum Standing {
        /// - Parameter until: seconds since 1970.
        case good(until: Int64)
        /// Revocation is final, so this entry never expires.
        case revoked(date: Int64)
        /// - Parameter time: the time at which the query failed, in seconds since 1970.
        case unanswered(OCSPProblem, subject: String, time: Int64)
    }

    /// The maximum age in seconds of an answer that is used, even if the responder permits more.
    static let maximumAge: Int64 = 24 * 3600
    /// The time without background queries after any answer or failure, in seconds.
    static let pause: Int64 = 60
    /// The time for which a failure counts as a problem of the service, in seconds.
    static let problemAge: Int64 = 3600

    /// - Parameter limit: the maximum number of certificates.
    init(limit: Int) { self.limit = limit }

    /// Returns the current answer to a query, if there is one.
    func answer(to id: RevocationRequest.ID, at now: Int64) -> OCSPOutcome? {
        switch standings[id] {
        case .good(let until) where now < until: .good(until: until)
        case .revoked(let date): .revoked(date: date)
        case .good, .unanswered, nil: nil
        }
    }

    /// Returns a recent failure, which is not retried in the background yet.
    func recentFailure(of id: RevocationRequest.ID, at now: Int64) -> OCSPProblem? {
        guard case .unanswered(let problem, _, let time) = standings[id] else { return nil }
        return (time..<time + Self.pause).contains(now) ? problem : nil
    }

    /// Records the outcome of a query.
    mutating func note(_ outcome: OCSPOutcome, of request: RevocationRequest, at now: Int64) {
        let id = request.id
        switch outcome {
        case .good(let until):
            // A response may not name the time of the next update. Even then, the responder is not queried for each
            // request.
            standings[id] = .good(until: min(max(until, now + Self.pause), now + Self.maximumAge))
        case .revoked(let date): standings[id] = .revoked(date: date)
        case .unknown(let problem):
            standings[id] = .unanswered(problem, subject: request.certificate.subject, time: now)
        }
        if standings.count > limit { dropLeastUseful(except: id) }
    }

    /// Returns the certificates with a query that failed recently and was not answered since.
    func failures(at now: Int64) -> [(subject: String, problem: OCSPProblem)] {
        standings.values.compactMap { standing in
            guard case .unanswered(let problem, let subject, let time) = standing,
                (time..<time + Self.problemAge).contains(now)
            else { return nil }
            return (subject, problem)
        }
    }

    /// Drops the oldest failure or, if there is none, the answer that expires first. Revocations stay longest.
    private mutating func dropLeastUseful(except new: RevocationRequest.ID) {
        let usefulness = { (standing: Standing) -> (Int, Int64) in
            switch standing {
            case .unanswered(_, _, let time): (0, time)
            case .good(let until): (1, until)
            case .revoked(let date): (2, date)
            }
        }
        let least = standings.filter { $0.key != new }.min { usefulness($0.value) < usefulness($1.value) }
        if let least { standings[least.key] = nil }
    }
}

/// The outcome of one query.
enum OCSPOutcome: Hashable, Sendable {
    /// - Parameter until: seconds since 1970.
    case good(until: Int64)
    /// - Parameter date: seconds since 1970.
    case revoked(date: Int64)
    case unknown(OCSPProblem)
}
