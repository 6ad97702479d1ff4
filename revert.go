package pawl

// Revert says what to go back to, and with what.
type Revert struct {
	To    Seq   `json:"to,omitempty"`   // back to before this message
	Redo  Seq   `json:"redo,omitempty"` // or: take this Reverted event back
	Scope Scope `json:"scope,omitempty"`
	// Conflicts says what becomes of files that somebody else has changed since.
	Conflicts Conflicts `json:"conflicts,omitempty"`
}

// LastRevert as [Revert.Redo] means the newest one that can be taken back.
const LastRevert Seq = -1

// Scope says what goes back.
type Scope string

// The scopes.
const (
	ScopeBoth         Scope = "" // the files and the conversation
	ScopeFiles        Scope = "files"
	ScopeConversation Scope = "conversation"
)

// Conversation reports whether the conversation goes back.
func (s Scope) Conversation() bool { return s != ScopeFiles }

// Files reports whether the files go back.
func (s Scope) Files() bool { return s != ScopeConversation }

// Conflicts says what becomes of a file that is not as a session left it.
type Conflicts string

// What becomes of it.
const (
	ConflictsRefuse Conflicts = ""      // nothing goes back at all
	ConflictsAside  Conflicts = "aside" // it is kept in another place, and goes back
	ConflictsLeave  Conflicts = "leave" // it stays as it is
)

// RevertPlan is what a [Revert] would do.
type RevertPlan struct {
	Revert
	Prompt   Parts        `json:"prompt,omitempty"` // the person's words that would be taken back first
	Messages int          `json:"messages"`         // that would be taken back, or come back
	Files    []FileChange `json:"files,omitempty"`  // that would be changed
	Diff     string       `json:"diff,omitempty"`   // what would be changed in them, bounded
	Blind    []CallID     `json:"blind,omitempty"`  // calls that no snapshot was taken of: what they did stays
}

// FileChange is what would be done to a file.
type FileChange struct {
	Path     string `json:"path"`
	Kind     string `json:"kind"` // create, modify, delete, chmod
	Added    int    `json:"added,omitempty"`
	Deleted  int    `json:"deleted,omitempty"`
	Conflict string `json:"conflict,omitempty"` // why that would undo what somebody else did
}

// InTheWay lists the files that somebody else has changed.
func (p RevertPlan) InTheWay() []string {
	var paths []string
	for _, f := range p.Files {
		if f.Conflict != "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
