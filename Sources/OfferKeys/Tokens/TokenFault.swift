package import OfferCore
package import OfferPKCS11

/// The reason that a token or a key in it cannot be used.
package enum TokenFault: Error, Hashable {
    case module(PKCS11Error)
    /// No token matches. The value is the labels of the tokens that were found.
    case noToken([String])
    case severalTokens
    /// The token requires a PIN, but no file is configured.
    case noPIN
    case pinFile(Diagnostic)
    /// The token refused the PIN that the file still contains.
    case pinRefused
    /// The token refused the PIN without telling other processes, and the file with this path, which would, cannot be written.
    case pinRefusedUnnoted(String)
    /// The token refused the PIN of an earlier process, as the file with this path says.
    case pinNoted(String)
    /// The token refused the PIN of an earlier process, and the PIN file is unchanged. The value is the path of the file that says so.
    case pinUnchanged(String)
    /// A wrong PIN was entered since the last login, perhaps by an earlier process with the same file.
    case pinTriedBefore
    case pinLocked
    /// A login failed, and the token may have counted a wrong PIN.
    case loginFailed(PKCS11Error)
    case noKey
    case severalKeys
    case notEllipticCurve
    case notP256
    case extractable
    case cannotSign
    /// The token wants the PIN for every signature.
    case asksEachTime
    case noPublicKey
    /// The public key is not a point on P-256.
    case badPublicKey
    /// The token now has another key under this name.
    case replaced
    /// The signature does not have 64 bytes. The value is its size.
    case signatureSize(Int)
    /// The first signature does not verify with the public key.
    case halvesDoNotMatch
    /// A new key has no label.
    case noLabel
    /// The name of a new key is taken.
    case keyExists
    /// A new key cannot be used, and it remains in the token. The value is the reason why it cannot be used.
    case notDestroyed(String)
    case threads(SigningThreadsFault)
    case unexpected(String)
}

extension TokenFault {
    /// True if the sessions with the token are lost, or the token is.
    var isLostToken: Bool {
        switch self {
        case .module(let error): error.isLostSession
        case .noToken: true
        default: false
        }
    }

    /// True if only a change of the PIN file or of the token helps, because another try could lock the token.
    private var isOfPIN: Bool {
        switch self {
        case .pinRefused, .pinRefusedUnnoted, .pinNoted, .pinUnchanged, .pinTriedBefore, .pinLocked, .loginFailed: true
        default: false
        }
    }
}

extension TokenFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .module(let error): "\(error)"
        case .noToken(let labels):
            labels.isEmpty
                ? "the module has no token"
                : "no token matches the URI; the module has the tokens "
                    + labels.prefix(10).map(\.printable).joined(separator: ", ")
        case .severalTokens: "several tokens match the URI"
        case .noPIN: "the token requires a PIN, but no pinFile is configured"
        case .pinFile(let problem): problem.error
        case .pinRefused: "the token refused the PIN, which is not tried again"
        case .pinRefusedUnnoted(let path):
            "the token refused the PIN, which is not tried again, except by another process, because \(path) cannot be written"
        case .pinNoted(let path): "the token refused the PIN before (\(path) exists), so the PIN is not tried"
        case .pinUnchanged: "the PIN file has not changed since the token refused the PIN, so the PIN is not tried"
        case .pinTriedBefore: "a wrong PIN was entered since the last login, so the PIN is not tried"
        case .pinLocked: "the PIN of the token is locked"
        case .loginFailed(let error): "\(error), and the PIN is not tried again"
        case .noKey: "the token has no such private key"
        case .severalKeys: "several private keys match the URI"
        case .notEllipticCurve: "it is not a key for ECDSA"
        case .notP256: "it is not on the curve P-256 (prime256v1)"
        case .extractable: "the token would give out the private key (CKA_EXTRACTABLE or not CKA_SENSITIVE)"
        case .cannotSign: "the token does not permit the key to sign (CKA_SIGN)"
        case .asksEachTime: "the token requires the PIN for every signature (CKA_ALWAYS_AUTHENTICATE)"
        case .noPublicKey: "the token has no public key with the same CKA_ID or label"
        case .badPublicKey: "the public key in the token is not a point on P-256"
        case .replaced: "the token now has another key under this name"
        case .signatureSize(let size): "the token returned a signature of \(size) bytes instead of 64"
        case .halvesDoNotMatch: "its signatures do not verify with the public key in the token"
        case .noLabel: "the URI names no object, so the new key would have no label"
        case .keyExists: "the token already has a key with this label or ID, and keys are never replaced"
        case .notDestroyed(let reason): "\(reason), and what was created could not be destroyed again"
        case .threads(let fault): "\(fault)"
        case .unexpected(let text): text
        }
    }

    package var hint: String {
        switch self {
        case .module(.notLoaded):
            "install the module and name it in module, with its absolute path; it must be for this system and libc"
        case .module, .threads, .unexpected:
            "check that the device or its server runs; it is tried again, and a module that never returns needs a restart"
        case .noToken: "compare the URI with the output of: p11-kit list-tokens, or pkcs11-tool --module MODULE -L"
        case .severalTokens: "add serial to the URI"
        case .noPIN: "put the PIN into a file with mode 0600, and name it in pinFile"
        case .pinFile(let problem): problem.hint
        case .pinRefused:
            "correct the PIN file, before more tries lock the token; the service then tries the new PIN once"
        case .pinRefusedUnnoted:
            "correct the PIN file before the next start; name a file that can be written in refusalFile"
        case .pinNoted(let path):
            "correct the PIN file, then run: offer-signer keys check --try-pin, or remove \(path)"
        case .pinUnchanged(let path):
            "correct the PIN file; if the PIN of the token was changed instead, remove \(path)"
        case .pinTriedBefore:
            "check the PIN file, then run: offer-signer keys check --try-pin; a login resets the token's counter"
        case .loginFailed:
            "check the device and the PIN file, then restart the service; a token that counts wrong PINs may have counted one"
        case .pinLocked: "unlock the PIN with the tools of the token, as its security officer"
        case .noKey, .noPublicKey:
            "put both halves there with: offer-signer keys import, or compare the URI with: pkcs11-tool --login -O"
        case .severalKeys: "add id to the URI"
        case .notEllipticCurve, .notP256, .badPublicKey, .halvesDoNotMatch:
            "the key must be the one from App Store Connect; put it there with: offer-signer keys import"
        case .extractable: "destroy the key in the token, and put it there with: offer-signer keys import"
        case .cannotSign, .asksEachTime: "put the key there with: offer-signer keys import"
        case .replaced: "if you replaced it, send SIGHUP; if not, find out who can write to the token"
        case .noLabel: "add object to the URI, with the key ID for example"
        case .notDestroyed: "destroy both halves of the key with: pkcs11-tool --login --delete-object"
        case .keyExists:
            "choose another object, or destroy the key in the token first, with: pkcs11-tool --delete-object"
        case .signatureSize: "the module does not follow PKCS#11; report it to its maker"
        }
    }

    package func problem(of settings: TokenKeySettings) -> Diagnostic {
        Diagnostic(
            "key \(settings.id) at \(settings.uri) cannot sign: \(self)", hint: hint, forbidsRestart: isOfPIN)
    }
}
