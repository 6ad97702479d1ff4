package pawl

import "time"

// Filter selects sessions. The zero value selects the most recently updated ones.
type Filter struct {
	Query      string    // words; each must begin a word of the title or first prompt
	Search     string    // words and "phrases" that a message or the title must contain; see docs/how-to/sessions.md
	Dir        string    // only this working directory
	State      State     // only sessions in this state; "" means any
	Agent      string    // only sessions whose newest prompt is for this agent; "" means any
	Model      string    // only sessions whose newest prompt is for this model; "" means any
	Parent     SessionID // subagents of this session; "" selects sessions without a parent
	Owner      *User     // only this user's sessions; nil means any
	Shared     bool      // with Owner: also those shared with that user
	Unfinished bool      // only sessions that are not idle
	Missions   bool      // only sessions that command a mission
	Asking     bool      // only sessions with an open ask, whatever their parent
	Before     time.Time // only sessions updated before this; zero means no limit
	Limit      int       // 0 means 100, at most 1000

	// Cursor is [SessionPage.Next] of the page before. All other fields except Limit
	// must be those of the first page.
	Cursor string
}

// SessionPage is a part of a list of sessions. The pages of a list contain each session
// once, in the order of the time of the first page, whatever is updated meanwhile.
type SessionPage struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next,omitempty"` // the cursor of the next page; "" on the last page
}

// Match is what a search found in a session: the newest message that matches.
type Match struct {
	Seq     Seq       `json:"seq"` // the event of the message, or of the title
	Snippet []Snippet `json:"snippet"`
}

// Snippet is a part of an excerpt: plain text on one line, without control characters.
type Snippet struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"` // the search has found this part
}

// Draft is the part of a reply that has arrived so far. It is saved at most a few
// times a second, so that a crash loses little.
type Draft struct {
	Reply     Seq    `json:"reply"` // the ReplyStarted event it belongs to
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Blob identifies an output that is too large for the log.
type Blob struct {
	ID   string `json:"id"` // hex SHA-256 of the content
	Size int64  `json:"size"`
}
