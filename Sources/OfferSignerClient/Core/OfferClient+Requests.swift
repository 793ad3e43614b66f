import Foundation

/// A request and the `Idempotency-Key` under which the service keeps its answer.
struct KeyedRequest: Hashable, Sendable {
    let key: String
    let path: String
    let body: Data
}

/// A request that has no final answer yet.
struct UnansweredRequest: Sendable {
    let request: KeyedRequest
    /// The uptime at which it was first sent.
    let since: TimeInterval
    /// True if an answer was lost. The service may then have reserved something under the key.
    var isLost = false
}

extension OfferClient {
    /// The longest wait for a server that says when to come back. The customer has tapped and is waiting.
    private static let longestWait = 5

    /// Sends a request, and repeats it under the same key if it got no answer or was told to come back soon.
    func exchange(
        _ request: KeyedRequest, _ budget: inout FetchBudget
    ) async throws(OfferError) -> TransportAnswer {
        var failure = OfferError(.noAnswer, "this purchase has used up its requests")
        var wait = 0
        while budget.take() {
            if wait > 0 {
                do { try await runtime.sleep(wait) } catch { throw OfferError(.cancelled, "the task was cancelled") }
            }
            let answer: TransportAnswer
            do {
                answer = try await transport.send(
                    TransportRequest(path: request.path, headers: try await headers(request.key), body: request.body))
            } catch let error as OfferError {
                throw error
            } catch let error as TransportFailure where error.kind != .noAnswer {
                if error.kind == .cancelled { noteLostAnswer(to: request) }
                throw OfferError(
                    error.kind == .cancelled ? .cancelled : .init(rawValue: error.kind.rawValue), error.detail)
            } catch is CancellationError {
                noteLostAnswer(to: request)
                throw OfferError(.cancelled, "the task was cancelled")
            } catch {
                let detail = (error as? TransportFailure)?.detail ?? String(describing: error)
                noteLostAnswer(to: request)
                (failure, wait) = (OfferError(.noAnswer, detail), 1)
                continue
            }
            clock.note(answer, uptime: runtime.uptime())
            if (200..<300).contains(answer.status) { return answer }
            failure = Self.problem(answer)
            // A gateway's answer, or that of a service that never got the whole request, leaves the outcome unknown.
            if [.noAnswer, .unreadableAnswer].contains(failure.code) || answer.status == 408 {
                noteLostAnswer(to: request)
            }
            if failure.code == .noAnswer || answer.status == 408 {
                wait = 1
            } else if let seconds = failure.retryAfter, seconds <= Self.longestWait, [429, 503].contains(answer.status)
            {
                wait = max(1, seconds)
            } else {
                throw failure
            }
        }
        throw failure
    }

    private func noteLostAnswer(to request: KeyedRequest) {
        for (slot, known) in unanswered where known.request == request { unanswered[slot]?.isLost = true }
    }

    private func headers(_ key: String) async throws(OfferError) -> [String: String] {
        var headers = [
            "Content-Type": "application/json", "Accept": "application/json, application/problem+json",
            "Idempotency-Key": key,
        ]
        guard let token else { return headers }
        do {
            if let text = try await token() { headers["Authorization"] = "Bearer \(text)" }
        } catch {
            throw OfferError(.noToken, String(describing: error))
        }
        return headers
    }

    /// - Returns: ``OfferError/Code/noAnswer``, without a status, for an answer of 5xx that is not the service's own.
    private static func problem(_ answer: TransportAnswer) -> OfferError {
        let retryAfter = answer.header("Retry-After").flatMap { Int($0) }
        guard let problem = try? JSONDecoder().decode(ProblemAnswer.self, from: answer.body),
            problem.status == answer.status
        else {
            let detail = "the server answered \(answer.status) without a problem of the service"
            guard answer.status < 500 else { return OfferError(.noAnswer, detail) }
            var error = OfferError(.unreadableAnswer, detail)
            error.status = answer.status
            return error
        }
        var error = OfferError(.init(rawValue: problem.code), problem.detail)
        error.status = problem.status
        error.field = problem.field
        error.reasons = (problem.reasons ?? []).map { RefusalReason(rawValue: $0.code) }
        error.retryAfter = retryAfter
        error.requestID = problem.requestID
        return error
    }

    func decode<Answer: Decodable>(_ type: Answer.Type, _ answer: TransportAnswer) throws(OfferError) -> Answer {
        do {
            return try JSONDecoder().decode(type, from: answer.body)
        } catch {
            throw OfferError(.unreadableAnswer, "the answer is not JSON in the form of docs/api.md: \(error)")
        }
    }
}
