import Foundation
import Glibc
import NIOConcurrencyHelpers
import TestSupport

/// Processes that find and deliver events, and can be killed at any time.
final class EventProcesses: Sendable {
    private final class One: Sendable {
        let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ arguments: [String]) throws {
            process.executableURL = URL(filePath: Command.offerSigner).deletingLastPathComponent()
                .appending(path: "event-process")
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        /// A process that was killed gets nothing.
        func send(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

        /// Waits for the next line, or for the end of the process.
        func waitForLine() throws {
            while let next = try output.fileHandleForReading.read(upToCount: 1), let byte = next.first {
                if byte == UInt8(ascii: "\n") { return }
            }
        }

        func kill() {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        deinit { if process.isRunning { kill() } }
    }

    private struct State {
        var running: [One?]
        var kills = 0
        /// The last order of each kind.
        var orders: [String: String] = [:]
    }

    private let arguments: [String]
    private let state: NIOLockedValueBox<State>

    init(count: Int, _ arguments: [String]) throws {
        // A process that was killed does not read.
        signal(SIGPIPE, SIG_IGN)
        self.arguments = arguments
        state = NIOLockedValueBox(State(running: Array(repeating: nil, count: count)))
        try replaceKilled()
    }

    var kills: Int { state.withLockedValue { $0.kills } }

    /// Kills the next process in turn, if it runs.
    func killNext() {
        let killed = state.withLockedValue { state in
            let place = state.kills % state.running.count
            defer { state.running[place] = nil }
            if state.running[place] != nil { state.kills += 1 }
            return state.running[place]
        }
        killed?.kill()
    }

    /// Starts a process for each that was killed.
    func replaceKilled() throws {
        try state.withLockedValue { state in
            for place in state.running.indices where state.running[place] == nil {
                let one = try One(arguments)
                for order in state.orders.values { one.send(order) }
                state.running[place] = one
            }
        }
    }

    /// Sets the time of deliveries, in milliseconds.
    func deliver(at time: Int64) { order("deliver \(time)") }

    /// Begins to find events, at a time in milliseconds.
    func find(at time: Int64) { order("find \(time)") }

    /// Ends the search of all processes.
    func rest() async throws {
        state.withLockedValue { $0.orders["find"] = nil }
        for one in state.withLockedValue({ $0.running.compactMap(\.self) }) {
            one.send("rest")
            try await onOwnThread { try one.waitForLine() }
        }
    }

    func stop() { for _ in state.withLockedValue({ $0.running }) { killNext() } }

    private func order(_ line: String) {
        let running = state.withLockedValue { state in
            state.orders[String(line.prefix { $0 != " " })] = line
            return state.running
        }
        for one in running.compactMap(\.self) { one.send(line) }
    }
}
