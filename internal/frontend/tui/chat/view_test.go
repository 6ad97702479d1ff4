package chat

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// seen is what a view shows, without colors.
func seen(v *View) string { return ansi.Strip(strings.Join(v.Render(), "\n")) }

// long is a session with so many entries.
func long(n int) *eventBuilder {
	t := newEventBuilder()
	for i := 0; t.seq < pawl.Seq(n); i++ {
		t.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: fmt.Sprintf("Reply **%d**\n\n```go\nx := %d\n```\n", i, i)}}})
		t.call(fmt.Sprint("c", i), "bash", `{"command":"ls"}`, pawl.CallDone, pawl.Result{Content: strings.Repeat("line\n", 30), Meta: map[string]string{"exit_code": "0"}})
	}
	return t
}

func TestScrollAndFollow(t *testing.T) {
	t.Parallel()
	tl := long(200)
	v := viewOf(t, tl, "plain", 60, 10)
	end := seen(v)
	v.Scroll(-25)
	if v.Follows() {
		t.Fatal("it is at the end after scrolling up")
	}
	up := seen(v)
	if v.CloseToTop() {
		t.Error("far from the top older entries would be read")
	}
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "more"}}})
	v.Log.Apply(tl.events[len(tl.events)-1])
	if diff := cmp.Diff(up, seen(v)); diff != "" {
		t.Errorf("what is looked at moved when more came: %s", diff)
	}
	v.Scroll(1000)
	if got := seen(v); !v.Follows() || !strings.Contains(got, "more") || got == end {
		t.Errorf("the end does not follow: %q", got)
	}
	v.ToTop()
	if got := seen(v); !v.AtTop() || !strings.Contains(got, "Reply 0") {
		t.Errorf("the top is %q", got)
	}
	v.Scroll(v.Page())
	if v.AtTop() || !v.CloseToTop() {
		t.Error("a page below the top older entries would not be read yet")
	}
	v.ToTop()
	for range 400 { // by single steps there are no jumps
		before := strings.Split(seen(v), "\n")
		v.Scroll(1)
		after := strings.Split(seen(v), "\n")
		if v.Follows() {
			break
		}
		if diff := cmp.Diff(before[1:], after[:v.height-1]); diff != "" {
			t.Fatalf("a step of one line: %s", diff)
		}
	}
}

// Who reads what is being written keeps their place when it is complete.
func TestPlaceIsKept(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	start := tl.add(pawl.ReplyStarted{Step: 1, Model: "m"})
	words := strings.Repeat("words\n\n", 50)
	tl.add(pawl.Delta{Reply: start, Channel: pawl.ChannelText, Text: words})
	v := viewOf(t, tl, "plain", 40, 10)
	v.Render()
	v.Scroll(-20)
	before := seen(v)
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: words}}})
	v.Log.Apply(tl.events[len(tl.events)-1])
	if diff := cmp.Diff(before, seen(v)); diff != "" || v.Follows() {
		t.Errorf("it jumped: %s", diff)
	}
}

// An older page is put before what is seen, and a call that it begins is joined to
// its end.
func TestPrepend(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.call("c1", "bash", `{"command":"ls"}`, pawl.CallDone, pawl.Result{Content: "x", Meta: map[string]string{"exit_code": "0"}})
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "end"}}})
	whole := text(all(viewOf(t, tl, "plain", 60, 20)))
	for cut := 1; cut < len(tl.events); cut++ {
		late := &eventBuilder{events: tl.events[cut:], at: tl.at}
		v := viewOf(t, late, "plain", 60, 20)
		v.Render()
		if !v.AtTop() {
			t.Error("all of it fits, and yet older ones would not be read")
		}
		v.Log.Prepend(tl.events[:cut])
		if diff := cmp.Diff(whole, text(all(v))); diff != "" {
			t.Errorf("cut at %d: %s", cut, diff)
		}
	}
}

