import CPKCS11
import Foundation
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

    // The C module is never freed, and PKCS#11 modules allow calls from several threads (CKF_OS_LOCKING_OK).
    private nonisolated(unsafe) let module: OpaquePointer
    /// Held during each call of a module that may be called by one thread at a time; nil for all others.
    private let turn: NSLock?
    private let use = NIOLockedValueBox(Use())
    private static let loaded = NIOLockedValueBox<[String: PKCS11Module]>([:])

    private init(path: String) throws(PKCS11Error) {
        var reason: UnsafePointer<CChar>?
        guard let module = unsafe offer_pkcs11_load(path, &reason) else {
            throw .notLoaded(unsafe reason.map { unsafe String(cString: $0) } ?? "")
        }
        unsafe self.module = unsafe module
        turn = Self.hangsUnderParallelCalls(path) ? NSLock() : nil
    }

    /// True for the client of `p11-kit server`. It sends all calls over one connection, and a thread that waits there for the
    /// answer to another thread's call is never woken if the server ends in the middle of that answer (p11-kit 0.24 and 0.25,
    /// rpc_socket_read). The server answers the calls of a connection one after another, too.
    private static func hangsUnderParallelCalls(_ path: String) -> Bool {
        URL(filePath: path).resolvingSymlinksInPath().lastPathComponent == "p11-kit-client.so"
    }

    /// Loads and initializes the module at `path`, or returns it if it is loaded, even by another path of the same library.
    package static func load(_ path: String) throws(PKCS11Error) -> PKCS11Module {
        let result = loaded.withLockedValue { loaded -> Result<PKCS11Module, PKCS11Error> in
            if let known = loaded[path] { return .success(known) }
            return Result { () throws(PKCS11Error) in
                let new = try PKCS11Module(path: path)
                let module = loaded.values.first { unsafe $0.module == new.module } ?? new
                loaded[path] = module
                return module
            }
        }
        let module = try result.get()
        let (isInitialized, epoch) = module.use.withLockedValue { ($0.isInitialized, $0.epoch) }
        if !isInitialized { try module.reset(after: epoch) }
        return module
    }

    /// Ends every session of this process and initializes the module again, which reconnects it to its devices or server. New
    /// calls wait until that is done. If the module was initialized after `epoch`, this method only waits for it.
    /// - Throws: `.busy` if a call in another thread does not return within a second.
    package func reset(after epoch: Int) throws(PKCS11Error) {
        let isFirst = use.withLockedValue { use in
            guard use.epoch == epoch, !use.isResetting else { return false }
            use.isResetting = true
            return true
        }
        guard isFirst else { return waitForReset() }
        let end = ContinuousClock.now + .seconds(1)
        while use.withLockedValue({ $0.calls > 0 }) {
            guard .now < end else {
                use.withLockedValue { $0.isResetting = false }
                throw .busy
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        if use.withLockedValue({ $0.isInitialized }) { _ = unsafe offer_pkcs11_finalize(module) }
        let code = unsafe offer_pkcs11_initialize(module)
        let isInitialized = code == 0 || code == UInt(offer_pkcs11_already_initialized)
        use.withLockedValue { use in
            use.epoch += 1
            use.isResetting = false
            use.isInitialized = isInitialized
        }
        guard isInitialized else { throw .failed("C_Initialize", code: code) }
    }

    private func waitForReset() {
        while use.withLockedValue({ $0.isResetting }) { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// The tokens in the module's slots. A slot whose token cannot be read, such as an odd card in another reader, is left out.
    package func tokens() throws(PKCS11Error) -> [PKCS11Token] {
        let epoch = epoch
        var count: UInt = 0
        try unsafe call("C_GetSlotList", in: epoch) { unsafe offer_pkcs11_slots($0, nil, &count) }
        // A few more, because a token may have been added since.
        var slots = [UInt](repeating: 0, count: Int(min(count, 10_000)) + 8)
        count = UInt(slots.count)
        try unsafe call("C_GetSlotList", in: epoch) { unsafe offer_pkcs11_slots($0, &slots, &count) }
        var tokens: [PKCS11Token] = []
        var failure: PKCS11Error?
        for slot in slots.prefix(Int(min(count, UInt(slots.count)))) {
            var token = offer_pkcs11_token()
            do throws(PKCS11Error) {
                try unsafe call("C_GetTokenInfo", in: epoch) { unsafe offer_pkcs11_read_token($0, slot, &token) }
                tokens.append(PKCS11Token(slot: slot, epoch: epoch, token))
            } catch {
                guard error != .stale else { throw error }
                failure = error
            }
        }
        if tokens.isEmpty, let failure { throw failure }
        return tokens
    }

    /// Increases each time that the module is initialized.
    package var epoch: Int { use.withLockedValue { $0.epoch } }

    /// Calls a function of the module. During a reset, waits for its end.
    /// - Parameter epoch: the epoch of the call's session, or in which its slot was listed.
    /// - Returns: the value of the function, if `accepts` returns true for it; 0 is always accepted.
    @discardableResult
    func call(
        _ name: String, in epoch: Int, accepting accepts: (UInt) -> Bool = { _ in false },
        _ function: (OpaquePointer) -> UInt
    ) throws(PKCS11Error) -> UInt {
        while true {
            let mayBegin = use.withLockedValue { use -> Bool? in
                guard epoch == use.epoch else { return nil }
                if !use.isResetting { use.calls += 1 }
                return !use.isResetting
            }
            guard let mayBegin else { throw .stale }
            if mayBegin { break }
            waitForReset()
        }
        defer { use.withLockedValue { $0.calls -= 1 } }
        turn?.lock()
        let code = unsafe function(module)
        turn?.unlock()
        guard code == 0 || accepts(code) else { throw .failed(name, code: code) }
        return code
    }
}
