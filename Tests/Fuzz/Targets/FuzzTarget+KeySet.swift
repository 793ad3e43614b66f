import Dispatch
import NIOConcurrencyHelpers
import OfferCore
import OfferIdentity

extension FuzzTarget {
    /// The public keys of an identity provider (JWKS).
    static let keySet = FuzzTarget("key-set") { input throws(BrokenPromise) in
        guard let set = wait({ (try? await reader.keys(in: input, from: .file(path: "keys")))?.set }) else { return }
        try promise("an accepted set has a key", !set.keys.isEmpty)
        for key in set.keys {
            for size in [0, 64, 96, 132, 256] {
                try promise(
                    "no key accepts zeros as a signature",
                    !key.verifies([UInt8](repeating: 0, count: size), Array("message".utf8)))
            }
        }
        // Other readers may disagree about text that our strict reader refuses.
        guard case .object(let members)? = try? JSONReader.read(input, maximumCount: 100_000) else { return }
        guard case .array(let items) = members["keys"] else {
            throw BrokenPromise(promise: "an accepted set has a list of keys")
        }
        for item in items {
            guard case .object(let key) = item else { throw BrokenPromise(promise: "a key is an object") }
            try promise("none of its keys is symmetric", key["kty"] != .string(Array("oct".utf8)))
            for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] {
                try promise("none of its keys is private", key[name] == nil)
            }
        }
        try promise("a key supports at most six algorithms", set.keys.count <= items.count * 6)
    }

    private static let reader = KeySetReader { _, _ in KeySetText([]) }

    /// Runs asynchronous code that never actually suspends on a separate thread, while the fuzzer's thread blocks.
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
