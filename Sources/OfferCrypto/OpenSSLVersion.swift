import COpenSSL

/// The version of the libcrypto that is in use, which may be newer than the one that this was built with.
package enum OpenSSLVersion {
    /// Such as `3.0.15`.
    package static var text: String {
        unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
    }
}
