package import NIOCore

/// A connection, or a stream of one, that has an answer to send.
protocol AnswerSender: AnyObject {
    /// Writes the answer that has waited for the longest.
    /// - Parameter isRecorded: whether the audit trail has what it needs; else a problem goes in its place.
    func writeAnswer(isRecorded: Bool)
    /// Sends what has been written.
    func flushAnswers()
}

/// One turn of an event loop after the other: it reads what is there, on however many connections, and sends the answers.
///
/// Sending every answer by itself wakes the other side every time, which was a quarter of what an offer cost beside its
/// cryptography; together they wake it once. Answers go out when the loop has read whatever was there, or when there are
/// enough of them, so none waits for something to come. But all of them wait for the audit trail, to which those of a turn
/// are written together, and in the order of turns.
package final class LoopTurn {
    /// What is sent together.
    private struct Batch {
        var senders: [any AnswerSender] = []
        /// How far the audit trail has to be written; nil if nothing in it was signed.
        var position: AuditTrail.Position?
    }

    /// A batch that waits for the audit trail.
    private struct Unrecorded {
        let number: UInt64
        let batch: Batch
        let deadline: Scheduled<Void>
    }

    /// How many answers go together. Each may wait for as many others to be signed, some 5 ms.
    private static let batchSize = 64

    private let eventLoop: any EventLoop
    private let trail: AuditTrail?
    private var began: NIODeadline?
    private var batch = Batch()
    private var unrecorded: [Unrecorded] = []
    private var lastNumber: UInt64 = 0

    /// - Parameter trail: nil where nothing has to be recorded.
    package init(eventLoop: any EventLoop, trail: AuditTrail?) {
        self.eventLoop = eventLoop
        self.trail = trail
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

    /// - Parameters:
    ///   - sender: will be told to write and to send its answer; once for each.
    ///   - position: how far the audit trail has to be written before.
    func add(_ sender: any AnswerSender, recordedAt position: AuditTrail.Position?) {
        if began == nil { _ = waited(by: eventLoop.now) }
        batch.senders.append(sender)
        if let position { batch.position = max(batch.position ?? position, position) }
        if batch.senders.count == Self.batchSize { send() }
    }

    private func end() {
        began = nil
        send()
    }

    private func send() {
        guard !batch.senders.isEmpty else { return }
        let ready = batch
        batch = Batch()
        batch.senders.reserveCapacity(Self.batchSize)
        guard let trail, let position = ready.position ?? unrecorded.last?.batch.position else {
            return release(ready, isRecorded: true)
        }
        wait(for: trail, toReach: position, with: ready)
    }

    // MARK: Audit trail

    private func wait(for trail: AuditTrail, toReach position: AuditTrail.Position, with batch: Batch) {
        lastNumber += 1
        let number = lastNumber
        let deadline = eventLoop.assumeIsolated().scheduleTask(in: TimeLimit.record) {
            self.settle(through: number, isRecorded: false)
        }
        var batch = batch
        batch.position = position
        unrecorded.append(Unrecorded(number: number, batch: batch, deadline: deadline))
        let (eventLoop, turn) = (eventLoop, NIOLoopBound(self, eventLoop: eventLoop))
        trail.settle(position) { isWritten in
            eventLoop.execute { turn.value.settle(through: number, isRecorded: isWritten) }
        }
    }

    private func settle(through number: UInt64, isRecorded: Bool) {
        while let first = unrecorded.first, first.number <= number {
            unrecorded.removeFirst()
            first.deadline.cancel()
            release(first.batch, isRecorded: isRecorded)
        }
    }

    private func release(_ batch: Batch, isRecorded: Bool) {
        for sender in batch.senders { sender.writeAnswer(isRecorded: isRecorded) }
        for sender in batch.senders { sender.flushAnswers() }
    }
}
