import OfferCore
import OfferIdentity
import StoreTestSupport
import TestSupport

/// An identity provider whose tokens name accounts of the app.
struct AccountProvider {
    private let key = ProviderKey()
    let issuer = UserIssuer(
        issuer: "https://id.example.com/", audience: "com.example.offers", keys: .file(path: "keys"),
        algorithms: [.es256], customer: .appAccountToken("sub"), apps: nil)

    /// Lets a service accept this provider's tokens.
    func join(_ service: StoreService) async throws {
        let set = try await KeySetReader { _, _ in KeySetText([]) }.keys(
            in: Array(ProviderKey.set(key).utf8), from: issuer.keys
        ).set
        service.routes.userKeys.replace(set, of: issuer)
    }

    /// Returns the token of a user who is signed in to an account.
    func token(_ account: UInt64) throws -> String {
        let end = Sample.day(4000).milliseconds / 1000
        let claims =
            #"{"iss":"\#(issuer.name)","aud":"com.example.offers","exp":\#(end),"sub":"\#(Sample.token(account).description)"}"#
        return try key.token(claims: claims)
    }
}
