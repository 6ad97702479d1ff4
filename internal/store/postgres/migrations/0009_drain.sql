-- Whether the operator wants the host to drain. Heartbeats do not change it.
ALTER TABLE hosts ADD COLUMN drain boolean NOT NULL DEFAULT false;
