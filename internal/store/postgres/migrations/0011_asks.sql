-- What lists show of a session: the agent, the permission mode, the last line of the newest
-- reply, the event that started the newest turn and how it ended, and the number of open asks.
ALTER TABLE sessions
    ADD COLUMN agent text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN mode text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN last text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN turn_at bigint NOT NULL DEFAULT 0,
    ADD COLUMN ended text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN asks int NOT NULL DEFAULT 0;

CREATE INDEX sessions_asking ON sessions (tenant, updated DESC, id DESC) WHERE asks > 0;
