-- A token of the kind passkey signs browsers in with a key that an authenticator has.
ALTER TABLE tokens ADD COLUMN passkey text COLLATE "C" NOT NULL DEFAULT ''; -- its public key and counter, as JSON
