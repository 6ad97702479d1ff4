-- The log, partitioned by session: no index or lock spans two sessions. The body
-- is json, not jsonb, so that its bytes are kept and \u0000 is legal. There is no
-- foreign key: the statement that inserts events has already locked the session's
-- row.
CREATE TABLE events (
    session_id text COLLATE "C" NOT NULL,
    seq        bigint           NOT NULL,
    turn       integer          NOT NULL,
    at         timestamptz      NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    version    integer          NOT NULL,
    body       json             NOT NULL,
    PRIMARY KEY (session_id, seq)
) PARTITION BY HASH (session_id);

DO $$
BEGIN
    FOR i IN 0..31 LOOP
        EXECUTE format('CREATE TABLE events_%s PARTITION OF events FOR VALUES WITH (MODULUS 32, REMAINDER %s)',
            to_char(i, 'FM00'), i);
    END LOOP;
END $$;

-- The projection of the log for lists. Each append updates its row. The free space
-- in the pages (fillfactor) allows HOT updates, without a new entry in any index,
-- as long as no indexed column changes. This is why updated changes only at the
-- start and end of turns.
CREATE TABLE sessions (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    parent       text COLLATE "C" NOT NULL,
    dir          text COLLATE "C" NOT NULL,
    created      timestamptz      NOT NULL,
    updated      timestamptz      NOT NULL,
    head         bigint           NOT NULL, -- the newest event's seq
    turns        integer          NOT NULL,
    turn_open    boolean          NOT NULL,
    queued       integer          NOT NULL,
    input        bigint           NOT NULL,
    output       bigint           NOT NULL,
    reasoning    bigint           NOT NULL,
    cache_read   bigint           NOT NULL,
    cache_write  bigint           NOT NULL,
    cost         bigint           NOT NULL, -- billionths of a dollar
    model        text COLLATE "C" NOT NULL,
    title        text COLLATE "C" NOT NULL,
    prompt       text COLLATE "C" NOT NULL,
    title_words  text[] COLLATE "C" NOT NULL, -- normalized for search
    prompt_words text[] COLLATE "C" NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX sessions_by_parent ON sessions (parent, updated DESC, id DESC);
CREATE INDEX sessions_by_dir ON sessions (dir, parent, updated DESC, id DESC);
CREATE INDEX sessions_unfinished ON sessions (parent, updated DESC, id DESC) WHERE turn_open OR queued > 0;
-- Built from the words, not with to_tsvector, whose parser would split them again
-- by rules that depend on the database's locale.
CREATE INDEX sessions_by_word ON sessions USING gin (array_to_tsvector(title_words || prompt_words));

-- The current state of a streaming reply. Each save overwrites it.
CREATE TABLE drafts (
    session_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    body       json             NOT NULL
) WITH (fillfactor = 70);

-- Which process works on a session, and until when unless it renews the lease.
CREATE TABLE leases (
    session_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    owner      text COLLATE "C" NOT NULL,
    taken_from text COLLATE "C" NOT NULL, -- the owner before, if it had not released it
    expires    timestamptz      NOT NULL
) WITH (fillfactor = 70);

-- Large outputs, in parts of 256 KiB.
CREATE TABLE blobs (
    session_id text COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id         text COLLATE "C" NOT NULL, -- the content's SHA-256 in hex
    size       bigint           NOT NULL,
    PRIMARY KEY (session_id, id)
);

CREATE TABLE blob_parts (
    session_id text COLLATE "C" NOT NULL,
    blob_id    text COLLATE "C" NOT NULL,
    part       integer          NOT NULL, -- from 0
    data       bytea            NOT NULL,
    PRIMARY KEY (session_id, blob_id, part),
    FOREIGN KEY (session_id, blob_id) REFERENCES blobs ON DELETE CASCADE
);
