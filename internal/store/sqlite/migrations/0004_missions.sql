-- The state of the mission that a session commands, '' if there is none.
ALTER TABLE sessions ADD COLUMN mission TEXT NOT NULL DEFAULT '';

CREATE INDEX sessions_commanding ON sessions (parent, updated DESC, id DESC) WHERE mission <> '';
