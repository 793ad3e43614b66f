import OfferConfiguration
import OfferConsole
import OfferCore
import OfferCrypto
import OfferIdentity
import SubscriberStore
import SubscriberSync

/// A cookie to set. An empty value deletes it.
struct ConsoleCookie: Sendable {
    enum Name: Sendable { case session, clock, signIn }

    let name: Name
    let value: String
}

extension ConsoleCookie.Name {
    /// The time for which the browser keeps the cookie, in seconds; nil to keep it until the browser ends.
    fileprivate var lifetime: Int? {
        switch self {
        case .session: nil
        case .clock: 365 * 86_400
        case .signIn: 600
        }
    }
}

/// The sessions of the console, and their cookies.
struct ConsoleSessions: Sendable {
    let store: CurrentStore
    let origin: ConsoleOrigin

    /// Returns the value of a `Set-Cookie` header.
    ///
    /// Browsers accept the prefix `__Host-` only over TLS, and only from the host itself. On this machine, without TLS,
    /// the cookie has neither the prefix nor `Secure`.
    func header(_ cookie: ConsoleCookie) -> String {
        let seconds = cookie.value.isEmpty ? 0 : cookie.name.lifetime
        let lifetime = seconds.map { "; Max-Age=\($0)" } ?? ""
        return "\(name(cookie.name))=\(cookie.value); Path=/; HttpOnly; SameSite=Lax"
            + (origin.isSecure ? "; Secure" : "") + lifetime
    }

    private func name(_ name: ConsoleCookie.Name) -> String {
        let prefix = origin.isSecure ? "__Host-" : ""
        return switch name {
        case .session: prefix + "console"
        case .clock: prefix + "console-clock"
        case .signIn: prefix + "console-sign-in"
        }
    }

    /// Returns the sign-in that the browser began at the identity provider; nil if there is none.
    func pendingSignIn(in cookies: [String]) -> PendingSignIn? {
        CookieReader.value(of: name(.signIn), in: cookies).flatMap(PendingSignIn.init(cookieValue:))
    }

    /// Returns the token of the request's session; nil if there is none.
    func token(in cookies: [String]) -> ConsoleToken? {
        CookieReader.value(of: name(.session), in: cookies).flatMap(ConsoleToken.init)
    }

    func clock(in cookies: [String]) -> ConsoleClock {
        CookieReader.value(of: name(.clock), in: cookies).flatMap { Int($0) }
            .flatMap(ConsoleClock.init(offsetMinutes:)) ?? .utc
    }

    /// Returns the session of a token, valid or not; nil if there is none.
    func session(of token: ConsoleToken?, at now: Timestamp) async throws -> ConsoleSession? {
        guard let token else { return nil }
        return try await store.useSession(token.digest(), at: now)
    }
}

/// The secret of a session or of a sign-in link: 32 random bytes, as base64url.
package struct ConsoleToken: Sendable {
    package let text: String

    package init() throws { text = String(decoding: Base64URL.text(of: try RandomSecret.make()), as: UTF8.self) }

    /// - Returns: nil unless the text has the form of a token.
    package init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.bytes(of: text.utf8)?.count == 32 else { return nil }
        self.text = text
    }

    /// The SHA-256 hash of the text, under which the store knows it.
    package func digest() throws -> [UInt8] { try SHA256.hash(Array(text.utf8)) }
}
