import AppStoreData
import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferFiles
import OfferService

/// The certificates that an operator trusts for App Store data in place of Apple's: a file in PEM or DER, or a folder of
/// such files.
enum AppStoreRootFiles {
    /// In bytes; far larger than any certificate.
    private static let maximumSize = 256 * 1024
    /// The maximum number of certificates. Each is tried for each chain that is not known yet.
    private static let maximumCount = 32

    static func read(_ path: String) throws(Diagnostic) -> TrustedRoots {
        var certificates: [X509Certificate] = []
        for file in try files(at: path) { certificates += try readFile(file) }
        guard certificates.count <= maximumCount else {
            throw Diagnostic("\(path) contains more than \(maximumCount) certificates", hint: "keep the roots only")
        }
        return TrustedRoots(certificates)
    }

    /// The path itself, or the files of the folder at it, without hidden ones.
    private static func files(at path: String) throws(Diagnostic) -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else { return [path] }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { !$0.hasPrefix(".") }
        guard !names.isEmpty else {
            throw Diagnostic(
                "the folder \(path), which \(Settings.appStoreRoots.name) names, has no files", hint: hint)
        }
        return names.sorted().map { "\(path)/\($0)" }
    }

    private static func readFile(_ path: String) throws(Diagnostic) -> [X509Certificate] {
        let file: RegularFile
        do { file = try RegularFile(path: path, maximumSize: maximumSize) } catch {
            throw Diagnostic(
                "the file \(path), which \(Settings.appStoreRoots.name) names, \(error.reason(maximumSize: maximumSize))",
                hint: hint)
        }
        guard !file.isWritableByOthers else {
            throw Diagnostic(
                "\(path) can be written by others (mode \(file.mode)), who could then forge purchases",
                hint: "chmod go-w \(path)")
        }
        do {
            let certificates = try X509Certificate.readAll(file.bytes)
            guard !certificates.isEmpty else { throw Diagnostic("\(path) contains no certificate", hint: hint) }
            return certificates
        } catch let error as Diagnostic { throw error } catch {
            throw Diagnostic("\(path) contains something that is not a certificate", hint: hint)
        }
    }

    private static let hint =
        "put certificates in PEM or DER there, such as the one that Xcode exports for StoreKit testing, or unset it for Apple's"
}
