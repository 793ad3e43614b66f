/// A call of a module that failed.
package enum PKCS11Error: Error, Hashable {
    /// The module cannot be loaded; the text is the loader's.
    case notLoaded(String)
    /// A function returned this `CK_RV`.
    case failed(String, code: UInt)
    /// The session was opened before the module was last initialized.
    case stale
    /// A call does not return, so the module cannot be initialized again.
    case busy
}

extension PKCS11Error {
    /// True if the session, the login or the connection to the device is lost, and a new session may help.
    package var isLostSession: Bool {
        switch self {
        case .stale, .busy: true
        case .notLoaded: false
        case .failed("C_Initialize", _): true
        case .failed(_, let code): Self.lostSession.contains(code)
        }
    }

    /// CKR_DEVICE_ERROR, CKR_DEVICE_REMOVED, CKR_SESSION_CLOSED, CKR_SESSION_HANDLE_INVALID, CKR_TOKEN_NOT_PRESENT,
    /// CKR_TOKEN_NOT_RECOGNIZED, CKR_SLOT_ID_INVALID, CKR_USER_NOT_LOGGED_IN, CKR_CRYPTOKI_NOT_INITIALIZED.
    private static let lostSession: Set<UInt> = [0x30, 0x32, 0xB0, 0xB3, 0xE0, 0xE1, 0x03, 0x101, 0x190]

    /// True if the session is not usable as it is, and another one may be: CKR_KEY_HANDLE_INVALID, CKR_OBJECT_HANDLE_INVALID,
    /// CKR_OPERATION_ACTIVE.
    package var isOfThisSession: Bool {
        switch self {
        case .failed(_, let code): [0x60, 0x82, 0x90].contains(code)
        default: false
        }
    }

    /// True if the token permits no further session: CKR_SESSION_COUNT.
    package var isSessionCount: Bool { if case .failed(_, 0xB1) = self { true } else { false } }
}

extension PKCS11Error: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notLoaded(let reason): "the module cannot be loaded: \(reason)"
        case .failed(let call, let code):
            "\(call) failed with \(Self.names[code] ?? "0x" + String(code, radix: 16, uppercase: true))"
        case .stale: "the session has ended"
        case .busy: "the module does not return from a call"
        }
    }

    /// The names of common values.
    private static let names: [UInt: String] = [
        0x02: "CKR_HOST_MEMORY", 0x03: "CKR_SLOT_ID_INVALID", 0x05: "CKR_GENERAL_ERROR", 0x06: "CKR_FUNCTION_FAILED",
        0x07: "CKR_ARGUMENTS_BAD", 0x10: "CKR_ATTRIBUTE_READ_ONLY", 0x12: "CKR_ATTRIBUTE_TYPE_INVALID",
        0x13: "CKR_ATTRIBUTE_VALUE_INVALID", 0x30: "CKR_DEVICE_ERROR", 0x31: "CKR_DEVICE_MEMORY",
        0x32: "CKR_DEVICE_REMOVED", 0x54: "CKR_FUNCTION_NOT_SUPPORTED", 0x60: "CKR_KEY_HANDLE_INVALID",
        0x63: "CKR_KEY_TYPE_INCONSISTENT", 0x68: "CKR_KEY_FUNCTION_NOT_PERMITTED", 0x70: "CKR_MECHANISM_INVALID",
        0x82: "CKR_OBJECT_HANDLE_INVALID", 0x90: "CKR_OPERATION_ACTIVE", 0x91: "CKR_OPERATION_NOT_INITIALIZED",
        0xA0: "CKR_PIN_INCORRECT", 0xA1: "CKR_PIN_INVALID", 0xA2: "CKR_PIN_LEN_RANGE", 0xA3: "CKR_PIN_EXPIRED",
        0xA4: "CKR_PIN_LOCKED", 0xB0: "CKR_SESSION_CLOSED", 0xB1: "CKR_SESSION_COUNT",
        0xB3: "CKR_SESSION_HANDLE_INVALID", 0xB5: "CKR_SESSION_READ_ONLY", 0xD0: "CKR_TEMPLATE_INCOMPLETE",
        0xD1: "CKR_TEMPLATE_INCONSISTENT", 0xE0: "CKR_TOKEN_NOT_PRESENT", 0xE1: "CKR_TOKEN_NOT_RECOGNIZED",
        0xE2: "CKR_TOKEN_WRITE_PROTECTED", 0x100: "CKR_USER_ALREADY_LOGGED_IN", 0x101: "CKR_USER_NOT_LOGGED_IN",
        0x102: "CKR_USER_PIN_NOT_INITIALIZED", 0x150: "CKR_BUFFER_TOO_SMALL", 0x190: "CKR_CRYPTOKI_NOT_INITIALIZED",
        0x191: "CKR_CRYPTOKI_ALREADY_INITIALIZED",
    ]
}