// So is a command of the person, which stands where it began to run.
func TestPrependShell(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	samples["shell"](tl)
	tl.events = slices.DeleteFunc(tl.events, func(e pawl.Event) bool { return e.Seq == 0 }) // no page has them
	whole := text(all(viewOf(t, tl, "plain", 60, 20)))
	for cut := 1; cut < len(tl.events); cut++ {
		v := viewOf(t, &eventBuilder{events: tl.events[cut:], at: tl.at}, "plain", 60, 20)
		v.Log.Prepend(tl.events[:cut])
		if diff := cmp.Diff(whole, text(all(v))); diff != "" || len(v.Log.shells) != 2 || len(v.Log.running) != 1 {
			t.Errorf("cut at %d, %d open, %d run: %s", cut, len(v.Log.shells), len(v.Log.running), diff)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.call("c1", "bash", `{"command":"make"}`, pawl.CallDone, pawl.Result{Content: "1\n2\n3\n4\n5\n6\n7", IsError: true})
	v := viewOf(t, tl, "plain", 60, 20)
	v.Select(-1)
	var got []int
	for range 4 {
		got = append(got, len(v.lines(v.Selected())))
		v.Toggle()
	}
	if diff := cmp.Diff([]int{6, 9, 1, 9}, got); diff != "" {
		t.Errorf("lines as usual, open, folded, open: %s", diff)
	}
}

func click(v *View, x, y int) {
	v.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	v.Update(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
}

func TestMouse(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "one two three four five six seven\n\n```\ncode here\n```\n"}}})
	tl.call("c1", "bash", `{"command":"ls"}`, pawl.CallDone, pawl.Result{Content: "out", Meta: map[string]string{"exit_code": "0"}})
	v := viewOf(t, tl, "plain", 20, 10)
	before := seen(v)
	click(v, 3, 5)
	if got := seen(v); !strings.Contains(got, "$ ls") {
		t.Errorf("a click does not open the card: %q", got)
	}
	click(v, 3, 5)
	click(v, 3, 6) // the gap below does nothing
	if diff := cmp.Diff(strings.Fields(before)[:11], strings.Fields(seen(v))[:11]); diff != "" {
		t.Error(diff)
	}

	for _, c := range []struct {
		name       string
		x, y, a, b int
		want       string
	}{
		{"wrapped lines are joined", 1, 0, 9, 1, "one two three four five six"},
		{"backwards", 9, 1, 1, 0, "one two three four five six"},
		{"without the frame", 0, 3, 19, 3, "code here"},
		{"over entries", 5, 3, 6, 5, "de here\n\n● bash"},
		{"within a line", 5, 0, 7, 0, "two"},
	} {
		v.Render()
		v.mousePress(tea.MouseClickMsg{X: c.x, Y: c.y, Button: tea.MouseLeft})
		v.mouseDrag(tea.MouseMotionMsg{X: c.a, Y: c.b, Button: tea.MouseLeft})
		v.Render()
		if got := v.mouseRelease(tea.MouseReleaseMsg{}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if cmd := v.Update(tea.MouseReleaseMsg{}); cmd != nil {
		t.Error("a release without a press copies")
	}
}

// A card that is opened stays under the mouse, also at the end of the conversation.
func TestClickedLineStays(t *testing.T) {
	t.Parallel()
	v := viewOf(t, long(60), "plain", 60, 12)
	lines := strings.Split(seen(v), "\n")
	y := len(lines) - 2
	if !strings.Contains(lines[y], "● bash") {
		t.Fatalf("the last card is not there: %q", lines)
	}
	click(v, 3, y)
	if got := strings.Split(seen(v), "\n"); got[y] != lines[y] || !strings.Contains(got[y+1], "$ ls") || v.Follows() {
		t.Errorf("the card moved: %q", got)
	}
	click(v, 3, y)
	if got := strings.Split(seen(v), "\n"); got[y] != lines[y] || !v.Follows() {
		t.Errorf("the closed card moved: %q", got)
	}
}

// No screen is too small.
func TestTinyScreens(t *testing.T) {
	t.Parallel()
	for name, build := range samples {
		for width := range 12 {
			tl := newEventBuilder()
			build(tl)
			v := viewOf(t, tl, "dark", width, width/4)
			v.Render()
			v.ToggleAll()
			v.Scroll(-3)
			v.Find()
			if got := len(v.Render()); got != max(1, width/4) {
				t.Errorf("%s: %d lines of %d", name, got, width/4)
			}
		}
	}
}

func typed(v *View, text string) {
	for _, r := range text {
		v.Update(tea.KeyPressMsg{Text: string(r), Code: r})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tl := long(300)
	tl.call("hidden", "bash", `{"command":"ls"}`, pawl.CallDone, pawl.Result{Content: "a Needle in it", Meta: map[string]string{"exit_code": "0"}})
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "the end"}}})
	v := viewOf(t, tl, "plain", 60, 12)
	v.Find()
	typed(v, "needle")
	if got := seen(v); !strings.Contains(got, "a Needle in it") || !strings.Contains(got, "search: needle") {
		t.Errorf("what is folded is not found: %q", got)
	}
	for range 6 {
		v.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	typed(v, "reply 1")
	at := func() string { return ansi.Strip(v.lines(v.find.entry)[v.find.line].Text) }
	var hits []string
	for range 3 {
		hits = append(hits, at())
		v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	v.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	hits = append(hits, at())
	if diff := cmp.Diff([]string{"Reply 19", "Reply 18", "Reply 17", "Reply 17"}, hits); diff != "" {
		t.Error(diff)
	}
	typed(v, "zzz")
	if got := seen(v); !strings.Contains(got, "not found") {
		t.Errorf("it does not say that there is none: %q", got)
	}
	v.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
	if v.Finding() {
		t.Error("esc does not end it")
	}
}

// What is not in the pages that were read is looked for in older ones.
func TestFindFurtherUp(t *testing.T) {
	t.Parallel()
	tl := long(300)
	v := viewOf(t, &eventBuilder{events: tl.events[200:], at: tl.at}, "plain", 60, 12)
	v.Find()
	typed(v, "reply 12x")
	v.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if !v.find.missed {
		t.Fatal("the words are in the first page already: the test shows nothing")
	}
	for v.find.missed && v.AtTop() && v.Log.First() > 1 {
		first := int(v.Log.First()) - 1
		v.Log.Prepend(tl.events[max(0, first-50):first])
		v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	if got := seen(v); v.find.missed || !strings.Contains(got, "Reply 12\n") {
		t.Errorf("it was not found: %q", got)
	}
}

// Clocks go while something runs, and not a second longer.
func TestClock(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	tl.call("c1", "bash", `{"command":"sleep 9"}`, "", pawl.Result{})
	v := viewOf(t, tl, "plain", 60, 5)
	if v.Clock() == nil || v.Clock() != nil {
		t.Fatal("there is to be one clock while a call runs")
	}
	cmd := v.Update(SecondMsg{v, tl.at.Add(7 * time.Second)})
	if got := seen(v); cmd == nil || !strings.Contains(got, "7.0 s") {
		t.Errorf("after 7 s: %q", got)
	}
	v.Log.Apply(pawl.Event{Seq: 9, At: tl.at.Add(9 * time.Second), Body: pawl.CallFinished{Call: "c1", Status: pawl.CallDone}})
	if v.Update(SecondMsg{v, tl.at.Add(8 * time.Second)}) != nil {
		t.Error("it ticks though nothing runs")
	}
}

func TestRetryCountsDown(t *testing.T) {
	t.Parallel()
	tl := newEventBuilder()
	start := tl.add(pawl.ReplyStarted{Step: 1, Model: "m"})
	tl.add(pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Wait: 5 * time.Second, Model: "m", Message: "Overloaded"}})
	v := viewOf(t, tl, "plain", 60, 5)
	v.Update(SecondMsg{v, tl.at.Add(2 * time.Second)})
	if got := seen(v); !strings.Contains(got, "in 3 s") {
		t.Errorf("after 2 of 5 s: %q", got)
	}
	v.Log.Apply(pawl.Event{Body: pawl.Delta{Reply: start, Channel: pawl.ChannelText, Text: "here"}})
	if got := seen(v); strings.Contains(got, " s\n") && strings.Contains(got, "in 3 s") || v.needsClock() {
		t.Errorf("it still counts: %q", got)
	}
}

