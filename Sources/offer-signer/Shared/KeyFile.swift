import OfferCore
import OfferCrypto
import OfferKeys

/// Reads single key files for the commands that inspect them.
enum KeyFile {
    static func read(_ id: KeyID, in folder: KeyFolder) throws(Diagnostic) -> SigningKey {
        let path = folder.filePath(of: id)
        do { return try SigningKey(text: try folder.read(id)) } catch { throw problem(error, of: path) }
    }

    static func read(_ path: String, allowsReadableByOthers: Bool) throws(Diagnostic) -> SigningKey {
        do {
            return try SigningKey(text: try KeyFolder.read(path, allowsReadableByOthers: allowsReadableByOthers))
        } catch {
            throw problem(error, of: path)
        }
    }

    private static func problem(_ error: any Error, of path: String) -> Diagnostic {
        (error as? KeyFileError)?.problem ?? .notAKey(path, error: error)
    }
}
