import ArgumentParser
import CProcess
import OfferCore
import OfferCrypto
import OfferEligibility

/// `offer-signer`: the service and its tools.
@main
struct OfferSignerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offer-signer",
        abstract: "Signs App Store promotional offers.",
        discussion: """
            To show a customer a discount (an App Store promotional offer), an app needs a signature from the developer's \
            server. offer-signer is that server. Try it with:

              offer-signer serve --development

            Keys come from App Store Connect (Users and Access, Integrations, In-App Purchase). Put the file \
            SubscriptionKey_<KEYID>.p8 into keys/ and set SUBSCRIPTION_OFFERS_KEY_ID to its ID.
            """,
        version: OfferSignerVersion.text,
        subcommands: [
            ServeCommand.self, SignCommand.self, VerifyCommand.self, KeysCommand.self, TokensCommand.self,
            AppStoreCommand.self, RetentionCommand.self, CustomersCommand.self, DecideCommand.self, RulesCommand.self,
            CatalogueCommand.self, GrantsCommand.self, LinksCommand.self,
            AlarmsCommand.self, ReportCommand.self, ConsoleCommand.self, DatabaseCommand.self,
            AuditCommand.self, DoctorCommand.self, HealthCommand.self, ReferenceCommand.self,
        ],
        defaultSubcommand: ServeCommand.self
    )

    static func main() async {
        if !offer_keep_memory_private() {
            StandardStreams.printError("warning: core dumps could not be disabled; a core dump could contain a key\n")
        }
        // Set up the secure heap before any key is read.
        _ = SecureHeap.state
        var isService = false
        do {
            var command = try parseAsRoot()
            isService = command is ServeCommand
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as CommandError {
            stop(error, isService)
        } catch let error as ConfigurationError {
            stop(CommandError(error), isService)
        } catch let problem as Diagnostic {
            stop(CommandError(problem), isService)
        } catch {
            exit(withError: error)
        }
    }

    private static func stop(_ error: CommandError, _ isService: Bool) -> Never {
        StandardStreams.printError(error.text)
        exit(withError: ExitCode(isService ? error.status : 1))
    }
}
