-- The hosts of a fleet, as of their last heartbeats. They serve all tenants.
CREATE TABLE hosts (
    name      text COLLATE "C" NOT NULL PRIMARY KEY,
    version   text COLLATE "C" NOT NULL,
    capacity      integer          NOT NULL,
    busy      integer          NOT NULL,
    kept      integer          NOT NULL,
    disk_free bigint           NOT NULL,
    is_full   boolean          NOT NULL,
    draining  boolean          NOT NULL,
    seen      timestamptz      NOT NULL
) WITH (fillfactor = 50);

-- The workspaces of a fleet. A directory belongs to one tenant: its path is the
-- same on every host, so two tenants cannot both have it.
CREATE TABLE workspaces (
    dir        text COLLATE "C" NOT NULL PRIMARY KEY,
    tenant     text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL DEFAULT '',
    host       text COLLATE "C" NOT NULL DEFAULT '', -- '' is nowhere
    epoch      bigint           NOT NULL DEFAULT 0,  -- counts the hosts it was given to
    placed     timestamptz,                          -- when it was given to the last one
    checkpoint text COLLATE "C" NOT NULL DEFAULT '',
    size       bigint           NOT NULL DEFAULT 0,
    saved      timestamptz
) WITH (fillfactor = 70);

-- Not on columns that Saved changes, which runs after each call.
CREATE INDEX workspaces_by_host ON workspaces (host, placed);
