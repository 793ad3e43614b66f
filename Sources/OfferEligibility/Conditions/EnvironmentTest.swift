import OfferCore

/// `environment`: the customer's App Store environment.
package struct EnvironmentTest: CustomerTestKind {
    package static let name = "environment"
    package static let code = ReasonCode.environment
    package static let subject = "The environment"

    package let environments: Set<AppStoreEnvironment>

    package init(_ environments: Set<AppStoreEnvironment>) {
        self.environments = environments
    }

    package static func read(_ value: some RuleValue) -> Self? {
        value.values(among: AppStoreEnvironment.known).map(Self.init)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(environments.contains(context.facts.environment))
    }

    package var required: ReasonValue { .texts(environments.map(\.rawValue)) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        .text(context.facts.environment.rawValue)
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        .notification
    }

    package static func contradiction(among tests: [Self]) -> String? {
        tests.map(\.environments).areDisjoint() ? "no customer is in two environments" : nil
    }
}

extension CustomerTest {
    package static func environment(_ environments: Set<AppStoreEnvironment>) -> Self {
        Self(EnvironmentTest(environments))
    }
}
