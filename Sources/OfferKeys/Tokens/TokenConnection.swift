import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferPKCS11

/// The sessions with one token, its login, and the threads that use them.
///
/// A session is used by one thread at a time. If a call fails, the session is discarded, and the call is made once more in a
/// new session. If that fails too, all calls fail at once until the next try, whose distance doubles each time.
package final class TokenConnection: Sendable {
    private struct State: @unchecked Sendable {
        // Each session is either here or held by the one thread that took it.
        var free: [TokenSession] = []
        var heldCount = 0
        /// Increases when a session is lost. Sessions of earlier generations are not used again.
        var generation = 0
        var failure: (fault: TokenFault, retryAt: ContinuousClock.Instant)?
        var failureCount = 0
        /// The PIN that the token refused. It is not tried again.
        var refusedPIN: SecretBytes?
    }

    package let place: TokenPlace
    package let threads: TokenThreads
    /// True to try the PIN although a wrong one was entered since the last login.
    private let triesPIN: Bool
    private let state: NIOLockedValueBox<State>
    /// Held while a session is opened, so that only one thread logs in or initializes the module again.
    private let opening = NSLock()

    private static let firstRetry = Duration.milliseconds(100)
    private static let lastRetry = Duration.seconds(10)

    package init(_ place: TokenPlace, triesPIN: Bool = false) {
        self.place = place
        self.triesPIN = triesPIN
        state = NIOLockedValueBox(State())
        threads = TokenThreads(count: place.sessions, named: "token")
    }

    deinit {
        // Closing a session may take I/O, so a thread of the token does it.
        let state = state
        threads.close { _ = state.withLockedValue { state in (state.free, state.free = []) } }
    }

    /// Makes the next call try again, whatever failed before.
    package func forgetFailure() {
        state.withLockedValue { state in
            state.failure = nil
            state.failureCount = 0
        }
    }

    /// Lends a session to `body`, which is called again if the session was lost.
    func withSession<Result>(_ body: (TokenSession) throws(TokenFault) -> Result) throws(TokenFault) -> Result {
        let session = try take()
        do throws(TokenFault) {
            let result = try body(session)
            putBack(session)
            return result
        } catch {
            guard error.mayBeLostSession else {
                putBack(session)
                throw error
            }
            discard(session)
        }
        let another = try take()
        do throws(TokenFault) {
            let result = try body(another)
            putBack(another)
            return result
        } catch {
            guard error.mayBeLostSession else {
                putBack(another)
                throw error
            }
            discard(another)
            note(error)
            throw error
        }
    }

    // MARK: Sessions

    private func take() throws(TokenFault) -> TokenSession {
        let taken = state.withLockedValue { state -> Result<TokenSession?, TokenFault> in
            if let failure = state.failure, .now < failure.retryAt { return .failure(failure.fault) }
            state.heldCount += 1
            return .success(state.free.popLast())
        }
        if let session = try taken.get() { return session }
        do throws(TokenFault) {
            let session = try open()
            state.withLockedValue { state in
                state.failure = nil
                state.failureCount = 0
            }
            return session
        } catch {
            state.withLockedValue { $0.heldCount -= 1 }
            note(error)
            throw error
        }
    }

    private func putBack(_ session: TokenSession) {
        state.withLockedValue { state in
            state.heldCount -= 1
            if session.generation == state.generation { state.free.append(session) }
        }
    }

    private func discard(_ session: TokenSession) {
        // The lost sessions are closed outside the lock.
        _ = state.withLockedValue { state -> [TokenSession] in
            state.heldCount -= 1
            guard session.generation == state.generation else { return [] }
            state.generation += 1
            defer { state.free = [] }
            return state.free
        }
    }

    private func note(_ fault: TokenFault) {
        state.withLockedValue { state in
            let wait = min(Self.firstRetry * (1 << min(state.failureCount, 10)), Self.lastRetry)
            state.failureCount += 1
            state.failure = (fault, .now + wait)
        }
    }

    // MARK: Opening

    /// Opens a session, and logs in if this process is not logged in. If that fails, initializes the module and tries again.
    private func open() throws(TokenFault) -> TokenSession {
        opening.lock()
        defer { opening.unlock() }
        do throws(TokenFault) { return try openOnce() } catch {
            guard error.mayBeLostSession else { throw error }
            if case .module(.notLoaded) = error { throw error }
            // While other threads have sessions, the token may just have no more of them.
            if case .module(.failed("C_OpenSession", code: 0xB1)) = error, let freed = waitForSession() { return freed }
            do throws(PKCS11Error) { try PKCS11Module.load(place.module).reset() } catch { throw .module(error) }
            return try openOnce()
        }
    }

    /// Waits for a session that another thread puts back. A token may permit fewer sessions than there are threads.
    private func waitForSession() -> TokenSession? {
        let end = ContinuousClock.now + .milliseconds(500)
        while ContinuousClock.now < end {
            let (session, isHeld) = state.withLockedValue { ($0.free.popLast(), $0.heldCount > 1) }
            if let session { return session }
            guard isHeld else { return nil }
            Thread.sleep(forTimeInterval: 0.001)
        }
        return nil
    }

    private func openOnce() throws(TokenFault) -> TokenSession {
        let generation = state.withLockedValue { $0.generation }
        let (module, token) = try findToken()
        let session = try Self.calling { () throws(PKCS11Error) in try PKCS11Session(module, token) }
        try logIn(session, to: token)
        return TokenSession(session, generation: generation)
    }

    private func findToken() throws(TokenFault) -> (PKCS11Module, PKCS11Token) {
        let module = try Self.calling { () throws(PKCS11Error) in try PKCS11Module.load(place.module) }
        let tokens = try Self.calling { () throws(PKCS11Error) in try module.tokens() }
        let matching = tokens.filter { $0.matches(place.token) }
        guard let token = matching.first else { throw .noToken(tokens.map(\.label).filter { !$0.isEmpty }) }
        guard matching.count == 1 else { throw .severalTokens }
        return (module, token)
    }

    /// Opens a session that can create objects, outside the pool.
    func openForWriting() throws(TokenFault) -> PKCS11Session {
        opening.lock()
        defer { opening.unlock() }
        let (module, token) = try findToken()
        let session = try Self.calling { () throws(PKCS11Error) in try PKCS11Session(module, token, canWrite: true) }
        try logIn(session, to: token)
        return session
    }

    /// Logs in unless this process is logged in. A PIN that the token refused is never tried again.
    private func logIn(_ session: PKCS11Session, to token: PKCS11Token) throws(TokenFault) {
        guard token.requiresLogin else { return }
        if try Self.calling({ () throws(PKCS11Error) in try session.isLoggedIn }) { return }
        guard let file = place.pin else { throw .noPIN }
        guard !token.isLocked else { throw .pinLocked }
        let pin: SecretBytes
        do throws(Diagnostic) { pin = try file.read() } catch { throw .pinFile(error) }
        let refused = state.withLockedValue { $0.refusedPIN }
        if let refused, refused == pin { throw .pinRefused }
        // Without a refusal in this process, another one may have tried this very PIN.
        guard !token.hadWrongPIN || triesPIN || (refused != nil && !token.isAtFinalTry) else { throw .pinTriedBefore }
        let result = try Self.calling { () throws(PKCS11Error) in
            try pin.withSpan { pin throws(PKCS11Error) in try session.login(pin: pin) }
        }
        switch result {
        case .loggedIn: state.withLockedValue { $0.refusedPIN = nil }
        case .locked: throw .pinLocked
        case .refused:
            state.withLockedValue { $0.refusedPIN = pin }
            throw .pinRefused
        }
    }

    private static func calling<Result>(_ body: () throws(PKCS11Error) -> Result) throws(TokenFault) -> Result {
        do throws(PKCS11Error) { return try body() } catch { throw .module(error) }
    }
}
