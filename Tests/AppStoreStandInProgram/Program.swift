import ArgumentParser

/// `app-store-stand-in`: plays the App Store on this machine, or its performance test.
@main
struct Program: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store-stand-in",
        abstract: "Play the App Store on this machine, or its performance test of retention messages.",
        subcommands: [StandInCommand.self, PerformanceTestCommand.self], defaultSubcommand: StandInCommand.self)
}
