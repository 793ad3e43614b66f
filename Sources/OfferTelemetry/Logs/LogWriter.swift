package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A writer of log lines with its own thread, so that requests never wait for the reader of the log.
///
/// If the log is not read and the buffer is full, lines are dropped. Their number is logged once the log is read again.
/// Critical lines have their own buffer, which nothing else can fill, and are written first.
package final class LogWriter: Sendable {
    private struct Queue {
        /// Critical lines.
        var critical: [UInt8] = []
        /// Other lines, in portions. If the log's reader is slow, a critical line waits for one portion at most.
        var portions: [[UInt8]] = []
        /// The total number of bytes in all portions.
        var size = 0
        var dropped = 0
        var isWriting = false

        mutating func add(_ line: String) {
            if portions.isEmpty || portions[portions.count - 1].count >= LogWriter.portionSize { portions.append([]) }
            portions[portions.count - 1].append(line: line)
            size += line.utf8.count + 1
        }

        /// Takes the bytes to write next; empty if there are none.
        mutating func take() -> [UInt8] {
            guard critical.isEmpty else {
                defer { critical = [] }
                return critical
            }
            guard !portions.isEmpty else { return [] }
            let portion = portions.removeFirst()
            size -= portion.count
            return portion
        }
    }

    /// The size in bytes at which a portion is full, which is the capacity of a pipe.
    private static let portionSize = 64 * 1024

    package let format: LogFormat
    private let write: @Sendable ([UInt8]) -> Void
    private let capacity: Int
    private let queue = NIOLockedValueBox(Queue())
    private let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()

    /// - Parameters:
    ///   - format: the format of the line that reports dropped lines.
    ///   - capacity: the size of the buffer in bytes. Warnings and errors may use twice as much, and critical lines
    ///     have another buffer of this size.
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
    ///   - level: the level of the event, which determines how much of the buffer the line may use.
    package func add(_ line: String, _ level: Logger.Level) {
        let isCritical = level >= .critical
        let room = level >= .warning && !isCritical ? 2 * capacity : capacity
        let wakesThread = queue.withLockedValue { queue in
            guard (isCritical ? queue.critical.count : queue.size) + line.utf8.count < room else {
                queue.dropped += 1
                return false
            }
            if isCritical { queue.critical.append(line: line) } else { queue.add(line) }
            defer { queue.isWriting = true }
            return !queue.isWriting
        }
        if wakesThread { thread.execute { self.drain() } }
    }

    /// Waits up to a second for all lines to be written. If no one reads the log, they never are.
    package func finish() async {
        for _ in 0..<100 {
            guard queue.withLockedValue({ $0.isWriting }) else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func drain() {
        while true {
            let text = queue.withLockedValue { queue in
                var text = queue.take()
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

extension [UInt8] {
    fileprivate mutating func append(line: String) {
        append(contentsOf: line.utf8)
        append(UInt8(ascii: "\n"))
    }
}
