import ArgumentParser
import FoundationEssentials
import OfferCore
import OfferIdentity
import OfferServer
import OfferStorage

/// `offer-signer doctor`: what `serve` would say, without serving.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Name everything that is wrong with the setup, and what to do.",
        discussion: """
            Reads what 'serve' would read, with the same options, and changes nothing: the configuration, every key, the \
            files of users' keys, the end of the audit trail, the clock, and the cryptography by known answers. It does not \
            try the port, which a running service has. Exit status 0 only if the service would be ready, else 1.
            """
    )

    @OptionGroup var options: ServeOptions

    func run() async throws {
        var (configuration, problems) = options.reader.readAll()
        if problems.isEmpty { report("the configuration holds together") }
        problems += keyProblems(configuration)
        problems += await userProblems(configuration)
        problems += auditProblems(configuration)
        problems += clockProblems(configuration)
        problems += cryptographyProblems()
        if let problem = configuration.certificate?.problem(at: .now) { problems.append(problem) }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        report("the service would be ready")
    }

    private func keyProblems(_ configuration: Configuration) -> [SetupProblem] {
        let keys = ConfiguredKeys(configuration, places: .system(options.reader))
        if configuration.isDevelopment,
            !keys.findings.contains(where: { $0.id == configuration.wanted.choice.ofAllApps })
        {
            return keys.findings.compactMap(\.problem) + developmentKeyProblems(configuration)
        }
        let draft = keys.draft(from: KeyRing())
        for id in draft.ring.active { report("key \(id) signs") }
        return draft.problems
    }

    /// What keeps a development key, which is not there, from being made.
    private func developmentKeyProblems(_ configuration: Configuration) -> [SetupProblem] {
        let folder = configuration.keysDirectory
        guard FileManager.default.isWritableFile(atPath: folder + "/") else {
            return [
                SetupProblem(
                    "a development key cannot be made in \(configuration.keysDirectory)",
                    hint: "the folder has to be there and to be writable")
            ]
        }
        report("a development key would be made in \(configuration.keysDirectory)")
        return []
    }

    /// What is wrong with the files of users' keys. What a URL answers now says little of later, so none is fetched.
    private func userProblems(_ configuration: Configuration) async -> [SetupProblem] {
        let reader = KeySetReader.system()
        var problems: [SetupProblem] = []
        for issuer in configuration.callers.userIssuers {
            guard case .file = issuer.keys else {
                report("the keys of \(issuer.name) would be fetched from \(issuer.keys); this does not try to")
                continue
            }
            do throws(KeySetFault) {
                let text = try await reader.text(at: issuer.keys)
                problems += text.problems
                let (set, ofSet) = try await reader.keys(in: text.bytes, from: issuer.keys)
                let found = ofSet + (issuer.problem(with: set).map { [$0] } ?? [])
                if found.isEmpty { report("the keys of \(issuer.name) are in \(issuer.keys)") }
                problems += found
            } catch {
                problems.append(error.problem)
            }
        }
        return problems
    }

    private func auditProblems(_ configuration: Configuration) -> [SetupProblem] {
        guard let settings = configuration.audit else { return [] }
        do throws(AuditFault) { try AuditFile.check(path: settings.path) } catch { return [error.problem] }
        report("the audit trail can be written to \(settings.path)")
        if settings.key == nil { StandardStreams.print("hint: \(AuditSettings.noKey.hint)\n") }
        return []
    }

    private func clockProblems(_ configuration: Configuration) -> [SetupProblem] {
        let folder = KeyFolder(configuration)
        let problem = SystemSources.clock.problem(now: .now, files: folder.changeTimes())
        if problem == nil { report("the clock can be right") }
        return problem.map { [$0] } ?? []
    }

    private func cryptographyProblems() -> [SetupProblem] {
        let problem = SystemSources.knownAnswers.problem
        if problem == nil { report("the cryptography gives the known answers") }
        return problem.map { [$0] } ?? []
    }

    private func report(_ text: String) { StandardStreams.print("ok: \(text)\n") }
}
