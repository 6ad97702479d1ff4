-- What lists show of a session: the agent, the permission mode, the last line of the newest
-- reply, the event that started the newest turn and how it ended, and the number of open asks.
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN mode TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN last TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN turn_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ended TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX sessions_asking ON sessions (updated DESC, id DESC) WHERE asks > 0;
