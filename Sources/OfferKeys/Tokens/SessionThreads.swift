import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Threads that only call the module, one for each session. They go from one signature to the next without a pause, while the
/// threads that asked for them verify.
final class SessionThreads: Sendable {
    private let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])
    /// Signalled once for each call, and once for each thread at the end.
    private let signal = DispatchSemaphore(value: 0)
    private let count: Int

    init(count: Int) {
        self.count = count
        for number in 0..<count {
            Thread.detachNewThread { [waiting, signal] in
                Thread.current.name = "token-session-\(number)"
                while true {
                    signal.wait()
                    guard let call = waiting.withLockedValue({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                    call()
                }
            }
        }
    }

    deinit { for _ in 0..<count { signal.signal() } }

    /// Runs `call` on one of the threads, and blocks the calling thread until it returns.
    func run<Success: Sendable, Failure: Error>(
        _ call: @escaping @Sendable () -> Result<Success, Failure>
    ) throws(Failure) -> Success {
        let outcome = NIOLockedValueBox<Result<Success, Failure>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        waiting.withLockedValue { waiting in
            waiting.append {
                let result = call()
                outcome.withLockedValue { $0 = result }
                isDone.signal()
            }
        }
        signal.signal()
        while true {
            isDone.wait()
            if let result = outcome.withLockedValue({ $0 }) { return try result.get() }
        }
    }
}
