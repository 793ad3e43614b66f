/// Why a key file could not be read or made. It holds paths, never contents.
package enum KeyFileError: Error, Hashable {
    case notFound(path: String)
    case unreadable(path: String, reason: String)
    case tooLarge(path: String)
    case exists(path: String)
    case unwritable(path: String, reason: String)
}

extension KeyFileError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let path): "there is no key file \(path)"
        case .unreadable(let path, let reason): "the key file \(path) cannot be read (\(reason))"
        case .tooLarge(let path): "\(path) is larger than \(KeyFolder.maximumFileSize) bytes, so it is no key"
        case .exists(let path): "\(path) is there already, and a key file is never replaced"
        case .unwritable(let path, let reason): "\(path) cannot be written (\(reason))"
        }
    }
}
