import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Writes the lines of the log from a thread of its own, so that no request waits for whoever reads them.
///
/// Where nobody reads, and nothing more fits, lines are lost, and the log says how many as soon as it can.
package final class LogWriter: Sendable {
    private struct Queue {
        var text: [UInt8] = []
        var lost = 0
        var isWriting = false
    }

    package let format: LogFormat
    private let write: @Sendable ([UInt8]) -> Void
    private let capacity: Int
    private let queue = NIOLockedValueBox(Queue())
    private let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()

    /// - Parameters:
    ///   - format: of the lines, and of what is said of those that are lost.
    ///   - capacity: how many bytes wait at most; for what is important, twice as many.
    ///   - write: writes whole lines, and may wait for as long as it takes. Called from one thread at a time.
    package init(
        format: LogFormat, capacity: Int = 1024 * 1024, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.format = format
        self.capacity = capacity
        self.write = write
    }

    /// - Parameter line: without its end.
    package func add(_ line: String, isImportant: Bool = false) {
        let begins = queue.withLockedValue { queue in
            guard queue.text.count + line.utf8.count < (isImportant ? 2 * capacity : capacity) else {
                queue.lost += 1
                return false
            }
            queue.text += line.utf8
            queue.text.append(UInt8(ascii: "\n"))
            defer { queue.isWriting = true }
            return !queue.isWriting
        }
        if begins { thread.execute { self.drain() } }
    }

    /// Waits until everything is written, or for a second: nobody may be there to read it.
    package func finish() async {
        for _ in 0..<100 {
            guard queue.withLockedValue({ $0.isWriting }) else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func drain() {
        while true {
            let text = queue.withLockedValue { queue in
                var text = queue.text
                queue.text = []
                if queue.lost > 0 { text += lost(queue.lost).utf8 }
                queue.lost = 0
                queue.isWriting = !text.isEmpty
                return text
            }
            if text.isEmpty { return }
            write(text)
        }
    }

    private func lost(_ count: Int) -> String {
        format.line(.warning, "lines are lost, because the log was not read", ["count": "\(count)"]) + "\n"
    }
}
