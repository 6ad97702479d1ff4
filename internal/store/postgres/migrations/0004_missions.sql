-- Where the mission is that a session commands; '' for all others.
ALTER TABLE sessions
    ADD COLUMN mission text COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX sessions_commanding ON sessions (parent, updated DESC, id DESC) WHERE mission <> '';
