import CPKCS11

/// A token in a slot of a module, as the module describes it.
package struct PKCS11Token: Hashable, Sendable {
    package let slot: UInt
    package let label: String
    package let manufacturer: String
    package let model: String
    package let serial: String
    private let flags: UInt
    /// The epoch of the module in which the slot has this number.
    let epoch: Int

    init(slot: UInt, epoch: Int, _ token: offer_pkcs11_token) {
        self.slot = slot
        self.epoch = epoch
        label = Self.text(token.label)
        manufacturer = Self.text(token.manufacturer)
        model = Self.text(token.model)
        serial = Self.text(token.serial)
        flags = token.flags
    }

    /// Returns true if every attribute that is set matches.
    package func matches(_ wanted: PKCS11URI.Token) -> Bool {
        func matches(_ wanted: String?, _ found: String) -> Bool { wanted.map { $0 == found } ?? true }
        return matches(wanted.label, label) && matches(wanted.manufacturer, manufacturer)
            && matches(wanted.model, model) && matches(wanted.serial, serial)
            && (wanted.slot.map { $0 == slot } ?? true)
    }

    /// True if private keys can be used only after a login.
    package var requiresLogin: Bool { has(offer_pkcs11_login_required) }

    /// True if a wrong PIN was entered since the last login, or if only one try is left.
    package var hadWrongPIN: Bool { has(offer_pkcs11_pin_count_low) || isAtFinalTry }

    /// True if one more wrong PIN locks the token.
    package var isAtFinalTry: Bool { has(offer_pkcs11_pin_final_try) }

    /// True if the PIN is locked, and only the security officer can unlock it.
    package var isLocked: Bool { has(offer_pkcs11_pin_is_locked) }

    private func has(_ flag: Int) -> Bool { flags & UInt(flag) != 0 }

    /// Decodes a text that is padded with blanks.
    private static func text<Bytes>(_ bytes: Bytes) -> String {
        unsafe withUnsafeBytes(of: bytes) { bytes in
            let end = unsafe bytes.lastIndex { $0 != UInt8(ascii: " ") && $0 != 0 }.map { $0 + 1 } ?? 0
            return unsafe String(decoding: bytes[..<end], as: UTF8.self)
        }
    }
}
