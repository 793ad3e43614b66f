import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferService

/// `offer-signer audit acknowledge`: acknowledges the breaks in the audit trail.
struct AuditAcknowledgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Acknowledge that lines of the audit trail were altered or removed.",
        discussion: """
            If a running service finds that the trail no longer contains the last line it wrote, it marks the break in the \
            trail. It is degraded until someone acknowledges the break. This command adds a line with the name of the user who \
            runs it. The service notices that line within a minute. 'audit verify' keeps reporting the break.

            Run it with the settings and under the account of the service, which owns the trail:

              sudo -u offer-signer offer-signer audit acknowledge --env-file offer-signer.env
            """
    )

    @Option(Settings.auditLog) var auditLog: String?
    @Option(Settings.environmentFile) var envFile: String?

    func run() throws {
        var flags = Configuration.Flags()
        flags[Settings.auditLog] = auditLog
        flags[Settings.environmentFile] = envFile
        let environment = try ConfigurationReader(flags: flags).environment()
        guard let settings = try Configuration.audit(flags: flags, environment: environment) else {
            throw CommandError("no audit trail is configured", hint: "name the file with \(Settings.auditLog.name)")
        }
        // A command that creates a trail under another account would lock the service out of it.
        do throws(AuditFault) { _ = try AuditFile.head(path: settings.path) } catch {
            throw CommandError("\(error)", hint: "use the settings of the service, and run under its account")
        }
        let file = try AuditFile.make(settings, now: { Timestamp(Date()) })
        do throws(AuditFault) {
            let line = try file.acknowledgeBreaks(user: CommandUser.name)
            let what = line.map { "the break that line \($0) marks" } ?? "all earlier breaks; none is near the end"
            StandardStreams.print("acknowledged: \(what)\n\(file.head.text)")
        } catch {
            throw CommandError(
                "the break cannot be acknowledged: \(error)",
                hint: "run this under the account of the service, for example with sudo -u, and with its settings")
        }
    }
}
