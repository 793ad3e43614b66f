package import OfferCore
package import OfferCrypto
package import OfferEligibility

/// The key that protects the tokens of personal links against guessing.
package struct LinkKey: Sendable {
    private let key: HMACSHA256Key

    package init(_ secret: Secret) throws(OpenSSLError) {
        key = try HMACSHA256Key(Array(secret.reveal.utf8))
    }

    /// Returns the code of a token of an app.
    fileprivate func code(ofToken body: [UInt8], in app: BundleID) throws(OpenSSLError) -> [UInt8] {
        Array(try code("token", app.text.utf8, body).prefix(LinkToken.codeSize))
    }

    /// Returns the mark of a campaign in tokens.
    fileprivate func mark(of campaign: String) throws(OpenSSLError) -> [UInt8] {
        Array(try code("campaign", Array(campaign.utf8)).prefix(LinkToken.markSize))
    }

    private func code(_ purpose: StaticString, _ parts: [UInt8]...) throws(OpenSSLError) -> [UInt8] {
        // The length before each part keeps the parts apart.
        let message = parts.reduce(into: Array("offer-signer link \(purpose) 1".utf8)) { message, part in
            message += [0] + Array("\(part.count):".utf8) + part
        }
        return try key.code(of: message)
    }
}

/// The secret part of a personal link, which names no customer.
///
/// It has 33 bytes, in base64url 44 characters: the version 1, a mark of the campaign (4 bytes), the ID of the link (8), the
/// time at which it expires (4, in seconds since 1970), and 16 bytes of an HMAC-SHA256 over these and the app.
package struct LinkToken: Hashable, Sendable {
    package let id: [UInt8]
    package let expiresAt: Timestamp
    private let mark: [UInt8]

    static let codeSize = 16
    static let markSize = 4
    private static let version: UInt8 = 1
    private static let size = 33

    /// - Parameter link: a link with a time in whole seconds.
    package init(of link: MailedLink, under key: LinkKey) throws(OpenSSLError) {
        id = link.id
        expiresAt = link.expiresAt
        mark = try key.mark(of: link.campaign)
    }

    /// Reads a token of an app.
    /// - Returns: nil unless the key made the token for this app.
    package init?(_ text: String, in app: BundleID, under key: LinkKey) {
        guard text.utf8.count == (Self.size * 4 + 2) / 3, let bytes = Base64URL.bytes(of: Array(text.utf8)),
            bytes.count == Self.size, bytes[0] == Self.version
        else { return nil }
        let (body, code) = (Array(bytes.dropLast(Self.codeSize)), bytes.suffix(Self.codeSize))
        guard let right = try? key.code(ofToken: body, in: app),
            zip(code, right).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0
        else { return nil }
        mark = Array(body[1..<5])
        id = Array(body[5..<13])
        expiresAt = Timestamp(milliseconds: body[13..<17].reduce(Int64(0)) { $0 << 8 | Int64($1) } * 1000)
    }

    package func text(in app: BundleID, under key: LinkKey) throws(OpenSSLError) -> String {
        let seconds = UInt32(truncatingIfNeeded: expiresAt.milliseconds / 1000)
        let time = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> $0) }
        let body = [Self.version] + mark + id + time
        return String(decoding: Base64URL.text(of: body + (try key.code(ofToken: body, in: app))), as: UTF8.self)
    }

    /// Returns the campaign of the link, for its page; nil if the app no longer has it.
    func campaign(in policy: LinkPolicy, under key: LinkKey) -> Campaign? {
        policy.campaigns.first { (try? key.mark(of: $0.name)) == mark }
    }
}
