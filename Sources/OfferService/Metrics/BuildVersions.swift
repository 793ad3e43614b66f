import OfferCore
import OfferCrypto

/// The versions of the program, its compiler, and the OpenSSL library that it runs with.
enum BuildVersions {
    static let program = OfferSignerVersion.text
    #if compiler(>=6.4)
        static let swift = "6.4 or later"
    #elseif compiler(>=6.3)
        static let swift = "6.3"
    #else
        static let swift = "6.2"
    #endif
    /// The version that libcrypto reports, such as `3.0.15`.
    static let openSSL = OpenSSLVersion.text
}
