/// The settings of Apple's performance test, which sends requests to the sandbox URL.
package struct PerformanceTestConfiguration: Hashable, Sendable {
    package let maximumConcurrency: Int64
    package let totalRequests: Int64
    /// The duration in milliseconds, the unit of ``responseTimeThreshold`` too.
    package let totalDuration: Int64
    package let responseTimeThreshold: Int64
    /// In percent.
    package let successRateThreshold: Int64

    init(_ answer: AnswerReader) throws(AnswerError) {
        maximumConcurrency = try answer.integer("maxConcurrentRequests")
        totalRequests = try answer.integer("totalRequests")
        totalDuration = try answer.integer("totalDuration")
        responseTimeThreshold = try answer.integer("responseTimeThreshold")
        successRateThreshold = try answer.integer("successRateThreshold")
    }
}

/// A performance test that Apple has started.
package struct StartedPerformanceTest: Hashable, Sendable {
    package let requestID: String
    package let configuration: PerformanceTestConfiguration
}

/// The result of a performance test.
package struct PerformanceTestResult: Hashable, Sendable {
    package enum Outcome: String, Sendable {
        case pending = "PENDING"
        case pass = "PASS"
        case fail = "FAIL"
    }

    /// The outcome; nil if this version does not know it.
    package let outcome: Outcome?
    /// In percent.
    package let successRate: Int64?
    /// The answer as received.
    package let json: [UInt8]
}