// However long the session, the lines of few entries are kept.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	v := viewOf(t, long(6000), "plain", 80, 30)
	for range 500 {
		v.Scroll(-v.Page())
		v.Render()
	}
	held := 0
	for _, e := range v.Log.Entries() {
		if e.rendered != nil {
			held++
		}
	}
	if held > 400 || held != len(v.cached) {
		t.Errorf("the lines of %d entries are kept of %d, and %d are known", held, len(v.Log.Entries()), len(v.cached))
	}
}

// work is how many bytes a frame takes from memory while somebody scrolls.
func work(v *View) uint64 {
	v.Render()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 40 {
		v.Scroll(-7)
		v.Render()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A frame of a session with 10,000 entries costs what one of a short session costs.
func TestCostIsFlat(t *testing.T) { //nolint:paralleltest // it measures memory
	short, large := work(viewOf(t, long(1500), "dark", 100, 40)), work(viewOf(t, long(15_000), "dark", 100, 40))
	if large > short+short/2 {
		t.Errorf("40 frames take %d bytes of a short session, %d of a long one", short, large)
	}
}

func BenchmarkOpen10000(b *testing.B) {
	tl := long(15_000)
	for b.Loop() {
		l := NewLog()
		l.Read(tl.events)
		v := NewView(l, styles(b, "dark"))
		v.Resize(100, 40)
		v.Render()
	}
}

func BenchmarkScroll(b *testing.B) {
	for _, n := range []int{1500, 15_000, 150_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v := viewOf(b, long(n), "dark", 100, 40)
			v.Render()
			for b.Loop() {
				v.Scroll(-3)
				v.Render()
			}
		})
	}
}

// Frames while a long reply is written.
func BenchmarkGrow(b *testing.B) {
	tl := newEventBuilder()
	start := tl.add(pawl.ReplyStarted{Step: 1, Model: "m"})
	v := viewOf(b, tl, "dark", 100, 40)
	at := 0
	for b.Loop() {
		piece := "Some words of a reply that **goes** on for long.\n"
		if at%500 == 0 {
			piece += "\n"
		}
		v.Log.Apply(pawl.Event{Body: pawl.Delta{Reply: start, Channel: pawl.ChannelText, Offset: at, Text: piece}})
		at += len(piece)
		v.Render()
	}
}
