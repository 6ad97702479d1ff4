-- The projection of the log for statistics: the usage of replies.
CREATE TABLE usage_days (
    session_id  TEXT    NOT NULL REFERENCES sessions ON DELETE CASCADE,
    day         TEXT    NOT NULL, -- the UTC date, YYYY-MM-DD
    model       TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    replies     INTEGER NOT NULL,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    reasoning   INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost        INTEGER NOT NULL, -- billionths of a dollar
    PRIMARY KEY (session_id, day, model, agent)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_day ON usage_days (day);
