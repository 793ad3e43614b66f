import OfferConfiguration
import OfferCore
import OfferEligibility

extension FuzzTarget {
    /// The `instead` of an app. The input stands in a configuration file, each line below the app.
    static let alternatives = FuzzTarget("alternatives") { input throws(BrokenPromise) in
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let indented = lines.flatMap { Array("      ".utf8) + $0 + [UInt8(ascii: "\n")] }
        let (file, problems) = ConfigurationFile.read(Array(head.utf8) + indented, name: "yaml")
        guard problems.isEmpty, let app = file.catalogue?.apps.values.first else { return }
        let cases = app.rules.instead
        try promise("a list is never empty", !cases.isEmpty)
        for (place, item) in cases.enumerated() {
            try promise("no case tests a sample", item.rule?.sampleNames.isEmpty != false)
            let isLast = place == cases.count - 1
            switch item.content {
            case .product(let product):
                try promise("a product is in the catalogue", app.groups[product] != nil)
                continue
            case .message(let key, let text):
                try promise(
                    "a key is a short name",
                    (1...64).contains(key.utf8.count)
                        && key.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-.".utf8.contains($0) })
                try promise(
                    "a text is bounded", text.map { (1...1024).contains($0.utf8.count) && !$0.utf8.contains(0) } ?? true
                )
            case .manageSubscriptions, .updatePayment, .nothing: break
            }
            try promise("every case can be reached", item.rule != nil || isLast)
        }
    }

    private static let head = """
        apps:
          - bundleID: com.example.app
            products:
              - {productID: basic, subscriptionGroupID: "21012345", offers: []}
              - {productID: pro, subscriptionGroupID: "21012345", offers: [keep]}
            instead:

        """
}
