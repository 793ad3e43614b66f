import FoundationEssentials
import OfferCore
import OfferServer
import OfferStorage

/// Reads the configuration from where it stands: the flags, the environment file and the environment of the process.
struct ConfigurationReader: Sendable {
    let flags: Configuration.Flags
    /// The file that a flag names; else the environment may name one.
    let environmentFile: String?

    /// - Throws: every problem at once; but a file that cannot be read hides what else may be wrong.
    func read() throws(ConfigurationError) -> Configuration {
        let variables: [String: String]
        do { variables = try self.variables() } catch { throw ConfigurationError(problems: [error]) }
        return try Configuration(flags: flags, environment: variables)
    }

    /// The variables of the process, and over them those of the environment file.
    func variables() throws(SetupProblem) -> [String: String] {
        let ofProcess = ProcessInfo.processInfo.environment
        let named = ofProcess[Variable.environmentFile.rawValue] ?? ""
        guard let path = environmentFile ?? (named.isEmpty ? nil : named) else { return ofProcess }
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
        guard file.isPrivate || ofFile[Variable.privateKey.rawValue] == nil || flags.allowReadableKeys else {
            throw SetupProblem(
                """
                \(path) holds a private key and can be read by others than its owner (mode \(file.mode)), and who reads \
                it can mint discounts
                """,
                hint: "chmod 600 \(path); where a container's secrets cannot have that mode: --allow-readable-keys")
        }
        return ofProcess.merging(ofFile) { $1 }
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
