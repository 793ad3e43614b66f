import AppStoreData
import OfferCore
import OfferCrypto

@testable import AppStoreTestSupport

// What is wrong with the text as a whole, its payload or its signature.
extension Forgery {
    static let texts: [Forgery] = [
        text("nothing", .jwsNotThreeParts) { _ in [] },
        text("garbage", .jwsNotBase64URL) { _ in Array("a.b.c".utf8) },
        text("dots alone", .headerNotJSON) { _ in Array("..".utf8) },
        text("a million dots", .jwsTooLarge) { _ in [UInt8](repeating: 0x2E, count: 1_000_000) },
        text("as many dots as fit", .jwsNotThreeParts) { _ in [UInt8](repeating: 0x2E, count: 256 * 1024) },
        text("without its signature", .jwsNotThreeParts) { try $0.parts { [$0[0], $0[1]] } },
        text("with an empty signature", .signatureMalformed) { try $0.parts { [$0[0], $0[1], ""] } },
        text("with an empty payload", .payloadNotJSON) { try $0.parts { [$0[0], "", $0[2]] } },
        text("with an empty header", .headerNotJSON) { try $0.parts { ["", $0[1], $0[2]] } },
        text("with a fourth part", .jwsNotThreeParts) { try $0.parts { $0 + [$0[2]] } },
        text("with a dot at the end", .jwsNotThreeParts) { try $0.jws() + [0x2E] },
        text("with a line break at the end", .jwsNotBase64URL) { try $0.jws() + [0x0A] },
        text("with a space at the start", .jwsNotBase64URL) { try [0x20] + $0.jws() },
        text("with NUL at the end", .jwsNotBase64URL) { try $0.jws() + [0] },
        text("with padding after the signature", .jwsNotBase64URL) { try $0.parts { [$0[0], $0[1], $0[2] + "=="] } },
        text("with padding after the payload", .jwsNotBase64URL) { chain in
            try chain.jws(payload: #"{"a":1}"#).replacing(part: 1) { $0 + "==" }
        },
        text("with a slash in the signature", .jwsNotBase64URL) {
            try $0.parts { [$0[0], $0[1], "/" + $0[2].dropFirst()] }
        },
        text("with a plus sign in the payload", .jwsNotBase64URL) {
            try $0.parts { [$0[0], "+" + $0[1].dropFirst(), $0[2]] }
        },
        text("with bits left over in the signature", .jwsNotBase64URL) {
            // 64 bytes end in a digit that carries only two bits, so A, Q, g or w.
            try $0.parts { [$0[0], $0[1], $0[2].dropLast() + "B"] }
        },
        text("as a JSON serialization", .jwsNotThreeParts) { chain in
            let text = String(decoding: try chain.jws(), as: UTF8.self).split(separator: ".")
            return Array(#"{"protected":"\#(text[0])","payload":"\#(text[1])","signature":"\#(text[2])"}"#.utf8)
        },
        text("one byte too large", .jwsTooLarge) { _ in [UInt8](repeating: 0x41, count: 256 * 1024 + 1) },
        text("of 10 MB", .jwsTooLarge) { _ in [UInt8](repeating: 0x41, count: 10_000_000) },
        text("signed, but larger than the bound", .jwsTooLarge) {
            try $0.jws(payload: #"{"a":""# + String(repeating: "a", count: 200_000) + #""}"#)
        },
    ]

    static let payloads: [Forgery] = [
        payload("a payload with a name twice", .payloadNotJSON, #"{"bundleId":"a","bundleId":"b"}"#),
        payload("a payload with a name twice, once escaped", .payloadNotJSON, #"{"bundleId":"a","bundle\u0049d":"b"}"#),
        payload("a payload with a name twice inside", .payloadNotJSON, #"{"data":{"bundleId":"a","bundleId":"b"}}"#),
        payload("a payload that is an array", .payloadNotJSON, "[]"),
        payload("a payload that is a string", .payloadNotJSON, #""a""#),
        payload("a payload that is not JSON", .payloadNotJSON, "a=b"),
        payload("a payload with text after it", .payloadNotJSON, "{}{}"),
        payload("a payload with a byte-order mark", .payloadNotJSON, "\u{FEFF}{}"),
        payload("a payload with NaN", .payloadNotJSON, #"{"signedDate":NaN}"#),
        payload("a payload with a number that starts with zero", .payloadNotJSON, #"{"signedDate":01750000000000}"#),
        payload("a payload nested 17 levels deep", .payloadNotJSON, nested(17)),
        payload("a payload nested 50,000 levels deep", .payloadNotJSON, nested(50_000)),
        text("a payload that is not UTF-8", .payloadNotJSON) {
            try $0.jws(header: Array($0.header.utf8), payload: Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
        },
        text("a payload in UTF-16", .payloadNotJSON) {
            try $0.jws(header: Array($0.header.utf8), payload: Array(TestChain.payload.utf8).flatMap { [$0, 0] })
        },
        payload("a date in a string", .payloadDate, #"{"signedDate":"1750000000000"}"#),
        payload("a date of null", .payloadDate, #"{"signedDate":null}"#),
        payload("a date that is an object", .payloadDate, #"{"signedDate":{}}"#),
        payload("a date beyond all numbers", .payloadDate, #"{"signedDate":1e400}"#),
        payload("a date in the year 10000", .payloadDate, #"{"signedDate":253402300801000}"#),
        payload("a date of the largest 64-bit number", .payloadDate, #"{"signedDate":9223372036854775807}"#),
        payload("a date long before our era", .payloadDate, #"{"signedDate":-9223372036854775808}"#),
        payload("an AppTransaction's date in a string", .payloadDate, #"{"receiptCreationDate":"1750000000000"}"#),
    ]

    static let signatures: [Forgery] = [
        signature("DER in place of raw numbers", .signatureMalformed) { chain, input in try chain.leafKey.sign(input) },
        signature("63 bytes", .signatureMalformed) { chain, input in try chain.leafKey.signRaw(input).dropLast() },
        signature("65 bytes", .signatureMalformed) { chain, input in try chain.leafKey.signRaw(input) + [0] },
        signature("65 bytes, the first of them zero", .signatureMalformed) { chain, input in
            try [0] + chain.leafKey.signRaw(input)
        },
        signature("twice 64 bytes", .signatureMalformed) { chain, input in
            let signature = try chain.leafKey.signRaw(input)
            return signature + signature
        },
        signature("r and s of zero", .signatureMalformed) { _, _ in zero + zero },
        signature("r of zero", .signatureMalformed) { chain, input in
            try zero + chain.leafKey.signRaw(input).suffix(32)
        },
        signature("s of zero", .signatureMalformed) { chain, input in
            try chain.leafKey.signRaw(input).prefix(32) + zero
        },
        signature("r equal to the order", .signatureMalformed) { chain, input in
            try order + chain.leafKey.signRaw(input).suffix(32)
        },
        signature("s equal to the order", .signatureMalformed) { chain, input in
            try chain.leafKey.signRaw(input).prefix(32) + order
        },
        signature("r and s equal to the order", .signatureMalformed) { _, _ in order + order },
        signature("r above the order", .signatureMalformed) { chain, input in
            try order.dropLast() + [0x52] + chain.leafKey.signRaw(input).suffix(32)
        },
        signature("r and s of ones", .signatureMalformed) { _, _ in [UInt8](repeating: 0xFF, count: 64) },
        signature("r and s of one", .signatureInvalid) { _, _ in
            zero.dropLast() + [1] + zero.dropLast() + [1]
        },
        signature("r and s below the order by one", .signatureInvalid) { _, _ in
            order.dropLast() + [0x50] + order.dropLast() + [0x50]
        },
        signature("r and s swapped", .signatureInvalid) { chain, input in
            let signature = try chain.leafKey.signRaw(input)
            return Array(signature.suffix(32) + signature.prefix(32))
        },
        signature("r and s with the least significant byte first", .signatureInvalid) { chain, input in
            // Turned around, r and s of an unlucky signature exceed the order.
            while true {
                let signature = try chain.leafKey.signRaw(input)
                let turned = Array(signature.prefix(32).reversed() + signature.suffix(32).reversed())
                if turned[0] < 0xFF, turned[32] < 0xFF { return turned }
            }
        },
        signature("the first bit of s turned", .signatureInvalid) { chain, input in
            while true {
                var signature = try chain.leafKey.signRaw(input)
                signature[32] ^= 0x80
                if signature[32] < 0xFF { return signature }
            }
        },
        signature("the last bit of s turned", .signatureInvalid) { chain, input in
            var signature = try chain.leafKey.signRaw(input)
            signature[63] ^= 1
            return signature
        },
        signature("by another key", .signatureInvalid) { _, input in try TestKey.p256().signRaw(input) },
        signature("by the intermediate's key", .signatureInvalid) { chain, input in
            try chain.intermediateKey.signRaw(input)
        },
        signature("by the root's key", .signatureInvalid) { chain, input in try chain.rootKey.signRaw(input) },
        signature("over the payload alone", .signatureInvalid) { chain, input in
            let parts = input.split(separator: 0x2E)
            return try chain.leafKey.signRaw(Array(parts[1]))
        },
        signature("over the header alone", .signatureInvalid) { chain, input in
            let parts = input.split(separator: 0x2E)
            return try chain.leafKey.signRaw(Array(parts[0]))
        },
        signature("over the decoded payload", .signatureInvalid) { chain, _ in
            try chain.leafKey.signRaw(Array(TestChain.payload.utf8))
        },
        signature("over both parts and the dot after them", .signatureInvalid) { chain, input in
            try chain.leafKey.signRaw(input + [0x2E])
        },
        signature("over both parts without the dot between them", .signatureInvalid) { chain, input in
            try chain.leafKey.signRaw(input.filter { $0 != 0x2E })
        },
        signature("over the hash of both parts", .signatureInvalid) { chain, input in
            try chain.leafKey.signRaw(SHA256.hash(input))
        },
        signature("over another payload", .signatureInvalid) { chain, _ in
            Array(try chain.jws(payload: "{}").split(separator: 0x2E)[2]).decoded
        },
        text("a payload changed after signing", .signatureInvalid) { chain in
            let other = TestChain.payload.replacing("example", with: "exempla")
            return try chain.jws().replacing(part: 1) { _ in other.inBase64URL }
        },
        text("a payload with white space added after signing", .signatureInvalid) { chain in
            try chain.jws().replacing(part: 1) { _ in (TestChain.payload + " ").inBase64URL }
        },
        text("a header with a member added after signing", .signatureInvalid) { chain in
            let other = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: #","kid":"1""#)
            return try chain.jws().replacing(part: 0) { _ in other.inBase64URL }
        },
        text("a key in the header, which has signed it", .signatureInvalid) { chain in
            let key = try TestKey.p256()
            let (x, y) = (key.publicKey.suffix(64).prefix(32), key.publicKey.suffix(32))
            let jwk = [x, y].map { String(decoding: Base64URL.text(of: Array($0)), as: UTF8.self) }
            let rest = #","jwk":{"kty":"EC","crv":"P-256","x":"\#(jwk[0])","y":"\#(jwk[1])"}"#
            let header = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: rest)
            return try chain.jws(header: header, key: key)
        },
        text("the address of a key in the header", .signatureInvalid) { chain in
            let rest = #","jku":"https://example.com/keys","x5u":"https://example.com/chain","kid":"1""#
            let header = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: rest)
            return try chain.jws(header: header, key: .p256())
        },
    ]

    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// A JWS of the standard chain with another signature.
    /// - Parameter sign: gets the chain and the first two parts.
    private static func signature(
        _ name: String, _ code: VerificationFailure.Code,
        _ sign: @escaping @Sendable (_ chain: TestChain, _ input: [UInt8]) throws -> [UInt8]
    ) -> Forgery {
        text("a signature: " + name, code) { chain in
            let input = Array((chain.header.inBase64URL + "." + TestChain.payload.inBase64URL).utf8)
            return input + [0x2E] + Base64URL.text(of: try sign(chain, input))
        }
    }

    static func nested(_ depth: Int) -> String {
        #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
}

extension TestChain {
    /// A valid JWS of which `change` makes other parts.
    fileprivate func parts(_ change: ([String]) -> [String]) throws -> [UInt8] {
        let parts = String(decoding: try jws(), as: UTF8.self).split(separator: ".").map(String.init)
        return Array(change(parts).joined(separator: ".").utf8)
    }
}

extension [UInt8] {
    fileprivate func replacing(part index: Int, _ change: (String) -> String) -> [UInt8] {
        var parts = String(decoding: self, as: UTF8.self).split(separator: ".").map(String.init)
        parts[index] = change(parts[index])
        return Array(parts.joined(separator: ".").utf8)
    }

    /// Decoded from base64url.
    fileprivate var decoded: [UInt8] { Base64URL.bytes(of: self) ?? [] }
}
