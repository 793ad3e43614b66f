package import OfferCore
import OfferFiles

/// The reason that a key file cannot be used, read or created. It contains paths, never contents.
package enum KeyFileError: Error, Hashable {
    case notFound(path: String)
    case danglingLink(path: String)
    case folder(path: String)
    /// The file is a pipe, a socket or a device.
    case notAFile(path: String)
    case unreadable(path: String, reason: String)
    /// - Parameter mode: the permissions in octal, such as `644`.
    case readableByOthers(path: String, mode: String)
    /// - Parameter mode: the permissions in octal, such as `464`.
    case writableByOthers(path: String, mode: String)
    case tooLarge(path: String)
    case empty(path: String)
    /// The name is `SubscriptionKey_….p8`, but the ID is not ten capital letters and digits.
    case noKeyID(path: String)
    /// The name is `AuthKey_….p8` or `ApiKey_….p8`.
    case otherKind(path: String)
    /// The folder itself does not exist.
    case noFolder(path: String)
    /// The folder itself cannot be listed.
    case unlistable(path: String)
    case exists(path: String)
    case unwritable(path: String, reason: String)
}

extension KeyFileError {
    init(_ fault: RegularFile.Fault, path: String) {
        self =
            switch fault {
            case .notFound: .notFound(path: path)
            case .danglingLink: .danglingLink(path: path)
            case .folder: .folder(path: path)
            case .notAFile: .notAFile(path: path)
            case .tooLarge: .tooLarge(path: path)
            case .unreadable(let reason): .unreadable(path: path, reason: reason)
            }
    }

    /// True if reading the unchanged file may succeed later, for example after a disk or network failure, or once fewer
    /// files are open.
    var isTransient: Bool { if case .unreadable = self { true } else { false } }

    package var problem: Diagnostic {
        switch self {
        case .notFound(let path):
            Diagnostic("there is no key file \(path)", hint: Self.download)
        case .danglingLink(let path):
            Diagnostic("\(path) is a dangling link", hint: "fix the link or remove it")
        case .folder(let path):
            Diagnostic("\(path) is a folder, not a key file", hint: "replace it with the key file")
        case .notAFile(let path):
            Diagnostic("\(path) is not a regular file", hint: "replace it with the key file")
        case .unreadable(let path, let reason):
            Diagnostic(
                "the key file \(path) cannot be read (\(reason))",
                hint: "make it readable by the account that the service runs as")
        case .readableByOthers(let path, let mode):
            Diagnostic(
                "\(path) contains a private key and can be read by others (mode \(mode))",
                hint: "chmod 600 \(path); or, if container secrets cannot have that mode, "
                    + "set SUBSCRIPTION_OFFERS_ALLOW_READABLE_KEYS=true")
        case .writableByOthers(let path, let mode):
            Diagnostic(
                "\(path) can be written by others (mode \(mode)), who could then replace the key",
                hint: "chmod go-w \(path)")
        case .tooLarge(let path):
            Diagnostic(
                "\(path) is larger than \(KeyFolder.maximumFileSize) bytes, too large for a key", hint: Self.download)
        case .empty(let path):
            Diagnostic("\(path) is empty", hint: Self.download)
        case .noKeyID(let path):
            Diagnostic(
                "the name of \(path) has no valid key ID, which is ten capital letters and digits",
                hint: "restore its name as downloaded, such as SubscriptionKey_2X9R4HXF34.p8")
        case .otherKind(let path):
            Diagnostic(
                "\(path) is a key for another purpose: the App Store rejects offers signed with it",
                hint: "remove it, and download a key from Users and Access, Integrations, In-App Purchase")
        case .noFolder(let path):
            Diagnostic(
                "the key folder \(path) does not exist",
                hint: "create it, or set SUBSCRIPTION_OFFERS_KEYS_DIR to another folder")
        case .unlistable(let path):
            Diagnostic(
                "the key folder \(path) cannot be listed",
                hint: "it must be a folder that the service's account can read")
        case .exists(let path):
            Diagnostic("\(path) already exists, and key files are never replaced", hint: "choose another --key-id")
        case .unwritable(let path, let reason):
            Diagnostic(
                "\(path) cannot be written (\(reason))", hint: "the folder must exist and be writable")
        }
    }

    private static let download = "put the file there as downloaded from App Store Connect"
}
