import OfferCrypto

extension FuzzTarget {
    /// Certificates, in DER or in a file of PEM, and their place in a chain.
    static let certificate = FuzzTarget("certificate") { input throws(BrokenPromise) in
        switch Result(catching: { () throws(CertificateError) in try X509Certificate.readAll(input) }) {
        case .success(let all):
            try promise("a file has at most \(X509Certificate.maximumCount)", all.count <= X509Certificate.maximumCount)
            for certificate in all { try checkReading(of: certificate) }
        case .failure(let error): try promise("no error quotes a certificate", !Marked.isIn("\(error)"))
        }
        guard let certificate = try? X509Certificate(der: input) else { return }
        try promise("the bytes of a certificate are kept", certificate.der == input)
        try checkReading(of: certificate)
        try checkChain(of: certificate, with: AppStoreKeys.jws)
        try checkChain(of: certificate, with: AppStoreKeys.receipts)
    }

    private static func checkReading(of certificate: X509Certificate) throws(BrokenPromise) {
        try promise("a certificate has at most 16 KiB", certificate.der.count <= X509Certificate.maximumSize)
        try promise(
            "a certificate has only one encoding", (try? X509Certificate(der: certificate.der))?.der == certificate.der)
        try promise("nothing may follow a certificate", (try? X509Certificate(der: certificate.der + [0])) == nil)
        try promise("the digest is SHA-256", certificate.digest == (try? SHA256.hash(certificate.der)))
        // The years 0 to 9999, with offsets of up to a day.
        let times = -62_167_305_600...253_402_387_200 as ClosedRange<Int64>
        try promise(
            "both times have a year of four digits",
            times.contains(certificate.notBefore) && times.contains(certificate.notAfter))
        for name in [certificate.subject, certificate.issuer] {
            try promise(
                "a name is short and printable ASCII",
                name.utf8.count <= 512 && name.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
        try promise("a serial number has pairs of digits", certificate.serialNumber.utf8.count < 2 * 16 * 1024)
        for url in certificate.ocspURLs {
            try promise(
                "a responder's URL is part of the certificate", url.unicodeScalars.count < certificate.der.count)
        }
        if let key = try? certificate.verifyingKey {
            try promise("a P-256 key round-trips", (try? VerifyingKey(der: key.der)) != nil)
        }
        _ = certificate.isCA
    }

    /// - Parameter genuine: a leaf, an intermediate and a root.
    private static func checkChain(
        of certificate: X509Certificate, with genuine: [X509Certificate]
    ) throws(BrokenPromise) {
        let (leaf, intermediate, root) = (genuine[0], genuine[1], genuine[2])
        let times = [AppStoreKeys.now, certificate.notBefore, certificate.notAfter]
        for (time, allowsSHA1) in times.flatMap({ [($0, false), ($0, true)] }) {
            let verify = { (leaf: X509Certificate, intermediate: X509Certificate, roots: [X509Certificate]) in
                Result { () throws(ChainError) in
                    try CertificateChain.verify(
                        leaf: leaf, intermediate: intermediate, roots: roots, at: time, allowsSHA1: allowsSHA1)
                }
            }
            let outcomes = [
                (verify(certificate, intermediate, [root]), leaf), (verify(leaf, certificate, [root]), intermediate),
                (verify(certificate, certificate, [root]), leaf),
            ]
            for (outcome, genuine) in outcomes {
                switch outcome {
                case .success:
                    try promise("only a genuine certificate verifies", certificate.der == genuine.der)
                case .failure(let error): try promise("no error quotes a certificate", !Marked.isIn("\(error)"))
                }
            }
            // A root is trusted for itself, so other bytes are another trusted root. Its key and name must be the same.
            if case .success(let found) = verify(leaf, intermediate, [certificate]) {
                try promise(
                    "a root that verifies has the genuine root's name, and may sign",
                    found.subject == root.subject && found.isCA && found.digest == certificate.digest)
            }
        }
    }
}
