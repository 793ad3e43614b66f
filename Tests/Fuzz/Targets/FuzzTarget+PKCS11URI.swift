import OfferPKCS11

extension FuzzTarget {
    /// The reader of PKCS#11 URIs.
    static let pkcs11URI = FuzzTarget("pkcs11-uri") { input throws(BrokenPromise) in
        let text = String(decoding: input, as: UTF8.self)
        switch Result(catching: { () throws(PKCS11URIError) in try PKCS11URI(text) }) {
        case .success(let uri):
            try promise("a URI contains no PIN", !text.contains("pin-value="))
            try promise("a URI that was written names the same key", (try? PKCS11URI(uri.description)) == uri)
        case .failure(let error):
            try promise("no error message quotes a value", !Marked.isIn("\(error) \(error.hint)"))
        }
    }
}
