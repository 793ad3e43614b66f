import COpenSSL

/// A failed call of libcrypto, with all the reasons that it queued.
package struct OpenSSLError: Error, Hashable, Sendable {
    /// The C function, such as `EVP_DigestSign`.
    package let call: String
    /// The reasons, oldest first. They never contain key material.
    package let reasons: [String]

    /// Removes the reasons from the thread's error queue. Clear the queue before the call and drain it immediately
    /// afterwards, with no `await` in between.
    static func draining(after call: String) -> OpenSSLError {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            let text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
            reasons.append(text ?? "code \(code)")
        }
        return OpenSSLError(call: call, reasons: reasons)
    }
}

extension OpenSSLError: CustomStringConvertible {
    package var description: String {
        "\(call) failed: \(reasons.isEmpty ? "no reason given" : reasons.joined(separator: ", "))"
    }
}
