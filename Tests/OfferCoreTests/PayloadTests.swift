import OfferCore
import TestSupport
import Testing

@Suite("Payload")
struct PayloadTests {
    @Test("payloads match the published vectors byte for byte", arguments: try OfferVectors.load().vectors)
    func golden(vector: OfferVectors.Vector) throws {
        #expect(try vector.payload.bytes.hex == vector.payloadHex)
    }

    @Test("100,000 random payloads split at U+2063 into exactly the seven inputs", arguments: 0..<4 as Range<UInt64>)
    func splitsIntoInputs(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)  // a failure's name contains the seed, for replay
        for round in 0..<25_000 {
            if round % 256 == 0 { await Task.yield() }
            let bundle = Self.randomText(bytes: 1...155, using: &random)
            let key = String((0..<10).map { _ in "ABCDEFGHJK0123456789".randomElement(using: &random) ?? "A" })
            let product = Self.randomText(bytes: 1...255, using: &random)
            let offer = Self.randomText(bytes: 1...255, using: &random)
            let user = Self.randomText(bytes: 0...512, using: &random)
            let nonce = Nonce(using: &random)
            let milliseconds = Int64.random(in: 0...4_102_444_800_000, using: &random)
            let payload = try OfferPayload(
                appBundleID: BundleID(utf8: Array(bundle.utf8)), keyID: KeyID(utf8: Array(key.utf8)),
                productIdentifier: ProductID(utf8: Array(product.utf8)), offerID: OfferID(utf8: Array(offer.utf8)),
                customer: Customer(applicationUsername: Array(user.utf8)), nonce: nonce,
                timestamp: Timestamp(milliseconds: milliseconds))
            // Split by scalar, unlike the implementation, which checks bytes.
            let parts = String(decoding: payload.bytes, as: UTF8.self).unicodeScalars
                .split(separator: "\u{2063}", omittingEmptySubsequences: false)
            let inputs = [bundle, key, product, offer, user, "\(nonce)", "\(milliseconds)"]
            guard parts.count == 7, zip(parts, inputs).allSatisfy({ $0.elementsEqual($1.unicodeScalars) }) else {
                Issue.record("\(inputs) became \(parts.count) parts: \(parts.map(String.init))")
                return
            }
        }
    }

    /// A random string of ordinary letters and of characters that trip up string code: combining marks, joiners,
    /// neighbours of U+2063.
    private static func randomText(bytes: ClosedRange<Int>, using random: inout SplitMix64) -> String {
        let palette: [Unicode.Scalar] = [
            "a", "Z", "0", ".", "_", "|", " ", "\u{301}", "\u{308}", "\u{200B}", "\u{200D}", "\u{2062}", "\u{2064}",
            "\u{20E3}", "\u{FEFF}", "\u{AC00}", "\u{1F468}", "\u{10FFFF}", "\u{A3}", "\u{E2}",
        ]
        let size = Int.random(in: bytes, using: &random)
        var text = String.UnicodeScalarView()
        var count = 0
        while let scalar = palette.randomElement(using: &random), count + UTF8.width(scalar) <= size {
            text.append(scalar)
            count += UTF8.width(scalar)
        }
        let isBlank = text.allSatisfy(\.properties.isWhitespace)
        return isBlank && (!text.isEmpty || bytes.lowerBound > 0) ? "x" : String(text)
    }

    @Test("an empty username keeps its separators")
    func emptyUsername() throws {
        let payload = try Fixtures.payload(customer: Customer(applicationUsername: []))
        let text = String(decoding: payload.bytes, as: UTF8.self)
        #expect(text.contains("\u{2063}offer\u{2063}\u{2063}\(Fixtures.nonceText)\u{2063}"))
    }

    @Test("base64 agrees with Foundation for every length up to 200")
    func base64() throws {
        var random = SplitMix64(seed: 7)
        for count in 0...200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(String(decoding: OfferSignature(der: bytes).base64, as: UTF8.self) == bytes.foundationBase64)
        }
    }
}
