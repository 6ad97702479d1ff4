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
	BufferTime      = 10 * time.Second // to wait for an editor to report unsaved changes of the files that a call changes
	PatchBytes      = 5 << 20          // the largest patch that apply_patch takes
	PatchFiles      = 500              // files that one patch may touch
	BashTimeout     = 2 * time.Minute  // default timeout of a foreground command
	BashMaxTimeout  = 10 * time.Minute // longest timeout of a foreground command
	BashBytes       = 1 << 20          // output that bash keeps in memory, head and tail together
	BashDiskBytes   = 64 << 20         // output that bash keeps on disk; the middle of longer output is dropped
	BashJobs        = 64               // background jobs of one session that run at once
	BashEndedJobs   = 64               // ended jobs of one session that can still be read, the newest
	BashWait        = time.Minute      // the longest that bash_output waits for output
	GlobResults     = 100              // paths that glob returns
	GrepMatches     = 100              // lines that grep returns, not counting context
	GrepLineChars   = 500              // characters of a line that grep shows
	GrepContext     = 20               // lines around a match, at most
	GrepFileBytes   = 64 << 20         // size above which grep skips a file and reports it
	ListEntries     = 1000             // entries that list shows
	SearchTimeout   = 30 * time.Second // of glob, grep and list; they return what they have found by then
	FetchBytes      = 5 << 20          // of a page, after decompression
	FetchTimeout    = 30 * time.Second // default timeout of webfetch
	FetchMaxTime    = 2 * time.Minute  // longest timeout of webfetch
	FetchRedirects  = 5                // that webfetch follows
	WebResults      = 8                // of websearch
	WebTimeout      = 25 * time.Second // of websearch
	CodeResults     = 10               // default number of results of codesearch
	CodeMaxResults  = 20               // most results of codesearch
	CodeTimeout     = 30 * time.Second // of codesearch
	FileFaults      = 20               // diagnostics shown for one file
	FaultFiles      = 20               // files that diagnostics shows
	EditFaultsTime  = 3 * time.Second  // time that an edit waits for diagnostics
	FaultsTimeout   = 30 * time.Second // time that the diagnostics tool waits
	Questions       = 4                // in one call of the question tool
	QuestionHeader  = 30               // characters
	QuestionChoice  = 8                // options of a question
	QuestionTimeout = time.Minute      // to wait for an answer
	Todos           = 100              // items of a list
	ResultBytes     = 30_000           // bytes of a result that the model is given; see ContentBytes
)

// ContentBytes returns how many bytes of a tool's result the model gets; the
// rest is stored as a blob. Results of read are never truncated, because read
// pages by itself.
func ContentBytes(tool string) int {
	if tool == "read" {
		return ReadBytes + 1<<10 // and a note on how to read on
	}
	return ResultBytes
}
