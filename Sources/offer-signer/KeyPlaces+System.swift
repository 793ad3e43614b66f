import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

extension KeyPlaces {
    /// The real places: real files, keys that libcrypto holds.
    static func system(_ reader: ConfigurationReader) -> KeyPlaces {
        KeyPlaces(
            readConfiguration: { () throws(ConfigurationError) in try reader.read() },
            openFolder: { configuration in
                KeyShelf(folder: KeyFolder(configuration)) { _, text in try SigningKey(text: text) }
            },
            readText: { id, text throws(SetupProblem) in
                do {
                    return KeyRing.Key(id: id, pair: try SigningKey(text: Array(text.reveal.utf8)))
                } catch {
                    throw .notAKey(Variable.privateKey.rawValue, error: error)
                }
            })
    }
}
