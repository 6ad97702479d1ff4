//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

const (
	longSteps = 5000
	longPart  = 100 // steps, of which the cost is reported
	longParts = 5   // at the beginning and at the end that are compared
	longFiles = 60
	longLines = 120

	longRatio  = 1.3
	longRSS    = 200 << 20
	longGrowth = 1.5 // of the peak memory, from step 1,000 on
	longStored = 2.0 // bytes of the database for each of the events
	longOpen   = 5 * time.Second
)

// TestBenchLong: a session of 5,000 steps in one turn, with real tools,
// snapshots and a summary each few dozen steps, stays cheap to its end, and so
// does what is done with it afterward.
func TestBenchLong(t *testing.T) { //nolint:paralleltest // it measures time
	bin := harness.Binary(t, "")
	for range 3 { // tries: a busy machine may disturb one
		if runLong(t, bin) {
			return
		}
	}
	t.Logf("over the goal: late steps cost more than %.1f x early ones", longRatio)
}

// runLong runs one session and reports whether its late steps cost no more than
// they may, beside the early ones. What others do on the machine only adds to
// what a step takes. So the cheapest parts are compared, and a step counts as
// dearer only if it takes longer and more of the processor.
func runLong(t *testing.T, bin string) bool {
	t.Helper()
	stored, data := filepath.Join(t.TempDir(), "pawl.db"), t.TempDir()
	b := harness.NewWorkdir(t, bin, stored)
	b.Env = append(b.Env, "PAWL_DATA="+data)
	script, counters := longScript(t, b)
	l := followLong(t, b.Command("run", "--mode", "yolo", "--format", "stream-json", "--model", "script:"+script, "raise the counters"))
	l.check(t)
	for i, n := range counters {
		if name := longName(i); !strings.HasPrefix(b.Read(t, name), longCounter(i, n)) {
			t.Errorf("%s does not begin with %q", name, longCounter(i, n))
		}
	}
	wall, cpu := compared(l.wall), compared(l.cpu)
	db, rss := sizeOf(t, filepath.Dir(stored)), l.used[longSteps].peak
	t.Logf("long session: %d steps, %d compactions (%s each), step %s; CPU %s; db %d B/step (%.2f x the events), snapshots %d B/step, rss %.1f MB (%.1f MB at step 1000)",
		longSteps, len(l.compacted), ms(l.compaction()), wall, cpu,
		db/longSteps, float64(db)/float64(l.bytes), sizeOf(t, data)/longSteps, mb(rss), mb(l.used[1000].peak))
	if float64(db) > longStored*float64(l.bytes) {
		t.Errorf("the database takes %d bytes for events of %d, at most %.1f x", db, l.bytes, longStored)
	}
	if rss > longRSS || float64(rss) > longGrowth*float64(l.used[1000].peak) {
		t.Errorf("the process took too much memory: at most %d MB, and %.1f x what it took until step 1000", longRSS>>20, longGrowth)
	}
	openLong(t, b)
	return min(wall.ratio(), cpu.ratio()) <= longRatio
}

// comparison is what steps cost early and late in a session.
type comparison struct {
	first, last time.Duration // of the first part, but for the one in which all begins, and of the last
	early, late time.Duration // of the cheapest of the parts there
}

func compared(of func(from, to int) time.Duration) comparison {
	cheapest := func(from int) time.Duration {
		least := of(from, from+longPart)
		for i := 1; i < longParts; i++ {
			least = min(least, of(from+i*longPart, from+(i+1)*longPart))
		}
		return least
	}
	return comparison{
		first: of(longPart, 2*longPart), last: of(longSteps-longPart, longSteps),
		early: cheapest(longPart), late: cheapest(longSteps - longParts*longPart),
	}
}

func (c comparison) ratio() float64 { return float64(c.late) / float64(c.early) }

func (c comparison) String() string {
	return fmt.Sprintf("%d-%d %s, last %d %s (%.2f x), cheapest %d of the first and last %d %s and %s (%.2f x, at most %.1f x)",
		longPart, 2*longPart, ms(c.first), longPart, ms(c.last), float64(c.last)/float64(c.first),
		longPart, longParts*longPart, ms(c.early), ms(c.late), c.ratio(), longRatio)
}

