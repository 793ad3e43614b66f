import ArgumentParser
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import OfferTelemetry

// Flags take their names and their help from the declarations in `Settings`.

extension Option where Value == String? {
    /// The flag of a setting, as text.
    init<Setting: SettingDeclaration>(_ setting: Setting) {
        self.init(name: .customLong(setting.flag ?? setting.variable), help: ArgumentHelp(stringLiteral: setting.help))
    }

    /// The flag of a setting whose value is checked while the command line is parsed. A usage error repeats the value,
    /// so use this only for settings that cannot hold a secret by mistake.
    init<Parsed>(checked setting: Setting<Parsed>) {
        self.init(
            name: .customLong(setting.flag ?? setting.variable), help: ArgumentHelp(stringLiteral: setting.help),
            transform: { text in
                if let problem = setting.problem(with: text) { throw ValidationError(problem.error) }
                return text
            })
    }
}

extension Option where Value == Int? {
    /// The flag of a numeric setting. Its range is checked with the rest of the configuration.
    init<Parsed>(number setting: Setting<Parsed>) {
        self.init(
            name: .customLong(setting.flag ?? setting.variable), help: ArgumentHelp(stringLiteral: setting.help))
    }
}

extension Flag where Value == Bool {
    /// The flag of a switch.
    init(_ setting: Setting<Bool>) {
        self.init(
            wrappedValue: false, name: .customLong(setting.flag ?? setting.variable),
            help: ArgumentHelp(stringLiteral: setting.help))
    }
}

/// The locations of key files and settings: options shared by all commands that use keys.
struct KeyFolderOptions: ParsableArguments {
    @Option(Settings.keysDirectory) var keysDir: String?
    @Flag(Settings.allowReadableKeys) var allowReadableKeys: Bool
    @Option(Settings.environmentFile) var envFile: String?
    @Option(Settings.configurationFile) var config: String?

    func reader(_ flags: Configuration.Flags) -> ConfigurationReader { ConfigurationReader(flags: flags) }

    var flags: Configuration.Flags {
        var flags = Configuration.Flags()
        flags[Settings.keysDirectory] = keysDir
        flags[Settings.allowReadableKeys] = allowReadableKeys ? "true" : nil
        flags[Settings.environmentFile] = envFile
        flags[Settings.configurationFile] = config
        return flags
    }

    /// The flags for commands that do not sign and therefore need no key.
    var verifyingFlags: Configuration.Flags {
        var flags = flags
        flags.mayChooseNoKey = true
        return flags
    }

    func readConfiguration() throws -> Configuration { try reader(verifyingFlags).read() }
}

/// The choice of the signing key: options shared by all commands that sign.
struct KeyOptions: ParsableArguments {
    @Option(Settings.keyID) var keyID: String?
    @Option(Settings.issuerID) var issuerID: String?

    @OptionGroup var folder: KeyFolderOptions

    @Flag(help: "Sign with a development key, created once in the key folder. The App Store refuses its signatures.")
    var development = false

    var flags: Configuration.Flags {
        var flags = folder.flags
        flags[Settings.keyID] = keyID
        flags[Settings.issuerID] = issuerID
        flags.development = development
        return flags
    }

    var reader: ConfigurationReader { folder.reader(flags) }
}

/// The flags of `serve`; `doctor` and `health` take the same ones.
struct ServeOptions: ParsableArguments {
    @OptionGroup var key: KeyOptions

    @Option(Settings.host) var host: String?
    @Option(number: Settings.port) var port: Int?
    @Option(Settings.metricsAddress) var metricsAddress: String?
    @Flag(Settings.reusePort) var reusePort: Bool
    @Option(Settings.tlsCertificate) var tlsCertificate: String?
    @Option(Settings.tlsKey) var tlsKey: String?
    @Flag(Settings.behindProxy) var behindProxy: Bool
    @Option(Settings.trustedProxies) var trustedProxies: String?
    @Option(Settings.webOrigins) var webOrigins: String?
    @Flag(Settings.allowAnyone) var allowAnyone: Bool
    @Option(Settings.database) var database: String?
    @Option(Settings.notificationsAddress) var notificationsAddress: String?
    @Option(Settings.linksAddress) var linksAddress: String?
    @Option(Settings.consoleAddress) var consoleAddress: String?
    @Option(Settings.consoleURL) var consoleURL: String?
    @Option(Settings.auditLog) var auditLog: String?
    @Option(checked: Settings.logLevel) var logLevel: String?
    @Option(checked: Settings.logFormat) var logFormat: String?

    var reader: ConfigurationReader {
        var flags = key.flags
        flags[Settings.host] = host
        flags[Settings.port] = port.map(String.init)
        flags[Settings.metricsAddress] = metricsAddress
        flags[Settings.reusePort] = reusePort ? "true" : nil
        flags[Settings.tlsCertificate] = tlsCertificate
        flags[Settings.tlsKey] = tlsKey
        flags[Settings.behindProxy] = behindProxy ? "true" : nil
        flags[Settings.trustedProxies] = trustedProxies
        flags[Settings.webOrigins] = webOrigins
        flags[Settings.allowAnyone] = allowAnyone ? "true" : nil
        flags[Settings.database] = database
        flags[Settings.notificationsAddress] = notificationsAddress
        flags[Settings.linksAddress] = linksAddress
        flags[Settings.consoleAddress] = consoleAddress
        flags[Settings.consoleURL] = consoleURL
        flags[Settings.auditLog] = auditLog
        flags[Settings.logLevel] = logLevel
        flags[Settings.logFormat] = logFormat
        return key.folder.reader(flags)
    }
}
