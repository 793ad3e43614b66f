import FoundationEssentials
import OfferCore
import OfferServer
import OfferStorage

/// The files for TLS that flags or variables name.
struct CertificateFiles {
    private let chain: (path: String, file: OrdinaryFile)
    private let key: (path: String, file: OrdinaryFile)

    /// Far more than any chain has, in bytes.
    private static let maximumSize = 256 * 1024

    /// - Returns: nil if none are named.
    init?(flags: Configuration.Flags, environment: [String: String]) throws(SetupProblem) {
        let chain = try ConfigurationReader.file(
            flags.tlsCertificate, "--tls-certificate", .tlsCertificate, in: environment, maximumSize: Self.maximumSize)
        let key = try ConfigurationReader.file(
            flags.tlsKey, "--tls-key", .tlsKey, in: environment, maximumSize: Self.maximumSize)
        switch (chain, key) {
        case (nil, nil): return nil
        case (let chain?, let key?): (self.chain, self.key) = (chain, key)
        default:
            throw SetupProblem(
                "of \(Variable.tlsCertificate.rawValue) and \(Variable.tlsKey.rawValue) only one is set",
                hint: "TLS needs both: the chain of certificates and the private key, in PEM")
        }
    }

    func read() throws(SetupProblem) -> ServerCertificate {
        let certificate = try ServerCertificate(
            chain: chain.file.bytes, key: key.file.bytes, paths: (chain: chain.path, key: key.path))
        if !certificate.isGood(at: .now), let problem = certificate.problem(at: .now) { throw problem }
        return certificate
    }

    /// That others can read the key, if they can. It may stand beside the certificates as well.
    var problem: SetupProblem? {
        let withKey = Self.holdsKey(chain.file.bytes) ? [key, chain] : [key]
        return withKey.first { !$0.file.isPrivate }
            .map { KeyFileError.readableByOthers(path: $0.path, mode: $0.file.mode).problem }
    }

    private static func holdsKey(_ pem: [UInt8]) -> Bool {
        String(decoding: pem, as: UTF8.self).contains("PRIVATE KEY-----")
    }
}
