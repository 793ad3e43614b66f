import Foundation

/// An `openssl ocsp` process that answers over HTTP on a free port.
package final class OCSPResponder: Sendable {
    package let port: Int
    private let program: RunningProgram
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - authority: the certificate whose subjects it answers for, and who signs the answers.
    ///   - index: the serial numbers that it knows; see ``OCSPCertificates/index(good:revoked:)``.
    package init(_ certificates: OCSPCertificates, authority: String, index: String) throws {
        folder = try TemporaryFolder()
        try folder.write(index.utf8, to: "index")
        program = try RunningProgram(
            "openssl",
            ["ocsp", "-index", folder.path + "/index", "-port", "0", "-nmin", "60"]
                + ["-CA", certificates.path("\(authority).pem"), "-rsigner", certificates.path("\(authority).pem")]
                + ["-rkey", certificates.path("\(authority).key")])
        // The line looks like this: ACCEPT [::]:39927 PID=20542
        port = try program.port { announced in
            announced.firstRange(of: " PID=").flatMap {
                Int(announced[..<$0.lowerBound].split(separator: ":").last ?? "")
            }
        }
    }

    // The process may have inherited a mask that blocks SIGTERM.
    deinit { if program.process.isRunning { kill(program.process.processIdentifier, SIGKILL) } }
}
