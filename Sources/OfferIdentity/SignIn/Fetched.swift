import OfferCore

/// A value from the provider, which is fetched again now and then.
struct Fetched<Value> {
    private var latest: (value: Value, time: Timestamp)?
    private var failure: (error: SignInError, time: Timestamp)?
    private let interval: Duration

    /// The time for which a value stays in use while it cannot be fetched again. Without a limit, an attacker who blocks
    /// the connection could keep a withdrawn key in use.
    private static var lifetime: Duration { .hours(24) }
    /// The minimum time between a fetch and one that an unknown key ID triggers, or one after a failure.
    private static var pause: Duration { .seconds(30) }
    /// The minimum time between failures if there is no value. Without it, sign-in is impossible.
    private static var shortPause: Duration { .seconds(5) }

    /// - Parameter interval: the time between fetches that succeed.
    init(every interval: Duration) {
        self.interval = interval
    }

    /// Returns true if the value must be fetched now.
    /// - Parameter isRequested: true if the value lacks something that a new one may have.
    func isDue(at now: Timestamp, isRequested: Bool = false) -> Bool {
        if let failure { return hasPassed(latest == nil ? Self.shortPause : Self.pause, from: failure.time, to: now) }
        guard let latest else { return true }
        return hasPassed(isRequested ? Self.pause : interval, from: latest.time, to: now)
    }

    /// A clock that was set back must not keep a value in use for longer.
    private func hasPassed(_ duration: Duration, from time: Timestamp, to now: Timestamp) -> Bool {
        now < time || now - time >= duration
    }

    mutating func succeed(with value: Value, at now: Timestamp) { (latest, failure) = ((value, now), nil) }

    /// - Parameter isRevoked: true if the previous value must not be used any longer.
    mutating func fail(with error: SignInError, at now: Timestamp, isRevoked: Bool = false) {
        failure = (error, now)
        if isRevoked { latest = nil }
    }

    /// Returns the latest value; nil if there is none, or if it is too old.
    func value(at now: Timestamp) -> Value? {
        latest.flatMap { hasPassed(Self.lifetime, from: $0.time, to: now) ? nil : $0.value }
    }

    /// Returns the latest value.
    /// - Throws: the latest failure, if there is no value.
    func requireValue(at now: Timestamp) throws(SignInError) -> Value {
        if let value = value(at: now) { return value }
        throw failure?.error
            ?? .provider(Diagnostic("the identity provider has not been asked yet", hint: "try again"))
    }
}
