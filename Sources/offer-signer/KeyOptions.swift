import ArgumentParser
import FoundationEssentials
import OfferServer
import OfferStorage

/// Which key signs; the same options for every command that signs.
struct KeyOptions: ParsableArguments {
    @Option(help: "ID of the key that signs (SUBSCRIPTION_OFFERS_KEY_ID).")
    var keyID: String?

    @OptionGroup var keys: KeyFolderOptions

    @Flag(help: "Sign with a development key, made once in the folder of keys. The App Store refuses what it signs.")
    var development = false

    var flags: Configuration.Flags {
        var flags = Configuration.Flags()
        flags.keyID = keyID
        flags.keysDirectory = keys.keysDir
        flags.development = development
        return flags
    }

    static func readConfiguration(_ flags: Configuration.Flags) throws -> Configuration {
        do {
            return try Configuration(flags: flags, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandError(error)
        }
    }
}

/// Where key files are.
struct KeyFolderOptions: ParsableArguments {
    @Option(help: "Folder of SubscriptionKey_<KEYID>.p8 (SUBSCRIPTION_OFFERS_KEYS_DIR; default: keys).")
    var keysDir: String?

    var folder: KeyFolder {
        let variable = ProcessInfo.processInfo.environment[Variable.keysDirectory.rawValue] ?? ""
        return KeyFolder(path: keysDir ?? (variable.isEmpty ? "keys" : variable))
    }
}
