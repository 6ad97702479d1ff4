-- The permission rules and trust that users granted in a workspace, which move
-- with it.
ALTER TABLE workspaces ADD COLUMN allowed text COLLATE "C" NOT NULL DEFAULT '';

-- The epoch in which a workspace began, or an earlier one that is still later than
-- those of a dropped workspace of the same name.
ALTER TABLE workspaces ADD COLUMN born bigint NOT NULL DEFAULT 0;
