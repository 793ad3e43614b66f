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
        let ofProcess = ProcessInfo.processInfo.environment
        let named = ofProcess[Variable.environmentFile.rawValue] ?? ""
        guard let path = environmentFile ?? (named.isEmpty ? nil : named) else {
            return Configuration.read(flags: flags, environment: ofProcess)
        }
        do throws(SetupProblem) {
            let (file, ofFile) = try variables(in: path)
            var (configuration, problems) = Configuration.read(
                flags: flags, environment: ofProcess.merging(ofFile) { $1 })
            let holdsKey = ofFile[Variable.privateKey.rawValue]?.isEmpty == false
            if holdsKey, !file.isPrivate, !configuration.allowsReadableKeys {
                problems.append(KeyFileError.readableByOthers(path: path, mode: file.mode).problem)
            }
            return (configuration, problems)
        } catch {
            // Which key is to sign may stand in that file, so that none is chosen elsewhere says nothing.
            var flags = flags
            flags.mayChooseNoKey = true
            let (configuration, problems) = Configuration.read(flags: flags, environment: ofProcess)
            return (configuration, [error] + problems)
        }
    }

    private func variables(in path: String) throws(SetupProblem) -> (file: OrdinaryFile, variables: [String: String]) {
        let file: OrdinaryFile
        do { file = try OrdinaryFile(path: path, maximumSize: EnvironmentFile.maximumSize) } catch {
            throw Self.problem(error, path: path)
        }
        let ofFile = try EnvironmentFile.read(file.bytes, name: path)
        guard ofFile[Variable.environmentFile.rawValue] == nil else {
            throw SetupProblem(
                "\(path) sets \(Variable.environmentFile.rawValue), and an environment file cannot name another",
                hint: "take that line out")
        }
        return (file, ofFile)
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
