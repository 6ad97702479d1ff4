-- The tenants of a fleet. A connection without a tenant is the operator's, who
-- sees and changes all of them; a tenant reads its own row. Rows are never
-- deleted: a name is not used again, since its new owner would find data that was
-- left behind.
CREATE TABLE tenants (
    tenant    text COLLATE "C" NOT NULL PRIMARY KEY,
    created   timestamptz      NOT NULL,
    suspended timestamptz,                -- since when its tokens are refused
    removed   timestamptz,
    rate      integer          NOT NULL DEFAULT 0,
    budget    bigint           NOT NULL DEFAULT 0,
    parallel  integer          NOT NULL DEFAULT 0,
    streams   integer          NOT NULL DEFAULT 0
);

-- Existing tenants have tokens or workspaces.
SELECT set_config('pawl.tenant', '*', true);
INSERT INTO tenants (tenant, created)
    SELECT tenant, now() FROM (SELECT tenant FROM tokens UNION SELECT tenant FROM workspaces) t WHERE tenant <> '';

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY fleet ON tenants USING (pawl_tenant() = '') WITH CHECK (pawl_tenant() = '');
CREATE POLICY own ON tenants FOR SELECT USING (tenant = pawl_tenant());
