import ArgumentParser
import CProcess
import FoundationEssentials
import OfferCore
import OfferServer
import OfferStorage

/// `offer-signer doctor`: what `serve` would say, without serving.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Name everything that is wrong with the setup, and what to do.",
        discussion: """
            Reads what 'serve' would read, with the same options, and changes nothing: the configuration, every key, the \
            clock. It does not try the port, which the running service has. Exit status 0 if the service would be ready, \
            else 1.
            """
    )

    @OptionGroup var options: ServeOptions

    func run() throws {
        var problems: [SetupProblem] = []
        do {
            let configuration = try options.reader.read()
            report("the configuration holds together")
            problems += configuration.suspicions
            problems += keyProblems(configuration)
            problems += clockProblems(configuration)
        } catch {
            problems += error.problems
            problems += clockProblems(nil)
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        report("the service would be ready")
    }

    private func keyProblems(_ configuration: Configuration) -> [SetupProblem] {
        var keys = ConfiguredKeys(configuration, places: .system(options.reader))
        _ = keys.look()
        if configuration.isDevelopment, keys.findings.isEmpty {
            let isWritable = FileManager.default.isWritableFile(atPath: configuration.keysDirectory)
            if isWritable { report("a development key would be made in \(configuration.keysDirectory)") }
            return isWritable
                ? []
                : [
                    SetupProblem(
                        "a development key cannot be made in \(configuration.keysDirectory)",
                        hint: "the folder has to be there and to be writable")
                ]
        }
        let draft = keys.draft(from: KeyRing())
        for id in draft.ring.active { report("key \(id) signs") }
        return draft.problems
    }

    private func clockProblems(_ configuration: Configuration?) -> [SetupProblem] {
        let folder = KeyFolder(path: configuration?.keysDirectory ?? "keys")
        let check = ClockCheck(buildDay: unsafe String(cString: offer_build_day()))
        let problem = check.problem(now: .now, files: folder.changeTimes())
        if problem == nil { report("the clock can be right") }
        return problem.map { [$0] } ?? []
    }

    private func report(_ text: String) { StandardStreams.print("ok: \(text)\n") }
}
