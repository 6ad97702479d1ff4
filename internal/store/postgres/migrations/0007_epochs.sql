-- The epochs of all workspaces, from one sequence so that none is used twice: a
-- directory that is dropped and created again must not start with an epoch that an
-- old host still has.
CREATE SEQUENCE workspace_epochs;

-- This transaction reads the rows of all tenants.
SELECT set_config('pawl.tenant', '*', true);
SELECT setval('workspace_epochs', coalesce(max(epoch), 0) + 1) FROM workspaces;
