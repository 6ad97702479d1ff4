-- What was asked of a host, which its beats do not change.
ALTER TABLE hosts ADD COLUMN drain boolean NOT NULL DEFAULT false;
