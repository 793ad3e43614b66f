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
/// enough of them, so none waits for something to come. What was signed waits for the audit trail as well, to which all of a
/// turn is written together; and so does what a connection has to say after that.
package final class LoopTurn {
    /// What goes together when the audit trail is written.
    private struct Recorded {
        var senders: [any AnswerSender] = []
        /// What has to be in the trail; nil where there is nothing but what comes after that.
        var span: AuditTrail.Span?
    }

    /// What waits for the audit trail.
    private struct Waiting {
        let number: UInt64
        let answers: Recorded
        let deadline: Scheduled<Void>
    }

    /// How many answers go together. Each may wait for as many others to be signed, some 5 ms.
    private static let batchSize = 64

    private let eventLoop: any EventLoop
    private let trail: AuditTrail?
    private var began: NIODeadline?
    /// What may go as soon as the turn ends.
    private var free: [any AnswerSender] = []
    private var recorded = Recorded()
    private var waiting: [Waiting] = []
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
    ///   - span: what has to be in the audit trail before.
    ///   - isNext: whether the sender has no other answer that waits.
    func add(_ sender: any AnswerSender, recordedAt span: AuditTrail.Span?, isNext: Bool) {
        if began == nil { _ = waited(by: eventLoop.now) }
        if span == nil, isNext {
            free.append(sender)
        } else {
            recorded.senders.append(sender)
            if let span { recorded.span = recorded.span?.union(span) ?? span }
        }
        if free.count + recorded.senders.count == Self.batchSize { send() }
    }

    private func end() {
        began = nil
        send()
    }

    private func send() {
        if !free.isEmpty {
            let ready = free
            free = []
            free.reserveCapacity(Self.batchSize)
            release(ready, isRecorded: true)
        }
        if !recorded.senders.isEmpty {
            let answers = recorded
            recorded = Recorded()
            recorded.senders.reserveCapacity(Self.batchSize)
            sendWhenRecorded(answers)
        }
    }

    private func release(_ senders: [any AnswerSender], isRecorded: Bool) {
        for sender in senders { sender.writeAnswer(isRecorded: isRecorded) }
        for sender in senders { sender.flushAnswers() }
    }

    // MARK: Audit trail

    private func sendWhenRecorded(_ answers: Recorded) {
        // What only comes after something else waits for as long as that does.
        guard let trail, let span = answers.span ?? waiting.last?.answers.span else {
            return release(answers.senders, isRecorded: true)
        }
        lastNumber += 1
        let number = lastNumber
        let deadline = eventLoop.assumeIsolated().scheduleTask(in: TimeLimit.record) {
            self.release(through: number, isRecorded: false)
        }
        let answers = Recorded(senders: answers.senders, span: span)
        waiting.append(Waiting(number: number, answers: answers, deadline: deadline))
        let (eventLoop, turn) = (eventLoop, NIOLoopBound(self, eventLoop: eventLoop))
        trail.write(span) { isWritten in
            eventLoop.execute { turn.value.release(through: number, isRecorded: isWritten) }
        }
    }

    /// - Parameter number: that of what is told of now. What came before it has been told of before.
    private func release(through number: UInt64, isRecorded: Bool) {
        while let first = waiting.first, first.number <= number {
            waiting.removeFirst()
            first.deadline.cancel()
            release(first.answers.senders, isRecorded: isRecorded && first.number == number)
        }
    }
}
