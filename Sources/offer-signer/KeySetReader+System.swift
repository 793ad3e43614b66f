import OfferCore
import OfferIdentity
import OfferStorage

extension KeySetReader {
    /// The real places: real files, and whoever answers at a URL.
    static func system() -> KeySetReader { KeySetReader(readFile: read) }

    @Sendable private static func read(_ path: String, maximumSize: Int) throws(SetupProblem) -> KeySetText {
        do throws(OrdinaryFile.Fault) {
            let file = try OrdinaryFile(path: path, maximumSize: maximumSize)
            return KeySetText(file.bytes, problems: file.isWritableByOthers ? [writable(path, mode: file.mode)] : [])
        } catch {
            throw SetupProblem(
                "the set of users' keys \(path) \(error.reason(maximumSize: maximumSize))",
                hint: "put it there, or name another place as jwks")
        }
    }

    private static func writable(_ path: String, mode: String) -> SetupProblem {
        SetupProblem(
            "the set of users' keys \(path) can be written by others (mode \(mode)), who could pass for any user",
            hint: "chmod go-w \(path), and look whether every key in it is the identity provider's")
    }
}

extension OrdinaryFile.Fault {
    /// What follows the name of the file in a sentence.
    func reason(maximumSize: Int) -> String {
        switch self {
        case .notFound: "is not there"
        case .danglingLink: "is a link to nothing"
        case .folder, .notAFile: "is not an ordinary file"
        case .tooLarge: "is larger than \(maximumSize) bytes"
        case .unreadable(let reason): "cannot be read (\(reason))"
        }
    }
}
