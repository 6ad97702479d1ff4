-- The epochs of all workspaces, so that none comes twice: a folder that is dropped
-- and made anew must not begin in one that an old host still believes in.
CREATE SEQUENCE workspace_epochs;

-- What a fleet reads of all its tenants it reads in this transaction too.
SELECT set_config('pawl.tenant', '*', true);
SELECT setval('workspace_epochs', coalesce(max(epoch), 0) + 1) FROM workspaces;
