import ArgumentParser
import OfferCore
import OfferServer
import OfferStorage

/// Where key files and settings are; the same options for every command that has to do with keys.
struct KeyFolderOptions: ParsableArguments {
    @Option(help: "Folder of SubscriptionKey_<KEYID>.p8 (SUBSCRIPTION_OFFERS_KEYS_DIR; default: keys).")
    var keysDir: String?

    @Flag(
        help: """
            Take key files that others than their owner can read, as a container's secrets often are \
            (SUBSCRIPTION_OFFERS_ALLOW_READABLE_KEYS).
            """)
    var allowReadableKeys = false

    @Option(help: "File of NAME=value lines that win over the environment (SUBSCRIPTION_OFFERS_ENV_FILE).")
    var envFile: String?

    @Option(help: "YAML file with apps, their offers, and callers (SUBSCRIPTION_OFFERS_CONFIG).")
    var config: String?

    func reader(_ flags: Configuration.Flags) -> ConfigurationReader {
        ConfigurationReader(flags: flags, environmentFile: envFile, configurationFile: config)
    }

    var flags: Configuration.Flags {
        var flags = Configuration.Flags()
        flags.keysDirectory = keysDir
        flags.allowReadableKeys = allowReadableKeys
        return flags
    }

    /// Those of a command that signs nothing: it may do without a key.
    var verifyingFlags: Configuration.Flags {
        var flags = flags
        flags.mayChooseNoKey = true
        return flags
    }

    func readConfiguration() throws -> Configuration { try reader(verifyingFlags).read() }

    func openFolder() throws -> KeyFolder { KeyFolder(try readConfiguration()) }
}

/// Which key signs; the same options for every command that signs.
struct KeyOptions: ParsableArguments {
    @Option(help: "ID of the key that signs (SUBSCRIPTION_OFFERS_KEY_ID).")
    var keyID: String?

    @Option(help: "Issuer ID of the team, which every JWS names (SUBSCRIPTION_OFFERS_ISSUER_ID).")
    var issuerID: String?

    @OptionGroup var folder: KeyFolderOptions

    @Flag(help: "Sign with a development key, made once in the folder of keys. The App Store refuses what it signs.")
    var development = false

    var flags: Configuration.Flags {
        var flags = folder.flags
        flags.keyID = keyID
        flags.issuerID = issuerID
        flags.development = development
        return flags
    }

    var reader: ConfigurationReader { folder.reader(flags) }
}

extension KeyFolder {
    init(_ configuration: Configuration) {
        self.init(
            path: configuration.keysDirectory, allowsReadableByOthers: configuration.allowsReadableKeys,
            mayBeMissing: !configuration.namesKeysDirectory)
    }
}
