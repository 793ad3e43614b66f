import AppStoreStandIn
import AppStoreTestSupport
import ArgumentParser
import Foundation

/// `app-store-stand-in performance-test`: plays Apple's performance test of retention messages against a running service.
struct PerformanceTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "performance-test",
        abstract: "Play Apple's performance test of retention messages against a running service.",
        discussion: """
            Sends signed requests to the URL and prints the same result object as Apple. The service must trust the root in the \
            folder, as the settings say that the stand-in prints when it starts:

              scripts/app-store-stand-in performance-test --url http://127.0.0.1:8080/v1/retention-messages

            Exits with status 0 for PASS, otherwise 1.
            """
    )

    @Option(help: ArgumentHelp("The folder of the stand-in's certificates.", valueName: "folder"))
    var folder = ".build/app-store-stand-in"

    @Option(help: ArgumentHelp("The URL of the service.", valueName: "url"))
    var url: String

    @Option(help: ArgumentHelp("The environment of the requests.", valueName: "name"))
    var environment = "Sandbox"

    @Option(help: ArgumentHelp("The subscriptions that the requests are about, in turn.", valueName: "id"))
    var transactionID: [String] = ["2000000000000001"]

    @Option(help: ArgumentHelp("Their product.", valueName: "id"))
    var productID = "com.example.app.pro.monthly"

    @Option(help: ArgumentHelp("How many requests are under way at a time.", valueName: "count"))
    var concurrency = 10

    @Option(help: ArgumentHelp("How many requests are sent.", valueName: "count"))
    var requests = 100

    @Option(help: ArgumentHelp("The milliseconds over which they are spread.", valueName: "ms"))
    var duration = 10_000

    @Option(help: ArgumentHelp("The milliseconds within which an answer counts.", valueName: "ms"))
    var threshold = 700

    @Option(help: ArgumentHelp("The percentage of answers that must count.", valueName: "percent"))
    var successRate = 98

    func validate() throws {
        guard concurrency > 0, requests > 0, duration >= 0, threshold > 0, (0...100).contains(successRate) else {
            throw ValidationError("counts and times must be positive, and the rate a percentage")
        }
    }

    func run() async throws {
        var world = StandInWorld.Settings()
        (world.customers, world.environment) = (0, environment)
        var settings = PerformanceTest.Settings()
        (settings.concurrency, settings.requests) = (concurrency, requests)
        (settings.duration, settings.threshold, settings.successRate) = (duration, threshold, successRate)
        let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }
        let chain = URL(filePath: folder).absoluteURL.path + "/chain"
        if (try? NotificationSigner(folder: chain)) == nil { try NotificationSigner.make(in: chain) }
        let test = PerformanceTest(
            settings, world: try StandInWorld(world, start: now(), folder: chain), target: url,
            subscriptions: transactionID.map { ($0, productID) }, now: now)
        let result = await test.run()
        FileHandle.standardOutput.write(Data(result.json + [UInt8(ascii: "\n")]))
        FileHandle.standardError.write(Data("maximum \(result.times.max() ?? 0) ms\n".utf8))
        if result.outcome != "PASS" { throw ExitCode(1) }
    }
}