// openLong measures what is done with a long session once it is there.
func openLong(t *testing.T, b *harness.Workdir) {
	t.Helper()
	var line strings.Builder
	for _, args := range [][]string{
		{"session", "list"},
		{"session", "show", "last"},
		{"session", "rewind", "last"},
		{"run", "--mode", "yolo", "-c", "one more"},
		{"session", "rewind", "last", "3", "--dry-run"}, // all of it
	} {
		c := measure(t, b, 1, args...)
		fmt.Fprintf(&line, ", %s CPU %s wall %s rss %.1f MB", strings.Join(args, " "), ms(c.cpu), ms(c.wall), mb(c.rss))
		if c.cpu > longOpen {
			t.Logf("over the goal: pawl %s on a session of %d steps takes %s of CPU", strings.Join(args, " "), longSteps, ms(c.cpu))
		}
		if c.rss > longRSS {
			t.Errorf("pawl %s on a session of %d steps takes %.1f MB", strings.Join(args, " "), longSteps, mb(c.rss))
		}
	}
	t.Logf("opening a session of %d steps%s   (at most CPU %s, %d MB)", longSteps, line.String(), longOpen, longRSS>>20)
}

// longScript fills the workspace and writes the script, outside of it. It
// returns the script's path and the counters that the files hold in the end. No
// two calls are alike, so it is no loop; what is called comes in a cycle of 20
// steps, so that any part of some cycles costs the same.
func longScript(t *testing.T, b *harness.Workdir) (path string, counters []int) {
	t.Helper()
	counters = make([]int, longFiles)
	for i := range counters {
		var text strings.Builder
		text.WriteString(longCounter(i, 0))
		for n := range longLines {
			fmt.Fprintf(&text, "line %d of file %d: %s %s\n", n, i, word(n+i), word(n*i))
		}
		b.Write(t, longName(i), text.String())
	}
	lines := []string{`{"window":{"context":32000,"output":2000}}`}
	for step := 1; step < longSteps; step++ {
		lines = append(lines, fmt.Sprintf(`{"text":"Step %d: %s, then %s.","calls":[%s]}`, step, word(step), word(step/7), longCall(step, counters)))
	}
	lines = append(lines,
		`{"text":"All counters are raised.","delay_ms":1000}`, // so that the process can still be looked at
		`{"text":"One more."}`,
		`{"agent":"compaction","text":"Counters are raised, one after the other, and lines are looked up between."}`)
	path = filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, counters
}

// longCall is the call of a step: of 20 one runs a command, four edit, five
// search and ten read.
func longCall(step int, counters []int) string {
	i := step * 7 % longFiles
	switch {
	case step%20 == 0:
		return fmt.Sprintf(`{"name":"bash","input":{"command":"echo %d; wc -l %s; date > now.txt"}}`, step, longName(i))
	case step%4 == 0:
		was := longCounter(i, counters[i])
		counters[i] = step
		return fmt.Sprintf(`{"name":"edit","input":{"path":%q,"old":%q,"new":%q}}`, longName(i), was, longCounter(i, step))
	case step%4 == 1:
		return fmt.Sprintf(`{"name":"grep","input":{"pattern":"line %d of file .*%s|step %d"}}`, step%longLines, word(step), step)
	default:
		return fmt.Sprintf(`{"name":"read","input":{"path":%q,"offset":%d,"limit":%d}}`, longName(i), step%longLines, 10+step%31)
	}
}

func longName(i int) string { return fmt.Sprintf("file%d.txt", i) }

func longCounter(i, n int) string { return fmt.Sprintf("counter of file %d: %d\n", i, n) }

// word is a word that differs from its neighbors.
func word(n int) string {
	words := strings.Fields("anvil basin cedar delta ember flint grove heron inlet jetty knoll larch marsh north ochre plume quill ridge slate thorn")
	return words[n%len(words)]
}

// sizeOf is the size of all files below a directory.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// quartile is a time that a quarter of them does not reach: what others do on
// the machine touches the short ones least.
func quartile(list []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(list))[len(list)/4]
}
