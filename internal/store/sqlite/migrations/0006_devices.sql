-- A browser that is signed in is a token of the kind device. A token of the kind
-- link can be exchanged for one, once.
ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN parent TEXT NOT NULL DEFAULT ''; -- the token that it was made with
