package import NIOCore
import OfferCore

/// The requests that an event loop reads in one turn, whose responses are sent together.
///
/// Sending each response separately wakes the client each time. That took a quarter of the time for an offer, excluding
/// cryptography. Sending them together wakes it once. Reading, answering and sending in separate steps also keeps code
/// and data in the processor's caches. Requests are answered once the loop has read everything that was ready, or once
/// the batch is full, so no request waits for more data to arrive. All commits of a batch are written together.
package final class ResponseBatch {
    /// Exchanges whose responses wait for the same write to a log.
    private struct PendingWrite {
        let number: UInt64
        let began: NIODeadline
        var commit: Commit
        var exchanges: [(exchange: Exchange, response: @Sendable (Bool) -> HTTPResponse)]
    }

    /// An exchange whose response is being produced on the asynchronous lane.
    private struct PendingResponse {
        let began: NIODeadline
        let exchange: Exchange
        let timedOut: Reply.MakeResponse
    }

    /// The maximum number of requests answered together. Each may wait 5 to 10 ms for the others to be signed.
    private static let size = 64

    private let eventLoop: any EventLoop
    private let responder: any Responder
    private let asyncLane: AsyncLane
    private let budget: MemoryBudget
    /// True if the end of the current turn is scheduled.
    private var isTurnInProgress = false
    /// The time that the current turn has spent on requests of authenticated clients.
    private var answeringTime = TimeAmount.zero
    private var received: [Exchange] = []
    /// The connections of unauthenticated clients with waiting requests. They take turns, and are served after all
    /// others.
    private var strangers = CircularBuffer<OpenConnection>()
    /// True if a task that answers strangers is scheduled.
    private var isStrangersTaskScheduled = false
    private var pendingWrites: [PendingWrite] = []
    private var pendingResponses: [UInt64: PendingResponse] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - responder: answers the requests of all connections on the event loop.
    ///   - asyncLane: runs the functions that produce responses asynchronously.
    ///   - budget: the memory budget. When it is exhausted, requests are refused.
    package init(
        eventLoop: any EventLoop, responder: any Responder, asyncLane: AsyncLane, budget: MemoryBudget
    ) {
        self.eventLoop = eventLoop
        self.responder = responder
        self.asyncLane = asyncLane
        self.budget = budget
    }

    /// Adds an exchange. The request of a client that has authenticated is answered by the end of the current turn.
    func add(_ exchange: Exchange, from connection: OpenConnection) {
        scheduleEndOfTurn()
        guard connection.standing.isAuthenticated else {
            if connection.waiting.isEmpty { strangers.append(connection) }
            return connection.waiting.append((exchange, eventLoop.now))
        }
        received.append(exchange)
        if received.count == Self.size { send(answerReceived()) }
    }

    /// Adds to the time that the current turn has spent answering requests.
    package func noteAnswering(for time: TimeAmount) {
        scheduleEndOfTurn()
        answeringTime = answeringTime + time
    }

    private func scheduleEndOfTurn() {
        guard !isTurnInProgress else { return }
        isTurnInProgress = true
        // The task runs once the loop has read everything that is ready.
        eventLoop.assumeIsolated().execute { self.endTurn() }
    }

    private func endTurn() {
        let batch = answerReceived()
        // Sending may free buffer space and resume reading. Requests that are read from now on belong to the next turn.
        (isTurnInProgress, answeringTime) = (false, .zero)
        send(batch)
        if !isStrangersTaskScheduled { answerStrangers() }
    }

    /// Answers a group of strangers. If there are more, the loop first reads what others have sent in the meantime.
    private func answerStrangers() {
        isStrangersTaskScheduled = false
        let now = eventLoop.now
        let group = takeStrangers()
        let late = group.filter { now - $0.arrived > TimeLimit.wait }
        let others = group.filter { now - $0.arrived <= TimeLimit.wait }
        send(answer(late.map(\.exchange), .strangers))
        send(answer(others.map(\.exchange), .none))
        guard !strangers.isEmpty else { return }
        isStrangersTaskScheduled = true
        // A task without a delay would run before the loop reads again.
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.answerStrangers() }
    }

    /// Takes one request of each connection in turn, so that a connection with many requests does not delay the others.
    private func takeStrangers() -> [(exchange: Exchange, arrived: NIODeadline)] {
        var group: [(exchange: Exchange, arrived: NIODeadline)] = []
        while group.count < Self.size, let connection = strangers.popFirst() {
            guard let next = connection.waiting.popFirst() else { continue }
            if !connection.waiting.isEmpty { strangers.append(connection) }
            if next.exchange.isAwaited { group.append(next) }
        }
        return group
    }

    private static let pause = TimeAmount.microseconds(20)

    // MARK: Answering

    /// Answers every request received so far from clients that have authenticated.
    private func answerReceived() -> (exchanges: [Exchange], writes: [PendingWrite]) {
        let exchanges = received
        received = []
        received.reserveCapacity(Self.size)
        let began = eventLoop.now
        defer { answeringTime = answeringTime + (eventLoop.now - began) }
        return answer(exchanges, .none, until: began + TimeLimit.wait - answeringTime)
    }

    /// - Parameter deadline: the time after which requests are refused, because answering has taken too long.
    /// - Returns: the exchanges, and the writes that some of their responses wait for.
    private func answer(
        _ exchanges: [Exchange], _ shedding: LoadShedding, until deadline: NIODeadline = .distantFuture
    ) -> (exchanges: [Exchange], writes: [PendingWrite]) {
        var writes: [PendingWrite] = []
        for exchange in exchanges {
            guard let request = exchange.takeRequest() else { continue }
            let isLate = eventLoop.now > deadline
            switch responder.reply(to: request, shedding: isLate || budget.isExhausted ? .all : shedding) {
            case .now(let response): exchange.complete(with: response)
            case .after(let commit, let response): add(exchange, commit, response, to: &writes)
            case .later(let work, let executor, let timedOut): answerLater(exchange, work, on: executor, timedOut)
            }
        }
        return (exchanges, writes)
    }

    private func answerLater(
        _ exchange: Exchange, _ work: @escaping @Sendable () async -> Reply.MakeResponse,
        on executor: (any TaskExecutor)?, _ timedOut: @escaping Reply.MakeResponse
    ) {
        lastNumber += 1
        let (eventLoop, number) = (eventLoop, lastNumber)
        let batch = NIOLoopBound(self, eventLoop: eventLoop)
        let isRunning = asyncLane.run(on: executor) {
            let response = await work()
            eventLoop.execute { batch.value.endResponse(number, response) }
        }
        guard isRunning else { return exchange.complete(with: timedOut()) }
        pendingResponses[number] = PendingResponse(began: eventLoop.now, exchange: exchange, timedOut: timedOut)
    }

    /// - Parameter number: the number of a pending response. A response that has already timed out is ignored.
    private func endResponse(_ number: UInt64, _ response: Reply.MakeResponse) {
        guard let pending = pendingResponses.removeValue(forKey: number) else { return }
        pending.exchange.complete(with: response())
        send([pending.exchange])
    }

    // MARK: Sending

    private func send(_ batch: (exchanges: [Exchange], writes: [PendingWrite])) {
        for exchange in batch.exchanges { exchange.owner.writeMessages() }
        // Start the writes before flushing. Flushing may read more requests, whose commits must not come first.
        for write in batch.writes { begin(write) }
        for exchange in batch.exchanges { exchange.owner.flushMessages() }
    }

    private func send(_ exchanges: [Exchange]) { send((exchanges, [])) }

    // MARK: Commits

    private func add(
        _ exchange: Exchange, _ commit: Commit, _ response: @escaping @Sendable (Bool) -> HTTPResponse,
        to writes: inout [PendingWrite]
    ) {
        if let index = writes.firstIndex(where: { $0.commit.log === commit.log }) {
            writes[index].commit.merge(commit)
            writes[index].exchanges.append((exchange, response))
        } else {
            lastNumber += 1
            writes.append(
                PendingWrite(
                    number: lastNumber, began: eventLoop.now, commit: commit, exchanges: [(exchange, response)]))
        }
    }

    private func begin(_ write: PendingWrite) {
        pendingWrites.append(write)
        let (eventLoop, number) = (eventLoop, write.number)
        let batch = NIOLoopBound(self, eventLoop: eventLoop)
        write.commit.log.write(write.commit) { isDurable in
            eventLoop.execute { batch.value.endWrite(number, isDurable: isDurable) }
        }
    }

    /// - Parameter number: the number of a write. A write that has already ended is ignored.
    private func endWrite(_ number: UInt64, isDurable: Bool) {
        guard let index = pendingWrites.firstIndex(where: { $0.number == number }) else { return }
        let write = pendingWrites.remove(at: index)
        for (exchange, response) in write.exchanges { exchange.complete(with: response(isDurable)) }
        send(write.exchanges.map(\.exchange))
    }

    // MARK: Time

    /// Gives up on writes and responses that take too long.
    func checkTime(_ now: NIODeadline) {
        for write in pendingWrites where now - write.began > TimeLimit.commit {
            endWrite(write.number, isDurable: false)
        }
        for (number, pending) in pendingResponses where now - pending.began > TimeLimit.later {
            endResponse(number, pending.timedOut)
        }
    }
}
