import FoundationEssentials
import OfferCore
import OfferFiles
import OfferHTTP
import OfferKeys

/// The TLS files named by flags or variables.
struct CertificateFiles {
    private let chain: (path: String, file: RegularFile)
    private let key: (path: String, file: RegularFile)

    /// The maximum file size, in bytes; far larger than any chain.
    private static let maximumSize = 256 * 1024

    /// - Returns: nil if no TLS files are named.
    init?(_ reader: ConfigurationReader, _ environment: [String: String]) throws(Diagnostic) {
        let chain = try reader.read(Settings.tlsCertificate, environment, maximumSize: Self.maximumSize)
        let key = try reader.read(Settings.tlsKey, environment, maximumSize: Self.maximumSize)
        switch (chain, key) {
        case (nil, nil): return nil
        case (let chain?, let key?): (self.chain, self.key) = (chain, key)
        default:
            throw Diagnostic(
                "only one of \(Settings.tlsCertificate.variable) and \(Settings.tlsKey.variable) is set",
                hint: "TLS needs both: the certificate chain and the private key, in PEM")
        }
    }

    func certificate() throws(Diagnostic) -> ServerCertificate {
        let certificate = try ServerCertificate(
            chain: chain.file.bytes, key: key.file.bytes, paths: (chain: chain.path, key: key.path))
        if !certificate.isGood(at: .now), let problem = certificate.problem(at: .now) { throw problem }
        return certificate
    }

    /// A problem if others can read the key. The chain file may also contain the key.
    var problemOfMode: Diagnostic? {
        let withKey = Self.containsKey(chain.file.bytes) ? [key, chain] : [key]
        return withKey.first { !$0.file.isPrivate }
            .map { KeyFileError.readableByOthers(path: $0.path, mode: $0.file.mode).problem }
    }

    private static func containsKey(_ pem: [UInt8]) -> Bool {
        String(decoding: pem, as: UTF8.self).contains("PRIVATE KEY-----")
    }
}
