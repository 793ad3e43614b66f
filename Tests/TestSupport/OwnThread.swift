import Foundation

/// Runs work that blocks, such as waiting for a process or a socket, on a thread of its own.
///
/// Concurrency has one thread per core. Work that blocks one of them stalls other tests until their time limits pass.
package func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: work)) }
    }
}
