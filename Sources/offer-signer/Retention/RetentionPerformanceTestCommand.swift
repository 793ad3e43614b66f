import AppStoreAPI
import ArgumentParser
import OfferCore

/// `offer-signer retention performance-test`: runs the test that Apple requires before production.
struct RetentionPerformanceTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "performance-test", abstract: "Have Apple test how fast the service answers, in the sandbox.",
        subcommands: [Start.self, Result.self])

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start Apple's performance test in the sandbox.",
            discussion: """
                Apple sends requests about a subscription to the URL of the sandbox. The subscription must be active, \
                bought in the sandbox, and not family-shared. Prints the identifier and the requirements of the test:

                  offer-signer retention performance-test start --environment Sandbox --transaction-id 2000000123456789
                """)

        @OptionGroup var options: AppStoreOptions

        @Option(
            help: ArgumentHelp("The original transaction ID of the subscription.", valueName: "id"),
            transform: TransactionNumber.init(option:))
        var transactionID: TransactionNumber

        func run() async throws {
            let test = try await options.send(.startPerformanceTest(with: transactionID))
            let configuration = test.configuration
            StandardStreams.print("\(test.requestID.printable)\n")
            StandardStreams.printError(
                """
                \(configuration.totalRequests) requests in \(configuration.totalDuration) ms, up to \
                \(configuration.maximumConcurrency) at a time; \(configuration.successRateThreshold) % must be \
                answered within \(configuration.responseTimeThreshold) ms

                """)
        }
    }

    struct Result: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the result of Apple's performance test.",
            discussion: "Exits with status 0 for PASS, and with 1 for FAIL or while the test is running.")

        @OptionGroup var options: AppStoreOptions
        @Argument(help: ArgumentHelp("The identifier of the test.", valueName: "id")) var id: String

        func run() async throws {
            let result = try await options.send(.performanceTestResult(id))
            StandardStreams.print(String(decoding: result.json, as: UTF8.self).printable + "\n")
            switch result.outcome {
            case .pass: return
            case .pending: throw CommandError("the test is still running", hint: "run this command again later")
            case .fail, nil:
                throw CommandError("the test has failed", hint: "docs/retention.md explains what makes answers slow")
            }
        }
    }
}
