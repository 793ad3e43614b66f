/// The controls of forms.
enum Form {
    /// - Parameters:
    ///   - attributes: further attributes, with a space before each.
    ///   - hint: a sentence below the label.
    static func text(
        _ name: StaticString, label: StaticString, value: String, attributes: StaticString = "",
        hint: StaticString? = nil
    ) -> HTML {
        let described: HTML? = hint.map { _ in #" aria-describedby="\#(name)-hint""# }
        return """
            <div class="field"><label for="\(name)">\(label)</label>\(hint.map { hintParagraph(name, $0) })
            <input id="\(name)" name="\(name)" value="\(value)" autocomplete="off" spellcheck="false"\(described)\
            \(attributes)></div>

            """
    }

    static func select(_ name: StaticString, label: StaticString, _ options: [HTML]) -> HTML {
        return """
            <div class="field"><label for="\(name)">\(label)</label>
            <select id="\(name)" name="\(name)">\(options)</select></div>

            """
    }

    static func option(_ value: String, _ title: String, isSelected: Bool) -> HTML {
        let mark: HTML = isSelected ? " selected" : ""
        return #"<option value="\#(value)"\#(mark)>\#(UserText.short(title, bytes: 100))</option>"#
    }

    private static func hintParagraph(_ name: StaticString, _ hint: StaticString) -> HTML {
        #"<p class="hint" id="\#(name)-hint">\#(hint)</p>"#
    }
}
