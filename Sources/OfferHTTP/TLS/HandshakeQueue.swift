package import NIOCore

/// A queue of the TLS handshakes that the clients of one event loop have begun.
///
/// A handshake takes hundreds of microseconds, so thousands of clients that connect at once would delay every request
/// on the loop. The loop therefore computes a few handshakes at a time, and reads the data of other clients before it
/// continues.
package final class HandshakeQueue {
    /// The number of handshakes computed together, which takes a few milliseconds.
    private static let size = 8
    /// The time between two groups. A task without a delay would run before the loop reads again.
    private static let pause = TimeAmount.microseconds(20)

    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<HandshakeGate>()
    /// The handshakes that may still begin before the loop reads again.
    private var remaining = HandshakeQueue.size
    private var isTaskScheduled = false

    package init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Begins the handshake of a connection, or queues it.
    func add(_ gate: HandshakeGate) {
        if !isTaskScheduled { scheduleNextGroup() }
        guard remaining > 0 else { return waiting.append(gate) }
        if gate.open() { remaining -= 1 }
    }

    private func scheduleNextGroup() {
        isTaskScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.beginNextGroup() }
    }

    private func beginNextGroup() {
        isTaskScheduled = false
        remaining = Self.size
        while remaining > 0, let gate = waiting.popFirst() {
            // The client may be gone.
            if gate.open() { remaining -= 1 }
        }
        if remaining < Self.size { scheduleNextGroup() }
    }
}
