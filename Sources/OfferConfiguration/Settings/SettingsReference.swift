/// The text about settings in docs/configuration.md and the man page.
extension SettingGroup {
    /// The group as a section with a table, in Markdown.
    package var markdown: String {
        let rows = settings.map { setting in
            """
            | `\(setting.variable)` | \(setting.flag.map { "`--\($0)`" } ?? "") | \(setting.meaning) | \
            \(setting.markdownDefault) | \(setting.reload.rawValue) |
            """
        }
        return """
            ### \(title)
            \(introduction.map { "\n" + $0 + "\n" } ?? "")
            | variable | flag | meaning | default | takes effect |
            |---|---|---|---|---|
            \(rows.joined(separator: "\n"))

            """
    }

    /// The settings as list items, in mdoc.
    package var manual: String { settings.map(\.manual).joined() }
}

extension SettingDeclaration {
    fileprivate var meaning: String { details.map { "\(summary). \($0)" } ?? summary }

    fileprivate var markdownDefault: String {
        defaultText.map { $0.contains(" ") ? $0 : "`\($0)`" } ?? "none"
    }

    fileprivate var manual: String {
        let value = isSwitch ? "" : " Ar value"
        return """
            .It Ev \(variable)\(flag.map { " , Fl -\($0)\(value)" } ?? "")
            \(Manual.text("\(meaning).".replacing("..", with: ".")))
            \(defaultText.map { "Default: \(Manual.text($0)).\n" } ?? "")
            """
    }
}

/// Text in mdoc, the format of man pages.
package enum Manual {
    /// Converts a paragraph of Markdown: links become their text, and each sentence gets its own line.
    package static func text(_ markdown: String) -> String {
        markdown.replacing(/\[([^\]]+)\]\([^)]*\)/) { $0.output.1 }
            .replacing("`", with: "").replacing("**", with: "").replacing("\\", with: "\\e")
            .replacing(/\. (?=[A-Z])/) { _ in ".\n" }
            // A line that begins with a dot or an apostrophe is a macro.
            .split(separator: "\n").map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : $0 }
            .joined(separator: "\n")
    }
}
