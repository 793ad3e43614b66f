import OfferCore
import OfferCrypto
import OfferStorage

/// One key file, as the commands that look at files need it.
enum KeyFile {
    static func read(_ id: KeyID, in folder: KeyFolder) throws(SetupProblem) -> SigningKey {
        let path = folder.filePath(of: id)
        do { return try SigningKey(text: try folder.read(id)) } catch { throw problem(error, of: path) }
    }

    static func read(_ path: String, allowsReadableByOthers: Bool) throws(SetupProblem) -> SigningKey {
        do {
            return try SigningKey(text: try KeyFolder.read(path, allowsReadableByOthers: allowsReadableByOthers))
        } catch {
            throw problem(error, of: path)
        }
    }

    private static func problem(_ error: any Error, of path: String) -> SetupProblem {
        (error as? KeyFileError)?.problem ?? .notAKey(path, error: error)
    }
}
