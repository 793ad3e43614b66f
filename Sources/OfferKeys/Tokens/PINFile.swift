import FoundationEssentials
package import OfferCore
package import OfferCrypto
import OfferFiles

/// A file that contains the PIN of a token. A line break at its end is not part of the PIN.
package struct PINFile: Hashable, Sendable {
    package let path: String
    /// True if the file may be readable by users other than its owner, as container secrets often are.
    package let allowsReadableByOthers: Bool
    /// The file that exists after the token refused the PIN, until a login; nil for one beside the PIN file.
    package let refusalFile: String?

    package init(path: String, allowsReadableByOthers: Bool, refusalFile: String? = nil) {
        self.path = path
        self.allowsReadableByOthers = allowsReadableByOthers
        self.refusalFile = refusalFile
    }

    /// The maximum size of the file, in bytes.
    private static let maximumSize = 256

    /// Reads the PIN.
    /// - Throws: a problem if the file is missing, empty, or open to others.
    package func read() throws(Diagnostic) -> SecretBytes {
        let text = try SecretBytes(capacity: Self.maximumSize + 1) { bytes throws(Diagnostic) in
            let (count, file): (Int, RegularFile)
            do throws(RegularFile.Fault) { (count, file) = try RegularFile.read(path, into: &bytes) } catch {
                throw Diagnostic(
                    "the PIN file \(path) \(error.reason(maximumSize: Self.maximumSize))",
                    hint: "put the PIN of the token there, with mode 0600")
            }
            guard allowsReadableByOthers || file.isPrivate || isCredential else {
                throw Diagnostic(
                    "\(path) contains a PIN and can be read by others (mode \(file.mode))",
                    hint: "chmod 600 \(path), or use a systemd credential")
            }
            guard !file.isWritableByOthers else {
                throw Diagnostic("\(path) can be written by others (mode \(file.mode))", hint: "chmod go-w \(path)")
            }
            var end = count
            while end > 0, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return end
        }
        guard text.count > 0 else {
            throw Diagnostic("the PIN file \(path) is empty", hint: "put the PIN of the token there")
        }
        return text
    }

    /// True if systemd made the file for this service. Some versions grant access through an access control list, which
    /// looks like group access in the mode.
    private var isCredential: Bool {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
            return false
        }
        return path.hasPrefix(folder + "/") && !path.contains("/../")
    }
}
