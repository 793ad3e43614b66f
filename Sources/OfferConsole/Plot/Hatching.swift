/// Hatched areas, and the samples in legends.
enum Hatching {
    /// - Parameter id: the prefix of the pattern's ID, which must be unique in the page.
    static func definition(_ id: StaticString) -> HTML {
        """
        <defs><pattern id="\(id)-hatch" width="6" height="6" patternUnits="userSpaceOnUse" \
        patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>

        """
    }

    static func swatch(_ kind: Plot.Kind, _ style: PlotStyle) -> HTML {
        let shape: HTML =
            switch kind {
            case .line:
                #"<g class="series \#(style.name)"><path class="line" d="M1 7H23"/>\#(style.mark(x: 12, y: 7))</g>"#
            case .bars: #"<g class="series bars \#(style.name)"><rect x="7" y="2" width="10" height="10"/></g>"#
            case .band: #"<path class="band \#(style.name)" d="M1 2H23V12H1z"/>"#
            }
        return sample(shape)
    }

    /// An area with lines, drawn without a pattern, so that it needs no ID.
    static let incompleteSwatch: HTML = sample(#"<path class="hatch" d="M4 12L12 2M10 12L18 2M16 12L22 4.5"/>"#)

    static func sample(_ shape: HTML) -> HTML {
        #"<svg class="sample" viewBox="0 0 24 14" width="24" height="14" aria-hidden="true">\#(shape)</svg>"#
    }
}
