import CPKCS11

/// A session with a token. Only one thread may use it at a time.
package final class PKCS11Session {
    private let module: PKCS11Module
    private let epoch: Int
    private let handle: UInt

    /// - Parameter canWrite: true to create or destroy objects.
    package init(_ module: PKCS11Module, _ token: PKCS11Token, canWrite: Bool = false) throws(PKCS11Error) {
        self.module = module
        epoch = token.epoch
        var handle: UInt = 0
        try unsafe module.call("C_OpenSession", in: epoch) {
            unsafe offer_pkcs11_open($0, token.slot, canWrite, &handle)
        }
        self.handle = handle
    }

    deinit { _ = try? unsafe module.call("C_CloseSession", in: epoch) { unsafe offer_pkcs11_close($0, handle) } }

    // MARK: Login

    package enum LoginResult {
        case loggedIn
        /// The PIN is wrong, expired or has the wrong length.
        case refused
        case locked
        /// Any other `CK_RV`. The token may have counted a wrong PIN.
        case failed(UInt)
    }

    /// True if this process is logged in to the token. A login applies to all its sessions.
    package var isLoggedIn: Bool {
        get throws(PKCS11Error) {
            var isLoggedIn = false
            try unsafe module.call("C_GetSessionInfo", in: epoch) { unsafe offer_pkcs11_state($0, handle, &isLoggedIn) }
            return isLoggedIn
        }
    }

    /// Logs in as the user.
    /// - Throws: `.stale`; the PIN was not tried then.
    package func login(pin: Span<UInt8>) throws(PKCS11Error) -> LoginResult {
        let code = try unsafe pin.withUnsafeBufferPointer { pin throws(PKCS11Error) in
            try unsafe module.call("C_Login", in: epoch, accepting: { _ in true }) {
                unsafe offer_pkcs11_login($0, handle, pin.baseAddress, UInt(pin.count))
            }
        }
        return switch code {
        case UInt(offer_pkcs11_pin_locked): .locked
        case 0, UInt(offer_pkcs11_already_logged_in): .loggedIn
        case 0xA0...0xA3: .refused
        default: .failed(code)
        }
    }

    // MARK: Objects

    package enum ObjectClass: Sendable {
        case publicKey, privateKey

        fileprivate var value: UInt {
            switch self {
            case .publicKey: UInt(offer_pkcs11_public_key)
            case .privateKey: UInt(offer_pkcs11_private_key)
            }
        }
    }

    /// An object of the token, by its handle.
    package struct Object: Hashable, Sendable {
        fileprivate let handle: UInt
    }

    /// Finds up to ten objects.
    package func objects(_ objectClass: ObjectClass, _ key: PKCS11URI.Key) throws(PKCS11Error) -> [Object] {
        var handles = [UInt](repeating: 0, count: 10)
        var count = UInt(handles.count)
        let label = key.label.map { Array($0.utf8) }
        let identifier = key.identifier
        try unsafe module.call("C_FindObjects", in: epoch) { module in
            unsafe Self.withBytes(label) { label, labelCount in
                unsafe Self.withBytes(identifier) { identifier, identifierCount in
                    unsafe offer_pkcs11_find(
                        module, handle, objectClass.value, label, labelCount, identifier, identifierCount, &handles,
                        &count)
                }
            }
        }
        return handles.prefix(Int(count)).map { Object(handle: $0) }
    }

    private static func withBytes<Result>(
        _ bytes: [UInt8]?, _ body: (UnsafePointer<UInt8>?, UInt) -> Result
    ) -> Result {
        guard let bytes else { return body(nil, 0) }
        return unsafe bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress, UInt($0.count)) }
    }

    package enum Attribute: Sendable {
        case keyType, identifier, sensitive, extractable, sign, alwaysAuthenticate, ecParameters, ecPoint

        fileprivate var type: UInt {
            let type =
                switch self {
                case .keyType: offer_pkcs11_key_type
                case .identifier: offer_pkcs11_id
                case .sensitive: offer_pkcs11_sensitive
                case .extractable: offer_pkcs11_extractable
                case .sign: offer_pkcs11_sign_attribute
                case .alwaysAuthenticate: offer_pkcs11_always_authenticate
                case .ecParameters: offer_pkcs11_ec_parameters
                case .ecPoint: offer_pkcs11_ec_point
                }
            return UInt(type)
        }
    }

    /// Reads an attribute of at most 256 bytes.
    /// - Returns: nil if the object does not have it.
    package func attribute(_ attribute: Attribute, of object: Object) throws(PKCS11Error) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 256)
        var count = UInt(value.count)
        // The values for an attribute that is sensitive or unknown.
        let code = try unsafe module.call("C_GetAttributeValue", in: epoch, accepting: { $0 == 0x11 || $0 == 0x12 }) {
            unsafe offer_pkcs11_attribute($0, handle, object.handle, attribute.type, &value, &count)
        }
        return code == 0 ? Array(value.prefix(Int(count))) : nil
    }

    /// True if the object is an elliptic-curve key.
    package func isEllipticCurve(_ object: Object) throws(PKCS11Error) -> Bool {
        let type = try attribute(.keyType, of: object) ?? []
        return type.count == MemoryLayout<UInt>.size && type.first == UInt8(offer_pkcs11_ec)
            && type.dropFirst().allSatisfy { $0 == 0 }
    }

    /// Signs a hash of 32 bytes with `CKM_ECDSA`.
    /// - Returns: r and s, as the module wrote them.
    package func sign(hash: [UInt8], with key: Object) throws(PKCS11Error) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 256)
        var count = UInt(signature.count)
        try unsafe module.call("C_Sign", in: epoch) {
            unsafe offer_pkcs11_sign($0, handle, key.handle, hash, UInt(hash.count), &signature, &count)
        }
        return Array(signature.prefix(Int(count)))
    }

    /// Creates both halves of a P-256 key. The private half can only sign, and cannot be extracted.
    /// - Parameters:
    ///   - number: the private number, 32 bytes.
    ///   - point: the public point, 65 bytes (SEC 1 section 2.3.3).
    /// - Returns: the private and the public key.
    package func create(
        label: String, identifier: [UInt8], number: Span<UInt8>, point: [UInt8]
    ) throws(PKCS11Error) -> (privateKey: Object, publicKey: Object) {
        var (privateKey, publicKey): (UInt, UInt) = (0, 0)
        let label = Array(label.utf8)
        let octets: [UInt8] = [0x04, 0x41] + point
        _ = try unsafe number.withUnsafeBufferPointer { number throws(PKCS11Error) in
            try unsafe module.call("C_CreateObject", in: epoch) { module in
                unsafe Self.withBytes(label) { label, labelCount in
                    unsafe Self.withBytes(identifier) { identifier, identifierCount in
                        unsafe Self.withBytes(octets) { octets, _ in
                            guard let label = unsafe label, let identifier = unsafe identifier,
                                let number = number.baseAddress, let octets = unsafe octets
                            else { return 0x07 }
                            var pair = unsafe offer_pkcs11_key_pair(
                                label: label, label_count: labelCount, identifier: identifier,
                                identifier_count: identifierCount, number: number, point: octets)
                            return unsafe offer_pkcs11_import(module, handle, &pair, &privateKey, &publicKey)
                        }
                    }
                }
            }
        }
        return (Object(handle: privateKey), Object(handle: publicKey))
    }

    package func destroy(_ object: Object) throws(PKCS11Error) {
        try unsafe module.call("C_DestroyObject", in: epoch) { unsafe offer_pkcs11_destroy($0, handle, object.handle) }
    }
}
