-- What searches find: the texts of messages and titles.
CREATE TABLE search_texts (
    tenant     text COLLATE "C" NOT NULL DEFAULT pawl_tenant(),
    session_id text COLLATE "C" NOT NULL,
    seq        bigint           NOT NULL, -- the event with the text
    message    bigint           NOT NULL, -- the message that has the text, 0 for titles
    words      text COLLATE "C" NOT NULL, -- normalized, each between two spaces, for phrases
    lexemes    tsvector         NOT NULL, -- the words and the tenant, not made with to_tsvector, whose parser would split them again
    PRIMARY KEY (tenant, session_id, seq),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);
CREATE INDEX search_texts_by_word ON search_texts USING gin (lexemes);

-- Texts that searches do not find: those of messages that were undone, withdrawn or
-- replaced, and older titles.
CREATE TABLE search_hidden (
    tenant     text COLLATE "C" NOT NULL DEFAULT pawl_tenant(),
    session_id text COLLATE "C" NOT NULL,
    hidden_by  bigint           NOT NULL, -- the event that hides older texts
    first      bigint           NOT NULL, -- of these messages
    last       bigint           NOT NULL,
    PRIMARY KEY (tenant, session_id, hidden_by),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);

-- The search of the transaction, the setting pawl.search, within its tenant; NULL without one.
CREATE FUNCTION pawl_search() RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE AS
    $$SELECT nullif(current_setting('pawl.search', true), '')::tsquery && ('''t:' || pawl_tenant() || '''')::tsquery$$;

ALTER TABLE search_hidden ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_hidden FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON search_hidden USING (tenant = pawl_tenant()) WITH CHECK (tenant = pawl_tenant());

-- With a policy, the server uses an index only for conditions of the policy and for
-- operators that cannot leak hidden rows (leakproof), which @@ is not. So the search is
-- a part of the policy: a transaction sees only the rows of its tenant that it searches for.
ALTER TABLE search_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_texts FORCE ROW LEVEL SECURITY;
CREATE POLICY found ON search_texts FOR SELECT USING (tenant = pawl_tenant() AND lexemes @@ pawl_search());
CREATE POLICY own ON search_texts FOR INSERT WITH CHECK (tenant = pawl_tenant());
