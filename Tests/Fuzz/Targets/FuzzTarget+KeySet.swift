import Dispatch
import NIOConcurrencyHelpers
import OfferCore
import OfferIdentity

extension FuzzTarget {
    /// The parser of an identity provider's public keys (JWKS).
    static let keySet = FuzzTarget("key-set") { input throws(BrokenPromise) in
        guard let set = wait({ (try? await reader.keys(in: input, from: .file(path: "keys")))?.set }) else { return }
        try promise("an accepted key set has at least one key", !set.keys.isEmpty)
        for key in set.keys {
            for size in [0, 64, 96, 132, 256] {
                try promise(
                    "no key accepts an all-zero signature",
                    !key.verifies([UInt8](repeating: 0, count: size), Array("message".utf8)))
            }
        }
        // The parser uses Foundation, which accepts some JSON that our strict reader refuses. Skip that here.
        guard case .object(let members)? = try? JSONReader.read(input, maximumCount: 100_000) else { return }
        guard case .array(let items) = members["keys"] else {
            throw BrokenPromise(promise: "an accepted key set has a list of keys")
        }
        for item in items {
            guard case .object(let key) = item else { throw BrokenPromise(promise: "each key is an object") }
            try promise("an accepted key set has no symmetric keys", key["kty"] != .string(Array("oct".utf8)))
            for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] {
                try promise("an accepted key set has no private keys", key[name] == nil)
            }
        }
        try promise("a key supports at most six algorithms", set.keys.count <= items.count * 6)
    }

    private static let reader = KeySetReader { _, _ in KeySetText([]) }

    /// Blocks the fuzzer's thread while `work`, which never actually suspends, runs on another thread.
    private static func wait(_ work: @escaping @Sendable () async -> UserKeySet?) -> UserKeySet? {
        let (done, result) = (DispatchSemaphore(value: 0), NIOLockedValueBox<UserKeySet?>(nil))
        Task(executorPreference: OwnThread.shared) {
            let set = await work()
            result.withLockedValue { $0 = set }
            done.signal()
        }
        done.wait()
        return result.withLockedValue { $0 }
    }
}

/// Runs tasks on a thread that no test blocks.
private final class OwnThread: TaskExecutor {
    static let shared = OwnThread()
    private let queue = DispatchQueue(label: "key sets")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
