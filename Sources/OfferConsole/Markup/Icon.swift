/// Small pictures beside texts. They say nothing that the text does not say.
enum Icon {
    static let brand: HTML = """
        <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">\
        <path d="M3 2h9l5 5v11H3z" class="mark-ticket"/><path d="M6 13l8-5" class="mark-line"/>\
        <circle cx="7" cy="8.5" r="1.4" class="mark-dot"/><circle cx="13" cy="12.5" r="1.4" class="mark-dot"/></svg>
        """

    static let tick: HTML = """
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">\
        <path d="M3 8.5l3.2 3.2L13 4.8"/></svg>
        """

    static let cross: HTML = """
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">\
        <path d="M4 4l8 8M12 4l-8 8"/></svg>
        """

    static let question: HTML = """
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">\
        <path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.8-1.1 1.7M8 12.6v.4"/></svg>
        """

    static let information: HTML = """
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">\
        <circle cx="8" cy="8" r="6.5"/><path d="M8 7.5v4M8 4.6v.4"/></svg>
        """

    static let warning: HTML = """
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">\
        <path d="M8 2L15 14H1zM8 6.5v3.5M8 11.8v.4"/></svg>
        """
}
