import COpenSSL

/// The version of libcrypto at run time, which may be newer than the version at build time.
package enum OpenSSLVersion {
    /// The version number, such as `3.0.15`.
    package static var text: String {
        unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
    }
}
