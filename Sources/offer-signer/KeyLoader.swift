import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// Turns the configured source of a key into a key that has been proven to sign.
enum KeyLoader {
    /// The ID of the key that `--development` makes. No key of App Store Connect has it.
    private static let developmentKeyID = "DEVELOPKEY"

    /// The ring that the configuration describes, every key of it proven to sign.
    /// - Throws: what is wrong with each key, all at once.
    static func load(_ configuration: Configuration) throws -> KeyRing {
        let folder = KeyFolder(path: configuration.keysDirectory)
        switch configuration.keySource {
        case .chosen(let choice, let text):
            return try load(choice, text: text, folder: folder)
        case .development:
            let id = try KeyID(utf8: Array(developmentKeyID.utf8))
            let key = try developmentKey(id, in: folder)
            StandardStreams.printError(developmentWarning)
            return KeyRing(active: KeyRing.Key(id: id, pair: key))
        }
    }

    private static func load(_ choice: KeyChoice, text: Secret?, folder: KeyFolder) throws -> KeyRing {
        var keys: [KeyRing.Key] = []
        var errors: [CommandError] = []
        for id in choice.keyIDs {
            do throws(CommandError) {
                let key =
                    if let text, id == choice.ofAllApps {
                        try signingKey(id, text: Array(text.reveal.utf8), from: Variable.privateKey.rawValue)
                    } else {
                        try signingKey(id, in: folder)
                    }
                keys.append(KeyRing.Key(id: id, pair: key))
            } catch {
                errors.append(error)
            }
        }
        guard errors.isEmpty else { throw CommandError(errors) }
        return try KeyRing(keys: keys, choice: choice)
    }

    private static let developmentWarning = """
        ************************************************************************
        DEVELOPMENT KEY: the App Store will refuse every signature made with it.
        For real signatures use a key from App Store Connect: see README.md.
        ************************************************************************

        """

    static func signingKey(_ id: KeyID, in folder: KeyFolder) throws(CommandError) -> SigningKey {
        let text: [UInt8]
        do { text = try folder.read(id) } catch { throw CommandError("\(error)", hint: hint(for: error, in: folder)) }
        return try signingKey(id, text: text, from: folder.filePath(of: id))
    }

    /// Makes a new key file.
    static func generate(_ id: KeyID, in folder: KeyFolder) throws {
        let pem = try PrivateKeyPEM.generate()
        do { try folder.create(id, pem: pem) } catch {
            throw CommandError("\(error)", hint: hint(for: error, in: folder))
        }
    }

    private static func signingKey(
        _ id: KeyID, text: [UInt8], from source: String
    ) throws(CommandError) -> SigningKey {
        do { return try SigningKey(text: text) } catch {
            throw CommandError(
                "\(source) cannot sign offers: \(error)",
                hint: "it has to be the text of SubscriptionKey_\(id).p8 as downloaded from App Store Connect")
        }
    }

    private static func developmentKey(_ id: KeyID, in folder: KeyFolder) throws -> SigningKey {
        do {
            try folder.create(id, pem: try PrivateKeyPEM.generate())
        } catch KeyFileError.exists {
            // Made earlier, or by another process just now.
        } catch {
            throw CommandError("\(error)", hint: "the folder has to be there and to be writable")
        }
        return try signingKey(id, in: folder)
    }

    private static func hint(for error: KeyFileError, in folder: KeyFolder) -> String? {
        switch error {
        case .notFound:
            let others = folder.keyIDs().map(\.description)
            return others.isEmpty
                ? "put the file from App Store Connect into the folder \(folder.path)"
                : "the folder has keys with these IDs: \(others.joined(separator: ", "))"
        case .unwritable: return "the folder has to be there and to be writable"
        case .exists: return "choose another --key-id"
        case .unreadable, .tooLarge: return nil
        }
    }
}
