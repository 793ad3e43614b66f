import NIOCore
import NIOPosix

/// The answers of one event loop that are ready and not sent yet.
///
/// An event loop that wakes up finds many connections with a request each. Sending every answer by itself wakes the
/// other side every time, which was a quarter of what an offer cost beside its cryptography; together they wake it once.
/// A batch goes out when the loop has read whatever was there, or when it is full, so none waits for something to come.
// A batch is only ever reached through the variable of the thread that made it, so no other thread touches it.
final class AnswerBatch: @unchecked Sendable {
    /// How many answers go together. Each may wait for as many others to be signed, some 5 ms.
    private static let limit = 64

    private static let ofThread = ThreadSpecificVariable<AnswerBatch>()

    private var waiting: [RequestHandler] = []

    /// The batch of the event loop that we are on.
    static var current: AnswerBatch {
        if let batch = ofThread.currentValue { return batch }
        let batch = AnswerBatch()
        ofThread.currentValue = batch
        return batch
    }

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
