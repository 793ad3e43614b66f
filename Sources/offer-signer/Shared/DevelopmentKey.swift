import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import OfferService

/// The key that `--development` signs with: an ordinary key file that the App Store does not know.
enum DevelopmentKey {
    /// Creates the key if `configuration` requires it and it does not exist yet.
    static func createIfWanted(_ configuration: Configuration) throws {
        guard configuration.isDevelopment, let id = configuration.keys.wanted.choice.ofAllApps else { return }
        do {
            try configuration.keys.folder.create(id, pem: try PrivateKeyPEM.generate())
        } catch KeyFileError.exists {
            // The key was created earlier, or by another process just now.
        } catch let error as KeyFileError {
            throw error.problem
        }
        StandardStreams.printError(warning)
    }

    private static let warning = """
        ************************************************************************
        DEVELOPMENT KEY: the App Store will refuse every signature made with it.
        For real signatures, use a key from App Store Connect: see README.md.
        ************************************************************************

        """
}
