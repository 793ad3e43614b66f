package import NIOCore
import OfferCore

/// Answers together what an event loop reads in one turn, and sends the responses together.
///
/// Sending every response by itself wakes the other side every time, which took a quarter of an offer's time, cryptography
/// aside; sent together they wake it once. Reading, answering and sending one after the other also keeps code and
/// data in the processor's caches. Requests are answered when the loop has read everything that was ready, or when there are
/// enough of them, so none waits for data to arrive. All commits of a batch are written together.
package final class ResponseBatch {
    /// Exchanges whose responses wait for one write of a log.
    private struct PendingWrite {
        let number: UInt64
        let began: NIODeadline
        var commit: Commit
        var exchanges: [(exchange: Exchange, response: @Sendable (Bool) -> HTTPResponse)]
    }

    /// The number of requests that are answered together. Each may wait for the others to be signed, 5 to 10 ms.
    private static let size = 64

    private let eventLoop: any EventLoop
    private let responder: any Responder
    private let asyncLane: AsyncLane
    private var turnBegan: NIODeadline?
    private var received: [Exchange] = []
    private var pendingWrites: [PendingWrite] = []
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - responder: answers the requests of all connections of this batch.
    ///   - asyncLane: runs the responses that are made later.
    package init(eventLoop: any EventLoop, responder: any Responder, asyncLane: AsyncLane) {
        self.eventLoop = eventLoop
        self.responder = responder
        self.asyncLane = asyncLane
    }

    /// Adds an exchange, which is answered at the end of the current turn at the latest.
    func add(_ exchange: Exchange) {
        beginTurn(at: eventLoop.now)
        received.append(exchange)
        if received.count == Self.size { send(answer()) }
    }

    /// Begins a turn unless one has begun.
    package func beginTurn(at now: @autoclosure () -> NIODeadline) {
        guard turnBegan == nil else { return }
        turnBegan = now()
        // Tasks run after everything that was ready to be read has been read.
        eventLoop.assumeIsolated().execute { self.endTurn() }
    }

    private func endTurn() {
        let batch = answer()
        // What is read from here on, because sending made room for it, belongs to the next turn.
        turnBegan = nil
        send(batch)
    }

    // MARK: Answering

    /// Makes the responses of everything received so far.
    /// - Returns: the exchanges, and the writes that some of their responses wait for.
    private func answer() -> (exchanges: [Exchange], writes: [PendingWrite]) {
        let exchanges = received
        received = []
        received.reserveCapacity(Self.size)
        var writes: [PendingWrite] = []
        for exchange in exchanges {
            guard let request = exchange.takeRequest() else { continue }
            switch responder.reply(to: request, isLate: isLate) {
            case .now(let response): exchange.complete(with: response)
            case .after(let commit, let response): add(exchange, commit, response, to: &writes)
            case .later(let makeResponse): answerLater(exchange, makeResponse)
            }
        }
        return (exchanges, writes)
    }

    /// All requests of a turn were there when it began, so the time since then measures how much work there is, not how
    /// slowly clients send.
    private var isLate: Bool { turnBegan.map { eventLoop.now - $0 > TimeLimit.wait } ?? false }

    private func answerLater(_ exchange: Exchange, _ makeResponse: @escaping @Sendable () async -> HTTPResponse) {
        let (eventLoop, ours) = (eventLoop, NIOLoopBound((batch: self, exchange: exchange), eventLoop: eventLoop))
        asyncLane.run {
            let response = await makeResponse()
            eventLoop.execute {
                ours.value.exchange.complete(with: response)
                ours.value.batch.send([ours.value.exchange])
            }
        }
    }

    // MARK: Sending

    private func send(_ batch: (exchanges: [Exchange], writes: [PendingWrite])) {
        for exchange in batch.exchanges { exchange.owner.writeMessages() }
        // Before anything is flushed: flushing may read on, and what is read then must not be committed first.
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
            eventLoop.execute { batch.value.end(number, isDurable: isDurable) }
        }
    }

    /// - Parameter number: of a write; one that has ended already is ignored.
    private func end(_ number: UInt64, isDurable: Bool) {
        guard let index = pendingWrites.firstIndex(where: { $0.number == number }) else { return }
        let write = pendingWrites.remove(at: index)
        for (exchange, response) in write.exchanges { exchange.complete(with: response(isDurable)) }
        send(write.exchanges.map(\.exchange))
    }

    /// Gives up on writes that take too long.
    func checkTime(_ now: NIODeadline) {
        for write in pendingWrites where now - write.began > TimeLimit.commit { end(write.number, isDurable: false) }
    }
}
