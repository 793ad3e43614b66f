import AppStoreData
import OfferCore
import OfferCrypto
import TestSupport

@testable import AppStoreTestSupport

// What is wrong with the header, signed as it is.
extension Forgery {
    static let headers: [Forgery] = algorithms + criticals + x5c + objects

    private static let algorithms: [Forgery] =
        [
            #""none""#, #""None""#, #""""#, #""HS256""#, #""RS256""#, #""PS256""#, #""ES384""#, #""ES512""#,
            #""ES256K""#,
            #""EdDSA""#, #""es256""#, #""ES256 ""#, #""ES256\u0000""#, "null", "256", #"["ES256"]"#,
            #"{"alg":"ES256"}"#,
        ].map { alg in
            header("alg: \(alg)", .algorithmNotES256) { chain in
                chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], alg: alg)
            }
        } + [
            header("no alg", .algorithmNotES256) { $0.header.replacing(#""alg":"ES256","#, with: "") },
            header("ALG in place of alg", .algorithmNotES256) { $0.header.replacing("alg", with: "ALG") },
            text("alg: none, without a signature", .algorithmNotES256) { chain in
                let header = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], alg: #""none""#)
                return Array((header.inBase64URL + "." + TestChain.payload.inBase64URL + ".").utf8)
            },
            text("alg: HS256 with the leaf's public key as the secret", .algorithmNotES256) { chain in
                let header = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], alg: #""HS256""#)
                let input = Array((header.inBase64URL + "." + TestChain.payload.inBase64URL).utf8)
                let code = try HMACSHA256.code(of: input, under: chain.leafKey.publicKey)
                return input + [0x2E] + Base64URL.text(of: code)
            },
        ]

    private static let criticals: [Forgery] = [#"["b64"]"#, #"["exp"]"#, #"["alg"]"#, "[]", "null", "1"].map { crit in
        header("crit: \(crit)", .headerCritical) { chain in
            let rest = #","b64":true,"exp":1,"crit":\#(crit)"#
            return chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: rest)
        }
    }

    private static let x5c: [Forgery] = [
        header("no x5c", .certificatesMissing) { _ in #"{"alg":"ES256"}"# },
        header("x5c: null", .certificatesMissing) { _ in #"{"alg":"ES256","x5c":null}"# },
        header("x5c: a string", .certificatesMissing) { _ in #"{"alg":"ES256","x5c":"MII="}"# },
        header("x5c: an object", .certificatesMissing) { _ in #"{"alg":"ES256","x5c":{"0":"MII="}}"# },
        header("x5c: numbers", .certificatesMissing) { _ in #"{"alg":"ES256","x5c":[1,2,3]}"# },
        header("x5c: null for the root", .certificatesMissing) {
            $0.header(x5c: [$0.leaf, $0.intermediate]).replacing(#""]"#, with: #"",null]"#)
        },
        header("x5c: an array in an array", .certificatesMissing) {
            $0.header.replacing(#"x5c":["#, with: #"x5c":[["#).replacing("]", with: "]]")
        },
        header("no certificate", .certificateCount) { $0.header(x5c: []) },
        header("one certificate", .certificateCount) { $0.header(x5c: [$0.leaf]) },
        header("two certificates", .certificateCount) { $0.header(x5c: [$0.leaf, $0.intermediate]) },
        header("four certificates", .certificateCount) {
            $0.header(x5c: [$0.leaf, $0.intermediate, $0.root, $0.root])
        },
        header("64 certificates", .certificateCount) {
            $0.header(x5c: [[UInt8]](repeating: $0.leaf, count: 64))
        },
        header("100 certificates", .headerNotJSON) { _ in
            #"{"alg":"ES256","x5c":["# + [String](repeating: #""MII=""#, count: 100).joined(separator: ",") + "]}"
        },
        certificate("with a digit of base64url", .certificateNotBase64) {
            "-" + String(decoding: Base64.text(of: $0), as: UTF8.self).dropFirst()
        },
        certificate("with a line break", .certificateNotBase64) {
            String(decoding: Base64.text(of: $0), as: UTF8.self) + #"\n"#
        },
        certificate("with a space", .certificateNotBase64) {
            " " + String(decoding: Base64.text(of: $0), as: UTF8.self)
        },
        header("a certificate: without padding", .certificateNotBase64, .leaf) { chain in
            chain.header(x5c: [try chain.leafWithPadding, chain.intermediate, chain.root]).replacing("=", with: "")
        },
        header("a certificate: in base64url", .certificateNotBase64, .leaf) { chain in
            let leaf = try chain.leafWithPadding
            return chain.header(x5c: [leaf, chain.intermediate, chain.root]).replacing(
                String(decoding: Base64.text(of: leaf), as: UTF8.self),
                with: String(decoding: Base64URL.text(of: leaf), as: UTF8.self))
        },
        certificate("in PEM", .certificateNotBase64) {
            #"-----BEGIN CERTIFICATE-----\n"# + String(decoding: Base64.text(of: $0), as: UTF8.self)
                + #"\n-----END CERTIFICATE-----\n"#
        },
        certificate("empty", .certificateUnreadable) { _ in "" },
        bytes("with a byte after it") { $0.leaf + [0] },
        bytes("twice") { $0.leaf + $0.leaf },
        bytes("without its last byte") { $0.leaf.dropLast() },
        bytes("a public key") { $0.leafKey.publicKey },
        bytes("text") { _ in Array("abc".utf8) },
        bytes("null") { _ in DER.null },
        bytes("an empty sequence") { _ in DER.sequence() },
        bytes("with a length of indefinite form") { $0.leaf.inIndefiniteForm },
        bytes("with a length of needless bytes") { $0.leaf.withLongerLength },
        bytes("of 17 KiB") { chain in
            var certificate = TestChain.leaf(chain.leafKey)
            certificate.extensions.append(
                .init(oid: "1.2.3.4", value: DER.octetString([UInt8](repeating: 0, count: 17 * 1024))))
            return try certificate.signed(by: chain.intermediateKey)
        },
        bytes("of more than 100 kB") { _ in [UInt8](repeating: 0x30, count: 100_000) },
        bytes("with basic constraints that are malformed") { chain in
            var certificate = TestChain.leaf(chain.leafKey)
            certificate.put(.init(oid: "2.5.29.19", value: DER.null))
            return try certificate.signed(by: chain.intermediateKey)
        },
        bytes("with basic constraints twice") { chain in
            var certificate = TestChain.leaf(chain.leafKey)
            certificate.extensions.append(.basicConstraints(isCA: false))
            return try certificate.signed(by: chain.intermediateKey)
        },
        header("an intermediate certificate that is not base64", .certificateNotBase64, .intermediate) {
            $0.header.replacing(String(decoding: Base64.text(of: $0.intermediate), as: UTF8.self), with: "&")
        },
        header("an intermediate certificate with a byte after it", .certificateUnreadable, .intermediate) {
            $0.header(x5c: [$0.leaf, $0.intermediate + [0], $0.root])
        },
    ]

    private static let objects: [Forgery] = [
        header("a header with alg twice", .headerNotJSON) { $0.header.replacing("{", with: #"{"alg":"ES256","#) },
        header("a header with alg twice, once escaped", .headerNotJSON) {
            $0.header.replacing("{", with: #"{"\u0061lg":"none","#)
        },
        header("a header with x5c twice", .headerNotJSON) { $0.header.replacing("{", with: #"{"x5c":[],"#) },
        header("a header with an unknown name twice", .headerNotJSON) {
            $0.header.replacing("{", with: #"{"kid":"1","kid":"2","#)
        },
        header("a header that is an array", .headerNotJSON) { "[" + $0.header + "]" },
        header("a header with text after it", .headerNotJSON) { $0.header + "{}" },
        header("a header with a trailing comma", .headerNotJSON) { $0.header.dropLast() + ",}" },
        header("a header with a byte-order mark", .headerNotJSON) { "\u{FEFF}" + $0.header },
        header("a header nested 17 levels deep", .headerNotJSON) { chain in
            chain.header.replacing("{", with: "{" + nested(17).dropFirst().dropLast() + ",")
        },
        header("a header with 65 members", .headerNotJSON) { chain in
            chain.header.dropLast() + (0..<63).map { #","m\#($0)":0"# }.joined() + "}"
        },
        text("a header that is not UTF-8", .headerNotJSON) { chain in
            let member = [0x2C, 0x22, 0xFF, 0x22, 0x3A, 0x30, 0x7D] as [UInt8]  // ,"\xFF":0}
            return try chain.jws(
                header: Array(chain.header.dropLast().utf8) + member, payload: Array(TestChain.payload.utf8))
        },
        text("a header in UTF-16", .headerNotJSON) { chain in
            try chain.jws(header: Array(chain.header.utf8).flatMap { [$0, 0] }, payload: Array(TestChain.payload.utf8))
        },
    ]

    /// A header in which text takes the place of the leaf certificate.
    private static func certificate(
        _ name: String, _ code: VerificationFailure.Code,
        _ make: @escaping @Sendable (_ leaf: [UInt8]) throws -> String
    ) -> Forgery {
        header("a certificate: " + name, code, .leaf) { chain in
            chain.header.replacing(
                String(decoding: Base64.text(of: chain.leaf), as: UTF8.self), with: try make(chain.leaf))
        }
    }

    /// A header in which bytes take the place of the leaf certificate.
    private static func bytes(
        _ name: String, _ make: @escaping @Sendable (_ chain: TestChain) throws -> [UInt8]
    ) -> Forgery {
        header("a certificate: " + name, .certificateUnreadable, .leaf) { chain in
            chain.header(x5c: [try make(chain), chain.intermediate, chain.root])
        }
    }
}

extension TestChain {
    /// A leaf whose base64 ends in padding.
    fileprivate var leafWithPadding: [UInt8] {
        get throws {
            var leaf = leaf
            // The length of a signature varies, and so does the length of the padding.
            while leaf.count % 3 == 0 { leaf = try TestChain.leaf(leafKey).signed(by: intermediateKey) }
            return leaf
        }
    }
}

extension [UInt8] {
    /// The same value in BER with a length of indefinite form (X.690 section 8.1.3.6).
    fileprivate var inIndefiniteForm: [UInt8] { [0x30, 0x80] + dropFirst(4) + [0, 0] }

    /// The same value in BER with one more byte for the length.
    fileprivate var withLongerLength: [UInt8] { [0x30, 0x83, 0x00] + dropFirst(2) }
}
