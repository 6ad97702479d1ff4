-- The projection of the log for statistics: the usage of replies. Updates of a row
-- are HOT, as in sessions.
CREATE TABLE usage_days (
    session_id  text COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    day         text COLLATE "C" NOT NULL, -- the UTC date, YYYY-MM-DD
    model       text COLLATE "C" NOT NULL,
    agent       text COLLATE "C" NOT NULL,
    replies     bigint           NOT NULL,
    input       bigint           NOT NULL,
    output      bigint           NOT NULL,
    reasoning   bigint           NOT NULL,
    cache_read  bigint           NOT NULL,
    cache_write bigint           NOT NULL,
    cost        bigint           NOT NULL, -- billionths of a dollar
    PRIMARY KEY (session_id, day, model, agent)
) WITH (fillfactor = 70);

CREATE INDEX usage_by_day ON usage_days (day);
