import Foundation
import Testing

@testable import OfferSignerClient

@Suite struct LostAnswerTests {
    /// Set `OFFER_CLIENT_CUSTOMERS` for more.
    private let customers = ProcessInfo.processInfo.environment["OFFER_CLIENT_CUSTOMERS"].flatMap { Int($0) } ?? 40

    @Test("lost answers reserve nothing twice, and every customer is served")
    func noDoubleReservation() async throws {
        let service = try RunningService()
        let signer = try RunningService.signer.get()
        // Most requests fail in some way. The generator makes the same faults in each run.
        let lost = Counter()
        let proxy = FaultyProxy(to: service.port) { number in
            var random = SplitMix64(seed: UInt64(number))
            let fault = random.next() % 8
            if (1...5).contains(fault) { lost.add(1) }
            return [.loseRequest, .loseAnswer, .loseAnswer, .leaveEarly, .cutAnswer, .cutAnswer, .none, .none][
                Int(fault)]
        }
        defer { proxy.stop() }
        // Foundation on Linux often misses the end of a connection, so that a request ends only with this. A slow machine just gets
        // more lost answers.
        let transport = try service.transport(port: proxy.port, timeout: 1)
        var nonces: [String] = []
        try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<customers {
                if number >= 8 { nonces += [try await group.next()].compactMap { $0 ?? nil } }
                group.addTask {
                    let token = UUID()
                    let client = await Fixtures.client(transport, customer: .appAccountToken(token))
                    let proofs = try signer.proofs(number, of: token)
                    let offer = try await client.offer(productID: Fixtures.productID, offerID: "once")
                    return await Self.tap(client, offer, proofs)
                }
            }
            for try await nonce in group { nonces += [nonce].compactMap { $0 } }
        }
        // `once` allows one unused signature: a second reservation would have been refused.
        #expect(nonces.count == customers && Set(nonces).count == customers)
        #expect(service.signatures == customers)
        #expect(lost.all.count > customers)
        print("\(customers) customers, \(proxy.requests) requests, \(lost.all.count) lost answers")
    }

    /// The answer to a client that has sent too many requests.
    private static let limit: String = {
        let body =
            #"{"type":"about:blank","title":"T","status":429,"detail":"D","code":"rate_limited","requestID":"R"}"#
        return "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nRetry-After: 60\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }()

    @Test("a limit that comes after a lost answer does not cost the customer the reserved offer")
    func limitAfterALostAnswer() async throws {
        let service = try RunningService()
        let proxy = FaultyProxy(to: service.port) { number in
            switch number {
            case 0: .loseAnswer
            case 1: .says(Self.limit)
            default: .none
            }
        }
        defer { proxy.stop() }
        let token = UUID()
        let client = await Fixtures.client(
            try service.transport(port: proxy.port, timeout: 5), customer: .appAccountToken(token))
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "once")
        let proofs = try RunningService.signer.get().proofs(1, of: token)
        let error = await failure { () async throws(OfferError) in try await client.sign(offer, proofs: proofs) }
        #expect(error?.code == .rateLimited)
        #expect(try await client.sign(offer, proofs: proofs).nonce != nil)
        #expect(service.signatures == 1)
    }

    @Test("a limit without a lost answer leaves nothing behind, so the next tap sends what is known then")
    func limitAlone() async throws {
        let service = try RunningService()
        let proxy = FaultyProxy(to: service.port) { $0 == 0 ? .says(Self.limit) : .none }
        defer { proxy.stop() }
        let token = UUID()
        let client = await Fixtures.client(
            try service.transport(port: proxy.port, timeout: 5), customer: .appAccountToken(token))
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "once")
        let error = await failure { () async throws(OfferError) in try await client.sign(offer) }
        #expect(error?.code == .rateLimited)
        // Without the proofs, the service would not know the customer.
        let proofs = try RunningService.signer.get().proofs(1, of: token)
        #expect(try await client.sign(offer, proofs: proofs).nonce != nil)
    }

    /// Taps until there is a signature.
    static func tap(_ client: OfferClient, _ offer: Offer, _ proofs: DeviceProofs) async -> String? {
        for _ in 0..<100 {
            do throws(OfferError) { return try await client.sign(offer, proofs: proofs).nonce } catch {
                guard error.code == .noAnswer else {
                    Issue.record("\(error) \(error.reasons)")
                    return nil
                }
            }
        }
        return nil
    }
}

/// Reproducible random numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
