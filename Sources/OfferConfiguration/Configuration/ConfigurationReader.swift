import AppStoreData
import FoundationEssentials
package import OfferCore
import OfferEligibility
package import OfferFiles
import OfferHTTP
import OfferKeys
import SubscriberStore

/// A reader of the configuration from the flags, the environment file, the process environment and the configuration
/// file.
package struct ConfigurationReader: Sendable {
    package let flags: Configuration.Flags

    package init(flags: Configuration.Flags) { self.flags = flags }

    /// Reads the whole configuration.
    /// - Throws: all problems together.
    package func read() throws(ConfigurationError) -> Configuration {
        let (configuration, problems) = readAll()
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return configuration
    }

    /// Reads the process environment, with overrides from the environment file.
    /// - Throws: problems with the environment file.
    package func environment() throws(ConfigurationError) -> [String: String] {
        var problems: [Diagnostic] = []
        let file = readEnvironmentFile(&problems)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return ProcessInfo.processInfo.environment.merging(file?.variables ?? [:]) { $1 }
    }

    /// Reads as much of the configuration as possible, for a report on everything that is wrong.
    package func readAll() -> (configuration: Configuration, problems: [Diagnostic]) {
        var flags = flags
        var problems: [Diagnostic] = []
        let environmentFile = readEnvironmentFile(&problems)
        let environment = ProcessInfo.processInfo.environment.merging(environmentFile?.variables ?? [:]) { $1 }
        var problemsOfAccess = [environmentFile.flatMap { Self.writableByOthers($0.path, $0.file) }].compactMap(\.self)
        var readableSecrets: [Diagnostic] = []
        let configurationFile = readConfigurationFile(environment, &problems, &problemsOfAccess, &readableSecrets)
        let certificate = readCertificate(environment, &problems)
        let roots = readRoots(Settings.appStoreRoots, environment, &problems)
        let forwardRoots = readRoots(Settings.forwardRoots, environment, &problems)
        let apiRoots = readRoots(Settings.appStoreAPIRoots, environment, &problems)
        let consoleRoots = readRoots(Settings.consoleIssuerRoots, environment, &problems)
        let connectKey = readConnectKey(environment, &problems)
        // The faulty file may be the one that chooses the key, so do not also report a missing choice.
        if !problems.isEmpty { flags.mayChooseNoKey = true }
        let (configuration, problemsOfSettings) = Configuration.read(
            flags: flags, environment: environment, file: configurationFile, certificate: certificate?.certificate,
            roots: roots, forwardRoots: forwardRoots?.certificates, apiRoots: apiRoots?.certificates,
            consoleRoots: consoleRoots?.certificates, connectKey: connectKey)
        if !configuration.keys.folder.allowsReadableByOthers {
            problems += [certificate?.problem].compactMap(\.self)
            problems += (environmentFile?.problemsOfMode ?? []) + readableSecrets
        }
        problems += environmentFile?.problems ?? []
        let keyFolder = configuration.keys.folder.path
        if let mode = FolderAccess.modeIfWritableByOthers(keyFolder) {
            problemsOfAccess.append(Self.writableByOthers("the key folder \(keyFolder)", mode, path: keyFolder))
        }
        // File permissions do not matter for a development key, because the App Store does not know it.
        if !flags.development { problems += problemsOfAccess }
        return (configuration, problems + problemsOfSettings)
    }

    private func readEnvironmentFile(_ problems: inout [Diagnostic]) -> LoadedEnvironmentFile? {
        do throws(Diagnostic) {
            let environment = ProcessInfo.processInfo.environment
            guard
                let (path, file) = try read(
                    Settings.environmentFile, environment, maximumSize: EnvironmentFile.maximumSize)
            else { return nil }
            let (variables, problemsOfLines) = EnvironmentFile.read(file.bytes, name: path)
            problems += problemsOfLines
            return LoadedEnvironmentFile(path: path, file: file, variables: variables)
        } catch {
            problems.append(error)
            return nil
        }
    }

    private func readConfigurationFile(
        _ environment: [String: String], _ problems: inout [Diagnostic], _ problemsOfAccess: inout [Diagnostic],
        _ readableSecrets: inout [Diagnostic]
    ) -> ConfigurationFile {
        do throws(Diagnostic) {
            guard
                let (path, file) = try read(
                    Settings.configurationFile, environment, maximumSize: ConfigurationFile.maximumSize)
            else { return ConfigurationFile() }
            if let problem = Self.writableByOthers(path, file) { problemsOfAccess.append(problem) }
            let (content, problemsOfLines) = ConfigurationFile.read(file.bytes, name: path) {
                path throws(Diagnostic) in try Self.readSecret(path, &readableSecrets)
            }
            problems += problemsOfLines
            return content
        } catch {
            problems.append(error)
            return ConfigurationFile()
        }
    }

    private static func writableByOthers(_ path: String, _ file: RegularFile) -> Diagnostic? {
        file.isWritableByOthers ? writableByOthers(path, file.mode, path: path) : nil
    }

    private static func writableByOthers(_ what: String, _ mode: String, path: String) -> Diagnostic {
        Diagnostic(
            "\(what) can be written by others (mode \(mode)), who could then decide what is signed",
            hint: "chmod go-w \(path)")
    }

    private func readCertificate(
        _ environment: [String: String], _ problems: inout [Diagnostic]
    ) -> (certificate: ServerCertificate?, problem: Diagnostic?)? {
        do throws(Diagnostic) {
            guard let files = try CertificateFiles(self, environment) else { return nil }
            do throws(Diagnostic) { return (try files.certificate(), files.problemOfMode) } catch {
                problems.append(error)
                return (nil, files.problemOfMode)
            }
        } catch {
            problems.append(error)
            return nil
        }
    }

    /// Reads a secret from a file that the configuration names.
    /// - Parameter readable: receives a problem if others can read the file.
    private static func readSecret(_ path: String, _ readable: inout [Diagnostic]) throws(Diagnostic) -> Secret {
        let maximumSize = 4096
        let file: RegularFile
        do { file = try RegularFile(path: path, maximumSize: maximumSize) } catch {
            throw Diagnostic(
                "the file \(path) \(error.reason(maximumSize: maximumSize))",
                hint: "put the file there, or name another file")
        }
        if !file.isPrivate {
            readable.append(
                Diagnostic(
                    "\(path) contains a secret and can be read by others (mode \(file.mode))", hint: "chmod 600 \(path)"
                ))
        }
        let text = String(decoding: file.bytes, as: UTF8.self).filter { !$0.isWhitespace }
        guard !text.isEmpty else { throw Diagnostic("the file \(path) is empty", hint: "put the secret into the file") }
        return Secret(text)
    }

    /// - Returns: nil if there is no key for App Store Connect, or after a problem.
    private func readConnectKey(
        _ environment: [String: String], _ problems: inout [Diagnostic]
    ) -> AppStoreConnectKeyFile? {
        do throws(Diagnostic) {
            let path = try Configuration.path(Settings.appStoreConnectKeyFile, flags: flags, environment: environment)
            let text = environment[Settings.appStoreConnectKey.variable].flatMap { $0.isEmpty ? nil : Secret($0) }
            guard path != nil || text != nil else { return nil }
            let allows = flags[Settings.allowReadableKeys] ?? environment[Settings.allowReadableKeys.variable]
            var ignored: [Diagnostic] = []
            let allowsReadable = allows.flatMap { Parse.switch($0, Settings.allowReadableKeys.name, &ignored) } ?? false
            return try AppStoreConnectKeyFile(path: path, text: text, allowsReadableByOthers: allowsReadable)
        } catch {
            problems.append(error)
            return nil
        }
    }

    /// - Returns: nil if the setting is unset. After a problem, the result has no roots, so that Apple's are not
    ///   trusted by mistake.
    private func readRoots(
        _ setting: Setting<String?>, _ environment: [String: String], _ problems: inout [Diagnostic]
    ) -> TrustedRoots? {
        do throws(Diagnostic) {
            guard let path = try Configuration.path(setting, flags: flags, environment: environment) else { return nil }
            return try AppStoreRootFiles(path: path, option: setting.name).read()
        } catch {
            problems.append(error)
            return TrustedRoots([])
        }
    }

    /// Reads the file that a setting names. Returns nil if the setting is unset.
    /// - Parameter maximumSize: the maximum file size, in bytes.
    package func read(
        _ setting: Setting<String?>, _ environment: [String: String], maximumSize: Int
    ) throws(Diagnostic) -> (path: String, file: RegularFile)? {
        guard let path = try Configuration.path(setting, flags: flags, environment: environment) else { return nil }
        do { return (path, try RegularFile(path: path, maximumSize: maximumSize)) } catch {
            throw Diagnostic(
                "the file \(path), which \(setting.name) names, \(error.reason(maximumSize: maximumSize))",
                hint: "put the file there, or name another file")
        }
    }
}

