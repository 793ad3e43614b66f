import OfferCore

/// A reader of settings from flags, the environment and the defaults, in this order of precedence. It collects every
/// problem.
struct SettingReader {
    private let flags: Configuration.Flags
    /// The environment without empty values, because container tools unset a variable by setting it to the empty
    /// string. An empty variable is a problem if losing its value would open the service to strangers.
    private let environment: [String: String]
    private(set) var problems: [Diagnostic] = []
    /// The values read, by variable. A reload compares them to find changes.
    private(set) var values: [String: any Hashable & Sendable] = [:]

    init(flags: Configuration.Flags, environment: [String: String]) {
        self.flags = flags
        let emptyVariables = Settings.all.filter(\.refusesEmpty).map(\.variable).filter { variable in
            environment[variable]?.allSatisfy(\.isWhitespace) == true
        }
        self.environment = environment.filter { !$0.value.isEmpty && !emptyVariables.contains($0.key) }
        for variable in emptyVariables {
            add(
                "\(variable) is set but empty, so its callers could not make requests, but strangers could",
                hint: "check where its value comes from, or unset it")
        }
        for name in self.environment.keys.sorted() where Settings.isOurs(name) && !Self.known.contains(name) {
            add("\(name) is set, but there is no such setting", hint: "unset it, or use \(Self.list(Self.known))")
        }
    }

    private static let known = Settings.all.map(\.variable)
    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    mutating func add(_ error: String, hint: String) { problems.append(Diagnostic(error, hint: hint)) }

    /// Returns the value of a setting, or its default if it is not set or cannot be parsed.
    mutating func value<Value>(_ setting: Setting<Value>) -> Value {
        let value = text(setting).flatMap { setting.parse($0, setting.name, &problems) } ?? setting.defaultValue
        values[setting.variable] = value
        return value
    }

    /// Returns true if a flag or variable sets the setting.
    func isSet<Value>(_ setting: Setting<Value>) -> Bool { text(setting) != nil }

    /// Returns true if the command line sets the setting.
    func isFlag<Value>(_ setting: Setting<Value>) -> Bool { flags[setting] != nil }

    private func text<Value>(_ setting: Setting<Value>) -> String? {
        flags[setting] ?? environment[setting.variable]
    }
}
