import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A writer of log lines with its own thread, so that requests never wait for whatever reads the log.
///
/// If the log is not read and the buffer is full, lines are dropped. Their number is logged once the log is read again.
package final class LogWriter: Sendable {
    private struct Queue {
        var text: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    package let format: LogFormat
    private let write: @Sendable ([UInt8]) -> Void
    private let capacity: Int
    private let queue = NIOLockedValueBox(Queue())
    private let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()

    /// - Parameters:
    ///   - format: the format of the line that reports dropped lines.
    ///   - capacity: the size of the buffer in bytes; important lines may use twice as much.
    ///   - write: writes whole lines and may block. It is called from one thread at a time.
    package init(
        format: LogFormat, capacity: Int = 1024 * 1024, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.format = format
        self.capacity = capacity
        self.write = write
    }

    /// Adds a line to the buffer.
    /// - Parameters:
    ///   - line: the text without a line feed.
    ///   - isImportant: whether the line may use the second half of the buffer.
    package func add(_ line: String, isImportant: Bool = false) {
        let wakesThread = queue.withLockedValue { queue in
            guard queue.text.count + line.utf8.count < (isImportant ? 2 * capacity : capacity) else {
                queue.dropped += 1
                return false
            }
            queue.text += line.utf8
            queue.text.append(UInt8(ascii: "\n"))
            defer { queue.isWriting = true }
            return !queue.isWriting
        }
        if wakesThread { thread.execute { self.drain() } }
    }

    /// Waits up to a second until everything is written. Without a reader, the wait would never end.
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
                if queue.dropped > 0 { text += droppedLine(queue.dropped).utf8 }
                queue.dropped = 0
                queue.isWriting = !text.isEmpty
                return text
            }
            if text.isEmpty { return }
            write(text)
        }
    }

    private func droppedLine(_ count: Int) -> String {
        format.line(.warning, "log lines dropped because the log was not read", ["count": "\(count)"]) + "\n"
    }
}
