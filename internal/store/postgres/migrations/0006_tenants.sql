-- The tenant of each row. Row-level security restricts every query to the tenant
-- of the connection: the setting pawl.tenant is t: followed by its name. A
-- connection without it reads and writes nothing.
--
-- The value * is for operations on the whole fleet. It can read tokens and
-- workspaces, and write nothing.
ALTER TABLE sessions ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE drafts ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE blobs ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE blob_parts ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE usage_days ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';

-- Lists are of one tenant, so the indexes begin with it.
DROP INDEX sessions_by_parent, sessions_by_dir, sessions_unfinished, sessions_by_owner, sessions_commanding, usage_by_day;
CREATE INDEX sessions_by_parent ON sessions (tenant, parent, updated DESC, id DESC);
CREATE INDEX sessions_by_dir ON sessions (tenant, dir, parent, updated DESC, id DESC);
CREATE INDEX sessions_unfinished ON sessions (tenant, parent, updated DESC, id DESC) WHERE turn_open OR queued > 0;
CREATE INDEX sessions_by_owner ON sessions (tenant, owner, parent, updated DESC, id DESC);
CREATE INDEX sessions_commanding ON sessions (tenant, parent, updated DESC, id DESC) WHERE mission <> '';
CREATE INDEX usage_by_day ON usage_days (tenant, day);

-- Foreign keys are checked without policies. With the tenant in them, a tenant
-- cannot add rows to a session of another one.
ALTER TABLE sessions ADD CONSTRAINT sessions_by_tenant UNIQUE (tenant, id);
ALTER TABLE drafts DROP CONSTRAINT drafts_session_id_fkey,
    ADD FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE;
ALTER TABLE leases DROP CONSTRAINT leases_session_id_fkey,
    ADD FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE;
ALTER TABLE blobs DROP CONSTRAINT blobs_session_id_fkey,
    ADD FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE;
ALTER TABLE usage_days DROP CONSTRAINT usage_days_session_id_fkey,
    ADD FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE;

-- Search words and readers of sessions are rows, not arrays: with a policy, the
-- server uses an index only for operators that cannot leak hidden rows
-- (leakproof), and those of arrays can.
CREATE TABLE session_words (
    tenant     text COLLATE "C" NOT NULL,
    word       text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, word, session_id),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);
CREATE INDEX session_words_by_session ON session_words (tenant, session_id);

CREATE TABLE session_readers (
    tenant     text COLLATE "C" NOT NULL,
    reader     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, reader, session_id),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) ON DELETE CASCADE
);
CREATE INDEX session_readers_by_session ON session_readers (tenant, session_id);

INSERT INTO session_words SELECT DISTINCT tenant, word, id FROM sessions, unnest(title_words || prompt_words) AS word;
INSERT INTO session_readers SELECT DISTINCT tenant, reader, id FROM sessions, unnest(shared) AS reader;

DROP INDEX sessions_by_word;
DROP INDEX sessions_by_reader;

CREATE FUNCTION note_session_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM session_words WHERE tenant = NEW.tenant AND session_id = NEW.id;
    END IF;
    INSERT INTO session_words SELECT DISTINCT NEW.tenant, word, NEW.id FROM unnest(NEW.title_words || NEW.prompt_words) AS word;
    RETURN NULL;
END $$;

CREATE FUNCTION note_session_readers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM session_readers WHERE tenant = NEW.tenant AND session_id = NEW.id;
    END IF;
    INSERT INTO session_readers SELECT DISTINCT NEW.tenant, reader, NEW.id FROM unnest(NEW.shared) AS reader;
    RETURN NULL;
END $$;

CREATE TRIGGER words_of_new AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION note_session_words();
CREATE TRIGGER words_changed AFTER UPDATE OF title_words, prompt_words ON sessions FOR EACH ROW
    WHEN (OLD.title_words IS DISTINCT FROM NEW.title_words OR OLD.prompt_words IS DISTINCT FROM NEW.prompt_words)
    EXECUTE FUNCTION note_session_words();
CREATE TRIGGER readers_of_new AFTER INSERT ON sessions FOR EACH ROW
    WHEN (NEW.shared <> '{}') EXECUTE FUNCTION note_session_readers();
CREATE TRIGGER readers_changed AFTER UPDATE OF shared ON sessions FOR EACH ROW
    WHEN (OLD.shared IS DISTINCT FROM NEW.shared) EXECUTE FUNCTION note_session_readers();

-- The tenant of the connection, NULL if it has none.
CREATE FUNCTION pawl_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS
    $$SELECT CASE WHEN current_setting('pawl.tenant', true) LIKE 't:%' THEN substr(current_setting('pawl.tenant', true), 3) END$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sessions', 'events', 'drafts', 'leases', 'blobs', 'blob_parts', 'usage_days', 'tokens',
        'workspaces', 'session_words', 'session_readers']
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN tenant SET DEFAULT pawl_tenant()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own ON %I USING (tenant = pawl_tenant()) WITH CHECK (tenant = pawl_tenant())', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['tokens', 'workspaces'] LOOP
        EXECUTE format($p$CREATE POLICY fleet ON %I FOR SELECT USING (current_setting('pawl.tenant', true) = '*')$p$, name);
    END LOOP;
    FOR i IN 0..31 LOOP -- without a policy: they are reached through events alone
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', 'events_' || to_char(i, 'FM00'));
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', 'events_' || to_char(i, 'FM00'));
    END LOOP;
END $$;
