import Crypto
import OfferCrypto
import TestSupport
import Testing

@Suite("HMAC-SHA256")
struct HMACTests {
    @Test("a reusable key produces the same codes as swift-crypto, even on several threads at once")
    func preparedKey() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var random = SplitMix64(seed: 7)
            for size in [1, 16, 31, 32, 63, 64, 65, 200] {
                let key = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                let prepared = try HMACSHA256Key(key)
                let messages = (0..<20).map { length in
                    (0..<length * 13).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                }
                for _ in 0..<2 {
                    group.addTask {
                        for message in messages + messages {
                            let other = HMAC<Crypto.SHA256>
                                .authenticationCode(for: message, using: SymmetricKey(data: key))
                            let codes = try [prepared.code(of: message), HMACSHA256.code(of: message, under: key)]
                            #expect(codes == [Array(other), Array(other)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("SHA-256 of two parts is SHA-256 of their concatenation")
    func twoParts() throws {
        let message = Array("the quick brown fox".utf8)
        for cut in 0...message.count {
            let hash = try OfferCrypto.SHA256.hash(Array(message[..<cut]), message[cut...])
            #expect(hash == Array(Crypto.SHA256.hash(data: message)))
        }
    }
}
