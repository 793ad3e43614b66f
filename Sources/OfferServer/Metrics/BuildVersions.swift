import OfferCore

/// What was built with what, and runs with what.
package struct BuildVersions: Sendable {
    let program = OfferSignerVersion.text
    #if compiler(>=6.4)
        let swift = "6.4 or later"
    #elseif compiler(>=6.3)
        let swift = "6.3"
    #else
        let swift = "6.2"
    #endif
    let openSSL: String

    /// - Parameter openSSL: what libcrypto calls its version, such as `3.0.15`.
    package init(openSSL: String) {
        self.openSSL = openSSL
    }
}