/// A loaded environment file, and any problems with its contents or permissions.
private struct LoadedEnvironmentFile {
    let path: String
    let file: RegularFile
    let variables: [String: String]

    /// The problems that do not depend on the permissions of the file.
    var problems: [Diagnostic] {
        guard variables[Settings.environmentFile.variable] != nil else { return [] }
        return [
            Diagnostic(
                "\(path) sets \(Settings.environmentFile.variable), but an environment file cannot name another",
                hint: "remove that line")
        ]
    }

    /// A problem for each secret that others can read.
    var problemsOfMode: [Diagnostic] {
        guard !file.isPrivate else { return [] }
        var problems: [Diagnostic] = []
        if holds(Settings.privateKey) {
            problems.append(KeyFileError.readableByOthers(path: path, mode: file.mode).problem)
        }
        let secrets = [
            (
                Settings.usernameSalt,
                "chmod 600 \(path), and change the salt unless users have already made purchases with it"
            ),
            (Settings.auditKey, "chmod 600 \(path): this key can identify the customers in the audit trail"),
            (Settings.appStoreConnectKey, "chmod 600 \(path), and revoke the key in App Store Connect"),
            (Settings.linksKey, "chmod 600 \(path), and change the key, which ends all personal links"),
            (Settings.consoleClientSecret, "chmod 600 \(path), and make a new secret at the identity provider"),
        ]
        if variables[Settings.database.variable].flatMap(StoreLocation.init)?.containsPassword == true {
            problems.append(
                Diagnostic(
                    "\(path) contains the password of the database and can be read by others (mode \(file.mode))",
                    hint: "chmod 600 \(path), and change the password"))
        }
        for (secret, hint) in secrets where holds(secret) {
            problems.append(
                Diagnostic(
                    "\(path) contains \(secret.variable) and can be read by others (mode \(file.mode))", hint: hint))
        }
        return problems
    }

    private func holds(_ setting: some SettingDeclaration) -> Bool { variables[setting.variable]?.isEmpty == false }
}
