import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// Turns the configured source of a key into a key that has been proven to sign.
enum KeyLoader {
    /// The ID of the key that `--development` makes. No key of App Store Connect has it.
    private static let developmentKeyID = "DEVELOPKEY"

    /// The key that the configuration says signs.
    static func load(_ configuration: Configuration) throws -> (id: KeyID, key: SigningKey) {
        let folder = KeyFolder(path: configuration.keysDirectory)
        switch configuration.keySource {
        case .text(let id, let pem):
            return (id, try signingKey(id, pem: Array(pem.reveal.utf8), from: Variable.privateKey.rawValue))
        case .folder(let id):
            return (id, try signingKey(id, in: folder))
        case .development:
            let id = try KeyID(utf8: Array(developmentKeyID.utf8))
            let key = try developmentKey(id, in: folder)
            StandardStreams.printError(developmentWarning)
            return (id, key)
        }
    }

    private static let developmentWarning = """
        ************************************************************************
        DEVELOPMENT KEY: the App Store will refuse every signature made with it.
        For real signatures use a key from App Store Connect: see README.md.
        ************************************************************************

        """

    static func signingKey(_ id: KeyID, in folder: KeyFolder) throws -> SigningKey {
        let pem: [UInt8]
        do { pem = try folder.read(id) } catch { throw CommandError("\(error)", hint: hint(for: error, in: folder)) }
        return try signingKey(id, pem: pem, from: folder.filePath(of: id))
    }

    /// Makes a new key file.
    static func generate(_ id: KeyID, in folder: KeyFolder) throws {
        let pem = try PrivateKeyPEM.generate()
        do { try folder.create(id, pem: pem) } catch {
            throw CommandError("\(error)", hint: hint(for: error, in: folder))
        }
    }

    private static func signingKey(_ id: KeyID, pem: [UInt8], from source: String) throws -> SigningKey {
        do { return try SigningKey(text: pem) } catch {
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
