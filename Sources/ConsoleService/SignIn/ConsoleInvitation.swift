package import OfferConsole
package import OfferCore
package import SubscriberStore

/// The invitation of a person: a link with which the person signs in once.
package enum ConsoleInvitation {
    /// Stores a new link, and returns its address.
    /// - Parameters:
    ///   - name: 1 to 128 bytes.
    ///   - origin: the origin of the console, such as `https://offers.example.com`.
    package static func make(
        name: String, roles: [ConsoleRole], at now: Timestamp, in store: any ConsoleStore, _ origin: String
    ) async throws -> String {
        let token = try ConsoleToken()
        let account = ConsoleAccount(name: name, subject: nil, roles: Array(Set(roles.map(\.rawValue))))
        try await store.add(
            SignInLink(digest: token.digest(), account: account, expiresAt: now + SignInLink.time))
        return "\(origin)/sign-in/link?token=\(token.text)"
    }
}
