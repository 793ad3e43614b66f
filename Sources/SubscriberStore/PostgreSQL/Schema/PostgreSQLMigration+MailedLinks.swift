extension Migration {
    /// The same change as ``Migration/mailedLinks``, which explains the columns.
    static let mailedLinksInPostgreSQL = Migration(
        name: "mailed links",
        sql: """
            CREATE TABLE mailed_link (
                app BIGINT NOT NULL REFERENCES app,
                id BYTEA NOT NULL,
                campaign TEXT NOT NULL,
                kind BIGINT NOT NULL,
                value BYTEA NOT NULL,
                arm BIGINT NOT NULL,
                product_id TEXT NOT NULL,
                offer_id TEXT NOT NULL,
                made_at BIGINT NOT NULL,
                expires_at BIGINT NOT NULL,
                claimed_at BIGINT,
                PRIMARY KEY (app, id)
            );
            CREATE INDEX mailed_link_customer ON mailed_link (app, kind, value);
            CREATE INDEX mailed_link_campaign ON mailed_link (app, campaign, arm, claimed_at);
            CREATE INDEX offer_grant_persons ON offer_grant (app, at) WHERE reason <> 'link:campaign';
            CREATE TABLE link_visit (
                app BIGINT NOT NULL REFERENCES app,
                campaign TEXT NOT NULL,
                day BIGINT NOT NULL,
                is_personal BIGINT NOT NULL,
                visits BIGINT NOT NULL,
                PRIMARY KEY (app, campaign, day, is_personal)
            )
            """)
}
