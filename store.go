package pawl

import "time"

// Filter picks sessions. The zero value picks the newest ones.
type Filter struct {
	Query      string    // words; see SearchWords
	Dir        string    // this workspace only
	Parent     SessionID // subagents of this session; "" picks sessions that have no parent
	Owner      *User     // this user's only; nil means any
	Shared     bool      // with Owner: and those that others share with them
	Unfinished bool      // only those that are not idle
	Missions   bool      // only those that command one
	Before     time.Time // updated before this; zero means no bound
	Limit      int       // 0 means 100, at most 1000
}

// Draft is what has come of a reply that is still growing. It is written at
// most a few times a second, so that a crash loses little.
type Draft struct {
	Reply     Seq    `json:"reply"` // the ReplyStarted event it belongs to
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Blob names an output that is too large for the log.
type Blob struct {
	ID   string `json:"id"` // the content's SHA-256 in hex
	Size int64  `json:"size"`
}
