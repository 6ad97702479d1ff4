package pawl

// DiffOptions says which changes of a session's files [Projects.Diff] returns. The zero
// value means those of the whole session.
type DiffOptions struct {
	Turn        int    // only the changes of this turn, from 1
	WorkingTree bool   // instead: the uncommitted changes in the working directory, whoever made them
	Path        string // only this file, with a higher limit
}

// Diff is the changes of files, sorted by path.
type Diff struct {
	Files     []FileDiff `json:"files"`
	Added     int        `json:"added"`             // lines of the files
	Deleted   int        `json:"deleted"`           // lines of the files
	Truncated bool       `json:"truncated"`         // files or parts of patches are missing: there are too many
	Unknown   []CallID   `json:"unknown,omitempty"` // tool calls whose changes are not known, because there is no snapshot
}

// FileDiff is how a file changed. A file whose patch may not be shown, or is too large or
// unknown, has an empty or shorter one.
type FileDiff struct {
	Path      string `json:"path"`               // relative to the working directory; absolute in added directories
	OldPath   string `json:"old_path,omitempty"` // of a renamed file
	Kind      string `json:"kind"`               // create, modify, delete, rename, chmod; unknown if a snapshot lacks the file
	Added     int    `json:"added"`              // lines
	Deleted   int    `json:"deleted"`            // lines
	Binary    bool   `json:"binary,omitempty"`
	Truncated bool   `json:"truncated,omitempty"` // the patch is incomplete because it is too large
	Hidden    string `json:"hidden,omitempty"`    // why there is no patch
	Patch     string `json:"patch,omitempty"`     // a unified diff with git's header; untrusted text
}

// FileInfo is an entry of a directory. Its name is untrusted text.
type FileInfo struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // file, directory, link or other
	Size    int64  `json:"size,omitempty"`
	Ignored bool   `json:"ignored,omitempty"` // by .gitignore or .ignore
}
