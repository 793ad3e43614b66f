import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// Reads the configuration from where it stands: the flags, the environment file, the environment of the process and
/// the configuration file.
struct ConfigurationReader: Sendable {
    let flags: Configuration.Flags
    /// The file that a flag names; else the environment may name one.
    let environmentFile: String?
    /// The same for the configuration file.
    let configurationFile: String?

    /// - Throws: every problem at once.
    func read() throws(ConfigurationError) -> Configuration {
        let (configuration, problems) = readAll()
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return configuration
    }

    /// Reads as much as can be read, for a report on everything that is wrong.
    func readAll() -> (configuration: Configuration, problems: [SetupProblem]) {
        let ofProcess = ProcessInfo.processInfo.environment
        var flags = flags
        var problems: [SetupProblem] = []
        var variables = ofProcess
        var file: (settings: OrdinaryFile, path: String, variables: [String: String])?
        do throws(SetupProblem) {
            if let (path, settings) = try Self.file(
                environmentFile, "--env-file", .environmentFile, in: ofProcess,
                maximumSize: EnvironmentFile.maximumSize)
            {
                let (ofFile, ofLines) = EnvironmentFile.read(settings.bytes, name: path)
                problems += ofLines
                variables.merge(ofFile) { $1 }
                file = (settings, path, ofFile)
            }
        } catch {
            problems.append(error)
        }
        var ofConfiguration = ConfigurationFile()
        do throws(SetupProblem) {
            if let (path, text) = try Self.file(
                configurationFile, "--config", .configurationFile, in: variables,
                maximumSize: ConfigurationFile.maximumSize)
            {
                let (read, ofLines) = ConfigurationFile.read(text.bytes, name: path)
                problems += ofLines
                ofConfiguration = read
            }
        } catch {
            problems.append(error)
        }
        var certificate: ServerCertificate?
        var certificateFiles: CertificateFiles?
        do throws(SetupProblem) {
            certificateFiles = try CertificateFiles(flags: flags, environment: variables)
            certificate = try certificateFiles?.read()
        } catch {
            problems.append(error)
        }
        // Which key is to sign may stand in what could not be read: that none is chosen says nothing then.
        if !problems.isEmpty { flags.mayChooseNoKey = true }
        let (configuration, ofSettings) = Configuration.read(
            flags: flags, environment: variables, file: ofConfiguration, certificate: certificate, sha256: SHA256.hash)
        if !configuration.allowsReadableKeys, let problem = certificateFiles?.problem { problems.append(problem) }
        if let file {
            problems += Self.problems(file.variables, in: file.settings, path: file.path, configuration)
        }
        return (configuration, problems + ofSettings)
    }

    /// What may not stand in an environment file, or not in this one.
    private static func problems(
        _ variables: [String: String], in file: OrdinaryFile, path: String, _ configuration: Configuration
    ) -> [SetupProblem] {
        var problems: [SetupProblem] = []
        if variables[Variable.environmentFile.rawValue] != nil {
            problems.append(
                SetupProblem(
                    "\(path) sets \(Variable.environmentFile.rawValue), and an environment file cannot name another",
                    hint: "take that line out"))
        }
        guard !file.isPrivate, !configuration.allowsReadableKeys else { return problems }
        func holds(_ variable: Variable) -> Bool { variables[variable.rawValue]?.isEmpty == false }
        if holds(.privateKey) { problems.append(KeyFileError.readableByOthers(path: path, mode: file.mode).problem) }
        let secrets: [(Variable, hint: String)] = [
            (.usernameSalt, "chmod 600 \(path), and take another salt as long as no user has bought with this one"),
            (.auditKey, "chmod 600 \(path): who has it can tell in the audit trail who is who"),
        ]
        for (secret, hint) in secrets where holds(secret) {
            problems.append(
                SetupProblem(
                    "\(path) holds \(secret.rawValue) and can be read by others (mode \(file.mode))", hint: hint))
        }
        return problems
    }

    /// The file that a flag or a variable names; nil if none is named.
    static func file(
        _ flag: String?, _ flagName: String, _ variable: Variable, in environment: [String: String], maximumSize: Int
    ) throws(SetupProblem) -> (path: String, file: OrdinaryFile)? {
        let path = try Configuration.path(flag: flag, variable: variable, flagName: flagName, in: environment)
        guard let path else { return nil }
        do { return (path, try OrdinaryFile(path: path, maximumSize: maximumSize)) } catch {
            throw SetupProblem(
                """
                the file \(path), which \(variable.rawValue) or a flag names, \
                \(error.reason(maximumSize: maximumSize))
                """,
                hint: "put it there, or name another")
        }
    }
}
