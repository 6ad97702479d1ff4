package tool

import "time"

// The limits of all tools, in one place.
const (
	ReadLines      = 2000            // lines that read returns
	ReadBytes      = 50 << 10        // bytes that read returns
	ReadLineChars  = 2000            // characters of a line that read shows
	EditBytes      = 10 << 20        // the largest file that edit and write take
	ListEntries    = 1000            // entries that list shows
	BashTimeout    = 2 * time.Minute // when bash is given none
	BashMaxTimeout = 10 * time.Minute
	BashBytes      = 1 << 20 // output that bash keeps, head and tail together
	ResultBytes    = 30_000  // bytes of a result that the model is given; see ContentBytes
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
