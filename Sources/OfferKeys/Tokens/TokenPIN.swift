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
        /// The PINs that the token refused since, or with which a login failed before any had succeeded. They are not tried again,
        /// even if the file contained another PIN in the meantime.
        var refused: [SecretBytes] = []
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
        let (accepted, refused) = state.withLockedValue { ($0.accepted, $0.refused) }
        let note = RefusalNote(file)
        // Another file with the same PIN has no note yet.
        if refused.contains(pin) { throw refusal(of: token, in: module, note) }
        let wasAccepted = accepted.map { $0 == pin } ?? false
        // The token counts a wrong PIN. If this process entered it, or had logged in with this PIN, this PIN is not that one.
        // Otherwise, another process may have tried this very PIN.
        let isOther = (wasAccepted || !refused.isEmpty) && !token.isAtFinalTry
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
            state.withLockedValue { $0 = State(accepted: nil, refused: $0.refused + [pin], tells: $0.tells) }
            if case .locked = result { throw .pinLocked }
            throw refusal(of: token, in: module, note)
        case .failed(let code):
            let error = PKCS11Error.failed("C_Login", code: code)
            // A PIN that was right before is right now, so the device is the cause.
            if wasAccepted { throw .module(error) }
            state.withLockedValue { $0.refused.append(pin) }
            throw .loginFailed(error)
        }
    }

    /// Sees to it that other processes know of a refusal: from the token, or else from a file.
    private func refusal(of token: PKCS11Token, in module: PKCS11Module, _ note: RefusalNote) -> TokenFault {
        let current = try? module.tokens().first { $0.slot == token.slot }
        let tells = state.withLockedValue { state in
            if let current, current.hadWrongPIN || current.isLocked { state.tells = true }
            return state.tells
        }
        guard !tells, !note.isOfUnchangedFile, let path = note.write() else { return .pinRefused }
        return .pinRefusedUnnoted(path)
    }
}
