-- What searches find: the texts of messages and titles. The words of a text are in
-- search_words, under the same rowid.
CREATE TABLE search_texts (
    id         INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT    NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq        INTEGER NOT NULL, -- the event with the text
    message    INTEGER NOT NULL  -- the message that has the text, 0 for titles
) STRICT;

CREATE INDEX search_texts_by_session ON search_texts (session_id, seq);

-- The words are normalized: the tokenizer only has to split at spaces.
CREATE VIRTUAL TABLE search_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

CREATE TRIGGER search_words_of_deleted AFTER DELETE ON search_texts BEGIN
    DELETE FROM search_words WHERE rowid = old.id;
END;

-- Texts that searches do not find: those of messages that were undone, withdrawn or
-- replaced, and older titles.
CREATE TABLE search_hidden (
    session_id TEXT    NOT NULL REFERENCES sessions ON DELETE CASCADE,
    hidden_by  INTEGER NOT NULL, -- the event that hides older texts
    first      INTEGER NOT NULL, -- of these messages
    last       INTEGER NOT NULL,
    PRIMARY KEY (session_id, hidden_by)
) STRICT, WITHOUT ROWID;
