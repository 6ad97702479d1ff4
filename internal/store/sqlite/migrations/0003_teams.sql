-- The owner of a session, and the users who may read it too.
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN shared TEXT NOT NULL DEFAULT '[]'; -- JSON, a list of users

CREATE INDEX sessions_by_owner ON sessions (owner, parent, updated DESC, id DESC);

-- API tokens of a server. They are not in the log, so that readers of a session
-- cannot see the hashes of the secrets.
CREATE TABLE tokens (
    id       TEXT    NOT NULL PRIMARY KEY,
    name     TEXT    NOT NULL,
    owner    TEXT    NOT NULL, -- the user in whose name it is used
    scope    TEXT    NOT NULL,
    hash     TEXT    NOT NULL UNIQUE, -- the secret's SHA-256 in hex
    created  INTEGER NOT NULL,
    expires  INTEGER, -- NULL means never, and so on
    used     INTEGER,
    revoked  INTEGER,
    rate     INTEGER NOT NULL, -- requests a minute; 0 means no bound, and so on
    budget   INTEGER NOT NULL, -- billionths of a dollar, a day
    parallel INTEGER NOT NULL,
    streams  INTEGER NOT NULL
) STRICT;
