-- The owner of a session, and the users who may read it too.
ALTER TABLE sessions
    ADD COLUMN owner  text COLLATE "C"   NOT NULL DEFAULT '',
    ADD COLUMN shared text[] COLLATE "C" NOT NULL DEFAULT '{}';

CREATE INDEX sessions_by_owner ON sessions (owner, parent, updated DESC, id DESC);
CREATE INDEX sessions_by_reader ON sessions USING gin (shared);

-- API tokens of a server. They are not in the log, so that readers of a session
-- cannot see the hashes of the secrets.
CREATE TABLE tokens (
    id       text COLLATE "C" NOT NULL PRIMARY KEY,
    name     text COLLATE "C" NOT NULL,
    owner    text COLLATE "C" NOT NULL, -- the user in whose name it is used
    scope    text COLLATE "C" NOT NULL,
    hash     text COLLATE "C" NOT NULL UNIQUE, -- the secret's SHA-256 in hex
    created  timestamptz      NOT NULL,
    expires  timestamptz, -- NULL means never, and so on
    used     timestamptz,
    revoked  timestamptz,
    rate     integer          NOT NULL, -- requests a minute; 0 means no bound, and so on
    budget   bigint           NOT NULL, -- billionths of a dollar, a day
    parallel integer          NOT NULL,
    streams  integer          NOT NULL
);
