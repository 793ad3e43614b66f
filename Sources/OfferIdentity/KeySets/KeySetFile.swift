import OfferCore
import OfferFiles

/// A reader of key set files.
enum KeySetFile {
    @Sendable static func read(_ path: String, maximumSize: Int) throws(Diagnostic) -> KeySetText {
        do throws(RegularFile.Fault) {
            let file = try RegularFile(path: path, maximumSize: maximumSize)
            return KeySetText(file.bytes, problems: file.isWritableByOthers ? [writable(path, mode: file.mode)] : [])
        } catch {
            throw Diagnostic(
                "the key set \(path) \(error.reason(maximumSize: maximumSize))",
                hint: "put the file there, or set jwks to another location")
        }
    }

    private static func writable(_ path: String, mode: String) -> Diagnostic {
        Diagnostic(
            "the key set \(path) can be written by others (mode \(mode)), who could then impersonate any user",
            hint: "chmod go-w \(path), and check that every key in it belongs to the identity provider")
    }
}
