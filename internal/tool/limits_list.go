package tool

import "strconv"

// Limit is a limit of the tools for `pawl config limits`.
type Limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	What  string `json:"what"`
}

// Limits lists all limits, in the order of the constants.
var Limits = []Limit{
	{"ReadLines", strconv.Itoa(ReadLines), "lines that read returns"},
	{"ReadBytes", sizeText(ReadBytes), "bytes that read returns"},
	{"ReadLineChars", strconv.Itoa(ReadLineChars), "characters of a line that read shows"},
	{"ReadFileBytes", sizeText(ReadFileBytes), "the largest image or PDF that read hands to a model"},
	{"EditBytes", sizeText(EditBytes), "the largest file that edit, write and apply_patch take"},
	{"DiffBytes", sizeText(DiffBytes), "bytes of a diff that the model and people are shown"},
	{"BufferTime", BufferTime.String(), "to wait for an editor to report unsaved changes to the files of a call"},
	{"PatchBytes", sizeText(PatchBytes), "the largest patch that apply_patch takes"},
	{"PatchFiles", strconv.Itoa(PatchFiles), "files that one patch may touch"},
	{"BashTimeout", BashTimeout.String(), "when bash is given none"},
	{"BashMaxTimeout", BashMaxTimeout.String(), "in the foreground; longer work belongs in the background"},
	{"BashBytes", sizeText(BashBytes), "output that bash keeps in memory, head and tail together"},
	{"BashDiskBytes", sizeText(BashDiskBytes), "output that bash keeps on disk; what lies between is dropped"},
	{"BashJobs", strconv.Itoa(BashJobs), "background jobs of one session that run at once"},
	{"BashEndedJobs", strconv.Itoa(BashEndedJobs), "of those that have ended, the newest can still be read"},
	{"BashWait", BashWait.String(), "the longest that bash_output waits for output"},
	{"GlobResults", strconv.Itoa(GlobResults), "paths that glob returns"},
	{"GrepMatches", strconv.Itoa(GrepMatches), "lines that grep returns, context apart"},
	{"GrepLineChars", strconv.Itoa(GrepLineChars), "characters of a line that grep shows"},
	{"GrepContext", strconv.Itoa(GrepContext), "lines around a match, at most"},
	{"GrepFileBytes", sizeText(GrepFileBytes), "larger files are passed over by grep, and it says so"},
	{"ListEntries", strconv.Itoa(ListEntries), "entries that list shows"},
	{"SearchTimeout", SearchTimeout.String(), "of glob, grep and list; they answer with what they have found"},
	{"FetchBytes", sizeText(FetchBytes), "of a page, after decompression"},
	{"FetchTimeout", FetchTimeout.String(), "when webfetch is given none"},
	{"FetchMaxTime", FetchMaxTime.String(), "the longest that webfetch can be given"},
	{"FetchRedirects", strconv.Itoa(FetchRedirects), "that webfetch follows"},
	{"WebResults", strconv.Itoa(WebResults), "of websearch"},
	{"WebTimeout", WebTimeout.String(), "of websearch"},
	{"CodeResults", strconv.Itoa(CodeResults), "of codesearch, when it is given none"},
	{"CodeMaxResults", strconv.Itoa(CodeMaxResults), "the most that codesearch can be given"},
	{"CodeTimeout", CodeTimeout.String(), "of codesearch"},
	{"FileFaults", strconv.Itoa(FileFaults), "diagnostics shown of one file"},
	{"FaultFiles", strconv.Itoa(FaultFiles), "files that diagnostics shows"},
	{"EditFaultsTime", EditFaultsTime.String(), "an edit waits this long for its diagnostics"},
	{"FaultsTimeout", FaultsTimeout.String(), "diagnostics waits this long"},
	{"Questions", strconv.Itoa(Questions), "of one question call"},
	{"QuestionHeader", strconv.Itoa(QuestionHeader), "characters"},
	{"QuestionChoice", strconv.Itoa(QuestionChoice), "options of a question"},
	{"QuestionTimeout", QuestionTimeout.String(), "to wait for an answer to a question"},
	{"Todos", strconv.Itoa(Todos), "items of a list"},
	{"ResultBytes", sizeText(ResultBytes), "bytes of a result that the model is given"},
}

// sizeText formats a size in bytes.
func sizeText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + " KiB"
	default:
		return strconv.Itoa(n) + " bytes"
	}
}
