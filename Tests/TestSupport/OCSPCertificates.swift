import Foundation
package import OfferCrypto

/// Certificates made by `openssl` for OCSP tests: a root, an intermediate, a leaf, and many who would answer for them.
///
/// The responders' URLs in the certificates lead nowhere; a test's transport sends each request to the right process.
package final class OCSPCertificates: Sendable {
    package static let shared: Result<OCSPCertificates, any Error> = Result {
        // Nothing releases a static value when the process ends.
        atexit { if let url = try? shared.get().folder.url { try? FileManager.default.removeItem(at: url) } }
        return try OCSPCertificates()
    }

    package static let leafResponder = "http://ocsp.intermediate.test/leaf"
    package static let intermediateResponder = "http://ocsp.root.test/intermediate"

    private let folder: TemporaryFolder

    /// A command of `openssl` that failed.
    package struct Failure: Error {
        package let command: [String]
        package let message: String
    }

    private init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.extensions.utf8, to: "extensions")
        try makeRoot("root", "Test Root")
        try make("intermediate", "Test Intermediate", by: "root", serial: 1)
        try make("leaf", "Test Leaf", by: "intermediate", serial: 2)
        try make("sibling", "Test Sibling", by: "intermediate", serial: 3, extensions: "leaf")
        // The same serial number below another issuer.
        try make("cousin", "Test Leaf", by: "root", serial: 2, extensions: "leaf")
        // Another key under the intermediate's name.
        try makeRoot("impostor", "Test Intermediate")
        try makeRoot("xcode", "Test Xcode", curve: "P-256")
        for name in Self.delegates { try make(name, "Delegate", by: "intermediate", serial: 10) }
        try make("rsa", "RSA Delegate", by: "intermediate", serial: 10, extensions: "delegate", key: ["rsa:2048"])
        try make("sha1", "Delegate", by: "intermediate", serial: 10, extensions: "delegate", digest: "-sha1")
        try make("foreign", "Delegate", by: "root", serial: 10, extensions: "delegate")
        try make("forged", "Delegate", by: "impostor", serial: 10, extensions: "no-identifiers")
        // The intermediate's key under another name.
        try openssl(["pkey", "-in", "intermediate.key", "-out", "alias.key"])
        try openssl([
            "req", "-x509", "-key", "alias.key", "-out", "alias.pem", "-subj", "/CN=Another Name", "-days", "30",
        ])
        try make("misnamed", "Delegate", by: "alias", serial: 10, extensions: "delegate")
        for (name, extensions) in Self.uris {
            try make(name, "Leaf", by: "intermediate", serial: 20, extensions: extensions)
        }
    }

    /// Certificates by the section of ``extensions`` that describes them.
    private static let delegates = [
        "delegate", "no-usage", "other-usage", "any-usage", "not-for-signatures", "unknown-critical",
    ]
    private static let uris = [
        ("no-responder", "no-responder"), ("https", "https"), ("two-responders", "two-responders"),
    ]

    private static let extensions = """
        [intermediate]
        basicConstraints = critical, CA:TRUE, pathlen:0
        keyUsage = critical, keyCertSign, cRLSign
        authorityInfoAccess = OCSP;URI:\(intermediateResponder)
        1.2.840.113635.100.6.2.1 = DER:0500
        [leaf]
        basicConstraints = critical, CA:FALSE
        keyUsage = critical, digitalSignature
        authorityInfoAccess = OCSP;URI:\(leafResponder)
        1.2.840.113635.100.6.11.1 = DER:0500
        [no-responder]
        keyUsage = critical, digitalSignature
        1.2.840.113635.100.6.11.1 = DER:0500
        [https]
        keyUsage = critical, digitalSignature
        authorityInfoAccess = OCSP;URI:https://ocsp.intermediate.test/leaf
        1.2.840.113635.100.6.11.1 = DER:0500
        [two-responders]
        keyUsage = critical, digitalSignature
        authorityInfoAccess = OCSP;URI:ldap://ocsp.intermediate.test/leaf, OCSP;URI:\(leafResponder)
        1.2.840.113635.100.6.11.1 = DER:0500
        [delegate]
        extendedKeyUsage = OCSPSigning
        noCheck = yes
        [no-identifiers]
        extendedKeyUsage = OCSPSigning
        subjectKeyIdentifier = none
        authorityKeyIdentifier = none
        [no-usage]
        basicConstraints = critical, CA:FALSE
        [other-usage]
        extendedKeyUsage = serverAuth
        [any-usage]
        extendedKeyUsage = anyExtendedKeyUsage
        [not-for-signatures]
        extendedKeyUsage = OCSPSigning
        keyUsage = critical, keyAgreement
        [unknown-critical]
        extendedKeyUsage = OCSPSigning
        1.2.3.4.5 = critical, DER:0500
        """

    /// The path of a certificate, `NAME.pem`, or a key, `NAME.key`.
    package func path(_ file: String) -> String { folder.path + "/" + file }

    /// A certificate in DER.
    package func der(_ name: String) throws -> [UInt8] {
        try folder.read(name + ".der")
    }

    package func certificate(_ name: String) throws -> X509Certificate { try X509Certificate(der: der(name)) }

    /// Runs `openssl` in the folder of the certificates.
    @discardableResult
    package func openssl(_ arguments: [String]) throws -> String {
        let outcome = try Command.run("openssl", arguments, directory: folder.url)
        guard outcome.status == 0 else { throw Failure(command: arguments, message: outcome.standardError) }
        return outcome.standardOutput
    }

    /// The database of `openssl ca` in which a responder looks up serial numbers. It knows only the given certificates.
    package func index(good: [Int] = [], revoked: [Int] = []) -> String {
        let number = { (serial: Int) in String(format: "%02X", serial) }
        return good.map { "V\t491231235959Z\t\t\(number($0))\tunknown\t/CN=\($0)\n" }.joined()
            + revoked.map { "R\t491231235959Z\t\(Self.revocationDate)\t\(number($0))\tunknown\t/CN=\($0)\n" }.joined()
    }

    /// 15 January 2025, 10:20:30 UTC.
    private static let revocationDate = "250115102030Z"
    package static let revocationSeconds: Int64 = 1_736_936_430

    private func makeRoot(_ name: String, _ subject: String, curve: String = "P-384") throws {
        try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-nodes", "-keyout",
            "\(name).key",
            "-out", "\(name).pem", "-subj", "/CN=\(subject)", "-days", "3650", "-sha384", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        ])
        try convert(name)
    }

    private func make(
        _ name: String, _ subject: String, by issuer: String, serial: Int, extensions: String? = nil,
        key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], digest: String = "-sha384"
    ) throws {
        try openssl(
            ["req", "-new", "-newkey"] + key + [
                "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(subject)",
            ])
        try openssl([
            "x509", "-req", "-in", "\(name).csr", "-out", "\(name).pem", "-CA", "\(issuer).pem", "-CAkey",
            "\(issuer).key", "-set_serial", "\(serial)", "-days", "30", "-extfile", "extensions", "-extensions",
            extensions ?? name, digest,
        ])
        try convert(name)
    }

    private func convert(_ name: String) throws {
        try openssl(["x509", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der"])
    }
}

extension OCSPCertificates {
    /// Makes a request by `openssl ocsp`.
    /// - Parameter digest: the option that selects the digest of the certificate's identifier.
    package func request(about name: String, issuedBy issuer: String, digest: String = "-sha256") throws -> [UInt8] {
        let file = UUID().uuidString
        try openssl([
            "ocsp", "-issuer", "\(issuer).pem", digest, "-cert", "\(name).pem", "-no_nonce", "-reqout", file,
        ])
        return try folder.read(file)
    }

    /// Makes a response by `openssl ocsp`.
    /// - Parameter options: further options, such as `-rmd`.
    package func response(
        to request: [UInt8], index: String, authority: String = "intermediate", signer: String = "intermediate",
        validity: [String] = ["-nmin", "60"], options: [String] = []
    ) throws -> [UInt8] {
        let name = UUID().uuidString
        try folder.write(index.utf8, to: name + ".index")
        try folder.write(request, to: name + ".request")
        try openssl(
            [
                "ocsp", "-index", name + ".index", "-CA", "\(authority).pem", "-rsigner", "\(signer).pem", "-rkey",
                "\(signer).key", "-reqin", name + ".request", "-respout", name + ".response",
            ] + validity + options)
        return try folder.read(name + ".response")
    }

    /// Signs a message, for responses that `openssl ocsp` does not make.
    package func sign(_ message: [UInt8], with name: String, digest: String) throws -> [UInt8] {
        let file = UUID().uuidString
        try folder.write(message, to: file)
        try openssl(["dgst", "-" + digest, "-sign", "\(name).key", "-out", file + ".signature", file])
        return try folder.read(file + ".signature")
    }
}
