package import AppStoreData
import FoundationEssentials
package import OfferCore
import OfferCrypto
import OfferEligibility
import OfferFiles

/// The certificates that an operator trusts for App Store data instead of Apple's: a file in PEM or DER, or a folder of
/// such files.
package struct AppStoreRootFiles {
    package let path: String
    /// The setting or flag that names the path, for error messages.
    package let option: String

    package init(path: String, option: String) {
        self.path = path
        self.option = option
    }

    /// The maximum file size, in bytes; far larger than any certificate.
    private static let maximumSize = 256 * 1024
    /// The maximum number of certificates. Every unknown chain is checked against each of them.
    private static let maximumCount = 32

    package func read() throws(Diagnostic) -> TrustedRoots {
        var certificates: [X509Certificate] = []
        for file in try files() { certificates += try readFile(file) }
        guard certificates.count <= Self.maximumCount else {
            throw problem("\(path) contains more than \(Self.maximumCount) certificates", hint: "keep only the roots")
        }
        return TrustedRoots(certificates)
    }

    /// Returns the path itself or, if it is a folder, the paths of its files, except hidden ones.
    private func files() throws(Diagnostic) -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else { return [path] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") } } catch {
            throw problem("the folder \(path) cannot be read", hint: "check its permissions")
        }
        guard !names.isEmpty else { throw problem("the folder \(path) has no files") }
        if let mode = FolderAccess.modeIfWritableByOthers(path) {
            throw problem(
                "the folder \(path) can be written by others (mode \(mode)), who could then forge purchases",
                hint: "chmod go-w \(path)")
        }
        return names.sorted().map { "\(path)/\($0)" }
    }

    private func readFile(_ path: String) throws(Diagnostic) -> [X509Certificate] {
        let file: RegularFile
        do { file = try RegularFile(path: path, maximumSize: Self.maximumSize) } catch {
            throw problem("the file \(path) \(error.reason(maximumSize: Self.maximumSize))")
        }
        guard !file.isWritableByOthers else {
            throw problem(
                "\(path) can be written by others (mode \(file.mode)), who could then forge purchases",
                hint: "chmod go-w \(path)")
        }
        let certificates: [X509Certificate]
        do { certificates = try X509Certificate.readAll(file.bytes) } catch {
            throw problem("\(path) contains something that is not a certificate")
        }
        guard !certificates.isEmpty else { throw problem("\(path) contains no certificate") }
        return certificates
    }

    private func problem(
        _ sentence: String,
        hint: String =
            "put certificates in PEM or DER there, such as the one that Xcode exports for StoreKit testing, or unset it to trust Apple's"
    ) -> Diagnostic {
        Diagnostic("\(option): \(sentence)", hint: hint)
    }
}
