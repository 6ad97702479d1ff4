package tool

import "time"

// The limits of all tools, in one place. `pawl config limits` shows them.
const (
	ReadLines       = 2000             // lines that read returns
	ReadBytes       = 50 << 10         // bytes that read returns
	ReadLineChars   = 2000             // characters of a line that read shows
	ReadFileBytes   = 5 << 20          // the largest image or PDF that read hands to a model
	EditBytes       = 10 << 20         // the largest file that edit, write and apply_patch take
	DiffBytes       = 20_000           // bytes of a diff that the model and people are shown
	BufferTime      = 10 * time.Second // that an editor is given to say what is not saved of the files that a call changes
	PatchBytes      = 5 << 20          // the largest patch that apply_patch takes
	PatchFiles      = 500              // files that one patch may touch
	BashTimeout     = 2 * time.Minute  // when bash is given none
	BashMaxTimeout  = 10 * time.Minute // in the foreground; longer work belongs in the background
	BashBytes       = 1 << 20          // output that bash keeps in memory, head and tail together
	BashSpillBytes  = 64 << 20         // output that bash keeps on disk; what lies between is dropped
	BashJobs        = 64               // background jobs of one session that run at once
	BashEndedJobs   = 64               // of those that have ended, the newest can still be read
	BashWait        = time.Minute      // the longest that bash_output waits for output
	GlobResults     = 100              // paths that glob returns
	GrepMatches     = 100              // lines that grep returns, context apart
	GrepLineChars   = 500              // characters of a line that grep shows
	GrepContext     = 20               // lines around a match, at most
	GrepFileBytes   = 64 << 20         // larger files are passed over by grep, and it says so
	ListEntries     = 1000             // entries that list shows
	SearchTimeout   = 30 * time.Second // of glob, grep and list; they answer with what they have found
	FetchBytes      = 5 << 20          // of a page, after decompression
	FetchTimeout    = 30 * time.Second // when webfetch is given none
	FetchMaxTime    = 2 * time.Minute  // the longest that webfetch can be given
	FetchRedirects  = 5                // that webfetch follows
	WebResults      = 8                // of websearch
	WebTimeout      = 25 * time.Second // of websearch
	CodeResults     = 10               // of codesearch, when it is given none
	CodeMaxResults  = 20               // the most that codesearch can be given
	CodeTimeout     = 30 * time.Second // of codesearch
	FileFaults      = 20               // diagnostics shown of one file
	FaultFiles      = 20               // files that diagnostics shows
	EditFaultsTime  = 3 * time.Second  // an edit waits this long for its diagnostics
	FaultsTimeout   = 30 * time.Second // diagnostics waits this long
	Questions       = 4                // of one question call
	QuestionHeader  = 30               // characters
	QuestionChoice  = 8                // options of a question
	QuestionTimeout = time.Minute      // then nobody has answered
	Todos           = 100              // items of a list
	ResultBytes     = 30_000           // bytes of a result that the model is given; see ContentBytes
)

// ContentBytes returns how many bytes of a tool's result the model is given;
// the rest is spilled. What read shows is never cut: it pages by itself, and
// what is missing in a page could not be read at all.
func ContentBytes(tool string) int {
	if tool == "read" {
		return ReadBytes + 1<<10 // and a word on how to go on
	}
	return ResultBytes
}
