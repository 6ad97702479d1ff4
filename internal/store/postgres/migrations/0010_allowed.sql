-- What people have allowed in a workspace: grants and trust, which go where it goes.
ALTER TABLE workspaces ADD COLUMN allowed text COLLATE "C" NOT NULL DEFAULT '';

-- The epoch that a workspace began in, or one before: that of an earlier one by the
-- same name, which was dropped, came before it.
ALTER TABLE workspaces ADD COLUMN born bigint NOT NULL DEFAULT 0;
