import FoundationEssentials
import OfferCore
import OfferServer
import OfferStorage

/// Reads the configuration from where it stands: the flags, the environment file and the environment of the process.
struct ConfigurationReader: Sendable {
    let flags: Configuration.Flags
    /// The file that a flag names; else the environment may name one.
    let environmentFile: String?

    /// - Throws: every problem at once.
    func read() throws(ConfigurationError) -> Configuration {
        let (configuration, problems) = readAll()
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return configuration
    }

    /// Reads as much as can be read, for a report on everything that is wrong.
    func readAll() -> (configuration: Configuration, problems: [SetupProblem]) {
        // Where the file cannot be read, which key is to sign may stand in there: that none is chosen says nothing then.
        let ofProcess = ProcessInfo.processInfo.environment
        do throws(SetupProblem) {
            let path = try Configuration.environmentFile(flag: environmentFile, environment: ofProcess)
            guard let path else { return Configuration.read(flags: flags, environment: ofProcess) }
            let file = try Self.open(path)
            let (ofFile, ofLines) = EnvironmentFile.read(file.bytes, name: path)
            var flags = flags
            if !ofLines.isEmpty { flags.mayChooseNoKey = true }
            let (configuration, problems) = Configuration.read(
                flags: flags, environment: ofProcess.merging(ofFile) { $1 })
            return (configuration, ofLines + Self.problems(ofFile, in: file, path: path, configuration) + problems)
        } catch {
            var flags = flags
            flags.mayChooseNoKey = true
            let (configuration, problems) = Configuration.read(flags: flags, environment: ofProcess)
            return (configuration, [error] + problems)
        }
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
        let holdsKey = variables[Variable.privateKey.rawValue]?.isEmpty == false
        if holdsKey, !file.isPrivate, !configuration.allowsReadableKeys {
            problems.append(KeyFileError.readableByOthers(path: path, mode: file.mode).problem)
        }
        return problems
    }

    private static func open(_ path: String) throws(SetupProblem) -> OrdinaryFile {
        do { return try OrdinaryFile(path: path, maximumSize: EnvironmentFile.maximumSize) } catch {
            throw problem(error, path: path)
        }
    }

    private static func problem(_ fault: OrdinaryFile.Fault, path: String) -> SetupProblem {
        let reason =
            switch fault {
            case .notFound: "is not there"
            case .danglingLink: "is a link to nothing"
            case .folder, .notAFile: "is not an ordinary file"
            case .tooLarge: "is larger than \(EnvironmentFile.maximumSize) bytes"
            case .unreadable(let reason): "cannot be read (\(reason))"
            }
        return SetupProblem(
            "the environment file \(path) \(reason)",
            hint: "set \(Variable.environmentFile.rawValue) or --env-file to a file of NAME=value lines")
    }
}
