package import OfferCore

/// The declaration of one setting: its variable, flag, default, parser and reload rule.
package struct Setting<Value: Hashable & Sendable>: SettingDeclaration {
    /// Parses the text of a variable or flag.
    /// - `name`: the name of the setting in problems. No problem repeats the text, because it may be a secret in the
    ///   wrong variable.
    /// - Returns: nil if the text is invalid; `problems` then says why.
    package typealias Parser = @Sendable (_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Value?

    package let variable: String
    package let flag: String?
    package let summary: String
    package let details: String?
    package let defaultText: String?
    package let isSecret: Bool
    package let isSwitch: Bool
    package let refusesEmpty: Bool
    package let reload: ReloadRule
    /// The value if neither the flag nor the variable is set.
    package let defaultValue: Value
    let parse: Parser

    /// - Parameters:
    ///   - name: the variable without its prefix.
    ///   - flag: the flag without its leading hyphens; nil for a setting that has only a variable.
    ///   - summary: the text for `--help`: a noun phrase or an imperative sentence, without a full stop.
    ///   - details: further sentences for the documentation, in Markdown with links from `docs`.
    ///   - defaultText: the default as shown in `--help` and the documentation; nil if there is none.
    init(
        _ name: String, flag: String? = nil, _ summary: String, details: String? = nil, default defaultValue: Value,
        _ defaultText: String? = nil, isSecret: Bool = false, isSwitch: Bool = false, refusesEmpty: Bool = false,
        reload: ReloadRule,
        parse: @escaping Parser
    ) {
        variable = "SUBSCRIPTION_OFFERS_" + name
        self.flag = flag
        self.summary = summary
        self.details = details
        self.defaultValue = defaultValue
        self.defaultText = defaultText
        self.isSecret = isSecret
        self.isSwitch = isSwitch
        self.refusesEmpty = refusesEmpty
        self.reload = reload
        self.parse = parse
    }
}

extension Setting {
    /// Returns the first problem with a string for this setting; nil if it can be parsed.
    package func problem(with text: String) -> Diagnostic? {
        var problems: [Diagnostic] = []
        _ = parse(text, name, &problems)
        return problems.first
    }
}

/// The time at which a changed setting takes effect.
package enum ReloadRule: String, Sendable {
    /// A change takes effect at the next SIGHUP.
    case onReload = "SIGHUP"
    /// A change takes effect at the next restart. SIGHUP reports the change but keeps the old value.
    case onRestart = "restart"
}

/// The part of a setting's declaration that does not depend on the type of its value.
package protocol SettingDeclaration: Sendable {
    /// The environment variable, such as `SUBSCRIPTION_OFFERS_PORT`.
    var variable: String { get }
    /// The name of the flag, such as `port`; nil if there is none.
    var flag: String? { get }
    var summary: String { get }
    var details: String? { get }
    var defaultText: String? { get }
    /// True if the value must never be shown.
    var isSecret: Bool { get }
    /// True if the flag takes no value.
    var isSwitch: Bool { get }
    /// True if a variable that is set but empty is a problem. Otherwise, an empty variable counts as unset.
    var refusesEmpty: Bool { get }
    var reload: ReloadRule { get }
}

extension SettingDeclaration {
    /// The name of the setting in problem texts.
    package var name: String { flag.map { "\(variable) or --\($0)" } ?? variable }

    /// The text that `--help` shows for the flag.
    package var help: String { "\(summary) (\(variable)\(defaultText.map { "; default: \($0)" } ?? ""))." }
}

extension Setting where Value == Bool {
    /// Declares a switch that is off by default.
    init(
        _ name: String, flag: String? = nil, _ summary: String, details: String? = nil, isSwitch reload: ReloadRule
    ) {
        self.init(
            name, flag: flag, summary, details: details, default: false, "off", isSwitch: true, reload: reload,
            parse: Parse.switch)
    }
}
