import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferCore
import SubscriberStore

/// `offer-signer console sessions`: lists who is signed in to the console.
struct ConsoleSessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "List who is signed in to the console, the latest first.",
        discussion: "Each line has the start, the last request, the roles and the name. Times are in UTC.")

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let sessions = try await options.withStore { store in try await store.sessions(at: Timestamp(.now)) }
        if sessions.isEmpty { StandardStreams.print("nobody is signed in\n") }
        for session in sessions {
            let (start, seen) = (session.startedAt.minuteText, session.seenAt.minuteText)
            let name = session.account.name.printable
            StandardStreams.print(
                "since \(start), last request \(seen), \(session.account.roles.joined(separator: ",")): \(name)\n")
        }
    }
}

/// `offer-signer console sign-out`: ends sessions at once.
struct ConsoleSignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "End the sessions of a person at once, and revoke unused sign-in links.",
        discussion: """
            Use it when somebody leaves the team, or loses a computer. The next request of the person is refused. A \
            person who signs in at an identity provider can sign in again: remove the person there first.

              offer-signer console sign-out --name "Ada Lovelace"
            """)

    @Option(help: ArgumentHelp("The name of the person, as 'console sessions' prints it.", valueName: "name"))
    var name: String?
    @Flag(help: "End the sessions of everybody.") var all = false
    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard (name == nil) == all else { throw ValidationError("Name a person with --name, or use --all.") }
    }

    func run() async throws {
        let count = try await options.withStore { store in
            try await store.endSessions(of: name, at: Timestamp(.now))
        }
        // A line that cannot be written must not keep sessions alive.
        try await ConsoleAudit.record(.endSessions, about: name, try options.configuration())
        StandardStreams.print(count == 1 ? "1 session ended\n" : "\(count) sessions ended\n")
    }
}

extension Timestamp {
    /// The time in UTC to the minute, such as `2026-11-27 08:47`.
    fileprivate var minuteText: String {
        String(decoding: iso8601.prefix(16), as: UTF8.self).replacing("T", with: " ")
    }
}
