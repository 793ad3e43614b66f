import Foundation
import TestSupport
import Testing

/// A folder with a service's `cert.pem` and `key.pem`.
struct CertificatePair {
    let folder: TemporaryFolder

    init(name: String = "first") throws {
        folder = try TemporaryFolder()
        try renew(name: name)
    }

    func renew(name: String, days: Int = 90) throws {
        let made = try Command.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                keyPath,
                "-out", path, "-days", "\(days)", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1",
            ])
        #expect(made.status == 0, "\(made.standardError)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyPath)
    }

    var path: String { folder.path + "/cert.pem" }
    var keyPath: String { folder.path + "/key.pem" }
    var arguments: [String] { ["--tls-certificate", path, "--tls-key", keyPath] }

    func curl(_ arguments: [String], path: String = "/offer", of service: RunningService) throws -> String {
        try Command.run(
            "curl",
            ["-sS", "--max-time", "30", "--cacert", self.path] + arguments
                + ["https://127.0.0.1:\(service.port)\(path)"]
        ).standardOutput
    }
}
