import OfferCore
import OfferIdentity
import OfferStorage

extension KeySetReader {
    /// The real places: real files, and whoever answers at a URL.
    static func system() -> KeySetReader { KeySetReader(readFile: read) }

    @Sendable private static func read(_ path: String, maximumSize: Int) throws(SetupProblem) -> [UInt8] {
        do { return try OrdinaryFile(path: path, maximumSize: maximumSize).bytes } catch {
            throw SetupProblem(
                "the set of users' keys \(path) \(error.reason(maximumSize: maximumSize))",
                hint: "put it there, or name another place as jwks")
        }
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
