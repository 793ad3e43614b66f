package import OfferCore

/// Why a file is no key file, or could not be read or made. It holds paths, never contents.
package enum KeyFileError: Error, Hashable {
    case notFound(path: String)
    case danglingLink(path: String)
    case folder(path: String)
    /// A pipe, a socket or a device.
    case notAFile(path: String)
    case unreadable(path: String, reason: String)
    /// - Parameter mode: its permissions in octal, such as `644`.
    case readableByOthers(path: String, mode: String)
    case tooLarge(path: String)
    case empty(path: String)
    /// `SubscriptionKey_….p8` with something else than ten capitals and digits for an ID.
    case noKeyID(path: String)
    /// `AuthKey_….p8` or `ApiKey_….p8`.
    case otherKind(path: String)
    /// The folder itself is not there.
    case noFolder(path: String)
    /// The folder itself cannot be listed.
    case unlistable(path: String)
    case exists(path: String)
    case unwritable(path: String, reason: String)
}

extension KeyFileError {
    init(_ fault: OrdinaryFile.Fault, path: String) {
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

    /// Whether the same file may be readable at the next try: a disk or a network that fails, or too many open files.
    var mayPass: Bool { if case .unreadable = self { true } else { false } }

    package var problem: SetupProblem {
        switch self {
        case .notFound(let path):
            SetupProblem("there is no key file \(path)", hint: Self.download)
        case .danglingLink(let path):
            SetupProblem("\(path) is a link to nothing", hint: "mend the link, or remove it")
        case .folder(let path):
            SetupProblem("\(path) is a folder, not a key file", hint: "put the key file itself in its place")
        case .notAFile(let path):
            SetupProblem("\(path) is not an ordinary file", hint: "put the key file itself in its place")
        case .unreadable(let path, let reason):
            SetupProblem(
                "the key file \(path) cannot be read (\(reason))", hint: "make it readable for the service's own user")
        case .readableByOthers(let path, let mode):
            SetupProblem(
                "\(path) can be read by others than its owner (mode \(mode)), and who reads it can mint discounts",
                hint:
                    "chmod 600 \(path); where a container's secrets cannot have that mode: SUBSCRIPTION_OFFERS_ALLOW_READABLE_KEYS=true"
            )
        case .tooLarge(let path):
            SetupProblem(
                "\(path) is larger than \(KeyFolder.maximumFileSize) bytes, so it is no key", hint: Self.download)
        case .empty(let path):
            SetupProblem("\(path) is empty", hint: Self.download)
        case .noKeyID(let path):
            SetupProblem(
                "the name of \(path) has no key ID: that is ten capitals and digits",
                hint: "name it as it was downloaded, like SubscriptionKey_2X9R4HXF34.p8")
        case .otherKind(let path):
            SetupProblem(
                "\(path) is a key for something else: the App Store refuses offers that it signs",
                hint: "download a key from Users and Access, Integrations, In-App Purchase, and remove this one")
        case .noFolder(let path):
            SetupProblem(
                "the folder of keys \(path) is not there",
                hint: "make it, or set SUBSCRIPTION_OFFERS_KEYS_DIR to another")
        case .unlistable(let path):
            SetupProblem(
                "the folder of keys \(path) cannot be listed",
                hint: "it has to be a folder that the service's own user may read")
        case .exists(let path):
            SetupProblem("\(path) is there already, and a key file is never replaced", hint: "choose another --key-id")
        case .unwritable(let path, let reason):
            SetupProblem(
                "\(path) cannot be written (\(reason))", hint: "the folder has to be there and to be writable")
        }
    }

    private static let download = "put the file there as App Store Connect handed it out"
}
