package import OfferCore
package import OfferPKCS11

/// The place of one key in a PKCS#11 token, from the configuration file.
package struct TokenKeySettings: Hashable, Sendable {
    package let id: KeyID
    package let uri: PKCS11URI
    package let place: TokenPlace

    package init(id: KeyID, uri: PKCS11URI, place: TokenPlace) {
        self.id = id
        self.uri = uri
        self.place = place
    }

    /// Returns a copy whose PIN file may be readable by others.
    package func allowingReadablePIN(_ isAllowed: Bool) -> TokenKeySettings {
        let pin = place.pin.map {
            PINFile(path: $0.path, allowsReadableByOthers: isAllowed, refusalFile: $0.refusalFile)
        }
        return TokenKeySettings(
            id: id, uri: uri,
            place: TokenPlace(module: place.module, token: place.token, pin: pin, sessions: place.sessions))
    }
}

/// A token, and how to reach it. Keys with the same place share its login and its threads.
package struct TokenPlace: Hashable, Sendable {
    /// The absolute path of the module's library.
    package let module: String
    package let token: PKCS11URI.Token
    /// The file with the PIN; nil for a token without one.
    package let pin: PINFile?
    /// The number of sessions, and of threads that sign in them.
    package let sessions: Int

    package init(module: String, token: PKCS11URI.Token, pin: PINFile?, sessions: Int = Self.defaultSessions) {
        self.module = module
        self.token = token
        self.pin = pin
        self.sessions = sessions
    }

    package static let defaultSessions = 4
    package static let maximumSessions = 64
}
