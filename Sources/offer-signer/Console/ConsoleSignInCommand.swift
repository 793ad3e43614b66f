import ArgumentParser
import ConsoleService
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import SubscriberStore

/// `offer-signer console sign-in`: prints a link with which a person signs in once.
struct ConsoleSignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Print a link with which a person signs in to the console once, within five minutes.",
        discussion: """
            The console must be running or start soon: the link leads to its address. The person gets the roles that you \
            name. Send the link on a way that only the person reads:

              offer-signer console sign-in --name "Ada Lovelace" --role support --role auditor

            support finds customers and sees everything about them. marketing sees offers and tries rules. operator does too, \
            and sees alarms and health. auditor sees what everybody did. The name appears in the audit trail, which also gets a line \
            about the link before it is printed.
            """
    )

    @Option(help: ArgumentHelp("The name of the person, for the console and the audit trail.", valueName: "name"))
    var name: String

    @Option(
        name: .customLong("role"), parsing: .singleValue,
        help: ArgumentHelp("A role: support, marketing, operator or auditor. Repeatable.", valueName: "role"))
    var roles: [ConsoleRole]

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        guard (1...128).contains(name.utf8.count), !name.unicodeScalars.contains(where: { $0.properties.isControl })
        else {
            throw ValidationError("--name has 1 to 128 bytes and no control characters.")
        }
        guard !roles.isEmpty else { throw ValidationError("Name at least one --role.") }
    }

    func run() async throws {
        let origin = try options.origin()
        try await ConsoleAudit.record(.link, about: name, roles: roles.map(\.rawValue), try options.configuration())
        let url = try await options.database.withStore { store in
            try await ConsoleInvitation.make(name: name, roles: roles, at: Timestamp(.now), in: store, origin.text)
        }
        StandardStreams.print("\(url)\n")
        StandardStreams.printError("the link works once, within five minutes\n")
    }
}

extension ConsoleRole: ExpressibleByArgument {}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { generalCategory == .control || generalCategory == .format }
}
