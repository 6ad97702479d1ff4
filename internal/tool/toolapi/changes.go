package toolapi

// Changes are what a command has changed in its view, as the user is asked about it
// before it is applied. The texts are not sanitized.
type Changes struct {
	Summary string   // e.g. "3 files changed: 12 lines added, 4 removed"
	Files   []string // a line for each file, up to a limit
	Refused []string // changes that are not applied in any case, and why
	Diff    string   // of the text files, up to a limit
}
