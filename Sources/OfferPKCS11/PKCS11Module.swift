import CPKCS11
import NIOConcurrencyHelpers

/// A loaded module. It is loaded once in a process, and never unloaded or finalized at exit: some modules crash then.
@safe package final class PKCS11Module: Sendable {
    private struct Use {
        var calls = 0
        var isInitialized = false
        var isResetting = false
        /// The number of times that the module was initialized. Handles of sessions are valid within one of them only.
        var epoch = 0
    }

    // The module is never freed, and PKCS#11 modules allow calls from several threads (CKF_OS_LOCKING_OK).
    private nonisolated(unsafe) let module: OpaquePointer
    private let use = NIOLockedValueBox(Use())
    private static let loaded = NIOLockedValueBox<[String: PKCS11Module]>([:])

    private init(path: String) throws(PKCS11Error) {
        var reason: UnsafePointer<CChar>?
        guard let module = unsafe offer_pkcs11_load(path, &reason) else {
            throw .notLoaded(unsafe reason.map { unsafe String(cString: $0) } ?? "")
        }
        unsafe self.module = unsafe module
    }

    /// Loads and initializes the module at `path`, or returns it if it is loaded.
    package static func load(_ path: String) throws(PKCS11Error) -> PKCS11Module {
        let result = loaded.withLockedValue { loaded -> Result<PKCS11Module, PKCS11Error> in
            if let known = loaded[path] { return .success(known) }
            return Result { () throws(PKCS11Error) in
                let module = try PKCS11Module(path: path)
                loaded[path] = module
                return module
            }
        }
        let module = try result.get()
        if !module.use.withLockedValue({ $0.isInitialized }) { try module.reset() }
        return module
    }

    /// Ends every session of this process and initializes the module again, which reconnects it to its device or server.
    /// - Throws: `.busy` while any thread is in the module.
    package func reset() throws(PKCS11Error) {
        let wasInitialized: Bool? = use.withLockedValue { use in
            guard use.calls == 0, !use.isResetting else { return nil }
            use.isResetting = true
            use.epoch += 1
            return use.isInitialized
        }
        guard let wasInitialized else { throw .busy }
        if wasInitialized { _ = unsafe offer_pkcs11_finalize(module) }
        let code = unsafe offer_pkcs11_initialize(module)
        let isInitialized = code == 0 || code == UInt(offer_pkcs11_already_initialized)
        use.withLockedValue { use in
            use.isResetting = false
            use.isInitialized = isInitialized
        }
        guard isInitialized else { throw .failed("C_Initialize", code: code) }
    }

    /// The tokens in the module's slots.
    package func tokens() throws(PKCS11Error) -> [PKCS11Token] {
        var slots = [UInt](repeating: 0, count: Self.maximumSlots)
        var count = UInt(Self.maximumSlots)
        try unsafe call("C_GetSlotList") { unsafe offer_pkcs11_slots($0, &slots, &count) }
        var tokens: [PKCS11Token] = []
        for slot in slots.prefix(Int(min(count, UInt(Self.maximumSlots)))) {
            var token = offer_pkcs11_token()
            try unsafe call("C_GetTokenInfo") { unsafe offer_pkcs11_read_token($0, slot, &token) }
            tokens.append(PKCS11Token(slot: slot, token))
        }
        return tokens
    }

    private static let maximumSlots = 64

    var epoch: Int { use.withLockedValue { $0.epoch } }

    /// Calls a function of the module.
    /// - Parameter epoch: the epoch of the call's session; nil without one.
    /// - Returns: the value of the function, if `accepts` returns true for it; 0 is always accepted.
    @discardableResult
    func call(
        _ name: String, in epoch: Int? = nil, accepting accepts: (UInt) -> Bool = { _ in false },
        _ function: (OpaquePointer) -> UInt
    ) throws(PKCS11Error) -> UInt {
        let refusal = use.withLockedValue { use -> PKCS11Error? in
            guard epoch == nil || epoch == use.epoch else { return .stale }
            guard !use.isResetting else { return .busy }
            use.calls += 1
            return nil
        }
        if let refusal { throw refusal }
        defer { use.withLockedValue { $0.calls -= 1 } }
        let code = unsafe function(module)
        guard code == 0 || accepts(code) else { throw .failed(name, code: code) }
        return code
    }
}
