import ArgumentParser
import ConsoleService
import OfferConfiguration
import OfferCore
import OfferHTTP

/// `offer-signer console`: commands for the people who use the console.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Let people sign in to the console, and end their sessions.",
        subcommands: [ConsoleSignInCommand.self, ConsoleSessionsCommand.self, ConsoleSignOutCommand.self]
    )
}

/// The options that choose the console and its database.
struct ConsoleOptions: ParsableArguments {
    @Option(Settings.consoleAddress) var consoleAddress: String?
    @Option(Settings.consoleURL) var consoleURL: String?
    @OptionGroup var database: DatabaseOptions

    /// The flags of the settings that the running service has too.
    var flags: Configuration.Flags {
        var flags = database.flags
        flags[Settings.consoleAddress] = consoleAddress
        flags[Settings.consoleURL] = consoleURL
        return flags
    }

    func configuration() throws -> Configuration { try database.folder.reader(flags).read() }

    /// Returns the origin to which sign-in links lead.
    func origin() throws -> ConsoleOrigin {
        guard let console = try configuration().console else {
            throw CommandError(
                "there is no console",
                hint: "set \(Settings.consoleAddress.variable) or --console-address, for example to 127.0.0.1:8081")
        }
        guard console.address.port != 0 || consoleURL != nil else {
            throw CommandError(
                "the port of the console is unknown", hint: "set \(Settings.consoleURL.variable) or --console-url")
        }
        return console.origin
    }
}
