import Foundation
import OfferCrypto
import TestSupport

/// The certificates of all providers of the tests.
struct SignInTLS {
    let certificates: TLSCertificates
    let roots: [X509Certificate]
    private let folder: TemporaryFolder

    static let shared = Result {
        let folder = try TemporaryFolder()
        let certificates = try TLSCertificates(folder: folder.path)
        let roots = try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: certificates.rootPath))))
        return SignInTLS(certificates: certificates, roots: roots, folder: folder)
    }
}
