-- The log. A table with rowids keeps a body of up to 4 KB in the leaf page;
-- WITHOUT ROWID would take twice the space for bodies of 1-4 KB.
CREATE TABLE events (
    session_id TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    at         INTEGER NOT NULL, -- microseconds since 1970, as all times here
    kind       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    body       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (session_id, seq)
) STRICT;

-- The projection of the log for lists.
CREATE TABLE sessions (
    id           TEXT    NOT NULL PRIMARY KEY,
    parent       TEXT    NOT NULL,
    dir          TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    title_words  TEXT    NOT NULL, -- normalized for search, joined by spaces
    prompt       TEXT    NOT NULL,
    prompt_words TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    head         INTEGER NOT NULL, -- the newest event's seq
    turns        INTEGER NOT NULL,
    turn_open    INTEGER NOT NULL,
    queued       INTEGER NOT NULL,
    input        INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    reasoning    INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    cost         INTEGER NOT NULL, -- billionths of a dollar
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_parent ON sessions (parent, updated DESC, id DESC);
CREATE INDEX sessions_by_dir ON sessions (dir, parent, updated DESC, id DESC);

-- The current state of a streaming reply. Each save overwrites it.
CREATE TABLE drafts (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    body       TEXT NOT NULL -- JSON
) STRICT;

-- Which process works on a session, and until when unless it renews the lease.
CREATE TABLE leases (
    session_id TEXT    NOT NULL PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    expires    INTEGER NOT NULL
) STRICT;
