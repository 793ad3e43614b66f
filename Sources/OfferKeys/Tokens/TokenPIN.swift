import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferPKCS11

/// The PINs that this process has tried on one token. A few wrong tries lock a token, so a wrong PIN is never tried twice,
/// however many entries of the configuration name the token.
final class TokenPIN: Sendable {
    private struct State {
        /// The PIN of the last login.
        var accepted: SecretBytes?
        /// The PINs that the token refused since. They are not tried again, even if the file contained another PIN in the
        /// meantime.
        var refused: [SecretBytes] = []
        /// The PINs with which a login failed before any had succeeded, so the token may have counted a wrong PIN. They are not
        /// tried again either.
        var failed: [(pin: SecretBytes, error: PKCS11Error)] = []
        /// The PINs whose login failed once because the session or the device was lost.
        var lost: [SecretBytes] = []
        /// True if the token has told that a wrong PIN was entered, so that other processes see it.
        var tells = false
    }

    private let state = NIOLockedValueBox(State())
    /// Held during a login.
    private let loggingIn = NSLock()

    private struct Identity: Hashable {
        let module: ObjectIdentifier
        let names: [String]
    }

    private static let known = NIOLockedValueBox<[Identity: TokenPIN]>([:])

    static func of(_ token: PKCS11Token, in module: PKCS11Module) -> TokenPIN {
        let names = [token.label, token.manufacturer, token.model, token.serial]
        let identity = Identity(module: ObjectIdentifier(module), names: names)
        return known.withLockedValue { known in
            if let pin = known[identity] { return pin }
            let pin = TokenPIN()
            known[identity] = pin
            return pin
        }
    }

    /// Logs in unless this process is logged in.
    /// - Parameters:
    ///   - file: the file with the PIN; nil if none is configured.
    ///   - triesPIN: true to try the PIN although a wrong one was entered since the last login.
    func logIn(
        _ session: PKCS11Session, to token: PKCS11Token, in module: PKCS11Module, _ file: PINFile?, triesPIN: Bool
    ) throws(TokenFault) {
        loggingIn.lock()
        defer { loggingIn.unlock() }
        if try TokenConnection.calling({ () throws(PKCS11Error) in try session.isLoggedIn }) { return }
        guard let file else { throw .noPIN }
        guard !token.isLocked else { throw .pinLocked }
        let pin: SecretBytes
        do throws(Diagnostic) { pin = try file.read() } catch { throw .pinFile(error) }
        let (accepted, refused, failed) = state.withLockedValue { ($0.accepted, $0.refused, $0.failed) }
        let note = RefusalNote(file)
        // Another file with the same PIN has no note yet.
        if refused.contains(pin) { throw refusal(of: token, in: module, note, triesPIN: triesPIN) }
        let wasAccepted = accepted.map { $0 == pin } ?? false
        // If the token no longer tells of a wrong PIN, another process entered it.
        if let failure = failed.first(where: { $0.pin == pin }), !wasAccepted || token.hadWrongPIN {
            throw .loginFailed(failure.error)
        }
        // The token counts a wrong PIN. If this process entered it, or had logged in with this PIN, this PIN is not that one.
        // Otherwise, another process may have tried this very PIN.
        let isOther = (wasAccepted || !refused.isEmpty || !failed.isEmpty) && !token.isAtFinalTry
        guard !token.hadWrongPIN || triesPIN || isOther else { throw .pinTriedBefore }
        if let path = note.path, !isOther {
            guard triesPIN else { throw .pinNoted(path) }
            guard !note.isOfUnchangedFile else { throw .pinUnchanged(path) }
        }
        let result = try TokenConnection.calling { () throws(PKCS11Error) in
            try pin.withSpan { pin throws(PKCS11Error) in try session.login(pin: pin) }
        }
        switch result {
        case .loggedIn:
            state.withLockedValue { $0 = State(accepted: pin, tells: $0.tells) }
            note.remove()
        case .refused, .locked:
            state.withLockedValue { state in
                (state.accepted, state.lost) = (nil, [])
                state.refused.append(pin)
            }
            if case .locked = result { throw .pinLocked }
            throw refusal(of: token, in: module, note, triesPIN: triesPIN)
        case .failed(let code):
            let error = PKCS11Error.failed("C_Login", code: code)
            let isCounted = !token.hadWrongPIN && tellsOfWrongPIN(token, in: module)
            let mayBeTriedAgain = state.withLockedValue { state in
                // A PIN that was right before is right now, so the device is the cause. A lost device has judged no PIN, but
                // one that is lost at each login may have.
                if wasAccepted { return !isCounted }
                guard !isCounted, error.isLostSession, !state.lost.contains(pin) else { return false }
                state.lost.append(pin)
                return true
            }
            if mayBeTriedAgain { throw .module(error) }
            state.withLockedValue { $0.failed.append((pin, error)) }
            throw .loginFailed(error)
        }
    }

    /// Returns true if the token now says that a wrong PIN was entered since the last login.
    private func tellsOfWrongPIN(_ token: PKCS11Token, in module: PKCS11Module) -> Bool {
        guard let current = try? module.tokens().first(where: { $0.slot == token.slot }) else { return false }
        return current.hadWrongPIN || current.isLocked
    }

    /// Sees to it that other processes know of a refusal: from the token, or else from a file. If an operator had the PIN tried in
    /// spite of what the token tells, the file says so too.
    private func refusal(
        of token: PKCS11Token, in module: PKCS11Module, _ note: RefusalNote, triesPIN: Bool
    ) -> TokenFault {
        let tellsNow = tellsOfWrongPIN(token, in: module)
        let tells = state.withLockedValue { state in
            if tellsNow { state.tells = true }
            return state.tells
        }
        guard !tells || triesPIN, !note.isOfUnchangedFile, let path = note.write(), !tells else { return .pinRefused }
        return .pinRefusedUnnoted(path)
    }
}
