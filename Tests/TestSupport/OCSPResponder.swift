import Foundation

/// An `openssl ocsp` process that answers over HTTP on a free port.
package final class OCSPResponder: Sendable {
    package struct DidNotStart: Error {
        package let log: String
    }

    package let port: Int
    private let process: Process
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - authority: the certificate whose subjects it answers for, and who signs the answers.
    ///   - index: the serial numbers that it knows; see ``OCSPCertificates/index(good:revoked:)``.
    package init(_ certificates: OCSPCertificates, authority: String, index: String) throws {
        folder = try TemporaryFolder()
        try folder.write(index.utf8, to: "index")
        for name in ["out", "log"] { try folder.write([], to: name) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["openssl", "ocsp", "-index", folder.path + "/index", "-port", "0", "-nmin", "60"]
            + ["-CA", certificates.path("\(authority).pem"), "-rsigner", certificates.path("\(authority).pem")]
            + ["-rkey", certificates.path("\(authority).key")]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.url.appending(path: "out"))
        process.standardError = try FileHandle(forWritingTo: folder.url.appending(path: "log"))
        try process.run()
        self.process = process
        while true {
            // The line looks like this: ACCEPT [::]:39927 PID=20542
            let announced = try folder.text("out")
            if let end = announced.firstRange(of: " PID="),
                let port = Int(announced[..<end.lowerBound].split(separator: ":").last ?? "")
            {
                self.port = port
                return
            }
            guard process.isRunning else {
                throw DidNotStart(log: try folder.text("log"))
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    // The process may have inherited a mask that blocks SIGTERM.
    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
