package import NIOCore

/// A connection, or a stream of one, that has something to answer. Each of the first two is called once for whatever it has
/// added itself for.
protocol AnswerSender: AnyObject {
    /// Answers what has been there for the longest and has no answer yet. That is not written yet.
    /// - Parameter isLate: whether it has waited for so long that to answer it in full would only make others wait as well.
    /// - Returns: what has to be in the audit trail before the answer is written; and whether no other answer of the sender
    ///   waits to be written.
    func makeAnswer(isLate: Bool) -> (recordedAt: AuditTrail.Span?, isNext: Bool)
    /// Writes the answer that has waited for the longest.
    /// - Parameter isRecorded: whether the audit trail has what it needs; else a problem goes in its place.
    func writeAnswer(isRecorded: Bool)
    /// Sends what has been written.
    func flushAnswers()
}

/// One turn of an event loop after the other: it reads what is there, on however many connections, then answers it, and then
/// sends the answers.
///
/// Sending every answer by itself wakes the other side every time, which was a quarter of what an offer cost beside its
/// cryptography; together they wake it once. And one kind of work after the other finds its code and data in the
/// processor's caches, from which the cryptography drives everything else. Requests are answered when the loop has read
/// whatever was there, or when there are enough of them, so none waits for something to come. What was signed waits for the audit
/// trail as well, to which all of a turn is written together; and so does what a connection has to say after that.
package final class LoopTurn {
    /// What has been answered together.
    private struct Answered {
        /// What may go at once.
        var free: [any AnswerSender] = []
        var recorded = Recorded()
    }

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

    /// How many requests are answered together. Each may wait for as many others to be signed, some 5 to 10 ms.
    private static let batchSize = 64

    private let eventLoop: any EventLoop
    private let trail: AuditTrail?
    private var began: NIODeadline?
    /// Once for each of their requests.
    private var unanswered: [any AnswerSender] = []
    private var waiting: [Waiting] = []
    private var lastNumber: UInt64 = 0

    /// - Parameter trail: nil where nothing has to be recorded.
    package init(eventLoop: any EventLoop, trail: AuditTrail?) {
        self.eventLoop = eventLoop
        self.trail = trail
    }

    /// - Parameter sender: has read a request, or has something else to say, such as that it could read none.
    func add(_ sender: any AnswerSender) {
        begin(at: eventLoop.now)
        unanswered.append(sender)
        if unanswered.count == Self.batchSize { send(makeAnswers()) }
    }

    /// Begins a turn, if none has begun.
    package func begin(at now: @autoclosure () -> NIODeadline) {
        guard began == nil else { return }
        began = now()
        // Tasks run after everything that was ready to be read has been.
        eventLoop.assumeIsolated().execute { self.end() }
    }

    private func end() {
        let answers = makeAnswers()
        // What is read from here on, because answers have made room for it, is for another turn.
        began = nil
        send(answers)
    }

    private func makeAnswers() -> Answered {
        let senders = unanswered
        unanswered = []
        unanswered.reserveCapacity(Self.batchSize)
        var answers = Answered()
        for sender in senders {
            let (span, isNext) = sender.makeAnswer(isLate: isLate)
            if span == nil, isNext {
                answers.free.append(sender)
            } else {
                answers.recorded.senders.append(sender)
                if let span { answers.recorded.span = answers.recorded.span?.union(span) ?? span }
            }
        }
        return answers
    }

    /// All that a loop reads in one turn was there when the turn began, so the time since then grows with how much there is to
    /// do, and not with how slowly clients send.
    private var isLate: Bool { began.map { eventLoop.now - $0 > TimeLimit.wait } ?? false }

    private func send(_ answers: Answered) {
        // None of these has to be recorded.
        for sender in answers.free { sender.writeAnswer(isRecorded: false) }
        // Before anything is flushed: that may read on, and what is read then comes after this.
        if !answers.recorded.senders.isEmpty { sendWhenRecorded(answers.recorded) }
        for sender in answers.free { sender.flushAnswers() }
    }

    private func release(_ senders: [any AnswerSender], isRecorded: Bool) {
        for sender in senders { sender.writeAnswer(isRecorded: isRecorded) }
        for sender in senders { sender.flushAnswers() }
    }

    // MARK: Audit trail

    private func sendWhenRecorded(_ answers: Recorded) {
        // What only comes after something else waits for as long as that does.
        guard let trail, let span = answers.span ?? waiting.last?.answers.span else {
            return release(answers.senders, isRecorded: false)
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
