import OfferConfiguration
import OfferCore
import OfferHTTP
import OfferIdentity
import OfferService
import OutgoingHTTP

extension DoctorCommand {
    /// Reports where the console would be served, and how people sign in. The configuration was checked before: its address,
    /// its audit trail and its database.
    /// - Parameter isOnline: true to read what the identity provider publishes.
    func consoleProblems(_ settings: ConsoleSettings?, isOnline: Bool) async -> [Diagnostic] {
        guard let settings else { return [] }
        let address = settings.address.authority(port: settings.address.port)
        let transport = settings.origin.isSecure ? "over TLS" : "on this machine only"
        report("the console would be served on \(address) for \(settings.origin.text), \(transport)")
        guard let provider = settings.provider?.settings else {
            report("people would sign in to the console with links from 'offer-signer console sign-in'")
            return []
        }
        guard isOnline else {
            report("people would sign in to the console at \(provider.issuer.text); --online tests it")
            return []
        }
        do throws(Diagnostic) {
            let client = try provider.makeClient()
            let problem = await problem(with: OpenIDProvider(provider, client: client))
            await client.close()
            if let problem { throw problem }
            report("the identity provider \(provider.issuer.text) of the console answers")
            return []
        } catch { return [error] }
    }

    private func problem(with provider: OpenIDProvider) async -> Diagnostic? {
        do throws(SignInError) {
            _ = try await provider.begin(at: SystemInputs.system.now())
            return nil
        } catch { return error.diagnostic }
    }
}
