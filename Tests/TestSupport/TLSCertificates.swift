import Foundation

/// A throw-away authority and a certificate of it for this machine, made by the `openssl` program.
package struct TLSCertificates: Sendable {
    package let folder: String

    /// The certificate of the authority in PEM, for a client to trust.
    package var rootPath: String { folder + "/tls-root.pem" }
    package var certificatePath: String { folder + "/tls.pem" }
    package var keyPath: String { folder + "/THROW-AWAY-tls-key.pem" }

    package struct Failure: Error { let message: String }

    /// Makes them in a folder, unless they are there.
    package init(folder: String) throws {
        self.folder = folder
        guard !FileManager.default.fileExists(atPath: certificatePath) else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        let rootKey = folder + "/THROW-AWAY-tls-root-key.pem"
        try Self.openssl(
            ["req", "-x509", "-subj", "/CN=Test TLS root", "-keyout", rootKey, "-out", rootPath] + curve)
        try Self.openssl(
            [
                "req", "-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                "-addext", "basicConstraints=critical,CA:FALSE", "-CA", rootPath, "-CAkey", rootKey, "-keyout", keyPath,
                "-out", certificatePath,
            ] + curve)
    }

    private static func openssl(_ arguments: [String]) throws {
        let result = try Command.run("openssl", arguments)
        guard result.status == 0 else { throw Failure(message: result.standardError) }
    }
}
