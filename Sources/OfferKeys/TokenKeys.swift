package import OfferCore
import OfferPKCS11

/// The keys in PKCS#11 tokens that the configuration names.
///
/// A key that was read stays usable until it is read again: whether it signs at the moment is the concern of health checks.
package struct TokenKeys: KeySource {
    fileprivate struct Entry {
        let settings: TokenKeySettings
        let connection: TokenConnection
        var status: KeyFileStatus
        /// The time of the next try; nil if the key was read.
        var retryAt: ContinuousClock.Instant?
        var tryCount = 0
    }

    private var entries: [Entry]
    private let triesPIN: Bool

    /// The time in which a key must be read and make a signature.
    fileprivate static let patience = Duration.seconds(5)
    fileprivate static let lastRetry = Duration.seconds(30)

    /// - Parameters:
    ///   - earlier: the keys of the previous settings. Their connections are kept for the places that stay.
    ///   - triesPIN: true to try a PIN although a wrong one was entered since the last login.
    package init(_ settings: [TokenKeySettings], after earlier: TokenKeys? = nil, triesPIN: Bool = false) {
        var connections: [TokenPlace: TokenConnection] = [:]
        for entry in earlier?.entries ?? [] { connections[entry.settings.place] = entry.connection }
        entries = settings.map { settings in
            let connection = connections[settings.place] ?? TokenConnection(settings.place, triesPIN: triesPIN)
            connections[settings.place] = connection
            let known = earlier?.entries.first { $0.settings == settings }
            return Entry(
                settings: settings, connection: connection, status: known?.status ?? .unsettled(settings.id))
        }
        self.triesPIN = triesPIN
    }

    package mutating func scan(at now: ContinuousClock.Instant, _ mode: ScanMode) -> Bool {
        var hasChanged = false
        for index in entries.indices {
            let isDue = entries[index].retryAt.map { now >= $0 } ?? false
            guard mode != .forChanges || isDue else { continue }
            if mode != .forChanges { entries[index].connection.forgetFailure() }
            if entries[index].read(at: now) { hasChanged = true }
        }
        return hasChanged
    }

    package func path(of id: KeyID) -> String { entries.first { $0.settings.id == id }?.settings.uri.description ?? "" }

    package var keys: [KeyFileStatus] { entries.map(\.status) }
}

extension TokenKeys.Entry {
    /// Reads the key. If it is the same as before, it remains the same object.
    /// - Returns: true if the status changed.
    fileprivate mutating func read(at now: ContinuousClock.Instant) -> Bool {
        let before = status
        do throws(TokenFault) {
            let key = try load()
            (retryAt, tryCount) = (nil, 0)
            if before.key?.pair.fingerprint == key.fingerprint { return false }
            status = .key(KeyRing.Key(id: settings.id, pair: key))
            return true
        } catch {
            retryAt = now + min(.seconds(1 << min(tryCount, 10)), TokenKeys.lastRetry)
            tryCount += 1
            status = .refused(settings.id, error.problem(of: settings))
            return before.problem != status.problem
        }
    }

    private func load() throws(TokenFault) -> TokenKey {
        let (settings, connection) = (settings, connection)
        let result: Result<TokenKey, TokenFault>
        do throws(SigningThreadsFault) {
            result = try connection.threads.wait(within: TokenKeys.patience) {
                Result { () throws(TokenFault) in try TokenKey(settings, in: connection) }
            }
        } catch { throw .threads(error) }
        return try result.get()
    }
}
