import NIOCore

/// The answers of one event loop that are ready and not sent yet.
///
/// An event loop that wakes up finds many connections with a request each. Sending every answer by itself wakes the
/// other side every time, which was a quarter of what an offer cost beside its cryptography; together they wake it once.
/// A batch goes out when the loop has read whatever was there, or when it is full, so none waits for something to come.
final class AnswerBatch {
    /// How many answers go together. Each may wait for as many others to be signed, some 5 ms.
    private static let limit = 64

    private var waiting: [RequestHandler] = []

    /// - Parameter handler: one that has written an answer and will be told to send it; once for each answer.
    func add(_ handler: RequestHandler, on eventLoop: any EventLoop) {
        waiting.append(handler)
        if waiting.count == Self.limit {
            send()
        } else if waiting.count == 1 {
            // Tasks run after everything that was ready to be read has been.
            eventLoop.assumeIsolated().execute { self.send() }
        }
    }

    private func send() {
        let ready = waiting
        waiting = []
        waiting.reserveCapacity(Self.limit)
        for handler in ready { handler.sendAnswers() }
    }
}
