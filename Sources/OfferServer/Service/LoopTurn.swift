package import NIOCore

/// One turn of an event loop after the other: it reads what is there, on however many connections, and sends the answers.
///
/// Sending every answer by itself wakes the other side every time, which was a quarter of what an offer cost beside its
/// cryptography; together they wake it once. Answers go out when the loop has read whatever was there, or when there are
/// enough of them, so none waits for something to come.
package final class LoopTurn {
    /// How many answers go together. Each may wait for as many others to be signed, some 5 ms.
    private static let batchSize = 64

    private let eventLoop: any EventLoop
    private var began: NIODeadline?
    private var waiting: [RequestHandler] = []

    package init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// How long a request that has been read now has waited at least. All that a loop reads in one turn was there when the
    /// turn began, so this grows with how much there is to do, and not with how slowly clients send.
    package func waited(by now: NIODeadline) -> TimeAmount {
        guard let began else {
            began = now
            // Tasks run after everything that was ready to be read has been.
            eventLoop.assumeIsolated().execute { self.end() }
            return .zero
        }
        return now - began
    }

    /// - Parameter handler: one that has written an answer to a request of this turn and will be told to send it; once for
    ///   each answer.
    func add(_ handler: RequestHandler) {
        waiting.append(handler)
        if waiting.count == Self.batchSize { send() }
    }

    private func end() {
        began = nil
        send()
    }

    private func send() {
        let ready = waiting
        waiting = []
        waiting.reserveCapacity(Self.batchSize)
        for handler in ready { handler.sendAnswers() }
    }
}
