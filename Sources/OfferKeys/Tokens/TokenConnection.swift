import Dispatch
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferPKCS11

/// The sessions with one token, its login, and the threads that use them.
///
/// A session is used by one thread at a time. If it is lost, so are the others: all are discarded, and the call is made once more
/// in a new one. If that fails too, calls fail at once until the next try, whose distance doubles each time. A call that fails for
/// another reason fails alone, and its session is closed after three such calls in a row.
package final class TokenConnection: Sendable {
    private struct State: @unchecked Sendable {
        // Each session is either here or held by the one thread that took it.
        var free: [TokenSession] = []
        /// Sessions that threads have taken or are opening.
        var heldCount = 0
        /// The number of sessions that the token permits, as far as is known.
        var permittedCount: Int
        /// Threads that wait for a session.
        var waiterCount = 0
        /// The free sessions that are for threads which waited and were signalled.
        var promisedCount = 0
        /// Increases when the sessions are lost. Those of earlier generations are not used again.
        var generation = 0
        var failure: (fault: TokenFault, retryAt: ContinuousClock.Instant)?
        var failureCount = 0
    }

    package let place: TokenPlace
    package let threads: TokenThreads
    private let signers: SessionThreads
    /// True to try the PIN although a wrong one was entered since the last login.
    private let triesPIN: Bool
    private let state: NIOLockedValueBox<State>
    /// Signalled for each thread that a session was put back for.
    private let returned = DispatchSemaphore(value: 0)
    /// Held while a session is opened, so that only one thread logs in or initializes the module again.
    private let opening = NSLock()

    private static let maximumFailures = 3
    private static let firstRetry = Duration.milliseconds(100)
    private static let lastRetry = Duration.seconds(10)
    /// The time for which a thread waits for a session. It is near the time limit of a signature.
    private static let sessionWait = DispatchTimeInterval.milliseconds(900)

    package init(_ place: TokenPlace, triesPIN: Bool = false) {
        self.place = place
        self.triesPIN = triesPIN
        state = NIOLockedValueBox(State(permittedCount: place.sessions))
        signers = SessionThreads(count: place.sessions)
        // For each processor, one thread verifies and one prepares the next signature.
        let others = 2 * ProcessInfo.processInfo.activeProcessorCount
        threads = TokenThreads(sessions: place.sessions, others: others, named: "token")
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

    /// Signs a hash on a thread that signs without a pause while others wait.
    /// - Parameter point: the public point that the key must have.
    /// - Returns: r and s, as the module wrote them.
    func sign(_ hash: [UInt8], with key: PKCS11URI.Key, of point: [UInt8]) throws(TokenFault) -> [UInt8] {
        try signers.run {
            Result { () throws(TokenFault) in
                try self.withSession { session throws(TokenFault) in try session.sign(hash, with: key, of: point) }
            }
        }
    }

    /// Lends a session to `body`, which is called again in another session if this one was lost or is not usable.
    func withSession<Result>(_ body: (TokenSession) throws(TokenFault) -> Result) throws(TokenFault) -> Result {
        let session = try take()
        do throws(TokenFault) { return try use(session, body) } catch {
            guard case .module(let failure) = error, failure.isLostSession || failure.isOfThisSession else {
                throw error
            }
        }
        let another = try take()
        do throws(TokenFault) { return try use(another, body) } catch {
            if error.isLostToken { note(error) }
            throw error
        }
    }

    private func use<Result>(
        _ session: TokenSession, _ body: (TokenSession) throws(TokenFault) -> Result
    ) throws(TokenFault) -> Result {
        do throws(TokenFault) {
            let result = try body(session)
            session.failureCount = 0
            putBack(session)
            return result
        } catch {
            guard case .module(let failure) = error else {
                putBack(session)
                throw error
            }
            session.failureCount += 1
            if failure.isLostSession { discardAll(of: session.generation) }
            if failure.isLostSession || failure.isOfThisSession || session.failureCount == Self.maximumFailures {
                giveUpHeld()
            } else {
                putBack(session)
            }
            throw error
        }
    }

    // MARK: Sessions

    private enum Turn {
        case session(TokenSession)
        case open
        case wait
        case fail(TokenFault)
    }

    private func take() throws(TokenFault) -> TokenSession {
        let end = DispatchTime.now() + Self.sessionWait
        var hasWaited = false
        while true {
            switch nextTurn(hasWaited) {
            case .session(let session): return session
            case .fail(let fault): throw fault
            case .wait:
                try waitForSession(until: end)
                hasWaited = true
            case .open:
                do throws(TokenFault) {
                    let session = try open()
                    forgetFailure()
                    return session
                } catch {
                    // While others have sessions, the token may just have no more of them.
                    guard case .module(let failure) = error, failure.isSessionCount, notePermitted() else {
                        giveUpHeld()
                        note(error)
                        throw error
                    }
                    hasWaited = false
                }
            }
        }
    }

    /// - Parameter hasWaited: true if the thread was signalled, so that a session may be promised to it.
    private func nextTurn(_ hasWaited: Bool) -> Turn {
        state.withLockedValue { state in
            if hasWaited, state.promisedCount > 0 { state.promisedCount -= 1 }
            if state.free.count > state.promisedCount, let session = state.free.popLast() {
                state.heldCount += 1
                return .session(session)
            }
            if let failure = state.failure, .now < failure.retryAt { return .fail(failure.fault) }
            // A free session that is promised counts, too.
            guard state.heldCount + state.free.count < state.permittedCount else {
                state.waiterCount += 1
                return .wait
            }
            state.heldCount += 1
            return .open
        }
    }

    /// Notes that the token permits no more sessions than there are.
    /// - Returns: false if there is none.
    private func notePermitted() -> Bool {
        state.withLockedValue { state in
            let count = state.heldCount - 1 + state.free.count
            guard count > 0 else { return false }
            state.heldCount -= 1
            state.permittedCount = count
            return true
        }
    }

    private func waitForSession(until end: DispatchTime) throws(TokenFault) {
        guard returned.wait(timeout: end) == .timedOut else { return }
        let isSignalled = state.withLockedValue { state in
            guard state.waiterCount > 0 else { return true }
            state.waiterCount -= 1
            return false
        }
        // The signal came at the last moment.
        if isSignalled { return returned.wait() }
        throw .module(.failed("C_OpenSession", code: 0xB1))
    }

    private func putBack(_ session: TokenSession) {
        let isWanted = state.withLockedValue { state in
            let isGood = session.generation == state.generation
            if isGood { state.free.append(session) }
            let isWanted = Self.endHolding(&state)
            if isGood, isWanted { state.promisedCount += 1 }
            return isWanted
        }
        if isWanted { returned.signal() }
    }

    /// Frees the place of a session that is not used again.
    private func giveUpHeld() { if state.withLockedValue({ Self.endHolding(&$0) }) { returned.signal() } }

    /// - Returns: true if a thread waits for a session.
    private static func endHolding(_ state: inout State) -> Bool {
        state.heldCount -= 1
        guard state.waiterCount > 0 else { return false }
        state.waiterCount -= 1
        return true
    }

    private func discardAll(of generation: Int) {
        // The lost sessions are closed outside the lock.
        _ = state.withLockedValue { state -> [TokenSession] in
            guard generation == state.generation else { return [] }
            state.generation += 1
            state.permittedCount = place.sessions
            state.promisedCount = 0
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

    /// Opens a session, and logs in if this process is not logged in. If the token is lost, initializes the module and tries
    /// again. Other tokens of the module then open new sessions too.
    private func open() throws(TokenFault) -> TokenSession {
        opening.lock()
        defer { opening.unlock() }
        let module = try Self.calling { () throws(PKCS11Error) in try PKCS11Module.load(place.module) }
        let epoch = module.epoch
        do throws(TokenFault) { return try openOnce(in: module) } catch {
            guard error.isLostToken else { throw error }
            try Self.calling { () throws(PKCS11Error) in try module.reset(after: epoch) }
            return try openOnce(in: module)
        }
    }

    private func openOnce(in module: PKCS11Module) throws(TokenFault) -> TokenSession {
        let generation = state.withLockedValue { $0.generation }
        let session = try openSession(in: module)
        return TokenSession(session, generation: generation)
    }

    /// Opens a session that can create objects, outside the pool.
    func openForWriting() throws(TokenFault) -> PKCS11Session {
        opening.lock()
        defer { opening.unlock() }
        let module = try Self.calling { () throws(PKCS11Error) in try PKCS11Module.load(place.module) }
        return try openSession(in: module, canWrite: true)
    }

    private func openSession(in module: PKCS11Module, canWrite: Bool = false) throws(TokenFault) -> PKCS11Session {
        let token = try findToken(in: module)
        let session = try Self.calling { () throws(PKCS11Error) in
            try PKCS11Session(module, token, canWrite: canWrite)
        }
        if token.requiresLogin {
            try TokenPIN.of(token, in: module).logIn(
                session, to: token, in: module, place.pin, triesPIN: triesPIN)
        }
        return session
    }

    private func findToken(in module: PKCS11Module) throws(TokenFault) -> PKCS11Token {
        let tokens = try Self.calling { () throws(PKCS11Error) in try module.tokens() }
        let matching = tokens.filter { $0.matches(place.token) }
        guard let token = matching.first else { throw .noToken(tokens.map(\.label).filter { !$0.isEmpty }) }
        guard matching.count == 1 else { throw .severalTokens }
        return token
    }

    static func calling<Result>(_ body: () throws(PKCS11Error) -> Result) throws(TokenFault) -> Result {
        do throws(PKCS11Error) { return try body() } catch { throw .module(error) }
    }
}
